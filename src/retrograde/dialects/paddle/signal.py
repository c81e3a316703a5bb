"""`paddle.signal`: frames of signals, and short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import dtype_of, shape_of
from ...ops import fft as ops
from ...ops import manipulation as mani
from ...ops import structural as st
from .._shared.axes import integer
from ._api import METHODS, attributes
from ._promote import single
from ._tensor import from_array

__all__ = ["frame", "istft", "overlap_add", "stft"]


def _end(op: str, axis: Any) -> bool:
    """Whether the axis is the last (-1), not the first (0)."""
    if axis not in (0, -1):
        raise ValueError(f"{op}: axis must be 0 or -1, got {axis}")
    return bool(axis == -1)


def frame(x: Any, frame_length: int, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """Windows of a signal: (..., frame_length, frames) along the last axis, (frames, frame_length, ...) along the
    first."""
    x = single("frame", x)
    last = _end("frame", axis)
    n = len(shape_of(x))
    if not n:
        raise ValueError("frame: a 0-d tensor is no signal")
    length, hop = integer("frame", "frame_length", frame_length), integer("frame", "hop_length", hop_length)
    i = n - 1 if last else 0
    if not 0 < length <= shape_of(x)[i] or hop < 1:
        raise ValueError(f"frame: windows of {length} elements, {hop} apart, in a signal of {shape_of(x)[i]}")
    windows = mani.sliding_windows(x, axis=i, size=length, step=hop, dilation=1)  # windows in place i, elements last
    if last:
        return st.transpose(windows, axes=(*range(n - 1), n, n - 1))
    return st.transpose(windows, axes=(0, n, *range(1, n)))


def overlap_add(x: Any, hop_length: int, axis: int = -1, name: Any = None) -> Any:
    """The signal whose windows, as `frame` lays them out, are added up where they overlap."""
    x = single("overlap_add", x)
    last = _end("overlap_add", axis)
    n = len(shape_of(x))
    if n < 2:
        raise ValueError(f"overlap_add: wanted at least 2 axes, got {n}")
    hop = integer("overlap_add", "hop_length", hop_length)
    if hop < 1:
        raise ValueError(f"overlap_add: hop_length must be positive, got {hop}")
    if last:
        windows, i = st.transpose(x, axes=(*range(n - 2), n - 1, n - 2)), n - 2
    else:
        windows, i = st.transpose(x, axes=(0, *range(2, n), 1)), 0
    shape = list(shape_of(windows))
    size, count = shape.pop(), shape[i]
    shape[i] = (count - 1) * hop + size
    return mani.sum_windows(windows, shape=tuple(shape), axis=i, size=size, step=hop, dilation=1)


def _framing(op: str, d: np.dtype, n: Any, hop: Any, length: Any, window: Any) -> tuple[int, int, Any]:
    """The size and the distance of frames, and the window centred in them."""
    n = integer(op, "n_fft", n)
    hop = n // 4 if hop is None else integer(op, "hop_length", hop)
    length = n if length is None else integer(op, "win_length", length)
    if n < 1 or hop < 1 or not 0 < length <= n:
        raise ValueError(f"{op}: wanted n_fft and hop_length positive and win_length in (0, {n}], got {hop}, {length}")
    if window is None:
        window = from_array(np.ones(length, np.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d))
    elif tuple(shape_of(window)) != (length,):
        raise ValueError(f"{op}: the window must have shape [{length}], got {list(shape_of(window))}")
    left = (n - length) // 2
    if length < n:
        window = mani.pad_constant(window, widths=((left, n - length - left),), value=0)
    return n, hop, window


def stft(x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
         center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
         name: Any = None) -> Any:  # fmt: skip
    """The Fourier transforms of windowed frames of signals (length) or (batch, length): (..., frequencies, frames)."""
    x = single("stft", x)
    if len(shape_of(x)) not in (1, 2):
        raise ValueError(f"stft: wanted a signal of 1 or 2 axes, got shape {list(shape_of(x))}")
    is_complex = dtype_of(x).kind == "c" or (window is not None and dtype_of(window).kind == "c")
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise ValueError("stft: a complex signal or window has no one-sided transform; pass onesided=False")
    if pad_mode not in ("reflect", "constant"):
        raise ValueError(f"stft: pad_mode must be 'reflect' or 'constant', got {pad_mode!r}")
    n, hop, window = _framing("stft", dtype_of(x), n_fft, hop_length, win_length, window)
    length = shape_of(x)[-1]
    if n > length + (2 * (n // 2) if center else 0) or (center and pad_mode == "reflect" and n // 2 >= length):
        raise ValueError(f"stft: a signal of {length} elements is too short for n_fft={n}")
    return ops.stft(
        x, window, n=n, hop=hop, center=bool(center), pad_mode=pad_mode, norm="ortho" if normalized else "backward",
        onesided=bool(onesided),
    )  # fmt: skip


def istft(x: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
          center: bool = True, normalized: bool = False, onesided: bool = True, length: int | None = None,
          return_complex: bool = False, name: Any = None) -> Any:  # fmt: skip
    """The signal whose short-time transform is nearest to x (..., frequencies, frames)."""
    x = single("istft", x)
    if dtype_of(x).kind != "c" or len(shape_of(x)) not in (2, 3):
        raise ValueError(f"istft: wanted a complex tensor of 2 or 3 axes, got {x.dtype} of shape {list(shape_of(x))}")
    if return_complex and onesided:
        raise ValueError("istft: a one-sided transform has a real signal; pass onesided=False for a complex one")
    n, hop, window = _framing("istft", dtype_of(x), n_fft, hop_length, win_length, window)
    bins = n // 2 + 1 if onesided else n
    if shape_of(x)[-2] != bins:
        raise ValueError(f"istft: n_fft={n} has {bins} frequencies, the transform {shape_of(x)[-2]}")
    frames = shape_of(x)[-1]
    start = n // 2 if center else 0
    end = start + length if length is not None else n + hop * (frames - 1) - start
    if not ops.covered(concrete("istft", window), n=n, hop=hop, frames=frames, start=start, end=end):
        raise ValueError("istft: the windows leave parts of the signal without weight; use a smaller hop_length")
    return ops.istft(
        x, window, n=n, hop=hop, center=bool(center), norm="ortho" if normalized else "backward", length=length,
        real=not return_complex,
    )  # fmt: skip


METHODS.update(stft=stft, istft=istft)

__getattr__ = attributes(globals())
