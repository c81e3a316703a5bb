"""Generated selection and sorting: the order of a stable sort in every layout, ties, nan, and any number of threads."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, selection, threads
from retrograde.backend.jit.operands import LEAST
from retrograde.ops.sorting import argkth, argmedian, argsort, argtopk

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SHAPES = [
    ((100, 100), 1), ((100, 100), 0), ((13, 7, 101), 1), ((9, 1000), 1), ((2900, 3), 1), ((64, 129), 1),
    ((LEAST + 1,), 0), ((LEAST + 1, 1), 0), ((LEAST + 1, 1), 1),
]  # fmt: skip


def numbers(shape, dtype, tied):
    rng = np.random.default_rng(0)
    x = (rng.integers(-3, 4, shape) if tied else rng.normal(size=shape) * 1000).astype(dtype)
    if tied and x.dtype.kind == "f":
        for special in (np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e-42):
            x[rng.random(shape) < 0.05] = special
    return x


def sorted_positions(x, axis, descending):
    """As NumPy's stable sort has them, -0 beside 0; equal ones stay in order both ways."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_order_of_a_stable_sort(dtype, shape, axis, tied):
    x = numbers(shape, dtype, tied)
    n = shape[axis]
    for descending in (False, True):
        wanted = sorted_positions(x, axis, descending)
        np.testing.assert_array_equal(selection.order(x, axis, descending), wanted)
        for k in {1, min(2, n), min(n, selection.FEW), min(n, selection.FEW + 1), (n + 1) // 2, n}:
            np.testing.assert_array_equal(selection.first(x, axis, k, descending), wanted.take(range(k), axis))
    wanted = sorted_positions(x, axis, False)
    for k in {0, n // 3, n - 1}:
        np.testing.assert_array_equal(selection.kth(x, axis, k), wanted.take(k, axis))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_medians(dtype):
    x = numbers((200, 51), dtype, True)
    x[:50] = numbers((50, 51), dtype, False)
    order = sorted_positions(x, 1, False)
    missing = np.isnan(x).sum(1)
    first_nan = np.where(missing > 0, np.minimum(51 - missing, 50), 25)
    middle = np.maximum(51 - missing - 1, 0) // 2
    for ignore_nan, at in ((False, first_nan), (True, middle)):
        wanted = np.take_along_axis(order, at[:, None], 1)[:, 0]
        np.testing.assert_array_equal(selection.median(x, 1, ignore_nan), wanted)
        np.testing.assert_array_equal(selection.median(np.ascontiguousarray(x.T), 0, ignore_nan), wanted)


def test_lines_that_are_sorted_already_and_equal_ones():
    up = np.arange(20_000, dtype=np.float32).reshape(2, -1)
    for x in (up, up[:, ::-1].copy(), np.ones_like(up), np.full_like(up, np.nan)):
        for k in (1, 5, 50):
            np.testing.assert_array_equal(selection.first(x, 1, k, True), sorted_positions(x, 1, True)[:, :k])
        np.testing.assert_array_equal(selection.order(x, 1, False), sorted_positions(x, 1, False))
        np.testing.assert_array_equal(selection.kth(x, 1, 777), sorted_positions(x, 1, False)[:, 777])


def test_the_positions_do_not_depend_on_the_number_of_threads():
    x = numbers((301, 257), np.float32, True)
    before = threads.count()
    found = []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            found.append([selection.order(x, 1, False), selection.first(x, 0, 3, True), selection.first(x, 1, 40, True),
                          selection.median(x, 0, False)])  # fmt: skip
    finally:
        threads.set_count(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_is_the_callers_affair():
    x = numbers((100, 100), np.float32, False)
    assert selection.order(x.T, 0, False) is None
    assert selection.order(x[:10], 0, False) is None
    assert selection.first(x.astype(np.uint8), 1, 2, True) is None


def test_operations_take_it(monkeypatch):
    x = numbers((100, 100), np.float32, False)
    wanted = sorted_positions(x, 1, True)
    taken = []
    for name in ("order", "first", "kth", "median"):
        found = getattr(selection, name)
        monkeypatch.setattr(selection, name, lambda *given, f=found, name=name: (taken.append(name), f(*given))[1])
    for half in (x, x.astype(np.float16)):
        np.testing.assert_array_equal(
            argsort(half, axis=1, descending=True, ties="introsort"), sorted_positions(half, 1, True)
        )  # fmt: skip
    np.testing.assert_array_equal(argtopk(x, axis=1, k=3, largest=True, ties="introsort"), wanted[:, :3])
    np.testing.assert_array_equal(argkth(x, axis=1, k=100, ties="introsort"), wanted[:, 0])
    np.testing.assert_array_equal(argmedian(x, axis=1, ignore_nan=False), wanted[:, 50])
    assert taken == ["order", "order", "first", "kth", "median"]
