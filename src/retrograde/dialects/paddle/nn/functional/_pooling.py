"""Pooling: maxima, averages, norms, adaptive and fractional forms, and max unpooling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import shape_of
from .....learn.layers import windows as win
from .....ops import elementwise as ew
from .....ops import pooling as pl
from .....ops.structural import cast
from ...._shared.spatial import of_axes
from ... import random
from ..._api import aliases
from ..._tensor import from_array
from ._arguments import LAYOUTS, Pairs, Sizes, channels_first, channels_last, floating, paddings, per_axis, shaped


def _space(op: str, x: Any, axes: int) -> Sizes:
    """The sizes to pool of (N, C, *size); raises ValueError where there are no such dimensions."""
    shape = tuple(shape_of(x))
    if len(shape) != axes + 2:
        raise ValueError(
            f"{op}: wanted {axes + 2} dimensions (batch, channels, {axes} of space), got shape {list(shape)}"
        )
    return shape[2:]


def _plan(
    op: str, size: Sizes, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, last: bool
) -> tuple[dict[str, Any], Pairs]:
    """What the operations need, and the padding as it was given."""
    axes = len(size)
    kernel = per_axis(op, "kernel_size", kernel_size, axes)
    steps = kernel if stride is None else per_axis(op, "stride", stride, axes)
    once = (1,) * axes
    pads = paddings(op, padding, axes, last)
    if pads == "VALID":
        if ceil_mode:
            raise ValueError(f"{op}: padding 'VALID' goes with ceil_mode=False only")
        pads = ((0, 0),) * axes
    elif pads == "SAME":
        pads = win.same_padding(size, kernel, steps, once)
    assert not isinstance(pads, str)
    return win.pooling(op, size, kernel, steps, pads, once, bool(ceil_mode), drop_outside=False), pads


# ------------------------------------------------------------------------------------------ maxima


def _fractional_windows(n: int, parts: int, kernel: int | None, u: float) -> np.ndarray:
    """The places of each window along an axis, in rows that are filled up with the last one of theirs."""
    if kernel is None:  # the windows lie side by side
        ratio, least = n / parts, n // parts
        turn = u * min((least + 2) / ratio - 1, (n + 1 - least) / ratio - (parts - 1))
        first = int(turn * ratio)
        starts = np.array([int((k + turn) * ratio) - first for k in range(parts)])
        ends = np.array([int((k + 1 + turn) * ratio) - first for k in range(parts)])
    else:  # they are as wide as each other, the last one at the end
        ratio = (n - kernel) / (parts - 1) if parts > 1 else 0.0
        starts = np.array([*(int((k + u) * ratio) - int(u * ratio) for k in range(parts - 1)), n - kernel])
        ends = starts + kernel
    ends = np.minimum(np.maximum(ends, starts + 1), n)
    reach = np.arange(int((ends - starts).max()))
    return np.minimum(starts[:, None] + reach, ends[:, None] - 1)


def _fractional(op: str, axes: int) -> Any:
    def pool(
        x: Any, output_size: Any, kernel_size: Any = None, random_u: float | None = None, return_mask: bool = False,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        x = floating(op, x)
        size = _space(op, x, axes)
        given = [output_size] * axes if isinstance(output_size, int) else list(output_size)
        parts = [n if m is None else int(m) for n, m in zip(size, given)]
        kernel = [None] * axes if kernel_size is None else list(per_axis(op, "kernel_size", kernel_size, axes))
        u = float(_uniform().numpy()[0]) if random_u is None else float(random_u)
        if not 0 < u < 1:
            raise ValueError(f"{op}: random_u must lie between 0 and 1, got {u}")
        if any(m < 1 or (w is not None and m + w - 1 > n) for n, m, w in zip(size, parts, kernel)):
            raise ValueError(f"{op}: {parts} windows do not fit the sizes {list(size)}")
        flat = np.zeros((1,) * (2 * axes), np.int64)
        for k, (n, m, window) in enumerate(zip(size, parts, kernel)):
            at = _fractional_windows(n, m, window, u)
            spread = [1] * (2 * axes)
            spread[k], spread[axes + k] = at.shape
            flat = flat * n + at.reshape(spread)
        array = concrete(op, x)
        flat = flat.reshape(*parts, -1)
        best = array.reshape(*array.shape[:2], -1)[:, :, flat].argmax(-1)
        places = np.take_along_axis(np.broadcast_to(flat, (*best.shape, flat.shape[-1])), best[..., None], -1)[..., 0]
        values = pl.pool_at(x, places, axes=axes)
        return (values, from_array(places.astype(np.int32))) if return_mask else values

    return pool


def _uniform() -> Any:
    return random.uniform([1], "float32", 1e-6, 1.0)


fractional_max_pool2d, fractional_max_pool3d = of_axes(
    "fractional_max_pool{}d", "Maxima over windows of {x} whose distances are a random sequence of two (Graham, 2014).",
    _fractional, axes=(2, 3),
)  # fmt: skip


@shaped
def _max_pool(
    op: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, return_mask: bool, ceil_mode: bool,
    data_format: str,
) -> Any:  # fmt: skip
    x = floating(op, x)
    last = channels_last(op, data_format, axes)
    if return_mask and last:
        raise ValueError(f"{op}: return_mask=True needs the channels first, got data_format={data_format!r}")

    def compute(x: Any) -> Any:
        plan, _ = _plan(op, _space(op, x, axes), kernel_size, stride, padding, ceil_mode, last)
        out = win.max_pool(x, return_mask, **plan)
        return (out[0], _mask(out[1])) if return_mask else out

    return channels_first(compute, x, last)


def _mask(places: Any) -> Any:
    """Places in PaddlePaddle's dtype for them."""
    return cast(places, dtype=np.dtype(np.int32))


def _maxima(op: str, axes: int) -> Any:
    def pool(
        x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
        ceil_mode: bool = False, data_format: str = LAYOUTS[axes][0], name: str | None = None,
    ) -> Any:  # fmt: skip
        return _max_pool(op, axes, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)

    return pool


max_pool2d, max_pool3d = of_axes(
    "max_pool{}d", "The largest element of each window of {x}, and its index{flat} if asked.", _maxima, axes=(2, 3)
)


def max_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, return_mask: bool = False,
    ceil_mode: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The largest element of each window of (N, C, L), and its index if asked."""
    return _max_pool("max_pool1d", 1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


# ------------------------------------------------------------------------------------------ averages


@shaped
def _avg_pool(
    op: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, exclusive: bool,
    divisor: Any, data_format: str,
) -> Any:  # fmt: skip
    x = floating(op, x)
    last = channels_last(op, data_format, axes)
    if divisor is not None and not divisor > 0:
        raise ValueError(f"{op}: divisor_override must be positive, got {divisor}")

    def compute(x: Any) -> Any:
        plan, given = _plan(op, _space(op, x, axes), kernel_size, stride, padding, ceil_mode, last)
        return win.avg_pool(x, None if exclusive else given, divisor, **plan)

    return channels_first(compute, x, last)


def avg_pool1d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, exclusive: bool = True, ceil_mode: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The mean of each window of (N, C, L); padding counts unless `exclusive`."""
    return _avg_pool("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, exclusive, None, "NCL")


def _means(op: str, axes: int) -> Any:
    def pool(
        x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, exclusive: bool = True,
        divisor_override: Any = None, data_format: str = LAYOUTS[axes][0], name: str | None = None,
    ) -> Any:  # fmt: skip
        return _avg_pool(op, axes, x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)

    return pool


avg_pool2d, avg_pool3d = of_axes(
    "avg_pool{}d", "The mean of each window of {x}, or its sum over a divisor; padding counts unless `exclusive`.", _means,
    axes=(2, 3),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ p-norms


def _lp_pool(op: str, axes: int) -> Any:
    def pool(
        x: Any, norm_type: float, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        data_format: str = LAYOUTS[axes][0], name: str | None = None,
    ) -> Any:  # fmt: skip
        x, p = floating(op, x), float(norm_type)
        if p == 0:
            raise ValueError(f"{op}: norm_type must not be 0")
        if p == math.inf:
            return _max_pool(op, axes, x, kernel_size, stride, padding, False, ceil_mode, data_format)
        powers = ew.power_by(x, exponent=p)
        sums = _avg_pool(op, axes, powers, kernel_size, stride, padding, ceil_mode, False, 1, data_format)
        return ew.power_by(sums, exponent=1.0 / p)

    return pool


lp_pool1d, lp_pool2d = of_axes(
    "lp_pool{}d", "The p-norm of each window of {x}.", _lp_pool, aliases(input="x"), axes=(1, 2)
)

# ------------------------------------------------------------------------------------------ adaptive


def _parts(op: str, size: Sizes, output_size: Any) -> Sizes:
    """The output size per axis; None keeps the input's."""
    if output_size is None or isinstance(output_size, int):
        output_size = (output_size,) * len(size)
    if len(output_size) != len(size):
        raise ValueError(f"{op}: output_size must be one int or {len(size)} of them, got {list(output_size)}")
    parts = tuple(n if m is None else int(m) for n, m in zip(size, output_size))
    win.positive(op, output_size=parts)
    return parts


def _adaptive_avg(op: str, axes: int) -> Any:
    def pool(x: Any, output_size: Any, data_format: str = LAYOUTS[axes][0], name: str | None = None) -> Any:
        def compute(x: Any) -> Any:
            return win.adaptive_avg_pool(x, _parts(op, _space(op, x, axes), output_size))

        return channels_first(compute, floating(op, x), channels_last(op, data_format, axes))

    return pool


_row_means, adaptive_avg_pool2d, adaptive_avg_pool3d = of_axes(
    "adaptive_avg_pool{}d", "The means of the parts of {x}.", _adaptive_avg, shaped, aliases(input="x")
)


@aliases(input="x")
def adaptive_avg_pool1d(x: Any, output_size: Any, name: str | None = None) -> Any:
    """The means of `output_size` parts of (N, C, L)."""
    return _row_means(x, output_size)


def _adaptive_max(op: str, axes: int) -> Any:
    def pool(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
        x = floating(op, x)
        out = win.adaptive_max_pool(x, _parts(op, _space(op, x, axes), output_size), return_mask)
        return (out[0], _mask(out[1])) if return_mask else out

    return pool


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = of_axes(
    "adaptive_max_pool{}d", "The largest elements of the parts of {x}, and their indices if asked.", _adaptive_max, shaped,
    aliases(input="x"),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ unpooling


def _unpool(op: str, axes: int) -> Any:
    def unpool(
        x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, data_format: str = LAYOUTS[axes][0],
        output_size: Any = None, name: str | None = None,
    ) -> Any:  # fmt: skip
        x = floating(op, x)
        if channels_last(op, data_format, axes):
            raise ValueError(f"{op}: only channels first is possible, got data_format={data_format!r}")
        _space(op, x, axes)
        if tuple(shape_of(indices)) != tuple(shape_of(x)):
            raise ValueError(
                f"{op}: indices of shape {list(shape_of(indices))} do not fit an input of shape {list(shape_of(x))}"
            )
        kernel = per_axis(op, "kernel_size", kernel_size, axes)
        steps = kernel if stride is None else per_axis(op, "stride", stride, axes)
        pads = per_axis(op, "padding", padding, axes)
        target = None if output_size is None else tuple(int(n) for n in output_size)[-axes:]
        if target is not None and len(target) != axes:
            raise ValueError(f"{op}: output_size must have {axes} sizes, got {list(output_size)}")
        return win.unpool(op, x, cast(indices, dtype=np.dtype(np.int64)), kernel, steps, pads, target)

    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = of_axes(
    "max_unpool{}d", "The maxima of max_pool{n}d back in their places, zeros elsewhere.", _unpool
)
