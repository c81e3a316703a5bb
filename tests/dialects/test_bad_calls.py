"""Wrong arguments to any public function end in an error that was written for them (bad_calls.py walks them)."""

import re

import pytest
from dialects import bad_calls

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dialect", list(bad_calls.PLACES))
def test_no_call_ends_in_pythons_words(dialect):
    assert bad_calls.walk(dialect) == []


@pytest.mark.parametrize("dialect", list(bad_calls.PLACES))
def test_a_cut_of_them(dialect):
    assert bad_calls.walk(dialect, every=25, forms=("b", "vb", "mb")) == []


def raised(call):
    """The type and the words of the error that a call ends in."""
    with pytest.raises(Exception) as caught:
        call()
    return caught.type, str(caught.value)


X = torch.tensor([1.0, 2.0])
NET = torch.nn.Linear(2, 2)
NOT_TENSORS = (None, 3, "x", [], object(), {1})


def dual(*args):
    with torch.autograd.forward_ad.dual_level():
        return torch.autograd.forward_ad.make_dual(*args)


def square(x):
    return x * x


@pytest.mark.parametrize("bad", NOT_TENSORS, ids=lambda x: type(x).__name__)
def test_torch_transforms_name_what_they_were_given(bad):
    func, kind = torch.func, type(bad).__name__
    parameters = dict(NET.named_parameters())
    for call, error, words in (
        (lambda: func.functional_call(bad, parameters, (X,)), TypeError, f"functional_call: module .*{kind}"),
        (lambda: func.stack_module_state([bad]), TypeError, "stack_module_state: models"),
        (lambda: dual(bad, X), TypeError, f"make_dual: tensor .*{kind}"),
        (lambda: dual(X, bad), TypeError, f"make_dual: tangent .*{kind}"),
        (lambda: torch.autograd.forward_ad.unpack_dual(bad), TypeError, f"unpack_dual: .*{kind}"),
    ):
        found, text = raised(call)
        assert found is error
        assert re.search(words, text), text
    if bad != []:
        found, text = raised(lambda: func.functional_call(NET, bad, (X,)))
        assert found is ValueError
        assert "parameter_and_buffer_dicts" in text


@pytest.mark.parametrize("bad", ["x", object(), {1}], ids=lambda x: type(x).__name__)
def test_cotangents_that_are_no_arrays(bad):
    kind = type(bad).__name__
    for pull in (torch.func.vjp(square, X)[1], torch.func.linearize(square, X)[1]):
        found, text = raised(lambda pull=pull: pull(bad))
        assert found is TypeError
        assert kind in text
    _, pull = rg.vjp(square, rg.asarray([1.0]))
    found, text = raised(lambda: pull(bad))
    assert found is TypeError
    assert kind in text


@pytest.mark.parametrize("size", [-1, 0])
def test_chunks_have_a_positive_size(size):
    for call in (
        lambda: rg.vmap(square, chunk_size=size),
        lambda: torch.func.vmap(square, chunk_size=size)(X),
        lambda: torch.func.jacrev(square, chunk_size=size)(X),
        lambda: torch.func.jacfwd(square, chunk_size=size)(X),
    ):
        found, text = raised(call)
        assert found is ValueError
        assert "chunk_size" in text


def test_jacobians_with_respect_to_nothing():
    for call in (
        lambda: torch.func.jacfwd(square)(None),
        lambda: rg.jacfwd(square, argnums=())(rg.ones(2)),
        lambda: mindspore.jacfwd(square, grad_position=())(mindspore.Tensor([1.0])),
    ):
        found, text = raised(call)
        assert found is ValueError
        assert "argnums" in text


def test_derivatives_of_an_order_that_would_not_end():
    x = mindspore.Tensor([1.0, 2.0])
    assert mindspore.ops.derivative(square, x, 2)[1].asnumpy().tolist() == [2.0, 2.0]
    found, text = raised(lambda: mindspore.ops.derivative(square, x, 99))
    assert found is NotImplementedError
    assert "up to 10" in text


def test_truth_values_of_paddles_jacobians():
    x = paddle.to_tensor([1.0, 2.0])
    incubate = paddle.incubate.autograd
    assert incubate.Jacobian(square, x, is_batched=2)[:].shape == [2, 1, 1]
    assert incubate.Jacobian(square, x, is_batched=None)[:].shape == [2, 2]
    found, text = raised(lambda: incubate.Hessian(lambda x: (x * x).sum(), x, is_batched=2))
    assert found is RuntimeError
    assert "per entry of the batch" in text


def test_differences_of_an_order_that_would_not_end():
    assert rg.diff(rg.ones(3), n=10**20).shape == (0,)
    assert paddle.diff(paddle.ones([3]), n=10**20).shape == [0]


@pytest.mark.parametrize("bad", [3, "x", [], object()], ids=lambda x: type(x).__name__)
def test_a_bias_that_is_no_tensor(bad):
    found, text = raised(lambda: torch.nn.functional.linear(X, torch.ones(1, 2), bad))
    assert found is TypeError
    assert text.startswith("linear: input, weight and bias")
    assert type(bad).__name__ in text


def test_a_reduction_by_number():
    x = torch.ones(3, 2)
    assert [tuple(torch.hinge_embedding_loss(x, x, 1.0, n).shape) for n in (0, 1, 2, 3, -1)] == [(3, 2), (), (), (3, 2), (3, 2)]
    found, text = raised(lambda: torch.hinge_embedding_loss(x, x, 1.0, "mean"))
    assert found is TypeError
    assert "reduction must be an int, got str" in text
