"""Transforms of many numbers by several threads: NumPy's accuracy."""

import numpy as np
import pytest

from retrograde.backend.jit import threads
from retrograde.ops import fft


@pytest.fixture
def with_threads():
    """Sets how many threads there are."""
    before = threads.count()
    yield threads.set_count
    threads.set_count(before)


def transforms(x, axes, norm):
    """Of a real or complex array, beside NumPy's."""
    if x.dtype.kind == "f":
        yield fft.fft_r2c(x, axes=axes, norm=norm), np.fft.rfftn(x, axes=axes, norm=norm)
        return
    yield fft.fft_c2c(x, axes=axes, norm=norm, inverse=False), np.fft.fftn(x, axes=axes, norm=norm)
    yield fft.fft_c2c(x, axes=axes, norm=norm, inverse=True), np.fft.ifftn(x, axes=axes, norm=norm)
    n = 2 * x.shape[axes[-1]] - 2
    sizes = (*(x.shape[a] for a in axes[:-1]), n)
    yield fft.fft_c2r(x, axes=axes, n=n, norm=norm), np.fft.irfftn(x, s=sizes, axes=axes, norm=norm)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axes", [(1,), (0,), (0, 1)])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_as_accurate_as_numpys_and_the_same_bits_with_any_number_of_threads(with_threads, dtype, axes, norm):
    x = np.random.default_rng(0).standard_normal((264, 256)).astype(dtype)
    z = (x + 1j * x[::-1]).astype(np.result_type(dtype, np.complex64))
    for given in (x, x[::-1].T, z, z.T):
        with_threads(1)
        alone = list(transforms(given, axes, norm))
        with_threads(3)
        wide = given.astype(np.result_type(given.dtype, np.float64))
        exact = [y for _, y in transforms(wide, axes, norm)]
        for (found, numpys), (shared, _), y in zip(alone, transforms(given, axes, norm), exact, strict=True):
            np.testing.assert_array_equal(found, shared, strict=True)
            assert found.dtype == numpys.dtype
            assert np.linalg.norm(found - y) <= 1.2 * np.linalg.norm(numpys - y) + 1e-15 * np.linalg.norm(y)


def test_operands_stay_as_they_are(with_threads):
    with_threads(3)
    z = np.random.default_rng(0).standard_normal((300, 2, 300)).view(complex)
    for x in (z, z.astype(np.complex64), z.real.copy()):
        before = x.copy()
        (fft.fft_c2c if x.dtype.kind == "c" else fft.fft_r2c)(
            x, axes=(0,), norm="backward", **({"inverse": False} if x.dtype.kind == "c" else {})
        )  # fmt: skip
        np.testing.assert_array_equal(x, before)
