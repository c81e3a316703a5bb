"""NumPy scalars, arrays and dtypes as PyTorch's files hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._shared.numpy_values import KINDS
from ._records import GlobalName


def numpy_parts(value: np.generic | np.ndarray | np.dtype) -> tuple[str, tuple[Any, ...], Any]:
    """Return name, arguments and state that rebuild a NumPy value; raises TypeError for one of Python objects."""
    dtype = value if isinstance(value, np.dtype) else value.dtype
    if dtype.kind not in KINDS or not dtype.isnative:
        raise TypeError(f"torch.save: NumPy values of dtype {dtype} cannot be stored; convert them to numbers first")
    if isinstance(value, np.dtype):
        reduced: Any = value.__reduce__()
        return "numpy.dtype", reduced[1], reduced[2]
    if isinstance(value, np.generic):
        return "numpy._core.multiarray.scalar", (dtype, value.tobytes()), None
    data = np.ascontiguousarray(value).tobytes()
    args = (GlobalName("numpy.ndarray"), (0,), b"b")
    return "numpy._core.multiarray._reconstruct", args, (1, value.shape, dtype, False, data)
