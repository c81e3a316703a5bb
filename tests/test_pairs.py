"""Products of bfloat16 matrices by generated code: against sums in double precision, for every layout and edge."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from retrograde.backend.jit import llvm, pairs, products
from retrograde.ops import contraction

from .same_bits import same_bits
from .test_products import matrix as numbers

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)

pytestmark = pytest.mark.skipif(
    not llvm.available() or not llvm.has("avx512bf16"), reason="needs llvmlite and AVX512-BF16: elsewhere bfloat16 is widened"
)


@pytest.fixture(autouse=True)
def however_small(monkeypatch):
    monkeypatch.setattr(products, "LEAST", 0)


def matrix(shape, layout, seed):
    if layout != "odd":
        return numbers(shape, BFLOAT16, layout, seed)
    whole = np.zeros((shape[0], shape[1] + 3), BFLOAT16)  # rows that begin between two pairs
    whole[:, 1:-2] = numbers(shape, BFLOAT16, "rows", seed)
    return whole[:, 1:-2]


LAYOUTS = list(itertools.product(("rows", "columns", "part", "odd"), repeat=2))


def close(got, want):
    assert got.dtype == BFLOAT16
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2**-8, atol=2**-18 * np.abs(want).max())


@pytest.mark.parametrize("layouts", LAYOUTS, ids="-".join)
def test_every_layout_and_edge(layouts):
    for m, k, n in [(8, 1, 16), (9, 17, 47), (16, 16, 48), (8, 256, 65), (23, 257, 80), (31, 600, 33), (64, 1040, 112)]:
        x, y = matrix((m, k), layouts[0], 1), matrix((k, n), layouts[1], 2)
        close(pairs.product(x, y), x.astype(np.float64) @ y.astype(np.float64))


def test_the_layout_changes_no_bit():
    results = [pairs.product(matrix((40, 300), a, 3), matrix((300, 70), b, 4)) for a, b in LAYOUTS]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].view(np.uint16), other.view(np.uint16))


def test_a_bias_and_several_axes():
    x, w, b = matrix((24, 40), "rows", 5), matrix((32, 40), "rows", 6), matrix((1, 32), "rows", 7)[0]
    want = x.astype(np.float64) @ w.astype(np.float64).T
    close(contraction._affine_numpy(x, w, b), want + b.astype(np.float64))
    close(contraction._affine_numpy(x.reshape(2, 3, 4, 40), w, b).reshape(24, 32), want + b.astype(np.float64))
    close(contraction._matmul_numpy(x.reshape(4, 6, 40)[:, ::2], w.T).reshape(12, 32), want[::2])


def test_infinite_and_missing_numbers_stay_where_they_belong():
    x, y = matrix((9, 20), "rows", 8), matrix((20, 35), "columns", 9)
    x[8, 3], x[2, 19], y[7, 34], y[0, 0] = np.inf, np.nan, -np.inf, np.nan
    got = pairs.product(x, y).astype(np.float64)
    with np.errstate(invalid="ignore"):
        want = x.astype(np.float64) @ y.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))


def test_what_is_not_computed_here():
    x, y = matrix((16, 32), "rows", 10), matrix((32, 64), "rows", 11)
    for a, b in [(x[:4], y), (x, y[:, :7]), (x[0], y), (x, y[:, 0]), (x, y[:31]), (x.astype(np.float32), y)]:
        assert pairs.product(a, b) is None
    assert contraction._matmul_numpy(x[:4], y).shape == (4, 64)


def test_the_number_of_threads_changes_no_bit():
    x, y = matrix((300, 500), "columns", 12), matrix((500, 210), "rows", 13)
    same_bits(lambda: pairs.product(x, y))


def test_float16_is_no_bfloat16():
    """Both have two bytes: float16 read as bfloat16 is another number, and products of 1 << 20 pairs and more were that."""
    x, y = numbers((16, 32), np.dtype(np.float16), "rows", 14), numbers((32, 64), np.dtype(np.float16), "rows", 15)
    assert pairs.product(x, y) is None
    want = x.astype(np.float64) @ y.astype(np.float64)
    for got in (contraction._matmul_numpy(x, y), contraction._affine_numpy(x, y.T.copy(), np.zeros(64, np.float16))):
        np.testing.assert_allclose(got.astype(np.float64), want, rtol=2**-10, atol=2**-8)
