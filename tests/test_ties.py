"""Which of equal elements are picked: generated code leaves rows as the steps in Python do, in every case of the algorithms."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, ties
from retrograde.ops import introselect, sorting

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")


def hard(n):
    """Ranks for which the median of three is always nearly the least, so that the heap takes over (Musser, 1997)."""
    half = n // 2
    out = np.empty(2 * half, np.int64)
    out[:half:2], out[1:half:2] = np.arange(1, half + 1, 2), half + np.arange(1, half + 1, 2)[: half // 2]
    out[half:] = 2 * np.arange(1, half + 1)
    return np.unique(np.append(out, out[: n - 2 * half]), return_inverse=True)[1]


def ranks(n, most):
    rng = np.random.default_rng(n)
    found = rng.integers(0, most, (7, n))
    found[1], found[2] = np.sort(found[1]), np.sort(found[2])[::-1]
    found[3] = np.minimum(np.arange(n), n - np.arange(n))
    found[4] = hard(n)
    found[5] = 0
    return np.stack([np.unique(row, return_inverse=True)[1] for row in found])


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 16, 17, 33, 64, 100, 257, 640])
def test_rows_are_left_as_by_the_steps_in_python(n, monkeypatch):
    monkeypatch.setattr(ties, "LITTLE", 1)
    monkeypatch.setattr(llvm, "LOADING", 0)
    for most in (2, max(2, n // 4), 10 * n):
        given = ranks(n, most)
        words = given << 32 | np.arange(n)
        for what, k in [("sort", n), *((w, k) for w in ("top", "kth") for k in {1, 2, max(1, n // 64), n // 2, n})]:
            found = words.copy()
            assert ties.ordered(found, what, k - 1 if what == "kth" else k)
            part = slice(k - 1, k) if what == "kth" else slice(k)
            wanted = [introselect.arranged(row, what, k)[part] for row in given.tolist()]
            np.testing.assert_array_equal(found[:, part] & 0xFFFFFFFF, wanted)


def test_the_heap_takes_over(monkeypatch):
    heaps = []
    select = introselect._Row.heap_select
    monkeypatch.setattr(introselect._Row, "heap_select", lambda row, *part: (heaps.append(part), select(row, *part))[1])
    introselect.arranged(hard(640).tolist(), "sort", 640)
    assert heaps


@pytest.mark.parametrize("axis", [0, 1])
def test_operations_give_the_same_without_generated_code(axis, monkeypatch):
    x = np.random.default_rng(0).integers(-3, 4, (80, 90)).astype(np.float32)
    x[::7, ::5] = np.nan

    def found():
        return [
            sorting.argsort(x, axis=axis, descending=False, ties="introsort"),
            sorting.argsort(x, axis=axis, descending=True, ties="introsort"),
            sorting.argtopk(x, axis=axis, k=1, largest=True, ties="introsort"),
            sorting.argtopk(x, axis=axis, k=20, largest=False, ties="introsort"),
            sorting.argkth(x, axis=axis, k=17, ties="introsort"), sorting.argmode(x, axis=axis, ties="introsort"),
        ]  # fmt: skip

    with_it = found()
    monkeypatch.setattr(ties, "_generated", lambda what: None)
    for one, other in zip(with_it, found(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [1, 2, introselect.SELECTED])
def test_of_rows_that_are_sorted_by_insertion_the_first_stay_in_order(n):
    for row in np.ndindex(*(3,) * n):
        for k in range(1, n + 1):
            assert introselect.arranged(list(row), "top", k)[:k] == np.argsort(row, kind="stable")[:k].tolist()


@pytest.mark.parametrize("n", [3, 4, 7, 20])
def test_ties_between_rows_and_missing_numbers_are_told_apart(n):
    x = np.tile(np.arange(n, dtype=np.float32), (5, 1))  # a row ends with what the next one begins with
    x[1] = x[1, ::-1]
    x[2, :2] = x[3, n - 2 :] = np.nan
    x[4] = 1
    ranked = np.where(np.isnan(x), n, x)
    for largest in (False, True):
        found = sorting.argtopk(x, axis=1, k=2, largest=largest, ties="introsort")
        ranks = [np.unique(-row if largest else row, return_inverse=True)[1].tolist() for row in ranked]
        assert found.tolist() == [introselect.arranged(row, "top", 2)[:2] for row in ranks]
