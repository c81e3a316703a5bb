"""Distances of all pairs: what the differences give in double precision, whatever way is taken."""

import numpy as np
import pytest

from retrograde.ops.distance import cdist


@pytest.mark.parametrize("coordinates", [1, 3, 8, 9, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_many_points(coordinates, dtype):
    rng = np.random.default_rng(coordinates)
    x, y = (rng.normal(size=(2, n, coordinates)).astype(dtype) + 1000 for n in (130, 170))
    y[:, :50] = x[:, :50]
    d = x[:, :, None].astype(np.float64) - y[:, None]
    found = cdist(x, y, ord=2.0)
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found, np.sqrt((d * d).sum(-1)), rtol=2 * np.finfo(dtype).eps, atol=1e-9 if dtype is np.float64 else 0
    )
