"""Products of a matrix and a vector by generated code: against sums in double precision, for every layout and edge."""

import itertools

import numpy as np
import pytest

from retrograde.backend.jit import llvm, matvec, products, threads

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite: elsewhere products go to BLAS")

rng = np.random.default_rng(3)


@pytest.fixture
def two_threads():
    """As many for the test, and as many as before afterwards."""
    before = threads.count()
    threads.set_count(2)
    yield
    threads.set_count(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [False, True])
def test_every_layout_and_edge(monkeypatch, dtype, columns):
    monkeypatch.setattr(matvec, "LEAST", 0)
    for (m, k), step, part in itertools.product([(8, 8), (9, 700), (301, 97), (130, 1100)], (1, -2), (False, True)):
        x = rng.standard_normal((k, m)).astype(dtype).T if columns else rng.standard_normal((m, k)).astype(dtype)
        if part:
            whole = np.full((m + 3, k + 5), np.nan, dtype, order="F" if columns else "C")
            whole[2:-1, 4:-1] = x
            x = whole[2:-1, 4:-1]
        y = rng.standard_normal(2 * k).astype(dtype)[::step][:k]
        found = matvec.product(x, y)
        assert found.dtype == dtype
        wanted, spread = x.astype(np.float64) @ y, np.abs(x.astype(np.float64)) @ np.abs(y)
        np.testing.assert_array_less(np.abs(found - wanted), np.finfo(dtype).eps * 8 * spread)
        np.testing.assert_array_equal(products.product(x, y), found)
        np.testing.assert_array_equal(products.product(y, x.T), found)


@pytest.mark.usefixtures("two_threads")
def test_what_is_left_to_blas():
    x, y = rng.standard_normal((200, 100)), rng.standard_normal(100)
    cases = [(x[:20], y), (x[:, ::2], y[::2]), (x.astype(">f8"), y), (x, y.astype(np.float32)), (np.ones((20000, 1)), y[:1])]
    for a, b in cases:
        assert matvec.product(a, b) is None
        np.testing.assert_allclose(products.product(a, b), a @ b, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="not aligned"):
        products.product(x, y[:-1])
    threads.set_count(1)  # BLAS has one thread then, too
    assert matvec.product(x, y) is None


@pytest.mark.usefixtures("two_threads")
def test_the_bits_do_not_depend_on_how_many_threads_share_the_work(monkeypatch):
    monkeypatch.setattr(threads, "WORTH", 0)
    x, y = rng.standard_normal((500, 300)).astype(np.float32), rng.standard_normal(300).astype(np.float32)
    found = []
    for count in (2, 3, 5):
        threads.set_count(count)
        found.append([matvec.product(a, y).tobytes() for a in (x, np.asfortranarray(x))])
    assert found[0] == found[1] == found[2]
