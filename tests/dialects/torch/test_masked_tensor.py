"""Masked tensors: what counts in functions of elements, of the shape, and in reductions; gradients; what is refused."""

import warnings

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

pytestmark = pytest.mark.filterwarnings("ignore:masked tensors are a prototype")

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
M = torch.tensor([[True, False, True], [False, False, True]])


def make(requires_grad=False):
    return masked_tensor(X, M, requires_grad=requires_grad)


def seen(a, digits=4):
    """The elements as Python's, None where they do not count."""
    if isinstance(a, (tuple, list)):
        return [seen(x) for x in a]
    data, mask = a.get_data().flatten().tolist(), a.get_mask().flatten().tolist()
    return [round(d, digits) if m else None for d, m in zip(data, mask)], list(a.shape)


# What PyTorch 2.13 gives; written with a for the masked tensor above and b for twice of it.
FOUND = {
    "a.sin()": ([0.8415, None, 0.1411, None, None, -0.2794], [2, 3]),
    "torch.exp2(a)": ([2, None, 8, None, None, 64], [2, 3]),
    "a + b": ([3, None, 9, None, None, 18], [2, 3]),
    "2 * a - X": ([1, None, 3, None, None, 6], [2, 3]),
    "1 / a": ([1, None, 0.3333, None, None, 0.1667], [2, 3]),
    "X - a": ([0, None, 0, None, None, 0], [2, 3]),
    "a > 2": ([False, None, True, None, None, True], [2, 3]),
    "torch.pow(a, 2)": ([1, None, 9, None, None, 36], [2, 3]),
    "a.sum()": ([10], []),
    "a.sum(0)": ([1, None, 9], [3]),
    "torch.mean(a, 1, keepdim=True)": ([2, 6], [2, 1]),
    "a.mean()": ([3.3333], []),
    "a.prod()": ([18], []),
    "a.amax(0)": ([1, None, 6], [3]),
    "torch.amin(a, 1)": ([1, 6], [2]),
    "a.argmax(1)": ([2, 2], [2]),
    "a.argmin()": ([0], []),
    "(a > 0).all(1)": ([True, True], [2]),
    "a.std()": ([2.5166], []),
    "a.var()": ([6.3333], []),
    "torch.softmax(a, 1)": ([0.1192, None, 0.8808, None, None, 1], [2, 3]),
    "torch.nn.functional.softmax(a, 0)": ([1, None, 0.0474, None, None, 0.9526], [2, 3]),
    "a[0]": ([1, None, 3], [3]),
    "a[:, 1:]": ([None, 3, None, 6], [2, 2]),
    "a[M]": ([1, 3, 6], [3]),
    "a.t()": ([1, None, None, None, 3, 6], [3, 2]),
    "a.mT": ([1, None, None, None, 3, 6], [3, 2]),
    "a.view(-1)": ([1, None, 3, None, None, 6], [6]),
    "a.unsqueeze(0)": ([1, None, 3, None, None, 6], [1, 2, 3]),
    "torch.cat([a, b])": ([1, None, 3, None, None, 6, 2, None, 6, None, None, 12], [4, 3]),
    "torch.stack([a, b], 1)": ([1, None, 3, 2, None, 6, None, None, 6, None, None, 12], [2, 2, 3]),
    "a.chunk(2)": [([1, None, 3], [1, 3]), ([None, None, 6], [1, 3])],
    "torch.where(M, a, X)": ([1, 2, 3, 4, 5, 6], [2, 3]),
    "a.clamp(min=2)": ([2, None, 3, None, None, 6], [2, 3]),
    "a.int()": ([1, None, 3, None, None, 6], [2, 3]),
    "torch.ones_like(a)": ([1, None, 1, None, None, 1], [2, 3]),
    "a.isfinite()": ([True, None, True, None, None, True], [2, 3]),
}


@pytest.mark.filterwarnings("ignore:invalid value")  # a softmax of nothing is nan
@pytest.mark.parametrize("code", FOUND)
def test_functions_of_masked_tensors(code):
    assert seen(eval(code, {"torch": torch, "a": make(), "b": make() * 2, "X": X, "M": M})) == FOUND[code]


REFUSED = {
    TypeError: (
        "a @ b.t()", "2 - a", "a.T", "a.any()", "a.norm()", "a.median()", "torch.max(a)", "a.cumsum(0)", "a.relu()",
        "torch.log_softmax(a, 1)", "torch.nn.functional.linear(a, X)", "a.fill_(0)", "a.permute(1, 0)", "list(a)",
        "torch.pow(a, b)",
        "torch.maximum(a, 2)", "torch.zeros_like(a)", "masked_tensor(a, M)", "masked_tensor(X, a)", "masked_tensor(X, M.int())",
        "masked_tensor([1.0], M)", "masked_tensor(X.to(torch.complex64), M)",
    ),
    ValueError: ("a + c", "torch.mul(a, c)", "a == c", "masked_tensor(X, M[0])", "a.int().mean()", "torch.add(a, b, alpha=2)"),
    RuntimeError: ("a.tolist()", "a.numpy()", "a.item()", "a.to_sparse()"),
    AttributeError: ("a.no_such_thing",),
    NotImplementedError: ("masked_tensor(X.to_sparse(), M.to_sparse())", "torch.bitwise_and(a, b)"),
}  # fmt: skip


@pytest.mark.parametrize("error", REFUSED)
def test_what_masked_tensors_refuse(error):
    scope = {"torch": torch, "masked_tensor": masked_tensor, "a": make(), "b": make() * 2, "X": X, "M": M}
    scope["c"] = masked_tensor(X, ~M)
    for code in REFUSED[error]:
        with pytest.raises(error):
            eval(code, scope)


GRADIENTS = {
    "a.sum()": [1, None, 1, None, None, 1],
    "a.sin().sum()": [0.5403, None, -0.99, None, None, 0.9602],
    "(a * a).sum()": [2, None, 6, None, None, 12],
    "(a / as_masked_tensor(X, M)).sum()": [1, None, 0.3333, None, None, 0.1667],
    "a.mean()": [0.3333, None, 0.3333, None, None, 0.3333],
    "a.prod()": [18, None, 6, None, None, 3],
    "a.amax()": [0, None, 0, None, None, 1],
    "a.std()": [-0.4636, None, -0.0662, None, None, 0.5298],
    "a.to_tensor(0.0).sum()": [1, None, 1, None, None, 1],
}


@pytest.mark.parametrize("code", GRADIENTS)
def test_gradients_of_masked_tensors(code):
    a = make(requires_grad=True)
    eval(code, {"a": a, "X": X, "M": M, "as_masked_tensor": as_masked_tensor}).backward()
    assert is_masked_tensor(a.grad)
    assert seen(a.grad)[0] == GRADIENTS[code]


def test_gradients_reach_the_tensor_that_is_masked():
    x = X.clone().requires_grad_()
    as_masked_tensor(x, M).mul(3).sum().backward()
    assert x.grad.tolist() == [[3, 0, 3], [0, 0, 3]]
    assert not masked_tensor(x, M).requires_grad


def test_what_a_masked_tensor_is():
    with pytest.warns(UserWarning, match="prototype"):
        a = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (a + 1).sum()
    assert isinstance(a, torch.Tensor)
    assert isinstance(a, MaskedTensor)
    assert (len(a), a.shape, a.dim(), a.dtype, a.numel()) == (2, (2, 3), 2, torch.float32, 6)
    assert a.to_tensor(-1).tolist() == [[1, -1, 3], [-1, -1, 6]]
    assert a.sin_() is a
    assert seen(a)[0][0] == 0.8415
    assert repr(make()) == """MaskedTensor(
  [
    [  1.0000,       --,   3.0000],
    [      --,       --,   6.0000]
  ]
)"""
    assert (repr(make()[0, 0]), repr(make()[0, 1])) == ("MaskedTensor(  1.0000, True)", "MaskedTensor(--, False)")
    assert repr((make() * 1e4)[0].long()) == "MaskedTensor(\n  [10000,       --, 30000]\n)"
