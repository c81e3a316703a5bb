"""Sums and maxima over windows as generated code: against loops over the windows, and against NumPy's way of each operation."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, windows
from retrograde.ops import pooling, resample

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
rng = np.random.default_rng(3)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def regular(n, kernel, stride, padding, dilation=1):
    """The places of each window of an axis."""
    begins = range(-padding, n + padding - dilation * (kernel - 1), stride)
    return [[p for p in range(b, b + dilation * (kernel - 1) + 1, dilation) if 0 <= p < n] for b in begins]


def reduced(f, x, rows, columns):
    """f of each window of each plane."""
    planes = x.reshape(-1, *x.shape[-2:])
    found = [[[f(plane, i, j) for j in columns] for i in rows] for plane in planes]
    return np.array(found).reshape(*x.shape[:-2], len(rows), len(columns))


def first_place(plane, rows, columns):
    """Of the largest element, the first of equal ones, the last nan."""
    best = None
    for at in ((i, j) for i in rows for j in columns):
        if best is None or plane[at] > plane[best] or np.isnan(plane[at]):
            best = at
    return best[0] * plane.shape[1] + best[1]


def with_ties(shape, dtype):
    x = (rng.integers(-4, 4, shape) / 2).astype(dtype)
    x[0, 0, 3, 3:5] = np.nan
    x[1, :, 4:] = -np.inf
    return x


@dtypes
@pytest.mark.parametrize("form", [(2, 2, 0), (3, 2, 1), (3, 1, 1), (5, 3, 2), (2, 1, 0, 3)])
@pytest.mark.parametrize("size", [(19, 23), (17, 40)])
def test_windows(form, size, dtype):
    x = rng.normal(size=(3, 5, *size)).astype(dtype)
    rows, columns = (regular(n, *form) for n in size)
    tables = [windows.table(n, w) for n, w in zip(size, (rows, columns), strict=True)]
    total = reduced(lambda p, i, j: p[np.ix_(i, j)].sum(dtype=np.float64), x, rows, columns)
    eps = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(windows.weighted(x, *tables), total, atol=eps)
    by = [np.array([len(w) for w in along], dtype) for along in (rows, columns)]
    np.testing.assert_allclose(windows.weighted(x, *tables, by), total / np.outer(*by), atol=eps)
    x = with_ties(x.shape, dtype)
    np.testing.assert_array_equal(
        windows.maxima(x, *tables), reduced(lambda p, i, j: p[np.ix_(i, j)].max(), x, rows, columns)
    )  # fmt: skip
    at = windows.places(x, *tables)
    np.testing.assert_array_equal(at, reduced(first_place, x, rows, columns))
    g, expected = rng.normal(size=at.shape).astype(dtype), np.zeros((15, x[0, 0].size))
    np.add.at(expected, (np.repeat(np.arange(15), at[0, 0].size), at.ravel()), g.ravel())
    np.testing.assert_allclose(windows.scattered(g, at, x.shape).reshape(15, -1), expected, atol=eps)


def test_strips_of_long_axes():
    x = rng.normal(size=(2, 2, 1, 3000)).astype(np.float32)
    along = regular(3000, 4, 2, 1)
    table = windows.table(3000, along)
    assert len(table.strips) > 4
    np.testing.assert_allclose(
        windows.weighted(x, windows.every(1), table), reduced(lambda p, i, j: p[0, j].sum(), x, [[0]], along), atol=1e-5
    )  # fmt: skip
    assert windows.table(3000, [list(range(3000))]) is None
    assert windows.table(4, [[0], []]) is None
    assert windows.table(4, [[0], []], empty=True) is not None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_does_not_change_a_bit(dtype):
    x = rng.normal(size=(2, 3, 33, 29)).astype(dtype)
    tables = windows.table(33, regular(33, 3, 2, 1)), windows.table(29, regular(29, 3, 2, 1))
    same_bits(lambda: windows.weighted(x, *tables))
    same_bits(lambda: windows.maxima(x, *tables))
    (at,) = same_bits(lambda: windows.places(x, *tables))
    same_bits(lambda: windows.scattered(x[..., :17, :15].copy(), at, x.shape))


def both(monkeypatch, f):
    """f() by generated code and by NumPy."""
    calls = []
    run = windows._generated
    monkeypatch.setattr(windows, "_generated", lambda *form: (calls.append(form), run(*form))[1])
    generated = f()
    assert calls
    monkeypatch.setattr(windows, "_generated", lambda *form: None)
    return generated, f()


@dtypes
@pytest.mark.parametrize("shape", [(3, 4, 40, 31), (5, 6, 300)])
def test_pooling(monkeypatch, shape, dtype):
    axes = len(shape) - 2
    x = rng.normal(size=shape).astype(dtype)
    given = {"kernel": (3,) * axes, "stride": (2,) * axes, "padding": ((1, 1),) * axes}
    counted = {"counted": ((0, 0),) * axes, "divisor": None}
    maxima = {**given, "dilation": (1,) * axes}
    parts = {"parts": (7, 5)[:axes]}
    eps = 20 * np.finfo(dtype).eps

    def run():
        pooled = pooling.max_pool(x, **maxima)
        means = pooling.avg_pool(x, **given, **counted)
        return [
            pooled, pooling.max_pool_places(x, **maxima), pooling._scattered_numpy(pooled, x, pooling._regular(
                shape[2:], *maxima.values())), means, pooling.avg_pool_spread(means, size=shape[2:], **given, **counted),
            pooling.avg_pool(x, **given, **{**counted, "divisor": 5}), pooling.adaptive_max_pool(x, **parts),
        ]  # fmt: skip

    for generated, expected in zip(*both(monkeypatch, run), strict=True):
        assert generated.dtype == expected.dtype
        np.testing.assert_allclose(generated, expected, rtol=eps, atol=eps)


MAPS = {
    "nearest": (resample.Map(resample.NEAREST, 20, 41), resample.Map(resample.NEAREST_EXACT, 33, 15)),
    "linear": (resample.Map(resample.LINEAR, 20, 40), resample.Map(resample.LINEAR, 33, 12, align=True)),
    "mixed": (resample.Map(resample.NEAREST, 20, 30), resample.Map(resample.CUBIC, 33, 50)),
    "smooth": (resample.Map(resample.LINEAR, 20, 7, antialias=True), resample.Map(resample.CUBIC, 33, 9, antialias=True)),
    "means": (resample.Map(resample.MEAN, 20, 7), resample.Map(resample.MEAN, 33, 1)),
    "a line": (resample.Map(resample.LINEAR, 660, 800),),
    "space": (resample.Map(resample.LINEAR, 4, 6), resample.Map(resample.NEAREST, 5, 9), resample.Map(resample.KEYS, 33, 20)),
}


@dtypes
@pytest.mark.parametrize("maps", MAPS.values(), ids=MAPS)
def test_resampling(monkeypatch, maps, dtype):
    x = rng.normal(size=(2, 3, *(m.n for m in maps))).astype(dtype)

    def run():
        y = resample.resample(x, maps=maps)
        return y, resample.resample_spread(y, maps=maps)

    for generated, expected in zip(*both(monkeypatch, run), strict=True):
        assert generated.dtype == dtype
        np.testing.assert_allclose(generated, expected, rtol=0, atol=40 * np.finfo(dtype).eps * np.abs(expected).max())
