"""`grid_sample` as generated code: against the sums over corners that NumPy computes."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, sampling
from retrograde.ops import grid_sample as ops

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
rng = np.random.default_rng(8)
CASES = [  # size, mode, padding, align, dtype: not all of them, for each is a kernel of its own
    ((9, 11), ops.LINEAR, ops.ZEROS, False, np.float32),
    ((9, 11), ops.LINEAR, ops.BORDER, True, np.float32),
    ((9, 11), ops.LINEAR, ops.REFLECTION, False, np.float64),
    ((9, 11), ops.NEAREST, ops.ZEROS, True, np.float64),
    ((9, 11), ops.NEAREST, ops.REFLECTION, False, np.float32),
    ((1, 7), ops.LINEAR, ops.REFLECTION, True, np.float32),
    ((1, 7), ops.LINEAR, ops.BORDER, True, np.float64),
    ((4, 5, 6), ops.LINEAR, ops.BORDER, False, np.float32),
    ((4, 5, 6), ops.NEAREST, ops.BORDER, False, np.float64),
    ((13,), ops.LINEAR, ops.ZEROS, False, np.float64),
]


@pytest.mark.parametrize(("size", "mode", "padding", "align", "dtype"), CASES)
def test_as_sums_over_corners(monkeypatch, size, mode, padding, align, dtype):
    axes = len(size)
    x = rng.normal(size=(2, 3, *size)).astype(dtype)
    grid = rng.uniform(-3.2, 3.2, size=(2, *(7, 5, 3)[:axes], axes)).astype(dtype)
    g = rng.normal(size=(2, 3, *grid.shape[1:-1])).astype(dtype)
    given = {"mode": mode, "padding": padding, "align": align}
    monkeypatch.setattr(sampling, "LEAST", 0)
    assert sampling.suited(x, grid, mode)

    def run():
        return (
            ops.grid_sample(x, grid, **given), ops._pull_x(g, None, x, grid, **given), ops._pull_grid(g, None, x, grid, **given),
        )  # fmt: skip

    generated = same_bits(run)
    monkeypatch.setattr(sampling, "LEAST", 1 << 60)
    for found, expected in zip(generated, run(), strict=True):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=0, atol=200 * np.finfo(dtype).eps * max(1, np.abs(expected).max()))


def test_what_lies_outside_does_not_enter():
    x, grid = np.full((1, 8, 4, 4), np.inf, np.float32), np.full((1, 4, 4, 2), 5, np.float32)
    assert sampling.suited(x, grid, "linear")
    np.testing.assert_array_equal(ops.grid_sample(x, grid, mode="linear", padding="zeros", align=False), 0)
    x = np.arange(128, dtype=np.float32).reshape(1, 8, 4, 4)
    for padding in (ops.BORDER, ops.REFLECTION):
        found = ops.grid_sample(x, np.full_like(grid, np.nan), mode="linear", padding=padding, align=True)
        np.testing.assert_array_equal(found, np.broadcast_to(x[:, :, :1, :1], found.shape))
