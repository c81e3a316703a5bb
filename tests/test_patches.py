"""Patches of images as columns, and back, as generated code: against the kernels in the standard."""

import numpy as np
import pytest

from retrograde.backend.jit import llvm, patches
from retrograde.ops import manipulation

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
rng = np.random.default_rng(5)
FORMS = [  # kernel, dilation, padding, stride
    ((3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 2), (2, 1), (2, 0), (2, 2)),
    ((2, 4), (1, 2), (0, 3), (1, 3)),
    ((1, 20), (1, 1), (0, 0), (3, 1)),
    ((2, 9), (1, 2), (4, 20), (5, 7)),
    ((2, 3), (1, 1), (0, 3), (1, 9)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_as_in_the_standard(monkeypatch, form, dtype):
    given = dict(zip(("kernel", "dilation", "padding", "stride"), form, strict=True))
    x = rng.normal(size=(2, 3, 17, 37)).astype(dtype)
    taken = []
    for name in ("columns", "images"):
        f = getattr(patches, name)
        monkeypatch.setattr(patches, name, lambda *a, f=f, **p: (taken.append(f(*a, **p)), taken[-1])[1])
    (found,) = same_bits(lambda: manipulation._im2col_numpy(x, **given))
    np.testing.assert_array_equal(found, manipulation._im2col_kernel(np, x, **given))
    (back,) = same_bits(lambda: manipulation._col2im_numpy(found, size=(17, 37), **given))
    expected = manipulation._col2im_kernel(np, found, size=(17, 37), **given)
    np.testing.assert_allclose(back, expected, rtol=20 * np.finfo(dtype).eps)
    assert len(taken) == 8
    assert all(a is not None for a in taken)
