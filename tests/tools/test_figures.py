"""What is kept of arrays that are not kept: figures against NumPy's, whatever the dtype and however odd the numbers."""

import ml_dtypes
import numpy as np
import pytest

from retrograde.tools.seeing.figures import BINS, FIRST, SAMPLE, SMALL, Figures, extent, norm


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int64, np.uint8, bool, np.complex64]
)
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (2, 3, 4)])
def test_figures_are_numpys(dtype, shape):
    a = (np.arange(np.prod(shape)).reshape(shape) - 3).astype(dtype)
    told = Figures(a)
    wide = np.abs(a) if a.dtype.kind == "c" else a.astype(np.float64)
    assert told.norm == pytest.approx(float(np.linalg.norm(wide.reshape(-1))))
    assert (told.least, told.most) == (float(wide.min()), float(wide.max()))
    assert told.mean == pytest.approx(float(wide.mean()))
    assert told.zeros == int((wide == 0).sum())
    assert list(told.first) == a.reshape(-1)[:FIRST].tolist()
    assert (told.nans, told.infinities) == (0, 0)


def test_what_is_not_finite_is_counted_and_left_out():
    a = np.array([np.nan, 1.0, -np.inf, np.inf, 3.0], np.float32)
    told = Figures(a)
    assert (told.nans, told.infinities) == (1, 2)
    assert (told.least, told.most, told.mean) == (1.0, 3.0, 2.0)
    assert told.norm == pytest.approx(np.sqrt(10))


@pytest.mark.parametrize(
    "low, high",
    [(0.0, 1.0), (1.0, 1.0), (1.0, np.nextafter(1.0, 2.0)), (0.0, 5e-324), (-1e308, 1.7e308), (1e-310, 2e-310)],
)
def test_a_histogram_has_everything(low, high):
    bins = Figures(np.array([low, high, high])).histogram()
    assert bins is not None
    assert bins[:2] == (low, high)
    assert sum(bins[2]) == 3
    assert len(bins[2]) in (1, BINS)
    if len(bins[2]) > 1:
        assert (bins[2][0], bins[2][-1]) == (1, 2)


def test_large_arrays_are_sampled_evenly():
    told = Figures(np.arange(100_000.0))
    assert told.sample.size <= SAMPLE
    bins = told.histogram()
    assert bins is not None
    assert max(bins[2]) - min(bins[2]) <= 2


def test_arrays_without_elements_have_no_figures():
    told = Figures(np.ones((0, 3)))
    assert told.histogram() is None
    assert np.isnan(told.norm)


def test_a_norm_that_overflows_its_dtype_is_found_in_double_precision():
    assert norm(np.array([3e30, 4e30], np.float32)) == pytest.approx(5e30)
    assert norm(np.array([300.0, 400.0], np.float16)) == pytest.approx(500.0)


def test_an_array_in_another_order_begins_as_it_is_read():
    a = np.arange(12.0).reshape(2, 6).T
    assert list(Figures(a).first) == a.reshape(-1)[:FIRST].tolist()


def test_figures_are_of_what_the_array_was_then():
    for size in (10, 2 * SMALL):  # small arrays are looked at when somebody asks
        a = np.ones(size)
        told = Figures(a)
        a[:] = 7.0
        assert told.most == 1.0


def test_the_extent_of_what_passes_by():
    assert extent(np.array([3.0, 4.0])) == (5.0, 0, 0)
    assert extent(np.array([3.0, np.nan, 4.0, np.inf, -np.inf], np.float32)) == (5.0, 1, 2)
