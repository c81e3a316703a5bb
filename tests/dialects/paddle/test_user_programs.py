"""What programs of users do beside the corpus: figures and errors recorded from PaddlePaddle 3.3.1."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

T = paddle.to_tensor
D = paddle.distribution
F = paddle.nn.functional


def leaf(values: object, **options: Any) -> paddle.Tensor:
    return T(values, stop_gradient=False, **options)


# ------------------------------------------------------------------------------------------ gradients


def test_what_lies_below_the_inputs_may_be_freed() -> None:
    x = leaf([1.0, 2.0])
    u = paddle.sin(x)
    (u * u).sum().backward()
    w = u.exp()
    np.testing.assert_allclose(paddle.grad(w, u)[0].numpy(), w.numpy(), rtol=1e-6)
    assert paddle.grad(u.sum(), u)[0].tolist() == [1.0, 1.0]
    for call in (lambda: paddle.grad(w, x), lambda: paddle.grad(u.sum(), [u, x]), w.backward):
        with pytest.raises(SystemError, match="freed"):
            call()


def test_what_lies_below_the_inputs_may_have_changed() -> None:
    x = leaf([1.0, 2.0])
    a = x * 1
    u = a * a
    a.scale_(3.0)
    assert paddle.grad((u * 2).sum(), u)[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="changed in place"):
        paddle.grad((u * 2).sum(), x)


@pytest.mark.parametrize("f", [F.relu, F.leaky_relu, paddle.abs])
def test_the_flat_derivative_of_a_kinked_function_does_not_depend_on_the_input(f: Any) -> None:
    x = leaf([1.5, -0.5])
    (g,) = paddle.grad(f(x).sum(), x, create_graph=True)
    with pytest.raises(ValueError, match="not used"):
        paddle.grad(g, x)
    assert paddle.grad(g, x, allow_unused=True) == [None]
    ((g.norm() - 1) ** 2).backward()
    assert x.grad is None
    assert paddle.autograd.hessian(f(x).sum(), x)[:].tolist() == [[0.0, 0.0], [0.0, 0.0]]
    (g,) = paddle.grad((f(x) * x).sum(), x, create_graph=True)
    assert paddle.grad(g.sum(), x)[0].shape == [2]


def test_a_zeroed_gradient_takes_what_the_next_one_says() -> None:
    class Double(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return dy * 2

    x = leaf([1.0])
    Double.apply(x).backward()
    assert x.grad.stop_gradient
    x.clear_grad()
    assert x.grad.stop_gradient
    (x * 2).backward()
    assert not x.grad.stop_gradient
    x.clear_grad()
    Double.apply(x).backward()
    assert x.grad.stop_gradient


def test_backward_of_several_tensors_refuses_shapes_with_a_runtime_error() -> None:
    w = leaf([1.0, 2.0])
    for y, g in ((w * 1, paddle.ones([1])), ((w * 1).sum(), paddle.ones([1])), (w * 1, paddle.ones([3]))):
        with pytest.raises(RuntimeError, match="shape"):
            paddle.autograd.backward([y], [g])


def test_recompute_and_control_flow() -> None:
    from retrograde.dialects.paddle.distributed.fleet.utils import recompute

    calls = []

    def f(a: Any, k: float = 1.0) -> Any:
        calls.append(k)
        return paddle.exp(a) * k

    w = leaf([2.0])
    recompute(f, w, k=3.0).backward()
    assert calls == [3.0, 3.0]
    assert w.grad.item() == pytest.approx(22.1671676, rel=1e-6)
    static = paddle.static.nn
    assert static.cond(T(False), lambda: 1) is None
    assert static.case([(T(False), lambda: 1), (T(True), lambda: 2)], default=lambda: 3) == 2
    assert static.switch_case(T(7), [lambda: 1, lambda: 2]) == 2
    i, s = static.while_loop(lambda i, s: i < 3, lambda i, s: [i + 1, s * w], [T(0), paddle.ones([1])])
    assert (i.item(), s.item()) == (3, 8.0)
    with pytest.raises(ValueError, match="body returned 2"):
        static.while_loop(lambda i: i < 3, lambda i: [i, i], [T(0)])
    with pytest.raises(TypeError, match="loop_vars"):
        static.while_loop(lambda i: i < 3, lambda i: i, T(0))
    parallel = paddle.DataParallel(paddle.nn.Linear(1, 1))
    assert [k for k, _ in parallel.named_parameters()] == ["_layers.weight", "_layers.bias"]
    assert list(parallel.state_dict()) == ["weight", "bias"]


# ------------------------------------------------------------------------------------------ in place, views


def test_an_in_place_result_of_another_dtype_changes_the_tensor() -> None:
    p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    with paddle.no_grad():
        p.add_(T([1.0, 2.0], dtype="float64"))
    assert (p.dtype, p.is_leaf, p.stop_gradient) == (paddle.float64, True, False)
    (p * p).sum().backward()
    assert (p.grad.dtype, p.grad.tolist()) == (paddle.float64, [4.0, 6.0])
    a = leaf([1.0, 2.0])
    y = a * 2
    assert y.add_(T([1.0, 2.0], dtype="float64")) is y
    y.sum().backward()
    assert (a.grad.dtype, a.grad.tolist()) == (paddle.float32, [2.0, 2.0])
    i = T([1, 2])
    i.divide_(T([2, 2]))
    assert (i.dtype, i.tolist(), i.inplace_version) == (paddle.float32, [0.5, 1.0], 1)
    c = T([1.0, 2.0])
    c.add_(T([1j, 2]))
    assert (c.dtype, c.tolist()) == (paddle.complex64, [1 + 1j, 4 + 0j])


def test_a_leaf_that_is_cast_in_place_stays_one() -> None:
    p = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    with paddle.no_grad():
        p.cast_("float64")
        p.cast_("float32")
        p.cast_("float64")
    assert (p.dtype, p.is_leaf, p.stop_gradient, p.inplace_version) == (paddle.float64, True, False, 3)
    (p * 2).sum().backward()
    assert p.grad.dtype is paddle.float64


def test_a_view_keeps_the_dtype_of_its_memory() -> None:
    x = T([[1.0, 2.0], [3.0, 4.0]])
    x[0].add_(T([1.0, 2.0], dtype="float64"))
    assert (x.dtype, x.tolist()) == (paddle.float32, [[2.0, 4.0], [3.0, 4.0]])
    with pytest.raises(TypeError, match="shares its"):
        x[0].add_(T([1j, 2]))


def test_a_view_of_a_leaf_can_be_changed_and_the_leaf_stays_one() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    v = x[0]
    v[0] = 9.0
    assert (x.tolist(), x.is_leaf, x.stop_gradient) == ([[9.0, 2.0], [3.0, 4.0]], True, False)
    (v * v).sum().backward()
    assert x.grad.tolist() == [[0.0, 4.0], [0.0, 0.0]]
    x.clear_grad()
    (x * x).sum().backward()
    assert x.grad.tolist() == [[18.0, 4.0], [6.0, 8.0]]
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    v = x.reshape([4])
    v[1:3] = x[0] * 2
    (v * v).sum().backward()
    assert x.grad.tolist() == [[10.0, 16.0], [0.0, 8.0]]
    x = leaf([0.0, 1.0])
    v = x.flatten()
    v.exp_()
    v.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [1.0, np.e], rtol=1e-6)
    y = (x * x).sum()
    x[0:1].fill_(3.0)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.backward()
    for change in (lambda: x.add_(x), lambda: x.__setitem__(0, 1.0), lambda: x.__setitem__([0], 1.0)):
        with pytest.raises(ValueError, match="leaf"):
            change()


def test_contiguous_rearranges() -> None:
    t = paddle.ones([2, 3]).T
    assert (t.is_contiguous(), t.contiguous().is_contiguous(), t.contiguous().strides) == (False, True, [2, 1])


# ------------------------------------------------------------------------------------------ data, dtypes, errors


@pytest.mark.parametrize(
    "data,dtype",
    [
        (lambda: [T(1), 2.0], "float64"), (lambda: [T(1.0), 2], "float64"), (lambda: [T(1), 2], "int64"),
        (lambda: [T([1.0]), T([2.0])], "float32"), (lambda: [T(1.0, dtype="float64"), T(2.0)], "float64"),
        (lambda: [[T(1.0), 2.0]], "float32"), (lambda: [True, T(1.0)], "float32"), (lambda: [np.float64(1), 2.0], "float32"),
    ],
)  # fmt: skip
def test_tensors_in_a_list_bring_their_dtype(data: Any, dtype: str) -> None:
    assert T(data()).dtype is getattr(paddle, dtype)


def test_arrays_on_the_left_of_a_product() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    for array in (np.ones((2, 2), np.float32), np.ones(2), np.ones((2, 2))):
        y = array @ x
        assert y.dtype is paddle.float32
        np.testing.assert_allclose(y.numpy(), array @ x.numpy())
    with pytest.raises(ValueError, match="Tensors"):
        2 @ x


def test_integers_on_the_right_of_a_product_take_the_dtype_on_the_left() -> None:
    x, i = leaf([[1.0, 2.0]]), T([[3], [4]])
    y = paddle.matmul(x, i)
    assert (y.dtype, y.tolist()) == (paddle.float32, [[11.0]])
    y.backward()
    assert x.grad.tolist() == [[3.0, 4.0]]
    with pytest.raises(ValueError, match="dtype"):
        paddle.matmul(i, x)


def test_scans_in_place_without_an_axis_make_the_tensor_flat() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    assert y.cumsum_() is y
    assert y.tolist() == [1.0, 3.0, 6.0, 10.0]
    y.sum().backward()
    assert x.grad.tolist() == [[4.0, 3.0], [2.0, 1.0]]
    assert T([[1.0, 2.0], [3.0, 4.0]]).cumprod_().tolist() == [1.0, 2.0, 6.0, 24.0]
    assert T([[1.0, 2.0], [3.0, 4.0]]).cumsum_(axis=0).tolist() == [[1.0, 2.0], [4.0, 6.0]]
    assert T([3.0]).true_divide(T([2.0])).tolist() == [1.5]


def test_the_mean_of_cross_entropy_counts_labels_that_a_negative_index_leaves_out() -> None:
    p = T([[0.2, -0.5, 1.0], [0.3, 0.1, -1.2]])
    for label, options, wanted in (
        ([2, -100], {}, 0.25714755), ([2, -1], {"ignore_index": -1}, 0.25714755), ([0, 2], {"ignore_index": 2}, 1.3142951),
        ([2, -100], {"weight": T([1.0, 2.0, 0.5])}, 0.5142951), ([-100, -100], {}, 0.0),
    ):  # fmt: skip
        assert F.cross_entropy(p, T(label), **options).item() == pytest.approx(wanted, rel=1e-6)
    assert F.nll_loss(F.log_softmax(p), T([2, -100])).item() == pytest.approx(0.5142951, rel=1e-6)


@pytest.mark.parametrize("equation", ["ij,jk", "ijk", "i?", "", "i..j", "->", "ij->i->j"])
def test_einsum_equations_that_do_not_fit(equation: str) -> None:
    with pytest.raises(AssertionError, match="einsum"):
        paddle.einsum(equation, paddle.ones([2, 3]))
    with pytest.raises(ValueError, match="2"):
        paddle.einsum("ij,jk->ik", paddle.ones([2, 3]), paddle.ones([2, 3]))


def test_what_a_group_says_of_a_parameter_holds_in_the_next_optimiser_too() -> None:
    attr = paddle.ParamAttr(learning_rate=0.5, initializer=paddle.nn.initializer.Constant(1.0))
    a, b, c, d = (paddle.create_parameter([1], "float32", attr=attr) for _ in range(4))
    paddle.optimizer.SGD(0.1, parameters=[
        {"params": [a], "learning_rate": 0.1}, {"params": [b]}, {"params": [c], "learning_rate": 0.5, "weight_decay": 0.1},
    ])  # fmt: skip
    assert [p.optimize_attr["learning_rate"] for p in (a, b, c, d)] == [0.1, 1.0, 0.5, 0.5]
    (a + b + c + d).backward()
    paddle.optimizer.SGD(1.0, parameters=[a, b, c, d]).step()
    np.testing.assert_allclose([p.item() for p in (a, b, c, d)], [0.9, 0.0, 0.45, 0.5], atol=1e-6)


def test_small_rules() -> None:
    assert paddle.trace(T([[1, 2], [3, 4]], dtype="int32")).dtype is paddle.int32
    with pytest.raises(AssertionError, match="0-d"):
        list(T(1.0))
    with pytest.raises(ValueError, match="Ellipsis"):
        paddle.ones([2, 2])[..., ...]
    x = paddle.arange(36, dtype="float32").reshape([1, 1, 6, 6])
    for size in (3, [3, 3]):
        y = F.interpolate(x, size=size, mode="area", align_corners=True)
        assert (y.shape, y.sum().item()) == ([1, 1, 3, 3], 157.5)
    schedule = paddle.optimizer.lr.ReduceOnPlateau(0.5, factor=0.5, patience=0)
    for metric in (np.array([0.7]), np.float32(0.8)):
        schedule.step(metric)
    assert schedule() == 0.25
    with pytest.raises(AssertionError, match="one number"):
        schedule.step(np.ones(2))


def test_the_module_tensor_makes_tensors_and_offers_the_functions() -> None:
    assert paddle.tensor([1, 2]).tolist() == [1, 2]
    assert not paddle.tensor(1.0, requires_grad=True).stop_gradient
    assert paddle.tensor.triu(paddle.ones([2, 2])).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert paddle.tensor.math.add is paddle.add
    assert paddle.tensor.linalg.qr is paddle.linalg.qr
    with pytest.raises(AttributeError, match=r"tensor\.addd; near it are add"):
        paddle.tensor.addd  # noqa: B018


# ------------------------------------------------------------------------------------------ second names


ROWS = T(np.arange(8, dtype=np.float32).reshape(2, 4))
AT = T([[0, 1]])


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda: paddle.rand(shape=[2]).shape, [2]),
        (lambda: paddle.randn(shape=[2, 3], dtype="float64").shape, [2, 3]),
        (lambda: paddle.randn(size=[2]).shape, [2]),
        (lambda: paddle.normal(size=[3]).shape, [3]),
        (lambda: paddle.full(size=[1], fill_value=2.0).tolist(), [2.0]),
        (lambda: paddle.linspace(start=0, end=1, steps=3).tolist(), [0.0, 0.5, 1.0]),
        (lambda: paddle.eye(n=1, m=2).tolist(), [[1.0, 0.0]]),
        (lambda: paddle.cat(tensors=[ROWS, ROWS], dim=1).shape, [2, 8]),
        (lambda: paddle.stack(tensors=[ROWS, ROWS], dim=0).shape, [2, 2, 4]),
        (lambda: ROWS.flatten(start_dim=0).shape, [8]),
        (lambda: paddle.tile(input=ROWS, dims=[2, 1]).shape, [4, 4]),
        (lambda: ROWS.roll(shifts=1, dims=1)[0].tolist(), [3.0, 0.0, 1.0, 2.0]),
        (lambda: ROWS.view(4, 2).shape, [4, 2]),
        (lambda: ROWS.view(2, -1).shape, [2, 4]),
        (lambda: ROWS.view(size=[8]).shape, [8]),
        (lambda: ROWS.view(dtype="int32").dtype, paddle.int32),
        (lambda: ROWS.swapaxes(dim0=0, dim1=1).shape, [4, 2]),
        (lambda: paddle.swapaxes(ROWS, axis0=0, axis1=1).shape, [4, 2]),
        (lambda: ROWS.transpose(dim0=0, dim1=1).shape, [4, 2]),
        (lambda: ROWS.expand(size=[1, 2, 4]).shape, [1, 2, 4]),
        (lambda: ROWS.pow(exponent=2)[0].tolist(), [0.0, 1.0, 4.0, 9.0]),
        (lambda: paddle.dot(input=ROWS[0], tensor=ROWS[0]).item(), 14.0),
        (lambda: paddle.outer(input=ROWS[0], vec2=ROWS[0]).shape, [4, 4]),
        (lambda: paddle.tensor_split(ROWS, sections=2, dim=1)[0].shape, [2, 2]),
        (lambda: paddle.searchsorted(ROWS[0], input=ROWS[0]).tolist(), [0, 1, 2, 3]),
        (lambda: paddle.take_along_axis(input=ROWS, indices=AT, dim=1).tolist(), [[0.0, 1.0], [4.0, 5.0]]),
        (lambda: paddle.linalg.norm(input=ROWS, dim=1).shape, [2]),
        (lambda: paddle.linalg.vector_norm(ROWS, dim=0).shape, [4]),
        (lambda: F.cross_entropy(ROWS, target=T([3, 3])).item(), 0.4401897),
        (lambda: F.normalize(input=ROWS, dim=0, eps=1.0).shape, [2, 4]),
        (lambda: F.layer_norm(input=paddle.ones([2, 4]), normalized_shape=[4], eps=0.1).sum().item(), 0.0),
        (lambda: F.conv2d(input=paddle.ones([1, 1, 2, 2]), weight=paddle.ones([1, 1, 2, 2])).item(), 4.0),
        (lambda: F.interpolate(input=paddle.ones([1, 1, 2, 2]), scale_factor=2).shape, [1, 1, 4, 4]),
        (lambda: paddle.nn.LayerNorm(4, eps=0.5)._epsilon, 0.5),
        (lambda: paddle.nn.GroupNorm(2, 4, eps=0.5)._epsilon, 0.5),
    ],
)
def test_arguments_have_the_names_of_either_convention(call: Any, wanted: Any) -> None:
    assert call() == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)


def test_gather_scatter_and_median_have_a_second_form() -> None:
    for call in (lambda: ROWS.gather(0, AT), lambda: paddle.gather(input=ROWS, dim=0, index=AT)):
        assert call().tolist() == [[0.0, 5.0]]
    assert paddle.scatter(ROWS, 1, AT, 9.0).tolist()[0] == [9.0, 9.0, 2.0, 3.0]
    assert paddle.scatter(ROWS, 1, AT, ROWS, reduce="add").tolist()[0] == [0.0, 2.0, 2.0, 3.0]
    assert paddle.scatter(input=ROWS, dim=1, index=AT, value=2.0).tolist()[0] == [2.0, 2.0, 2.0, 3.0]
    assert paddle.median(ROWS, axis=1).tolist() == [1.5, 5.5]
    values, positions = ROWS.median(dim=1)
    assert (values.tolist(), positions.tolist()) == ([1.0, 5.0], [1, 1])
    assert paddle.median(input=ROWS).item() == 3.0


def test_arguments_of_other_frameworks_are_refused() -> None:
    with pytest.raises(TypeError, match="bias"):
        paddle.nn.Linear(2, 2, bias=False)
    with pytest.raises(AttributeError, match="parameters are missing"):  # the parameters in the place of the rate
        paddle.optimizer.Adam(paddle.nn.Linear(2, 2).parameters())


# ------------------------------------------------------------------------------------------ distributions


def test_samples_move_with_their_parameters() -> None:
    paddle.seed(3)
    a = T([0.7, 2.0, 5.0], stop_gradient=False)
    D.Gamma(a, T([1.0, 2.0, 4.0])).rsample([4000]).mean(0).sum().backward()  # the mean is a / rate
    np.testing.assert_allclose(a.grad.numpy(), [1.0, 0.5, 0.25], rtol=0.1)
    a.clear_grad()
    (D.Dirichlet(a).rsample([4000])[:, 0].mean()).backward()  # the mean is a0 / sum(a)
    np.testing.assert_allclose(a.grad.numpy(), [7 / 7.7**2, -0.7 / 7.7**2, -0.7 / 7.7**2], atol=0.01)
    b = T(2.0, stop_gradient=False)
    D.Beta(b, T(3.0)).rsample([4000]).mean().backward()
    assert b.grad.item() == pytest.approx(3 / 25, abs=0.02)


def test_continuous_bernoulli() -> None:
    c = D.ContinuousBernoulli(T([0.2, 0.5, 0.9]))
    x = T([0.2, 0.3, 0.4])
    for found, wanted in (
        (c.mean, [0.3880, 0.5, 0.6699]), (c.variance, [0.0759, 0.0833, 0.0665]), (c.entropy(), [-0.0764, 0.0, -0.1796]),
        (c.log_prob(x), [0.3371, 0.0, -0.4134]), (c.cdf(x), [0.3229, 0.3, 0.1760]), (c.icdf(x), [0.1172, 0.3, 0.6531]),
        (D.kl_divergence(c, D.ContinuousBernoulli(T([0.3, 0.3, 0.3]))), [0.0113, 0.0297, 0.3533]),
        (D.ContinuousBernoulli(T([0.0, 1.0])).log_prob(T([0.2, 0.3])), [-0.4195, -8.3907]),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), wanted, atol=6e-5)
    assert D.ContinuousBernoulli(0.3).batch_shape == (1,)


def test_transforms_of_vectors_and_of_slices() -> None:
    x = T([[0.3, 0.1, -0.2], [1.0, 2.0, 0.5]])
    soft, stick = D.SoftmaxTransform(), D.StickBreakingTransform()
    np.testing.assert_allclose(soft.forward(x).numpy()[0], [0.4123, 0.3376, 0.2501], atol=6e-5)
    np.testing.assert_allclose(stick.forward(x).numpy()[0], [0.3103, 0.2455, 0.2, 0.2442], atol=6e-5)
    np.testing.assert_allclose(stick.inverse(stick.forward(x)).numpy(), x.numpy(), rtol=1e-5)
    np.testing.assert_allclose(stick.forward_log_det_jacobian(x).numpy(), [-5.5939, -7.4593], atol=6e-5)
    assert (stick.forward_shape([2, 3]), stick.inverse_shape([2, 3]), soft.forward_shape([2, 3])) == ((2, 4), (2, 2), [2, 3])
    slices = D.StackTransform([D.ExpTransform(), D.PowerTransform(T(2.0)), D.TanhTransform()], 1)
    np.testing.assert_allclose(slices.forward(x).numpy()[1], [2.7183, 4.0, 0.4621], atol=6e-5)
    with pytest.raises(ValueError, match="3 transforms"):
        slices.forward(x.T)
    with pytest.raises(NotImplementedError):
        soft.forward_log_det_jacobian(x)


@pytest.mark.parametrize("slope", ["_forward_log_det_jacobian", "_inverse_log_det_jacobian"])
def test_a_transform_of_ones_own_defines_one_slope(slope: str) -> None:
    class Triple(D.Transform):
        def _forward(self, x: Any) -> Any:
            return x * 3

        def _inverse(self, y: Any) -> Any:
            return y / 3

    sign = 1.0 if slope.startswith("_forward") else -1.0
    setattr(Triple, slope, lambda self, x: paddle.full_like(x, sign * float(np.log(3.0))))
    x = T([1.0])
    assert Triple().forward_log_det_jacobian(x).item() == pytest.approx(1.0986123)
    assert Triple().inverse_log_det_jacobian(x).item() == pytest.approx(-1.0986123)
    tripled = D.TransformedDistribution(D.Normal(0.0, 1.0), [Triple()])
    assert tripled.log_prob(T(0.5)).item() == pytest.approx(-2.0314398, rel=1e-5)


# ------------------------------------------------------------------------------------------ old programs

OLD = """
import retrograde; retrograde.activate("paddle")
import numpy as np, os, tempfile
import paddle.fluid as fluid
from paddle.fluid.dygraph.base import to_variable
from paddle.fluid.dygraph.nn import Linear, GRUUnit, PRelu
from paddle.fluid.optimizer import LambOptimizer
os.chdir(tempfile.mkdtemp())
with fluid.dygraph.guard():
    fluid.default_startup_program().random_seed = 90
    a = fluid.layers.uniform_random([2]).numpy()
    fluid.default_main_program().random_seed = 90
    print((a == fluid.layers.uniform_random([2]).numpy()).all())
    net = Linear(2, 1, param_attr=fluid.initializer.Constant(0.5))
    x = to_variable(np.array([[1.0, -2.0]], "float32"))
    opt = fluid.optimizer.Adam(fluid.dygraph.PiecewiseDecay([2, 4], [0.2, 0.4, 0.6], 0), parameter_list=net.parameters())
    print(opt.current_step_lr(), end=" ")
    for _ in range(6):
        loss = fluid.layers.reduce_sum(net(x))
        loss.backward(); opt.minimize(loss); net.clear_gradients()
        print(opt.current_step_lr(), end=" ")
    print(loss.shape == [1])
    fluid.save_dygraph(net.state_dict(), "net"); fluid.save_dygraph(opt.state_dict(), "net")
    layer, optimizer = fluid.load_dygraph("net")
    print(sorted(layer), optimizer is not None)
    state, reset, gates = GRUUnit(6, fluid.initializer.Constant(0.1))(fluid.layers.ones([1, 6], "float32"), x)
    print(state.shape == [1, 2], gates.shape == [1, 6], np.round(state.numpy().astype(float), 4).tolist())
    print(PRelu("all")(x).numpy().tolist(), fluid.layers.pow(x, factor=2.0).numpy().tolist())
    print(fluid.layers.pad(x, [0, 1, 0, 0]).shape == [2, 2], fluid.layers.has_nan(x).numpy(), fluid.layers.size(x).numpy())
"""


def test_old_programs() -> None:
    done = subprocess.run([sys.executable, "-c", OLD], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "True", "0.2 0.2 0.2 0.4 0.4 0.6 0.6 True", "['bias', 'weight'] True",
        "True True [[0.8081, -0.059]]", "[[1.0, -0.5]] [[1.0, 4.0]]", "True [False] [2]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name,arguments,rates",
    [
        ("ExponentialDecay", (0.5, 2, 0.5), [0.5, 0.35355, 0.25, 0.17678]),
        ("ExponentialDecay", (0.5, 2, 0.5, True), [0.5, 0.5, 0.25, 0.25]),
        ("NaturalExpDecay", (0.5, 1, 0.5), [0.5, 0.30327, 0.18394, 0.11157]),
        ("InverseTimeDecay", (0.5, 1, 0.5), [0.5, 0.33333, 0.25, 0.2]),
        ("PolynomialDecay", (0.5, 3, 0.2), [0.5, 0.4, 0.3, 0.2]),
        ("CosineDecay", (0.5, 2, 4), [0.5, 0.5, 0.42678, 0.42678]),
        ("NoamDecay", (4, 2), [0.17678, 0.35355, 0.28868, 0.25]),
        ("LinearLrWarmup", (0.5, 3, 0.0, 0.3), [0.1, 0.2, 0.5, 0.5]),
    ],
)
def test_old_learning_rates(name: str, arguments: Any, rates: list[float]) -> None:
    from retrograde.dialects.paddle import fluid

    schedule = getattr(fluid.dygraph, name)(*arguments)
    assert [round(schedule.advance(), 5) for _ in rates] == rates


def test_old_learning_rates_by_the_epoch() -> None:
    from retrograde.dialects.paddle import fluid

    schedule = fluid.dygraph.StepDecay(0.5, 2, 0.1)
    rates = []
    for _ in range(4):
        rates.append(round(schedule(), 5))
        schedule.epoch()
    assert rates == [0.5, 0.5, 0.05, 0.05]


@pytest.mark.parametrize("name", ["equal_", "less_than_", "logical_and_", "logical_xor_"])
def test_in_place_comparisons_keep_the_shape(name: str) -> None:
    x = paddle.ones([3, 1])
    with pytest.raises(ValueError, match="shape"):
        getattr(paddle, name)(x, paddle.ones([1, 4]))
    assert x.shape == [3, 1]
    assert x.dtype is paddle.float32
    assert getattr(paddle, name)(x, paddle.ones([1])).dtype is paddle.bool


@pytest.mark.parametrize("change", [
    lambda b: b.cast_("float32"), lambda b: paddle.cumsum_(b, -1, dtype="float32"),
    lambda b: paddle.assign(paddle.zeros([3]), b),
])  # fmt: skip
def test_what_was_computed_before_the_dtype_or_shape_changed_is_refused_its_derivative(change: Callable[[Any], Any]) -> None:
    a = T([1.0, 2.0], dtype="float64", stop_gradient=False)
    b = a**2
    c = b**2
    change(b)
    with pytest.raises(RuntimeError, match="changed in place"):
        c.sum().backward()


def test_assigning_another_shape_goes_on_counting() -> None:
    v = paddle.ones([4, 2, 3])
    v[0] = 1.1
    assert v.inplace_version == 1
    paddle.assign(paddle.ones([3]), v)
    assert (v.inplace_version, v.shape) == (2, [3])


def test_gradients_that_count_as_depending_leave_zeros() -> None:
    x, y = paddle.full([2], 2.0), paddle.full([2], 3.0)
    x.stop_gradient = y.stop_gradient = False
    (g,) = paddle.grad(x * y, [x], create_graph=True)
    g.sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    a = paddle.full([2], 2.0)
    a.stop_gradient = False
    (g,) = paddle.grad(a + a.sum(), [a], create_graph=True)
    g.sum().backward()
    assert a.grad is None


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float64"])
def test_gradients_pass_layers_with_integer_results(dtype: str) -> None:
    class Cast(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any, dtype: str) -> Any:
            return paddle.cast(x, dtype)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = T([1.5, 2.5], stop_gradient=False)
    z = Cast.apply(x, dtype)
    assert not z.stop_gradient
    (paddle.cast(z, "float32") * 3).sum().backward()
    assert x.grad.numpy().astype(dtype).tolist() == np.array([3, 3]).astype(dtype).tolist()


@pytest.mark.parametrize("call, error", [
    (lambda: F.elu_(paddle.ones([2]), -0.2), AssertionError),
    (lambda: paddle.gammainc(T([1.0]), T([-1.0])), ValueError),
    (lambda: paddle.gammaincc(T([float("nan")]), T([1.0])), ValueError),
    (lambda: F.triplet_margin_loss(paddle.ones([2, 2]), paddle.ones([1, 2]), paddle.ones([1, 2])), ValueError),
    (lambda: paddle.meshgrid(paddle.ones([2]), paddle.ones([2], "float64")), ValueError),
    (lambda: paddle.cartesian_prod([paddle.ones([2]), paddle.ones([2], "float64")]), ValueError),
    (lambda: paddle.save(paddle.ones([1]), "x.pd", pickle_protocol=5), ValueError),
    (lambda: paddle.autograd.jacobian((v := T([1.0, 2.0], stop_gradient=False)) * v, v)[..., 0], IndexError),
])  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


def test_class_numbers_are_smoothed_also_beside_soft_label() -> None:
    x = T([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    found = [F.cross_entropy(x, T([0, 2]), soft_label=soft, label_smoothing=0.1).item() for soft in (True, False)]
    assert found == [pytest.approx(1.19217575), pytest.approx(1.19217575)]
    assert paddle.ones([1]).numpy(False).tolist() == [1.0]


def test_bilinear_weights_drift_along_the_rows() -> None:
    w = paddle.create_parameter([1, 2, 4, 4], "float32", default_initializer=paddle.nn.initializer.Bilinear())
    rows = [[0.0625, 0.28125, 0.375, 0.15625], [0.1875, 0.65625, 0.75, 0.21875], [0.1875, 0.46875, 0.375, 0.09375],
            [0.0625, 0.09375, 0.0, -0.03125]]  # fmt: skip
    assert w.tolist() == [[rows, rows]]


def test_multiplex_depends_on_every_input() -> None:
    xs = [leaf([[1.0], [2.0]]) for _ in range(3)]
    found = paddle.grad(paddle.multiplex(xs, T([[1], [1]], dtype="int32")), xs)
    assert [g.tolist() for g in found] == [[[0.0], [0.0]], [[1.0], [1.0]], [[0.0], [0.0]]]


def test_each_step_that_a_path_is_short_of_costs_log_2() -> None:
    x, w = T([[1.0, 2.0, 0.5]]), T([[0.1, 0.2, 0.3]] * 4)
    found = [F.hsigmoid_loss(x, T([label]), 5, w).item() for label in range(5)]
    assert found == pytest.approx([2.1832576, 2.1832576, 1.5332577, 3.2101657, 2.560166])
    table, codes = T([[1, -1, -1]]), T([[1, -1, -1]])
    assert F.hsigmoid_loss(T([[0.3, 0.2, 0.1]]), T([1]), 3, w[:2], path_table=table, path_code=codes).item() == (
        pytest.approx(2.0306911)
    )


def test_the_nuclear_norm_of_a_matrix_needs_no_axes() -> None:
    assert paddle.norm(paddle.ones([2, 3]), p="nuc").item() == pytest.approx(6**0.5)
    with pytest.raises(ValueError):
        paddle.norm(paddle.ones([2, 3, 2]), p="nuc")
