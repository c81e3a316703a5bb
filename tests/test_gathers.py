"""Generated gathers and scatters: NumPy's elements and sums in every layout, what is out of bounds, any number of threads."""

import math

import numpy as np
import pytest

from retrograde.backend.jit import gathers, llvm, threads
from retrograde.backend.jit.operands import LEAST
from retrograde.ops import indexing

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

ALONG = [
    ((100, 100), (100, 130), 1), ((100, 100), (130, 100), 0), ((13, 7, 101), (13, 9, 101), 1), ((5, 3), (5, 3000), 1),
    ((3, 5), (3000, 5), 0), ((50,), (LEAST + 3,), 0), ((LEAST, 2), (LEAST, 1), 1),
]  # fmt: skip
TAKE = [((100, 100), (101,), 1), ((100, 100), (101,), 0), ((13, 7, 101), (3, 5), 1), ((50,), (LEAST,), 0), ((2000, 7), (9,), 0),
        ((70, 203), (900,), 0), ((3, 5), (3000,), 0)]  # fmt: skip


def numbers(shape, dtype, seed=0):
    return (np.random.default_rng(seed).normal(size=shape) * 100).astype(dtype)


def positions(shape, n, dtype, least=0):
    return np.random.default_rng(1).integers(least, n, shape).astype(dtype)


def rest(at, axis):
    """The other axes' indices beside positions along an axis."""
    found = list(np.ogrid[tuple(slice(n) for n in at.shape)])
    found[axis] = at
    return tuple(found)


@pytest.mark.parametrize(("shape", "at", "axis"), ALONG)
@pytest.mark.parametrize("index", [np.int64, np.int32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_along_an_axis(dtype, index, shape, at, axis):
    x, g = numbers(shape, dtype), numbers(at, dtype, 2)
    at = positions(at, shape[axis], index)
    if at.size >= LEAST:
        np.testing.assert_array_equal(gathers.along(x, at, axis), np.take_along_axis(x, at, axis))
    added, onto, put = np.zeros(shape, dtype), x.copy(), x.copy()
    np.add.at(added, rest(at, axis), g)
    np.add.at(onto, rest(at, axis), g)
    put[rest(at, axis)] = g
    np.testing.assert_array_equal(gathers.along_add(g, at, shape, axis), added)
    np.testing.assert_array_equal(gathers.along_add(g, at, shape, axis, x), onto)
    np.testing.assert_array_equal(gathers.along_put(x, at, g, axis), put)
    seven = x.copy()
    seven[rest(at, axis)] = 7
    np.testing.assert_array_equal(gathers.along_put(x, at, np.array(7, dtype), axis), seven)


@pytest.mark.parametrize(("small", "at", "shape", "axis"), [
    ((16, 1, 900), (16, 7, 900), (16, 7, 50), 2), ((16, 90, 1), (16, 90, 33), (16, 50, 33), 1),
    ((1, 900), (21, 900), (21, 50), 1), ((16, 1, 90, 1), (16, 5, 90, 33), (16, 5, 50, 33), 2),
    ((1, 9, 90, 3), (8, 9, 90, 3), (8, 9, 50, 3), 2), ((5, 1, 90, 3), (5, 9, 90, 3), (5, 9, 50, 3), 2),
    ((3, 1, 4, 190), (3, 5, 4, 190), (3, 5, 4, 50), 3),
])  # fmt: skip
def test_positions_that_are_expanded(small, at, shape, axis):
    """What is read and added is as with positions of their own; no copy of them is made where lines share them."""
    x, g = numbers(shape, np.float32), numbers(at, np.float32, 2)
    expanded = np.broadcast_to(positions(small, shape[axis], np.int64), at)
    copied = np.ascontiguousarray(expanded)
    np.testing.assert_array_equal(gathers.along(x, expanded, axis), np.take_along_axis(x, copied, axis))
    np.testing.assert_array_equal(gathers.along_add(g, expanded, shape, axis), gathers.along_add(g, copied, shape, axis))
    np.testing.assert_array_equal(gathers.along_put(x, expanded, g, axis), gathers.along_put(x, copied, g, axis))
    turned = x.swapaxes(0, -1).copy().swapaxes(0, -1)
    np.testing.assert_array_equal(gathers.along(turned, expanded, axis), np.take_along_axis(x, copied, axis))


@pytest.mark.parametrize(("shape", "at", "axis"), TAKE)
@pytest.mark.parametrize("index", [np.int64, np.int32])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_slices(dtype, index, shape, at, axis):
    x, at = numbers(shape, dtype), positions(at, shape[axis], index, -shape[axis])
    wanted, before = x.take(at, axis), x.copy()
    found = gathers.take(x, at, axis)
    if found is not None:
        np.testing.assert_array_equal(found, wanted)
    g = numbers(wanted.shape, dtype, 2)
    added = np.zeros(shape, dtype)
    for k, i in np.ndenumerate(at):
        added[(slice(None),) * axis + (i,)] += g[(slice(None),) * axis + k]
    np.testing.assert_array_equal(gathers.take_add(g, at, shape, axis), added)
    for k, i in np.ndenumerate(at):
        x[(slice(None),) * axis + (i,)] += g[(slice(None),) * axis + k]
    np.testing.assert_array_equal(gathers.take_add(g, at, shape, axis, before), x)


@pytest.mark.parametrize("bad", [100, -1, 1 << 40])
@pytest.mark.parametrize("place", [0, 5003, -1])
def test_out_of_bounds(bad, place):
    x = numbers((100, 100), np.float32)
    at = positions((100, 100), 100, np.int64)
    at.reshape(-1)[place] = bad
    for axis in (0, 1):
        assert gathers.along(x, at, axis) is None
        assert gathers.along_add(x, at, x.shape, axis) is None
        assert gathers.along_put(x, at, x, axis) is None
        for operation in (indexing.take_along_axis, indexing.scatter, indexing.scatter_add):
            operands = (x, at) if operation is indexing.take_along_axis else (x, at, x)
            with pytest.raises(ValueError, match=rf"index {bad} is out of bounds"):
                operation(*operands, axis=axis)
    common = at.reshape(-1)
    if bad == -1:
        common = common.copy()
        common[place] = -101
    for axis in (0, 1):
        with pytest.raises(IndexError):
            indexing.take(x, common, axis=axis)
    assert gathers.take_add(numbers((10000, 100), np.float32), common, (100, 100), 0) is None
    assert gathers.take_add(numbers((10000, 1), np.float32), common, (100, 1), 0) is None


def test_what_is_the_callers_affair():
    x, at = numbers((100, 100), np.float32), positions((100, 100), 90, np.int64)
    assert gathers.along(x[:90], at, 1) is None
    assert gathers.along(x.astype(np.complex64).astype(complex), at, 1) is None
    assert gathers.along(x, at.astype(np.int16), 1) is None
    assert gathers.take(np.zeros((100, 0), np.float32), at, 1) is None
    assert gathers.along_add(x.astype(np.float16), at, x.shape, 1) is None


def test_the_bits_do_not_depend_on_the_number_of_threads():
    x, at = numbers((301, 207), np.float32), positions((301, 207), 207, np.int64)
    before, found = threads.count(), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            found.append([gathers.along(x, at, 1), gathers.along_add(x, at, x.shape, 1), gathers.along_add(x, at, x.shape, 0),
                          gathers.take_add(x, at[:, 0].copy(), (207, 207), 0), gathers.take(x, at[0], 1),
                          gathers.take_add(x, at[0], (301, 9 + 207), 1)])  # fmt: skip
    finally:
        threads.set_count(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_operations_take_it(monkeypatch):
    x, at = numbers((150, 150), np.float32), positions((150, 150), 150, np.int64)
    taken = []
    for name in ("along", "take", "along_add", "along_put", "take_add"):
        found = getattr(gathers, name)
        monkeypatch.setattr(
            gathers, name, lambda *given, f=found, name=name: (taken.append((name, (out := f(*given)) is not None)), out)[1]
        )  # fmt: skip
    indexing.take_along_axis(x, at, axis=1)
    indexing.along_add(x, at, shape=x.shape, axis=0)
    indexing.scatter(x, at, x, axis=1)
    indexing.scatter_add(x, at, x, axis=1)
    indexing.take(x, at[0], axis=1)
    indexing.take_add(x, at[0], shape=x.shape, axis=0)
    indexing.advanced_add(x, at[0], shape=x.shape, axes=(0,))
    assert taken == [("along", True), ("along_add", True), ("along_put", True), ("along_add", True), ("take", True),
                     ("take_add", True), ("take_add", True)]  # fmt: skip
    assert math.prod(x.shape) >= LEAST


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_what_was_expanded_is_not_copied(axis):
    import tracemalloc

    x = np.broadcast_to(numbers((40, 1, 50, 1), np.float32), (40, 60, 50, 20))
    shape = tuple(3 if i == axis else n - 1 for i, n in enumerate(x.shape))
    at = positions(shape, x.shape[axis], np.int64)[..., :2]
    tracemalloc.start()
    found = indexing.take_along_axis(x, at, axis=axis)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    used = x[tuple(slice(None if i == axis else n) for i, n in enumerate(at.shape))]
    np.testing.assert_array_equal(found, np.take_along_axis(used, at, axis))
    assert peak < x.size
    with pytest.raises(ValueError, match="out of bounds"):
        indexing.take_along_axis(x, at + 60, axis=axis)
