"""Products that something is added to, in half precision: one rounding, at the end, of what single precision gives."""

import ml_dtypes
import numpy as np
import pytest

from retrograde.dialects import torch
from retrograde.ops import contraction

RECORDED = {
    "addmm": [-6.1875, 1.515625, 10.6875, -6.0, 8.4375, 11.0625, -2.359375, -3.5625],
    "baddbmm": [1.6171875, -0.0576171875, -0.87109375, -2.140625, 1.8671875, 2.546875, -0.1123046875, 0.75],
    "addbmm": [2.109375, -0.2333984375, -2.03125, -1.0390625, 0.51953125, 0.765625, 0.1943359375, 1.0625],
    "addmv": [1.6171875, 1.8671875],
}


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("sizes", [(3, 5, 4), (80, 160, 96)])  # the second large enough for generated code
@pytest.mark.parametrize("beta, alpha", [(1, 1), (-4.775, 2.0315), (0, 1.5)])
def test_added_products_are_rounded_once(dtype, sizes, beta, alpha) -> None:
    m, k, n = sizes
    rng = np.random.default_rng(0)
    c, x, y = (rng.standard_normal(shape).astype(dtype) for shape in ((n,), (m, k), (k, n)))
    wide = [a.astype(np.float64) for a in (c, x, y)]
    want = beta * wide[0] + alpha * (wide[1] @ wide[2])
    step = np.spacing(np.abs(want).astype(dtype)).astype(np.float64)
    for got in (
        contraction._add_matmul_numpy(c, x, y, beta=beta, alpha=alpha),
        contraction._add_matmul_kernel(np, c, x, y, beta=beta, alpha=alpha),
    ):
        assert got.dtype == dtype
        # half a step of the dtype, and what rounding in single precision may move of it
        assert np.all(np.abs(got.astype(np.float64) - want) <= 0.5 * step + 1e-5 * np.abs(wide[1]).max() * k)


def test_what_pytorch_gives() -> None:
    """Values of PyTorch 2.13; rounded in between, some of each would be others."""
    torch.manual_seed(0)
    c, x, y = (torch.randn(shape).bfloat16() for shape in ((2, 4), (2, 3), (3, 4)))
    got = {
        "addmm": torch.addmm(c, x, y, beta=-4.775, alpha=2.0315),
        "baddbmm": torch.baddbmm(c[None], x[None], y[None], beta=0.5, alpha=1.5),
        "addbmm": torch.addbmm(c, x[None], y[None]),
        "addmv": torch.addmv(c[:, 0], x, y[:, 0], beta=0.5, alpha=1.5),
    }
    for name, value in got.items():
        assert value.flatten().tolist() == RECORDED[name], name
