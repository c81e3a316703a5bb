"""Generated scans: values and derivatives as NumPy's in double precision, both layouts and directions, any number of threads."""

import numpy as np
import pytest

import retrograde
from retrograde.backend.jit import llvm, scans, threads
from retrograde.backend.jit.operands import LEAST
from retrograde.ops.reduction import argmax, argmin, prod
from retrograde.ops.scan import cumprod, cumsum, linear_recurrence
from retrograde.ops.sorting import argcum
from retrograde.transform import grad

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SHAPES = [
    ((101, 100), 1), ((101, 100), 0), ((40, 7, 51), 1), ((3, 3000), 0), ((3000, 3), 1), ((LEAST,), 0), ((9000, 1), 0),
]  # fmt: skip
TOLERANCE = {np.float32: {"rtol": 1e-6, "atol": 1e-30}, np.float64: {"rtol": 1e-13, "atol": 1e-200}}


def random(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def steps(x, axis, reverse):
    """In double precision, the axis first, in the direction of the scan; and the way back."""
    turned = np.moveaxis(x.astype(float), axis, 0)
    return turned[::-1] if reverse else turned


def back(y, axis, reverse, dtype):
    return np.moveaxis(y[::-1] if reverse else y, 0, axis).astype(dtype)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_products_and_recurrences(dtype, shape, axis, reverse):
    a, x, g = (random(shape, dtype, seed) for seed in range(3))
    ax, xx, gx = (steps(y, axis, reverse) for y in (a, x, g))
    for name, ufunc in (("cumsum", np.add), ("cumprod", np.multiply)):
        wanted = back(ufunc.accumulate(xx, axis=0), axis, reverse, dtype)
        np.testing.assert_array_equal(scans.cumulative(name, x, axis, reverse), wanted)
    s, pulled = xx.copy(), gx.copy()
    for i in range(1, len(s)):
        s[i] += ax[i] * s[i - 1]
    np.testing.assert_allclose(scans.recurrence(a, x, axis, reverse), back(s, axis, reverse, dtype), **TOLERANCE[dtype])
    for i in range(len(s) - 2, -1, -1):
        pulled[i] += xx[i + 1] * pulled[i + 1]
    pulled[1:] *= np.multiply.accumulate(xx, axis=0)[:-1]
    out = scans.cumulative("cumprod", x, axis, reverse)
    found = scans.cumprod_pull(g, out, x, axis, reverse)
    np.testing.assert_allclose(found, back(pulled, axis, reverse, dtype), rtol=1e-5 if dtype is np.float32 else 1e-12, atol=1e-30)


@pytest.mark.parametrize("n", [4, 40, 2 * LEAST])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_factor_of_zero_hides_infinite_cotangents(n, create_graph):
    """Of products behind a zero, and of the zero itself where another stands before it; in generated code and without."""
    x, g = np.ones(n, np.float32), np.ones(n, np.float32)
    x[:4], g[-1], g[1] = (2, 0, 3, 0), np.inf, np.inf
    want = np.zeros(n, np.float32)
    want[:2] = 1, np.inf
    x = retrograde.asarray(x, requires_grad=True)
    cumprod(x, axis=0, reverse=False).backward(retrograde.asarray(g), create_graph=create_graph)
    np.testing.assert_array_equal(np.asarray(x.grad.detach()), want)
    a, b = np.ones(n), np.zeros(n)
    a[1], b[0] = 0, np.inf
    np.testing.assert_array_equal(np.asarray(linear_recurrence(a, b, axis=0, reverse=False)), [np.inf] + [0] * (n - 1))


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_and_last_extremes(dtype, shape, axis):
    x = random(shape, dtype)
    x[np.random.default_rng(1).random(shape) < 0.01] = 0
    np.testing.assert_allclose(scans.product(x, axis), x.astype(float).prod(axis).astype(dtype), **TOLERANCE[dtype])
    rows = np.ascontiguousarray(np.moveaxis(x, axis, -1))
    wide = rows.astype(float)
    before, behind = np.ones_like(wide), np.ones_like(wide)
    before[..., 1:] = wide[..., :-1].cumprod(-1)
    behind[..., :-1] = wide[..., :0:-1].cumprod(-1)[..., ::-1]
    np.testing.assert_allclose(scans.product_of_others(rows), (before * behind).astype(dtype), **TOLERANCE[dtype])
    g = random(rows.shape[:-1], dtype, 4)
    rows.reshape(-1, rows.shape[-1])[0, ::2] *= 1e-30  # out of the range of single numbers, in the end of doubles too
    wide = rows.astype(float)
    before[..., 1:] = wide[..., :-1].cumprod(-1)
    behind[..., :-1] = wide[..., :0:-1].cumprod(-1)[..., ::-1]
    found = scans.product_pull(g, rows, rows.ndim - 1)
    np.testing.assert_allclose(found, (g[..., None] * before * behind).astype(dtype), **TOLERANCE[dtype])
    turned = scans.product_pull(g, np.ascontiguousarray(np.moveaxis(rows, -1, axis)), axis)
    np.testing.assert_allclose(np.moveaxis(turned, axis, -1), found, **TOLERANCE[dtype])
    tied = np.round(x)
    tied[np.random.default_rng(2).random(shape) < 0.002] = np.nan
    tied[np.random.default_rng(3).random(shape) < 0.01] = -np.inf
    for largest, ufunc in ((True, np.maximum), (False, np.minimum)):
        extremes = ufunc.accumulate(tied, axis=axis)
        place = np.arange(shape[axis]).reshape((-1,) + (1,) * (len(shape) - 1 - axis))
        attained = (tied == extremes) | np.isnan(tied)
        wanted = np.maximum.accumulate(np.where(attained, place, 0), axis=axis)
        np.testing.assert_array_equal(scans.last_extreme(tied, axis, largest), wanted)
        position = (np.argmax if largest else np.argmin)(tied, axis)
        if scans.lines(shape, axis).inner > 1 or shape[axis] <= scans.SHORT:
            np.testing.assert_array_equal(scans.extreme(tied, axis, largest), position)
        np.testing.assert_array_equal((argmax if largest else argmin)(tied, axis=axis, keepdims=False), position)


def test_nothing_before_the_first_number():
    x = random((100, 100), np.float32)
    a = x.copy()
    a[:, 0] = np.inf
    np.testing.assert_array_equal(scans.recurrence(a, x, 1, False)[:, 0], x[:, 0])
    a[:, -1] = np.nan
    np.testing.assert_array_equal(scans.recurrence(a, x, 1, True)[:, -1], x[:, -1])
    zeros = np.full((100, 100), -0.0, np.float32)
    assert np.signbit(scans.cumulative("cumsum", zeros, 1, False)).all()


@pytest.mark.parametrize("axis", [0, 1])
def test_the_bits_do_not_depend_on_the_number_of_threads(axis):
    x, g = random((301, 207), np.float32), random((301, 207), np.float32, 1)
    before, found = threads.count(), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            out = scans.cumulative("cumprod", x, axis, False)
            found.append([scans.cumulative("cumsum", x, axis, True), out, scans.cumprod_pull(g, out, x, axis, False),
                          scans.product(x, axis), scans.product_of_others(x),
                          scans.product_pull(x[:, 0].copy(), x, 1)])  # fmt: skip
    finally:
        threads.set_count(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_derivatives_of_the_operations(monkeypatch):
    """Generated code gives what the steps in NumPy give, also at zeros."""
    x = 1 + random((91, 100), np.float64) / 50
    x[3, 5] = x[4, 5] = x[4, 70] = 0
    seed = random((91, 100), np.float64, 1)
    programs = [
        lambda x: (cumsum(x, axis=1, reverse=False) * seed).sum(), lambda x: (cumprod(x, axis=1, reverse=True) * seed).sum(),
        lambda x: (cumprod(x, axis=0, reverse=False) * seed).sum(), lambda x: (prod(x, axis=(1,), keepdims=True) * seed).sum(),
        lambda x: (linear_recurrence(x, x, axis=1, reverse=False) * seed).sum(),
    ]  # fmt: skip
    found = [grad(program)(x) for program in programs]
    assert scans.product(x, 1) is not None
    for name in ("cumulative", "recurrence", "cumprod_pull", "product", "product_pull", "product_of_others", "last_extreme"):
        monkeypatch.setattr(scans, name, lambda *_: None)
    for program, one in zip(programs, found, strict=True):
        np.testing.assert_allclose(one, grad(program)(x), rtol=1e-10, atol=1e-12)
    assert argcum(x, axis=0, largest=True).dtype == np.int64
