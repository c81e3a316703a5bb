"""The functions of `mindspore.ops`, `numpy` and `mint` against figures recorded from MindSpore; derivatives at kinks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dialects.mindspore.ops_cases import DIFFERENT, evaluate, load, same

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, ops

RECORDED = load()


def _group(expression: str) -> str:
    return expression.partition(":")[2][:10] if expression.startswith("V") else expression.partition("(")[0]


@pytest.mark.parametrize("group", sorted({_group(e) for e in RECORDED}))
def test_recorded(group: str) -> None:
    for expression, wanted in RECORDED.items():
        if _group(expression) == group and expression not in DIFFERENT:
            got = evaluate(ms, expression)
            assert same(wanted, got), f"{expression}: MindSpore gives {wanted}, here it is {got}"


_T = [[1.0, 3.0, 3.0], [2.0, 2.0, 0.0]]
KINKS: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("abs", ops.abs, [0.0], [0.0]), ("relu", ops.relu, [0.0], [0.0]),
    ("relu6", ops.relu6, [0.0, 6.0], [0.0, 1.0]), ("sqrt", ops.sqrt, [0.0], [np.inf]),
    ("hardtanh", ops.hardtanh, [-1.0, 0.0, 1.0], [0.5, 1.0, 0.5]),
    ("hardsigmoid", ops.hardsigmoid, [-3.0, 3.0], [0.0, 0.0]), ("hardswish", ops.hardswish, [-3.0, 3.0], [-0.5, 1.5]),
    ("hardshrink", ops.hardshrink, [-0.5, 0.5], [0.0, 0.0]), ("softshrink", ops.softshrink, [-0.5, 0.5], [0.0, 0.0]),
    ("threshold", lambda x: ops.threshold(x, 1.0, 2.0), [1.0, 1.5], [0.0, 1.0]),
    ("leaky_relu", lambda x: ops.leaky_relu(x, 0.1), [-1.0, 0.0, 1.0], [0.1, 0.55, 1.0]),
    ("leaky_relu by default", ops.leaky_relu, [0.0], [0.6]), ("elu", ops.elu, [0.0], [1.0]),
    ("softsign", ops.softsign, [0.0], [1.0]),
    ("nan_to_num", ops.nan_to_num, [np.nan, np.inf, 1.0], [0.0, 0.0, 1.0]), ("sinc", ops.sinc, [0.0], [0.0]),
    ("maximum", lambda x: ops.maximum(x, 1.0), [0.0, 1.0, 2.0], [0.0, 0.5, 1.0]),
    ("minimum", lambda x: ops.minimum(x, 1.0), [0.0, 1.0, 2.0], [1.0, 0.5, 0.0]),
    ("fmax", lambda x: ops.fmax(x, Tensor([1.0, 1.0, 1.0])), [0.0, 1.0, 2.0], [0.0, 1.0, 1.0]),
    ("clamp", lambda x: ops.clamp(x, -1.0, 1.0), [-1.0, 0.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.0]),
    ("clip_by_value", lambda x: ops.clip_by_value(x, -1.0, 1.0), [-1.0, 0.0, 1.0, 2.0], [0.5, 1.0, 0.5, 0.0]),
    ("norm", ops.norm, [0.0, 0.0], [np.nan, np.nan]), ("std", lambda x: x.std(), [1.0, 1.0], [np.nan, np.nan]),
    ("max", lambda x: x.max(), _T, [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]),
    ("max of rows", lambda x: x.max(axis=1), _T, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    ("amax of rows", lambda x: ops.amax(x, 1), _T, [[0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]),
    ("ArgMaxWithValue", lambda x: ops.ArgMaxWithValue(1)(x)[1], _T, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    ("median", lambda x: ops.median(x, 1)[0], _T, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    ("floor_mod by its divisor", lambda x: ops.floor_mod(Tensor([7.0, 7.0]), x), [2.0, 4.0], [-3.0, -1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x", "wanted"), [k[1:] for k in KINKS], ids=[k[0] for k in KINKS])
def test_derivatives_at_kinks(f: Any, x: list[Any], wanted: list[Any]) -> None:
    np.testing.assert_allclose(ms.grad(f)(Tensor(x)).asnumpy(), np.asarray(wanted, np.float32), rtol=1e-6)


def test_views_share_memory() -> None:
    for view in (
        lambda x: x.reshape(4), lambda x: ops.reshape(x, (4,)), lambda x: x.T, lambda x: ops.expand_dims(x, 0),
        lambda x: x.flatten(), lambda x: ops.split(x, 1)[0], lambda x: ops.unbind(x)[0],
    ):  # fmt: skip
        x = Tensor([[1.0, 2.0], [3.0, 4.0]])
        y = view(x)
        y[(0,) * y.ndim] = 9.0
        assert float(x[0, 0]) == 9.0
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ops.identity(x) is x
    assert ops.cast(x, ms.float32) is x
    for y in (x.astype(ms.float32), x.float(), x.to(ms.float32)):
        assert y is not x
        y[0, 0] += 1.0
    assert float(x[0, 0]) == 4.0


def test_primitives() -> None:
    reduce = ops.ReduceSum(keep_dims=True)
    assert repr(reduce) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    assert reduce.keep_dims is True
    assert reduce.name == "ReduceSum"
    with pytest.raises(TypeError, match="ReduceSum"):
        ops.ReduceSum(axis=1)
    with pytest.raises(AttributeError, match="MatMul"):
        ops.MatMull  # noqa: B018
    import retrograde.dialects.mindspore.ops.functional as F
    import retrograde.dialects.mindspore.ops.operations as P

    assert P.MatMul is ops.MatMul
    assert F.relu is ops.relu


def test_hyper_map_and_multitype_graph() -> None:
    double = ops.MultitypeFuncGraph("double")

    @double.register("Tensor")
    def _(x: Any) -> Any:
        return x * 2

    @double.register("Number")
    def _(x: Any) -> Any:
        return x * 3

    assert ops.HyperMap(double)((1, [2, 3])) == (3, (6, 9))  # tuples, also of lists
    assert ops.HyperMap()(double, (Tensor([1.0]), 1))[0].asnumpy().tolist() == [2.0]
    with pytest.raises(ValueError, match="double"):
        double("a")


def test_seeds_repeat() -> None:
    def draw() -> list[float]:
        ms.set_seed(3)
        found: list[float] = ops.randn(3).asnumpy().tolist()
        return found

    assert draw() == draw()
    keep = ops.dropout(ops.ones((1000,)), 0.25).asnumpy()
    assert set(np.unique(keep)) == {0.0, np.float32(1 / 0.75)}
    assert 0.15 < float((keep == 0).mean()) < 0.35


def test_writing_primitives_return_the_values_as_a_tensor() -> None:
    p = ms.Parameter(Tensor([1.0, 3.0]), name="p")
    written = ops.ScatterNdUpdate()(p, Tensor([[0]], ms.int32), Tensor([9.0]))
    assert type(written) is Tensor
    assert p.asnumpy().tolist() == [9.0, 3.0]
    momentum = ms.Parameter(Tensor([0.0, 0.0]), name="m")
    assert type(ops.ApplyMomentum()(p, momentum, 0.1, Tensor([1.0, 1.0]), 0.9)) is Tensor
    assert np.allclose(p.asnumpy(), [8.9, 2.9])


def test_missing_and_superfluous_arguments() -> None:
    x = ops.ones((2, 3))
    with pytest.raises(TypeError, match="Concat: wanted one tuple"):
        ops.Concat()(x, x)
    for method in (x.view, x.expand, x.repeat):
        with pytest.raises(TypeError, match="given"):
            method()
    with pytest.raises(ValueError, match="outer"):
        ops.outer(x, x)


def test_print_describes_tensors(capsys: pytest.CaptureFixture[str]) -> None:
    for show in (ops.Print(), ops.print_):
        show("loss", Tensor([1.0]))
        assert capsys.readouterr().out == "loss\nTensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])\n"


def test_gumbel_softmax() -> None:
    for hard in (False, True):
        out = ops.gumbel_softmax(Tensor([[1.0, 2.0], [0.5, -1.0]]), hard=hard)
        np.testing.assert_allclose(out.sum(1).asnumpy(), [1.0, 1.0], rtol=1e-6)


def test_tile_as_a_method() -> None:
    x = Tensor(np.ones((2, 3), np.float32))
    for out, shape in ((x.tile(3), (2, 9)), (x.tile(2, 1), (4, 3)), (x.tile((2,)), (2, 6)), (x.tile(reps=(2, 1)), (4, 3))):
        assert out.shape == shape
    for call in (lambda: x.tile("a"), lambda: ops.tile(x, 3)):
        with pytest.raises(TypeError, match="tile"):
            call()


@pytest.mark.parametrize(
    ("paddings", "error"),
    [((1, 2), TypeError), (3, TypeError), (((1, 2),), ValueError), (((-1, 2), (0, 0)), ValueError)],
)
def test_paddings_of_the_primitive(paddings: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="Pad"):
        ops.Pad(paddings)(Tensor(np.ones((2, 3), np.float32)))


@pytest.mark.parametrize("k", [0, -1, 4])
def test_topk_wants_elements_that_are_there(k: int) -> None:
    with pytest.raises(ValueError, match="topk"):
        ops.topk(Tensor([1.0, 2.0, 3.0]), k)


def test_numpy_covariances_of_one_variable() -> None:
    from retrograde.dialects.mindspore import numpy as mnp

    x = Tensor([[1.0, 2.0, 3.0]])
    assert mnp.cov(x).asnumpy().tolist() == 1.0
    assert mnp.corrcoef(x).asnumpy().tolist() == 1.0
    assert mnp.in1d(x, Tensor([1.0, 5.0])).asnumpy().tolist() == [True, False, False]


def test_filling_takes_the_dtype_of_the_value() -> None:
    assert ops.FillV2()((2,), Tensor(1.5)).asnumpy().tolist() == [1.5, 1.5]
    assert ops.FillV2()((2,), Tensor(1, ms.int32)).dtype is ms.int32


def test_powers_of_booleans_are_refused() -> None:
    b = Tensor([True, False])
    for power in (lambda: b**b, lambda: b**True, lambda: ops.pow(b, b)):
        with pytest.raises(TypeError, match="pow"):
            power()
    assert (b**2).dtype is ms.int64


def test_cubic_resampling_weighs_the_elements_that_there_are() -> None:
    # Recorded; MindSpore rounds places between two elements to 1024ths, which at these does nothing.
    x = Tensor((np.arange(16, dtype=np.float32) ** 1.5).reshape(1, 1, 4, 4))
    got = ops.interpolate(x, size=(8, 8), mode="bicubic").asnumpy()[0, 0, 0]
    want = [-0.7771, -0.5894, -0.1924, 0.4472, 1.3015, 2.3923, 3.6323, 4.2181]
    np.testing.assert_allclose(got, want, atol=1e-4)
    with pytest.raises(ValueError, match="recompute_scale_factor"):
        ops.interpolate(x, scale_factor=2.0, mode="bicubic")


def test_resizing_measures_from_the_first_elements_unless_told_otherwise() -> None:
    x = Tensor(np.array([[[[0.0, 4.0]]]], np.float32))
    assert ops.ResizeBilinearV2()(x, (1, 4)).asnumpy().ravel().tolist() == [0.0, 2.0, 4.0, 4.0]
    assert ops.ResizeBilinearV2(half_pixel_centers=True)(x, (1, 4)).asnumpy().ravel().tolist() == [0.0, 1.0, 3.0, 4.0]
    assert ops.ResizeBicubic(align_corners=True)(x, Tensor([1, 3])).asnumpy().ravel().tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("call, want", [
    (lambda mnp, x: mnp.polyadd([1, 2], [9, 5, 4]), [9, 6, 6]),
    (lambda mnp, x: mnp.polysub([2, 1], [3, 10, -4]), [-3, -8, 5]),
    (lambda mnp, x: mnp.polymul([3, 1, 2], [2, 5]), [6, 17, 9, 10]), (lambda mnp, x: mnp.polyder([1, 2, 3], 2), [2]),
    (lambda mnp, x: mnp.polyint([1.0], 2, [1, 2]), [0.5, 1.0, 2.0]), (lambda mnp, x: mnp.nancumsum([1.0, np.nan]), [1.0, 1.0]),
    (lambda mnp, x: mnp.diag_indices(2)[1], [0, 1]), (lambda mnp, x: mnp.tril_indices_from(x)[0], [0, 1, 1]),
    (lambda mnp, x: mnp.ix_([0, 1], [2, 4])[0], [[0], [1]]), (lambda mnp, x: mnp.mgrid[0:1:3j], [0.0, 0.5, 1.0]),
    (lambda mnp, x: mnp.ogrid[0:2, 0:3][1], [[0, 1, 2]]),
    (lambda mnp, x: mnp.choose([2, 0], [[0, 1], [10, 11], [20, 21]]), [20, 1]),
    (lambda mnp, x: mnp.piecewise(x[0], [x[0] > 1.5], [lambda t: t * 10]), [0.0, 20.0, 30.0]),
    (lambda mnp, x: mnp.multi_dot([x, x.T]), [[14.0, 32.0], [32.0, 77.0]]),
    (lambda mnp, x: mnp.apply_over_axes(mnp.sum, x, [0, 1]), [[21.0]]),
    (lambda mnp, x: mnp.histogramdd([[1.0, 2.0], [2.0, 1.0]], 2)[0], [[0.0, 1.0], [1.0, 0.0]]),
])  # fmt: skip
def test_rarer_functions_of_numpy(call: Any, want: Any) -> None:
    from retrograde.dialects.mindspore import numpy as mnp

    assert call(mnp, Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])).asnumpy().tolist() == want


def test_derivatives_of_rarer_functions_of_numpy() -> None:
    from retrograde.dialects.mindspore import numpy as mnp

    def square_at_two(t: Any) -> Any:
        return mnp.polyval(mnp.polymul(t, t), mnp.array(2.0))  # (2 t0 + t1)²: MindSpore counts t once

    assert ms.grad(square_at_two)(Tensor([1.0, 2.0])).asnumpy().tolist() == [16.0, 8.0]
    assert ms.grad(lambda t: mnp.unwrap(t).sum())(Tensor([1.0, 9.0])).asnumpy().tolist() == [1.0, 1.0]


def test_scalar_operations() -> None:
    assert (ops.scalar_add(1, 2.5), ops.scalar_sub(1, 2), ops.scalar_mul(2, 3), ops.scalar_div(4, 2)) == (3.5, -1, 6, 2.0)
    assert (ops.scalar_floordiv(-7, 2), ops.scalar_mod(-7, 3), ops.scalar_pow(2, -1), ops.scalar_usub(3)) == (-4, 2, 0.5, -3)
    assert (ops.scalar_lt(1, 2), ops.scalar_ge(1, 2), ops.scalar_max(1, 2), ops.scalar_log(1)) == (True, False, 2, 0.0)
    assert ops.scalar_add(Tensor(1), 2).item() == 3
    with pytest.raises(ValueError, match="divided by 0"):
        ops.scalar_div(1, 0)


@pytest.mark.parametrize("name", ["export", "load"])
def test_mindir_is_refused_by_name(name: str) -> None:
    with pytest.raises(NotImplementedError, match="checkpoint"):
        getattr(ms, name)("net.mindir")


def test_reflections_are_not_negative() -> None:
    with pytest.raises(ValueError, match="negative"):
        ms.nn.ReflectionPad1d((-1, 2))
    assert ms.nn.ReplicationPad1d((-1, 2))(Tensor([[[1.0, 2.0, 3.0]]])).tolist() == [[[2.0, 3.0, 3.0, 3.0]]]
