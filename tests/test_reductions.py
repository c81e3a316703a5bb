"""Sums and extremes of large matrices as generated code: against double precision, for odd shapes, with nan, by any number of
threads, and where operations take them."""

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.jit import llvm, reductions
from retrograde.ops import loss, manipulation, norms, reduction, softmax

from .same_bits import same_bits

rng = np.random.default_rng(7)
pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SHAPES = [(200, 300), (33, 4099), (5000, 17), (20000, 3), (3, 20011), (32, 1024), (65, 513), (1, 40000), (40000, 1)]
NUMPY = {"sum": np.sum, "max": np.max, "min": np.min}


def numbers(shape, dtype):
    return (rng.normal(size=shape) + 1).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_columns_and_all(shape, name, dtype):
    x = numbers(shape, dtype)
    wide = x.astype(np.longdouble)
    for way, axis in ((reductions.along_rows, 1), (reductions.down_columns, 0), (reductions.of_all, None)):
        found, want = way(name, x), NUMPY[name](wide, axis=axis)
        assert found.dtype == dtype
        assert found.shape == want.shape
        if name == "sum":
            size = np.sum(np.abs(wide), axis=axis)
            assert (np.abs(found - want) <= (4e-7 if dtype is np.float32 else 1e-15) * size).all()
        else:
            np.testing.assert_array_equal(found, want.astype(dtype))


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_unusual_numbers_are_numpys(name):
    x = numbers((400, 100), np.float32)
    x[3, 5], x[7, 99], x[9, 0], x[11, :], x[:, 50] = np.nan, -np.inf, np.inf, -0.0, np.inf
    for way, axis in ((reductions.along_rows, 1), (reductions.down_columns, 0), (reductions.of_all, None)):
        np.testing.assert_array_equal(way(name, x), NUMPY[name](x, axis=axis))
    assert way(name, np.full((400, 100), np.inf if name == "max" else -np.inf)) == (np.inf if name == "max" else -np.inf)


@pytest.mark.parametrize("name", NUMPY)
def test_the_bits_do_not_depend_on_the_number_of_threads(name):
    x = numbers((300, 1000), np.float32)
    same_bits(lambda: tuple(way(name, x) for way in (reductions.along_rows, reductions.down_columns, reductions.of_all)))


def test_what_is_left_to_numpy():
    for x in (np.zeros((4, 4)), np.zeros((40000, 2), np.int64), np.zeros((400, 400)).T[::2], np.zeros((300, 300), np.float16)):
        assert reductions.along_rows("sum", x) is None


@pytest.mark.parametrize("axis", [(0,), (2,), (1, 2), (0, 1), (0, 1, 2), (1,), (0, 2), ()])
@pytest.mark.parametrize("keepdims", [True, False])
def test_operations_on_large_arrays(axis, keepdims):
    x = numbers((70, 40, 90), np.float32)
    wide = x.astype(np.float64)
    given = {"axis": axis, "keepdims": keepdims}
    for op, params, exact in (
        (reduction.sum, {}, np.sum), (reduction.mean, {}, np.mean), (reduction.amax, {"ties": "even"}, np.max),
        (reduction.amin, {"ties": "even"}, np.min),
    ):  # fmt: skip
        found = op(x, **given, **params)
        want = exact(wide, axis=axis, keepdims=keepdims)
        assert found.shape == want.shape
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
    if axis:
        np.testing.assert_allclose(reduction.var(x, correction=1, **given), wide.var(axis, ddof=1, keepdims=keepdims), rtol=1e-5)
        np.testing.assert_allclose(
            norms.vector_norm(x, ord=2.0, **given), np.sqrt((wide * wide).sum(axis, keepdims=keepdims)), rtol=1e-5
        )  # fmt: skip


LOSSES = {
    "mse_loss": (loss.mse_loss, {}), "smooth_l1_loss": (loss.smooth_l1_loss, {"beta": 0.7}),
    "huber_loss": (loss.huber_loss, {"delta": 0.4}), "bce": (loss.binary_cross_entropy_with_logits, {}),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_large_arrays_are_those_of_small_ones(name, reduction, dtype):
    op, params = LOSSES[name]
    beside = (None, None) if name == "bce" else ()
    x, y = numbers((150, 300), dtype), rng.random((150, 300)).astype(dtype)

    def pulled(first, last):
        a, b = (rg.asarray(z[first:last], requires_grad=True) for z in (x, y))
        out = op(a, b, *beside, reduction=reduction, **params)
        seed = np.full(out.shape, 3, dtype)
        return out.detach().numpy(), *(g.numpy() for g in rg.autograd.grad(out, [a, b], [rg.asarray(seed)]))

    parts = [pulled(k, k + 15) for k in range(0, 150, 15)]
    whole = pulled(0, 150)
    scale = 10 if reduction == "mean" else 1
    want = np.concatenate([p[0] for p in parts]) if reduction == "none" else sum(p[0] for p in parts) / scale
    assert whole[0].dtype == dtype
    assert op.prim.large.fused((x, y, *beside), {"reduction": "none", **params})
    close = {"rtol": 1e-5, "atol": 1e-6} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(whole[0], want, **close)
    for k in (1, 2):
        np.testing.assert_allclose(whole[k], np.concatenate([p[k] for p in parts]) / scale, **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(200, 300), (33, 4099), (5000, 17), (65, 513), (1, 40000), (40000, 1)])
def test_sums_of_products(shape, dtype):
    x = numbers(shape, dtype)
    wide = x.astype(np.longdouble)
    for way, axis, other in ((reductions.along_rows, 1, (1, shape[1])), (reductions.down_columns, 0, (shape[0], 1))):
        for y in (numbers(shape, dtype), numbers(shape[::-1], dtype).T, numbers(other, dtype)):
            found = way("sum", x, y)
            size = np.sum(np.abs(wide * y), axis=axis)
            assert (np.abs(found - np.sum(wide * y, axis=axis)) <= (5e-7 if dtype is np.float32 else 2e-15) * size).all()
    assert reductions.along_rows("sum", x, x.astype(np.int64)) is None
    same_bits(lambda: (reductions.along_rows("sum", x, x), reductions.down_columns("sum", x, x)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("a", "b"),
    [((400, 300), (300,)), ((400, 300), (400, 1)), ((300,), (400, 300)), ((8, 6, 40, 40), (6, 1, 1)), ((400, 1), (1, 300)),
     ((8, 6, 40, 40), (1, 6, 1, 1)), ((400, 300), ()), ((40, 30, 50), (40, 1, 50)), ((300, 400), (1, 1)), ((300, 1), (400,))],
)  # fmt: skip
def test_gradients_of_products_with_what_is_broadcast(a, b, dtype):
    x, y = (rg.asarray(numbers(shape, dtype), requires_grad=True) for shape in (a, b))
    out = x * y
    seed = numbers(out.shape, dtype)
    pulled = rg.autograd.grad(out, [x, y], [rg.asarray(seed)])
    for found, operand, other in zip(pulled, (x, y), (y, x)):
        exact = seed.astype(np.float64) * other.detach().numpy()
        stretched = [n == 1 for n in (1,) * (exact.ndim - operand.ndim) + operand.shape]
        want = exact.sum(tuple(np.flatnonzero(stretched)), keepdims=True).reshape(operand.shape)
        assert found.dtype == dtype
        close = (2e-5, 1e-3) if dtype is np.float32 else (1e-12, 1e-11)
        np.testing.assert_allclose(found.numpy(), want, rtol=close[0], atol=close[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["even", "even_zero", "even_nan", "all"])
@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
def test_extremes_of_large_arrays_share_as_those_of_small_ones(axis, ties, dtype):
    x = rng.integers(0, 40, (200, 300)).astype(dtype)
    if axis != (0, 1):
        x[3], x[:, 5], x[7, 7], x[9, 8] = 2, 4, np.inf, np.nan
        x[13], x[:, 15] = np.nan, -np.inf
    for y in (x, np.full_like(x, np.nan)) if axis == (0, 1) else (x,):
        extreme = np.max(y, axis=axis, keepdims=True)
        g = numbers(extreme.shape, dtype)
        g.flat[0] = np.inf
        share = reduction.tie_weights(y, extreme, axis=axis, ties=ties)
        with np.errstate(invalid="ignore"):
            want = np.where(share == 0, 0, g * share)
        assert reduction._shared_large(g, y, extreme, axis, ties) is not None
        found = reduction.share_among_ties(g, y, extreme, axis=axis, ties=ties)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_and_spreads_of_large_arrays(axis, dtype):
    x, g = numbers((40, 30, 50), dtype), numbers((40, 30, 50), dtype)
    wide, seed = x.astype(np.float64), g.astype(np.float64)
    close = {"rtol": 2e-5, "atol": 2e-6} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    powers = np.exp(wide - wide.max(axis, keepdims=True))
    weights = powers / powers.sum(axis, keepdims=True)
    given = rg.asarray(x, requires_grad=True)
    out = softmax.softmax(given, axis=axis)
    np.testing.assert_allclose(out.detach().numpy(), weights, **close)
    (found,) = rg.autograd.grad(out, [given], [rg.asarray(g)])
    np.testing.assert_allclose(found.numpy(), (seed - (seed * weights).sum(axis, keepdims=True)) * weights, **close)
    for axes in ((axis,), (0, 1, 2)):
        out = reduction.std(given, axis=axes, correction=1, keepdims=True)
        np.testing.assert_allclose(out.detach().numpy(), wide.std(axes, ddof=1, keepdims=True), **close)
        (found,) = rg.autograd.grad(out, [given], [rg.asarray(np.ones(out.shape, dtype))])
        freedom = x.size / out.size - 1
        distance = wide - wide.mean(axes, keepdims=True)
        np.testing.assert_allclose(found.numpy(), distance / freedom / wide.std(axes, ddof=1, keepdims=True), **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [(0, 1), (1,)])
def test_moments_and_logsumexp_of_large_arrays(axis, dtype):
    x, close = numbers((300, 400), dtype) + 3, 30 * np.finfo(dtype).eps
    wide, params = x.astype(np.longdouble), {"axis": axis, "keepdims": False}

    def found():
        std = reduction.std(x, correction=1, **params)
        pulled = reduction.std.prim.vjps[0](std, std, x, correction=1, **params)
        top = reduction.logsumexp(x, **params)
        column = top.reshape(-1, 1)
        return std, reduction.var(x, correction=1, **params), pulled, top, reduction.scaled_exp(column, x, column)

    same_bits(found)
    std, var, pulled, top, powers = found()
    exact = wide.std(axis, ddof=1)
    np.testing.assert_allclose(std, exact, rtol=close)
    np.testing.assert_allclose(var, exact**2, rtol=close)
    n = x.size // exact.size - 1
    np.testing.assert_allclose(pulled, (wide - wide.mean(axis, keepdims=True)) / n, rtol=0, atol=close)
    np.testing.assert_allclose(top, np.log(np.exp(wide).sum(axis)), rtol=close)
    np.testing.assert_allclose(powers, top.reshape(-1, 1) * np.exp(wide - top.reshape(-1, 1)), rtol=20 * close)


def test_repeated_and_rolled_rows_of_large_arrays():
    x = numbers((500, 400), np.float32)
    tiled = manipulation.tile(x, reps=(3, 1))
    np.testing.assert_array_equal(tiled, np.tile(x, (3, 1)))
    back = manipulation.tile.prim.vjps[0].transpose(tiled, x, reps=(3, 1))
    np.testing.assert_allclose(back, 3 * x, rtol=1e-6)
    for shift in (1, -1, 499):
        np.testing.assert_array_equal(manipulation.roll(x, shifts=(shift,), axes=(0,)), np.roll(x, shift, 0))
