"""Operations at the edges of their domains, each with what the real PyTorch 2.13 printed or the exception it raised."""

import math
import warnings

import pytest

from retrograde.dialects import torch

RECORD = {
    "torch.linalg.matrix_power(torch.full((2, 2), math.nan, requires_grad=True), 0)": (
        "tensor([[1., 0.], [0., 1.]], grad_fn=<CopyBackwards>)"
    ),
    "gradient(lambda x: torch.matrix_power(x, 0), torch.ones(2, 2))": "tensor([[0., 0.], [0., 0.]])",
    "torch.linalg.lstsq(torch.eye(2, 3, requires_grad=True), torch.ones(2, 1)).residuals": (
        "tensor([], grad_fn=<LinalgLstsqBackward0>)"
    ),
    (
        "torch.istft(torch.ones(5, 6, dtype=torch.complex64), 8, window=torch.ones(8, dtype=torch.float64)).dtype"
    ): "torch.float64",
    "torch.istft(torch.ones(8, 6) + 0j, 8, window=torch.full((8,), 1j), return_complex=True).dtype": "torch.complex64",
    "torch.add(U, U, alpha=-3)": "tensor([254, 252, 12], dtype=torch.uint8)",
    "torch.rsub(U, 5, alpha=-3)": "tensor([ 8, 11, 243], dtype=torch.uint8)",
    "torch.add(U, U, alpha=300)": "raises RuntimeError",
    "torch.addcmul(U, U, U, value=1.5)": "tensor([ 2, 6, 30], dtype=torch.uint8)",
    "torch.clamp(U, min=-3)": "tensor([253, 253, 253], dtype=torch.uint8)",
    "torch.clamp(U, -3, 300)": "raises RuntimeError",
    "U.masked_fill(U > 2, -3)": "tensor([ 1, 2, 253], dtype=torch.uint8)",
    "U.clone().fill_(300)": "raises RuntimeError",
    "torch.full((2,), -9, dtype=torch.uint8)": "tensor([247, 247], dtype=torch.uint8)",
    "torch.full((2,), -0.5, dtype=torch.uint8)": "raises RuntimeError",
    "torch.full((2,), math.nan, dtype=torch.int64)": "raises RuntimeError",
    "torch.full((2,), 1e60)": "raises RuntimeError",
    "torch.full_like(H, 1e6)": "raises RuntimeError",
    "torch.full((2,), 1 + 0j, dtype=torch.float32)": "tensor([1., 1.])",
    "torch.full((2,), 2**70)": "raises OverflowError",
    "torch.tensor([300], dtype=torch.uint8)": "raises RuntimeError",
    "torch.tensor([-9], dtype=torch.uint8)": "tensor([247], dtype=torch.uint8)",
    "torch.scalar_tensor(2.5, requires_grad=True)": "tensor(2.5000, requires_grad=True)",
    "torch.scalar_tensor(-9, dtype=torch.uint8)": "tensor(247, dtype=torch.uint8)",
    "torch.nn.functional.pad(U, (1, 1), value=-3)": "raises RuntimeError",
    "written(U, -9)": "tensor([247, 2, 250], dtype=torch.uint8)",
    "written(U, 300)": "raises RuntimeError",
    "torch.addcmul(torch.ones(2), torch.ones(2), torch.ones(2), value=True)": "tensor([2., 2.])",
    "torch.addmm(I, I, I, beta=1.6, alpha=-0.5)": "tensor([[1, 2], [3, 4]])",
    "torch.addmm(B, B, B)": "raises NotImplementedError",
    "torch.addr(B, B[0], B[1], beta=3, alpha=2)": "tensor([[True, True], [True, True]])",
    "torch.addr(I, I[0], I[1], beta=1.5)": "raises RuntimeError",
    "torch.addr(I, I[0], I[1], alpha=True)": "raises RuntimeError",
    "torch.addr(torch.tensor(1), I[0].int(), I[1].int()).dtype": "torch.int64",
    "torch.arange(0, 5, 2.5, dtype=torch.int64)": "tensor([0, 2, 4])",
    "torch.arange(-1.5, 2, dtype=torch.int32)": "tensor([-1, 0, 1, 2], dtype=torch.int32)",
    "torch.arange(0, 1, 0.3, dtype=torch.int64)": "raises ValueError",
    "torch.arange(3, dtype=torch.bool)": "raises NotImplementedError",
    "torch.arange(0, math.inf)": "raises RuntimeError",
    "torch.linspace(0.5, 7.5, 4, dtype=torch.int64)": "tensor([0, 2, 4, 7])",
    "torch.logspace(1.5, 4.5, 7, dtype=torch.int64)": "tensor([ 10, 31, 100, 316, 1000, 3162, 10000])",
    "torch.logspace(1, 2, 2, base=-2, dtype=torch.complex64).real": "tensor([-2., 4.])",
    "torch.range(1, 4, 1.5)": "tensor([1.0000, 2.5000, 4.0000])",
    "torch.zeros(2, out=torch.empty(0, dtype=torch.int64))": "tensor([0, 0])",
    "torch.arange(1.5, 4, out=torch.empty(0, dtype=torch.int64))": "tensor([1, 2, 3])",
    "torch.full((2,), 2.5, out=torch.empty(0, dtype=torch.int64))": "tensor([2, 2])",
    "torch.eye(2, out=torch.empty(0, dtype=torch.bool))": "tensor([[ True, False], [False, True]])",
    "torch.ones(2, dtype=torch.float32, out=torch.empty(0, dtype=torch.float64))": "raises RuntimeError",
    "seeded(lambda: torch.randn(2, out=torch.empty(0, dtype=torch.float64)))": (
        "tensor([ 1.5410, -0.2934], dtype=torch.float64)"
    ),
    "torch.nn.functional.softplus(torch.zeros(2), out=torch.empty(0))": "tensor([0.6931, 0.6931])",
    "torch.t_copy(I, out=torch.empty(0, dtype=torch.int64))": "tensor([[1, 3], [2, 4]])",
    "torch.tensor(True).sum_to_size(())": "tensor(1)",
    "I.int().sum_to_size(2, 1)": "tensor([[3], [7]])",
    "torch.unravel_index(torch.tensor([5], dtype=torch.int32), (2, 3))": "(tensor([1]), tensor([2]))",
    "torch.nonzero_static(I > 1, size=4)": "tensor([[ 0, 1], [ 1, 0], [ 1, 1], [-1, -1]])",
    "torch.nonzero_static(I > 1, size=2, fill_value=9)": "tensor([[0, 1], [1, 0]])",
    "torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()": "(3, 1, 6)",
    "torch.hash_tensor(torch.tensor([[1.0, 2.0], [3.0, 3.0]]), dim=1)": (
        "tensor([9218868437227405312, 0], dtype=torch.uint64)"
    ),
    "torch.roll(I, ())": "raises RuntimeError",
    "torch.narrow(I, 0, torch.tensor(True), 1)": "raises RuntimeError",
    "torch.masked_fill(torch.ones(2), torch.tensor([True, False]), torch.tensor(1j))": "raises RuntimeError",
    "torch.nn.functional.avg_pool2d(torch.tensor([[[[-7, -5], [1, 2]]]]), 2, divisor_override=-2)": "tensor([[[[4]]]])",
    "torch.nn.functional.avg_pool2d(torch.ones(1, 1, 2, 2, dtype=torch.int32), 2)": "raises NotImplementedError",
    "torch.nn.functional.adaptive_avg_pool2d(torch.ones(2, 2), (1, 1))": "raises ValueError",
    "torch.nn.functional.adaptive_max_pool1d(torch.ones(2, 2), (None,))": "raises TypeError",
    "torch.nn.functional.interpolate(BYTES, (3, 3), mode='bilinear', align_corners=True)": (
        "tensor([[[[ 0, 56, 111], [ 94, 150, 77], [188, 116, 43]]]], dtype=torch.uint8)"
    ),
    "torch.nn.functional.interpolate(BYTES, (3, 5), mode='bicubic', antialias=True)": (
        "tensor([[[[ 42, 67, 104, 108, 76], [ 92, 117, 163, 152, 76], [143, 183, 104, 30, 80]]]], dtype=torch.uint8)"
    ),
    "torch.nn.functional.local_response_norm(torch.tensor([[[1, -2], [3, 4]]]), 2)": (
        "tensor([[[ 1.0000, -1.9997], [ 2.9989, 3.9970]]])"
    ),
    "torch.nn.functional.margin_ranking_loss(U, U + 3, U, margin=0.5)": "tensor(82.8333)",
    (
        "torch.nn.functional.multi_margin_loss(torch.tensor([0.1, 0.2, 0.3]), torch.tensor([1]), reduction='none')"
    ): "tensor([0.6667])",
    (
        "torch.nn.functional.multi_margin_loss(torch.ones(2, 2), torch.tensor([0, 1]), weight=torch.ones(2, 2))"
    ): "raises ValueError",
    "torch.nn.functional.fractional_max_pool2d(torch.ones(0, 1, 4, 4), 2, output_size=2).shape": (
        "torch.Size([0, 1, 2, 2])"
    ),
    "[x.dtype for x in torch.native_layer_norm(H.reshape(1, 2), (2,), None, None, 1e-5)]": (
        "[torch.float16, torch.float16, torch.float16]"
    ),
    (
        "[x.dtype for x in torch.native_batch_norm(H.reshape(2, 1), torch.ones(1), None, "
        "torch.zeros(1), torch.ones(1), True, 0.1, 1e-5)]"
    ): "[torch.float16, torch.float32, torch.float32]",
    (
        "tangent(lambda x: torch.nn.functional.instance_norm(x, torch.zeros(1), torch.ones(1)), "
        "torch.tensor([[[1.0, 2.0, 4.0]]]))"
    ): "tensor([[[-0.1145, 0.1718, -0.0573]]])",
    "seeded(lambda: torch.bernoulli(torch.full((2,), 0.5, requires_grad=True)))": (
        "tensor([1., 0.], grad_fn=<BernoulliBackward0>)"
    ),
    "seeded(lambda: torch.normal(torch.zeros(2, requires_grad=True), 1.0))": (
        "tensor([ 1.5410, -0.2934], grad_fn=<NormalBackward1>)"
    ),
    "gradient(torch.poisson, torch.ones(2))": "tensor([0., 0.])",
    "seeded(lambda: torch.ones(2, requires_grad=True).clone().uniform_())": (
        "tensor([0.4963, 0.7682], grad_fn=<UniformBackward0>)"
    ),
    "seeded(lambda: torch.vmap(torch.bernoulli, randomness='different')(torch.full((2, 3), 0.5)))": (
        "tensor([[1., 0., 1.], [1., 1., 0.]])"
    ),
    "torch.vmap(torch.bernoulli)(torch.full((2, 3), 0.5))": "raises RuntimeError",
    "mixed_second(torch.tensor([-2.0, -0.25, 2.0]), torch.tensor([0.0, 0.0, 0.0]))": (
        "tensor([-0.5000, -4.0000, 0.5000])"
    ),
    "torch.lgamma(torch.tensor([-math.inf, math.inf, -1.0]))": "tensor([inf, inf, inf])",
    "torch.special.chebyshev_polynomial_t(torch.tensor([0.5]), torch.tensor([math.nan]))": "tensor([0.])",
    "torch.lerp(torch.ones(2), torch.full((2,), 3.0), torch.tensor(0.5, dtype=torch.float64))": "tensor([2., 2.])",
    "torch.lerp(torch.ones(2), torch.full((2,), 3.0), torch.full((2,), 0.5, dtype=torch.float64))": (
        "raises RuntimeError"
    ),
    "torch.nn.functional.mse_loss(torch.ones(2), torch.tensor(2.0, dtype=torch.float64))": (
        "tensor(1., dtype=torch.float64)"
    ),
    (
        "torch.nn.functional.cosine_similarity(torch.ones(2), torch.tensor(2.0, dtype=torch.float64), dim=0).dtype"
    ): "torch.float64",
    "torch.tensor(1.0).copy_(torch.ones(2))": "raises RuntimeError",
    "torch.ones(2).copy_(torch.ones(1, 2))": "raises RuntimeError",
    "torch.index_fill(torch.ones(2), 0, torch.tensor([0]), torch.tensor(2 + 0j))": "raises RuntimeError",
    (
        "torch.vmap(lambda a: torch.ormqr(a, torch.ones(0), torch.ones(1, 1)))(torch.ones(2, 1, 0)).shape"
    ): "torch.Size([2, 1, 1])",
    "torch.nn.functional.gaussian_nll_loss(torch.ones(4, 3), torch.zeros(4, 3), torch.ones(1, 3))": "tensor(0.5000)",
    "torch.nn.functional.gaussian_nll_loss(torch.ones(4, 3), torch.zeros(4, 3), torch.ones(3))": "raises ValueError",
    (
        "torch.nn.functional.fractional_max_pool3d(torch.arange(125.0).reshape(1, 5, 5, 5), 2, "
        "output_ratio=0.5, _random_samples=torch.full((2, 1, 3), 0.5))"
    ): "tensor([[[[ 31., 34.], [ 46., 49.]], [[106., 109.], [121., 124.]]]])",
    "trained(torch.nn.BatchNorm1d(2), torch.ones(0, 2, 3)).running_var": "tensor([1., 1.])",
    "torch.amax(torch.ones(5, 0))": "raises RuntimeError",
    "torch.aminmax(torch.ones(5, 0), dim=1)": "raises IndexError",
    "torch.dist(H, 2.5)": "raises TypeError",
    "torch.dist(B, torch.ones(2))": "raises RuntimeError",
    "torch.dist(I, torch.ones(2))": "tensor(3.7417)",
    "torch.dot(B[0], B[1])": "raises NotImplementedError",
    "torch.linspace(0, 3, 3, dtype=torch.bool)": "raises NotImplementedError",
    "torch.arange(0, 3, dtype=torch.complex64)": "raises NotImplementedError",
    "I.index_fill(0, torch.tensor([1], dtype=torch.int32), 9)": "raises IndexError",
    "I.index_copy(0, torch.tensor([1], dtype=torch.int32), I[:1])": "raises RuntimeError",
    "written(I, torch.ones(7), False)": "tensor([[1, 2], [3, 4]])",
    "written(I, torch.tensor([1.5, 2.5]), True)": "tensor([[1, 2], [1, 2]])",
    "written(I, 5, (torch.tensor([0, 1]), torch.tensor([0, 1, 0])))": "raises IndexError",
    "torch.func.grad(lambda x: x.long().sum())(torch.ones(2))": "tensor([0., 0.])",
    "torch.func.vjp(lambda x: x.long(), torch.ones(2))": "raises RuntimeError",
}


def namespace(torch):
    """What the expressions may use."""

    def gradient(f, x):
        x = x.clone().requires_grad_()
        return torch.autograd.grad(f(x).sum(), x)[0]

    def tangent(f, x):
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, torch.arange(float(x.numel())).reshape(x.shape))
            return torch.autograd.forward_ad.unpack_dual(f(dual)).tangent

    def mixed_second(x, y):
        x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
        by_y = torch.autograd.grad((x**y).sum(), y, create_graph=True)[0]
        return torch.autograd.grad(by_y.sum(), x)[0]

    def seeded(f):
        torch.manual_seed(0)
        return f()

    def written(x, value, index=0):
        x = x.clone()
        x[index] = value
        return x

    def trained(layer, x):
        layer(x)
        return layer

    return {
        "trained": trained,
        "torch": torch,
        "math": math,
        "gradient": gradient,
        "tangent": tangent,
        "mixed_second": mixed_second,
        "seeded": seeded,
        "written": written,
        "U": torch.tensor([1, 2, 250], dtype=torch.uint8),
        "I": torch.tensor([[1, 2], [3, 4]]),
        "B": torch.tensor([[True, False], [True, True]]),
        "H": torch.ones(2).half(),
        "BYTES": (torch.arange(16).reshape(1, 1, 4, 4) * 37 % 256).to(torch.uint8),
    }


def outcome(torch, expression):
    """What the expression prints, or the type of the exception that it raises."""
    try:
        return " ".join(str(eval(expression, namespace(torch))).split())
    except Exception as error:
        builtin = [c for c in type(error).__mro__ if c.__module__ == "builtins"]
        return f"raises {builtin[0].__name__}"


@pytest.mark.parametrize("expression", RECORD)
def test_prints_what_pytorch_prints(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert outcome(torch, expression) == RECORD[expression]


def test_sinc_has_a_second_derivative_at_zero():
    hessian = torch.autograd.functional.hessian(lambda x: torch.sinc(x).sum(), torch.zeros(1, dtype=torch.float64))
    assert abs(hessian.item() + math.pi**2 / 3) < 1e-15


def test_attention_in_half_precision_keeps_its_digits():
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 6, 8).half() for _ in range(3))
    exact = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double())
    got = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    assert got.dtype is torch.float16
    assert (got.double() - exact).abs().max().item() < 6e-4


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        (TypeError, lambda: torch.ones(2).add(1, alpha="x")),
        (TypeError, lambda: torch.ones(2).sub(1, alpha=None)),
        (TypeError, lambda: torch.ones(2).add(1, alpha=torch.ones(2))),
        (TypeError, lambda: torch.ones(2, 2).addmm(torch.ones(2, 2), torch.ones(2, 2), alpha=None)),
        (TypeError, lambda: torch.ones(2).addcmul(torch.ones(2), torch.ones(2), value="x")),
        (TypeError, lambda: torch.Size([1, "a"])),
        (TypeError, lambda: torch.Size([1.5])),
        (TypeError, lambda: torch.Size([1, None])),
        (TypeError, lambda: torch.ones(2).repeat()),
        (TypeError, lambda: torch.ones(2).expand()),
        (TypeError, lambda: torch.ones(2).view()),
        (TypeError, lambda: torch.ones(2).reshape()),
        (TypeError, lambda: torch.ones(2).permute()),
        (TypeError, lambda: torch.ones(2).tile()),
        (RuntimeError, lambda: torch.func.jacrev(lambda v: v.sum(), argnums=1)(torch.ones(2))),
        (RuntimeError, lambda: torch.func.jacfwd(lambda v: v.sum(), argnums=1)(torch.ones(2))),
        (RuntimeError, lambda: torch.func.hessian(lambda v: v.sum(), argnums=-2)(torch.ones(2))),
        (RuntimeError, lambda: torch.func.grad(lambda v: v.sum(), argnums=())(torch.ones(2))),
        (RuntimeError, lambda: torch.func.grad(lambda v: v.sum(), argnums="a")(torch.ones(2))),
        (IndexError, lambda: torch.func.vmap(lambda v: v, out_dims=3)(torch.ones(2, 2))),
        (IndexError, lambda: torch.nn.LSTM(2, 3)(torch.ones(4, 1, 2), torch.ones(1, 1, 3))),
    ],
)
def test_the_type_of_an_error(kind, call):
    with pytest.raises(kind):
        call()


def test_sizes_take_what_counts_as_an_int():
    assert torch.Size([True, torch.tensor(2)]) == (1, 2)
    assert repr(torch.Size((3, 4))) == "torch.Size([3, 4])"
    assert torch.ones(1).reshape(()).shape == ()


def test_the_norm_of_a_single_element_is_its_magnitude():
    for value in (1e38, 1e-45, -1e-30):
        x = torch.tensor([[value]], requires_grad=True)
        for y in (x.norm(), x.norm(3, dim=1), torch.linalg.vector_norm(x)):
            assert y.item() == abs(x.item())
        assert torch.autograd.grad(x.norm(), x)[0].item() == (1 if value > 0 else -1)
    assert torch.tensor([[1e38], [2e38]]).norm(dim=1).tolist() == torch.tensor([1e38, 2e38]).tolist()


def test_copies_of_parameters_have_no_gradient():
    import copy

    layer, x = torch.nn.Linear(2, 1), torch.ones(2, requires_grad=True)
    (layer(x).sum() + x.sum()).backward()
    assert copy.deepcopy(layer).weight.grad is None
    assert copy.deepcopy(x).grad.equal(x.grad)


def test_a_retained_gradient_is_that_before_the_prehooks_of_its_node():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.retain_grad()
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    y.sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == ([1, 1], [6, 6])


def test_detach_stops_tangents_of_every_level():
    from retrograde.dialects.torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

    x, t = torch.tensor([2.0, 3.0]), torch.ones(2)

    def f(v):
        return v.detach() * v

    assert jvp(f, (x,), (t,))[1].tolist() == [2, 3]
    assert jacfwd(f)(x).equal(jacrev(f)(x))
    assert hessian(lambda v: (v.detach() * v**2).sum())(x).diagonal().tolist() == [4, 6]
    assert jacrev(jacrev(lambda v: (v.data * v**2).sum()))(x).diagonal().tolist() == [4, 6]
    assert grad(lambda v: grad(lambda w: (w.detach() * w**2).sum())(v).sum())(x).tolist() == [4, 6]
    assert vmap(grad(f))(x).tolist() == [2, 3]


def test_dual_tensors_print_and_are_differentiated():
    import retrograde.dialects.torch.autograd.forward_ad as fw

    def f(v):
        return (v.sin() * v.exp()).sum()

    x, t = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([0.5, -1.0])
    with fw.dual_level():
        d = fw.make_dual(x.detach(), t)
        assert repr(d) == "tensor([1., 2.], tangent=tensor([ 0.5000, -1.0000]))"
        assert repr(d.sum()) == "tensor(3., tangent=-0.5)"
        assert fw.unpack_dual(d.detach()).tangent is None
        d = fw.make_dual(x, t)
        assert d.requires_grad
        (g,) = torch.autograd.grad(f(d), d)
        product = fw.unpack_dual(g).tangent
        assert torch.allclose(g.detach(), torch.autograd.grad(f(x), x)[0])
    assert torch.allclose(product, torch.autograd.functional.hvp(f, x, t)[1])


def test_subclasses_by_their_private_constructor():
    class Mine(torch.Tensor):
        pass

    data = torch.ones(2)
    x = torch.Tensor._make_subclass(Mine, data, True)
    assert type(x) is Mine
    assert x.is_leaf
    data.add_(1)
    assert x.tolist() == [2, 2]
    leaf = torch.ones(2, requires_grad=True)
    y = leaf.as_subclass(Mine)
    assert not y.is_leaf
    (y * 3).sum().backward()
    assert leaf.grad.tolist() == [3, 3]


def test_operands_of_a_convolutions_derivative_that_do_not_fit():
    x, w, g = torch.ones(8, 16, 32, 32), torch.ones(16, 16, 3, 3), torch.ones(8, 16, 30, 30)
    assert torch.nn.grad.conv2d_weight(x, w.shape, g)[0, 0, 0, 0] == 8 * 900
    assert torch.nn.grad.conv2d_input(x.shape, w, g)[0, 0, 0, 0] == 16
    for bad in (torch.ones(9, 16, 30, 30), torch.ones(8, 16, 40, 40), torch.ones(8, 16, 20, 20), g.double()):
        with pytest.raises(RuntimeError, match="conv2d_weight"):
            torch.nn.grad.conv2d_weight(x, w.shape, bad)
        with pytest.raises(RuntimeError, match="conv2d_input"):
            torch.nn.grad.conv2d_input(x.shape, w, bad)
    with pytest.raises(RuntimeError, match="channels"):
        torch.nn.grad.conv1d_input((2, 5, 9), torch.ones(6, 2, 3), torch.ones(2, 6, 7), groups=2)


AXES = {
    "stack": lambda m: torch.stack([m, m], axis=1).shape,
    "squeeze": lambda m: m[None].squeeze(axis=0).shape,
    "unsqueeze": lambda m: torch.unsqueeze(m, axis=1).shape,
    "gather": lambda m: m.gather(axis=1, index=torch.zeros(2, 1, dtype=torch.long)).shape,
    "index_select": lambda m: m.index_select(axis=1, index=torch.tensor([0])).shape,
    "chunk": lambda m: torch.chunk(m, 3, axis=1)[0].shape,
    "unbind": lambda m: m.unbind(axis=1)[0].shape,
    "narrow": lambda m: torch.narrow(m, axis=1, start=0, length=2).shape,
    "select": lambda m: m.select(axis=1, index=0).shape,
    "repeat_interleave": lambda m: m.repeat_interleave(2, axis=1).shape,
    "take_along_dim": lambda m: torch.take_along_dim(m, torch.zeros(2, 1, dtype=torch.long), axis=1).shape,
    "trapezoid": lambda m: torch.trapezoid(m, x=torch.arange(3.0), axis=1).shape,
    "vector_norm": lambda m: torch.linalg.vector_norm(x=m, axis=1).shape,
}
SHAPES = {
    "stack": (2, 2, 3), "squeeze": (2, 3), "unsqueeze": (2, 1, 3), "gather": (2, 1), "index_select": (2, 1), "chunk": (2, 1),
    "unbind": (2,), "narrow": (2, 2), "select": (2,), "repeat_interleave": (2, 6), "take_along_dim": (2, 1), "trapezoid": (2,),
    "vector_norm": (2,),
}  # fmt: skip


@pytest.mark.parametrize("name", AXES)
def test_axis_is_another_name_of_dim(name):
    assert tuple(AXES[name](torch.ones(2, 3))) == SHAPES[name]


def test_the_size_may_be_named():
    for make in (torch.zeros, torch.ones, torch.empty, torch.rand, torch.randn):
        assert make(size=(2, 3)).shape == (2, 3)
        assert make(size=[2], dtype=torch.float64).dtype == torch.float64
    with pytest.raises(TypeError):
        torch.ones(2).unsqueeze()


def test_a_property_that_cannot_be_read_yet_is_no_attribute_already():
    """A subclass may compute under the name that its base registers: until then reading the property fails."""

    class Curved(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.k = torch.nn.Parameter(torch.ones(()))

    class Ball(Curved):
        @property
        def k(self):
            return -self.c

        def __init__(self):
            super().__init__()
            self.c = 2.0

    ball = Ball()
    assert (ball.k, list(dict(ball.named_parameters()))) == (-2.0, ["k"])
    del ball._parameters["k"]
    with pytest.raises(KeyError, match="an attribute 'k' already"):
        ball.register_parameter("k", None)


def test_a_module_without_an_attribute_says_so_in_python_s_words():
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        torch.nn.Linear(1, 1).wieght  # noqa: B018


def test_marks_for_a_profile_of_cuda_code_refuse_where_they_begin():
    @torch.cuda.nvtx.range("step")
    def step():
        return 1

    for call in (step, lambda: torch.cuda.nvtx.range_push("step"), torch.cuda.nvtx.range_pop):
        with pytest.raises(RuntimeError, match="computes on the CPU"):
            call()


def test_errors_say_what_to_do():
    with pytest.raises(TypeError, match=r"got Linear; pass its \.parameters\(\)"):
        torch.optim.SGD(torch.nn.Linear(2, 2), lr=0.1)
    with pytest.raises(RuntimeError, match=r"torch.ones\(2\)`, of float32\[3\], float32\[2\]: the shapes do not broadcast; .*"):
        torch.ones(3) + torch.ones(2)
    with pytest.raises(RuntimeError, match=r"einsum\(float32\[2, 3\], float32\[4, 2\]\): the subscript 'j' stands for"):
        torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(4, 2))
    with pytest.raises(RuntimeError, match=r"weight and bias must have one dtype, .*; convert the input with to\(\)"):
        torch.nn.Linear(2, 2)(torch.ones(1, 2, dtype=torch.float64))
