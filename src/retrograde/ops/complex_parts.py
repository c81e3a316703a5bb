"""Complex numbers from their parts: make_complex and polar.

real, imag and conj stand in structural.py, the views as real pairs in manipulation.py, absolute, angle and sgn in
elementwise.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import Aval
from .elementwise import cos, sgn, sin
from .kernels import complex_from
from .rules import conj, elementwise, sum_tangents
from .samples import binary
from .structural import broadcast_like, imag, real


def _complex_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"c{2 * dtype.itemsize}")


def _infer_complex(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(np.broadcast_shapes(*(a.shape for a in avals)), _complex_dtype(avals[0].dtype))


def _make_complex_numpy(x: Any, y: Any) -> Any:
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), dtype=_complex_dtype(x.dtype))
    out.real, out.imag = x, y  # a sum with 1j y would turn an infinity into nan
    return out


make_complex = elementwise(
    "make_complex", kernel=complex_from, numpy=_make_complex_numpy, infer=_infer_complex, samples=binary(-2, 2),
    vjps=[lambda g, _out, _x, _y: real(g), lambda g, _out, _x, _y: imag(g)],
    jvp=lambda tangents, out, x, y: broadcast_like(sum_tangents([
        None if tangents[0] is None else tangents[0] + 0j, None if tangents[1] is None else tangents[1] * 1j]), out),
)  # fmt: skip


def _polar_kernel(xp: Any, size: Any, angle: Any) -> Any:
    return complex_from(xp, size * xp.cos(angle), size * xp.sin(angle))


def _polar_numpy(size: Any, angle: Any) -> Any:
    return _make_complex_numpy(size * np.cos(angle), size * np.sin(angle))


# The derivative in the size takes the direction of the result, so it is 0 at 0 and sizes are not negative.
polar = elementwise(
    "polar", kernel=_polar_kernel, numpy=_polar_numpy, infer=_infer_complex, samples=binary(0.5, 2, -3, 3),
    vjps=[lambda g, out, _size, _angle: real(conj(g) * sgn(out)),
          lambda g, out, _size, _angle: real(conj(g) * out * 1j)],
    jvp=lambda tangents, out, size, angle: sum_tangents([
        None if tangents[0] is None else tangents[0] * make_complex(cos(angle), sin(angle)),
        None if tangents[1] is None else tangents[1] * out * 1j]),
)  # fmt: skip
