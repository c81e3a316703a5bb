"""Complex numbers from parts and as pairs: make_complex, polar, and views of complex as real arrays and the reverse.

real, imag and conj stand in structural.py, absolute, angle and sgn in elementwise.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import Aval
from .elementwise import cos, sgn, sin
from .rules import conj, elementwise, linear, move_batch, sum_tangents
from .samples import binary, complex_normal, normal, sample
from .structural import broadcast_like, imag, real


def _complex_dtype(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"c{2 * dtype.itemsize}")


def _infer_complex(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(np.broadcast_shapes(*(a.shape for a in avals)), _complex_dtype(avals[0].dtype))


def _make_complex_kernel(xp: Any, x: Any, y: Any) -> Any:
    out = xp.empty(np.broadcast_shapes(x.shape, y.shape), dtype=_complex_dtype(x.dtype))
    out.real, out.imag = x, y  # a sum with 1j y would turn an infinity into nan
    return out


make_complex = elementwise(
    "make_complex", kernel=_make_complex_kernel, infer=_infer_complex, samples=binary(-2, 2),
    vjps=[lambda g, _out, _x, _y: real(g), lambda g, _out, _x, _y: imag(g)],
    jvp=lambda tangents, out, x, y: broadcast_like(sum_tangents([
        None if tangents[0] is None else tangents[0] + 0j, None if tangents[1] is None else tangents[1] * 1j]), out),
)  # fmt: skip


def _polar_kernel(xp: Any, size: Any, angle: Any) -> Any:
    return _make_complex_kernel(xp, size * xp.cos(angle), size * xp.sin(angle))


# The derivative in the size takes the direction of the result, so it is 0 at 0 and sizes are not negative.
polar = elementwise(
    "polar", kernel=_polar_kernel, infer=_infer_complex, samples=binary(0.5, 2, -3, 3),
    vjps=[lambda g, out, _size, _angle: real(conj(g) * sgn(out)),
          lambda g, out, _size, _angle: real(conj(g) * out * 1j)],
    jvp=lambda tangents, out, size, angle: sum_tangents([
        None if tangents[0] is None else tangents[0] * make_complex(cos(angle), sin(angle)),
        None if tangents[1] is None else tangents[1] * out * 1j]),
)  # fmt: skip


def _as_real_kernel(xp: Any, x: Any) -> Any:
    return x[..., None].view(np.dtype(f"f{x.dtype.itemsize // 2}"))


def _as_complex_kernel(xp: Any, x: Any) -> Any:
    if x.shape[-1:] != (2,):
        raise ValueError("the last axis holds the real and the imaginary part, so it must have 2 elements")
    if x.strides[-1] != x.dtype.itemsize:
        x = np.ascontiguousarray(x)
    return x.view(_complex_dtype(x.dtype))[..., 0]


def _batch_in_front(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    return op(move_batch(arrays[0], dims[0])), 0


# A complex array as a real one with an axis of the two parts at the end; the reverse. Views where memory allows.
view_as_real = linear(
    "view_as_real", kernel=_as_real_kernel, transpose=lambda g, _x: view_as_complex(g), batch=_batch_in_front,
    infer=lambda avals, params: Aval((*avals[0].shape, 2), np.dtype(f"f{avals[0].dtype.itemsize // 2}")),
    samples=lambda: [sample(complex_normal(3)), sample(complex_normal(2, 2)), sample(complex_normal())],
)  # fmt: skip

view_as_complex = linear(
    "view_as_complex", kernel=_as_complex_kernel, transpose=lambda g, _x: view_as_real(g), batch=_batch_in_front,
    infer=lambda avals, params: Aval(avals[0].shape[:-1], _complex_dtype(avals[0].dtype)),
    samples=lambda: [sample(normal(3, 2)), sample(normal(2))],
)  # fmt: skip
