"""Convolution and pooling: from what a user says to what the operations need, and the forms for a single axis.

Sizes are tuples with one int per axis of space, paddings pairs (before, after) per axis, shapes (batch, channels,
*space). What does not fit raises ShapeError, whose text begins with `op`; dialects turn it into their own exception.
The plans (dicts of an operation's parameters) depend on shapes only: a dialect does well to remember them.
"""

from __future__ import annotations

from typing import Any

from ..._errors import ShapeError
from ...core.value import detached, shape_of
from ...ops import pooling as pl
from ...ops import resample as rs
from ...ops.structural import reshape, transpose

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]

# ------------------------------------------------------------------------------------------ sizes


def positive(op: str, **sizes: Sizes) -> None:
    """Raise ShapeError for a size below 1."""
    for name, values in sizes.items():
        if any(n <= 0 for n in values):
            raise ShapeError(f"{op}: {name} must be positive, got {values}")


def same_padding(size: Sizes, kernel: Sizes, stride: Sizes, dilation: Sizes) -> Pads:
    """The padding for which an axis of n gives ceil(n / stride) windows; the odd element comes after.

    >>> same_padding((5, 6), (3, 4), (1, 2), (1, 1))
    ((1, 1), (1, 1))
    """
    totals = (max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0) for n, k, s, d in zip(size, kernel, stride, dilation))
    return tuple((t // 2, t - t // 2) for t in totals)


def window_counts(
    size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, ceil_mode: bool = False,
    drop_outside: bool = True,
) -> Sizes:  # fmt: skip
    """How many windows there are per axis; 0 or less where none fits.

    ceil_mode: a last window that reaches over the end counts too, unless (`drop_outside`) it starts in the padding
    after the input.
    """
    counts = []
    for n, k, s, (before, after), d in zip(size, kernel, stride, padding, dilation):
        count = (n + before + after - d * (k - 1) - 1 + (s - 1 if ceil_mode else 0)) // s + 1
        if ceil_mode and drop_outside and (count - 1) * s >= n + before:
            count -= 1
        counts.append(count)
    return tuple(counts)


# ------------------------------------------------------------------------------------------ convolution


def check_convolution(op: str, x: Sizes, w: Sizes, b: Sizes | None, transposed: bool, groups: int) -> None:
    """Raise ShapeError where the shapes of input, weight and bias do not fit; the input may come without a batch.

    The weight is (out, in / groups, *kernel), or (in, out / groups, *kernel) where `transposed`.
    """
    axes = len(w) - 2
    if axes < 0:
        raise ShapeError(f"{op}: weight must have two dimensions and those of the kernel, got shape {w}")
    if groups <= 0:
        raise ShapeError(f"{op}: groups must be positive, got {groups}")
    if len(x) not in (axes + 1, axes + 2):
        raise ShapeError(f"{op}: input must have {axes + 2} dimensions (or {axes + 1} without a batch), got shape {x}")
    if w[0] % groups:
        raise ShapeError(f"{op}: the first dimension of the weight, {w[0]}, is not divisible into {groups} groups")
    channels, outputs = (w[0], w[1] * groups) if transposed else (w[1] * groups, w[0])
    if x[-axes - 1] != channels:
        raise ShapeError(
            f"{op}: a weight of shape {w} with groups={groups} takes {channels} channels, but the input of shape {x} has "
            f"{x[-axes - 1]}{misplaced_channels(x, channels)}"
        )
    if b is not None and b != (outputs,):
        raise ShapeError(f"{op}: bias must have shape ({outputs},), one per output channel, got {b}")


def misplaced_channels(x: Sizes, channels: int) -> str:
    """The end of a message about an input with other channels: what to do."""
    if x[-1] == channels:
        return "; channels come before the sizes of the image: move the last axis there"
    return "; they come before the sizes of the image: give as many there, or make the layer for that many (in_channels)"


def convolution(
    op: str, x: Sizes, w: Sizes, b: Sizes | None, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> dict[str, Any]:
    """The parameters of `ops.convolution.convolve` for shapes of input, weight and bias."""
    check_convolution(op, x, w, b, False, groups)
    positive(op, stride=stride, dilation=dilation)
    space = x[2 - len(w) :]
    if any(count <= 0 for count in window_counts(space, w[2:], stride, padding, dilation)):
        for n, k, d, (before, after) in zip(space, w[2:], dilation, padding):
            if n + before + after < d * (k - 1) + 1:
                raise ShapeError(
                    f"{op}: a kernel of size {w[2:]} (dilation {dilation}) is larger than the padded input of size "
                    f"{tuple(m + p + q for m, (p, q) in zip(space, padding))}; add padding, or take a smaller kernel or a larger "
                    "input"
                )
    return {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


def transposed_size(space: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, extra: Sizes) -> Sizes:
    """The size of a transposed convolution's result; `extra` elements are added at the end."""
    return tuple(
        (n - 1) * s - before - after + d * (k - 1) + e + 1
        for n, s, (before, after), d, k, e in zip(space, stride, padding, dilation, kernel, extra)
    )


def transposed_convolution(
    op: str, x: Sizes, w: Sizes, b: Sizes | None, stride: Sizes, padding: Pads, dilation: Sizes, groups: int,
    extra: Sizes,
) -> dict[str, Any]:  # fmt: skip
    """The parameters of `ops.convolution.convolve_transpose` for shapes of input, weight and bias."""
    check_convolution(op, x, w, b, True, groups)
    positive(op, stride=stride, dilation=dilation)
    for e, s, d in zip(extra, stride, dilation):
        if e < 0 or (e >= s and e >= d):
            raise ShapeError(
                f"{op}: output_padding must be smaller than the stride or the dilation, got output_padding={extra}, "
                f"stride={stride}, dilation={dilation}"
            )
    size = transposed_size(x[2 - len(w) :], w[2:], stride, padding, dilation, extra)
    if any(n <= 0 for n in size):
        raise ShapeError(f"{op}: an input of shape {x} would give an output of size {size}")
    return {"size": size, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


# ------------------------------------------------------------------------------------------ pooling


def pooling(
    op: str, size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, ceil_mode: bool = False,
    drop_outside: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Kernel, stride, padding and dilation for the operations of `ops.pooling`.

    With `ceil_mode` the padding after the input grows by what the last window needs (see `window_counts`).
    """
    positive(op, kernel_size=kernel, stride=stride, dilation=dilation)
    if any(p < 0 for pair in padding for p in pair):
        raise ShapeError(f"{op}: padding must be zero or more, got {padding}")
    counts = window_counts(size, kernel, stride, padding, dilation, ceil_mode, drop_outside)
    full = []
    for n, k, s, (before, after), d, count in zip(size, kernel, stride, padding, dilation, counts):
        if count <= 0:
            raise ShapeError(
                f"{op}: a window of {k} elements (dilation {d}) does not fit an axis of {n} (padding {before}, {after}); "
                "take a smaller window or more padding"
            )
        full.append((before, max(after, (count - 1) * s + d * (k - 1) + 1 - n - before)))
    return {"kernel": kernel, "stride": stride, "padding": tuple(full), "dilation": dilation}


def max_pool(x: Any, places: bool = False, **plan: Any) -> Any:
    """The largest element of each window of the last axes, and with `places` where it is in the flattened space."""
    if len(plan["kernel"]) == 1:
        row, plan = as_row(x), _planned_row(plan)
        values = from_row(pl.max_pool(row, **plan))
        return (values, from_row(pl.max_pool_places(row, **plan))) if places else values
    values = pl.max_pool(x, **plan)
    return (values, pl.max_pool_places(x, **plan)) if places else values


def fractional_max_pool(x: Any, draws: Any, kernel: Sizes, parts: Sizes) -> tuple[Any, Any]:
    """The largest element of each of `parts` windows at pseudorandom distances, and where it is in the flattened space.

    draws: a number in [0, 1) for each channel and axis, as an array."""
    places = pl.fractional_max_pool_places(detached(x), draws, kernel=kernel, parts=parts)
    return pl.pool_at(x, places, axes=len(parts)), places


def unpool(
    op: str, x: Any, places: Any, kernel: Sizes, stride: Sizes, padding: Sizes, wanted: Sizes | None = None, near: bool = True
) -> Any:  # fmt: skip
    """Zeros with the maxima of windows where they came from: `places` in the flattened space, of x's shape.

    wanted: the size of the space. Raises ValueError where (`near`) windows with this stride do not come from it.
    """
    axes = len(kernel)
    size = tuple((n - 1) * s + k - 2 * p for n, s, k, p in zip(tuple(shape_of(x))[-axes:], stride, kernel, padding))
    if wanted is not None:
        if near and any(not n - s < m < n + s for m, n, s in zip(wanted, size, stride)):
            raise ValueError(f"{op}: output_size {list(wanted)} is too far from {list(size)}, the size that fits the stride")
        size = wanted
    if axes == 1:
        return from_row(pl.unpool(as_row(x), as_row(places), size=(1, *size)))
    return pl.unpool(x, places, size=size)


def fractional_parts(size: Sizes, ratio: Any) -> Sizes:
    """How many windows there are along axes of a size: a share of it, one for all axes or one for each."""
    ratios = ratio if isinstance(ratio, (tuple, list)) else (ratio,) * len(size)
    return tuple(int(n * r) for n, r in zip(size, ratios))


def avg_pool(x: Any, counted: Pads | None = None, divisor: int | None = None, **plan: Any) -> Any:
    """The mean of each window of the last axes; `counted` is the part of the padding that counts as elements."""
    plan.pop("dilation", None)
    plan["counted"] = ((0, 0),) * len(plan["kernel"]) if counted is None else counted
    if len(plan["kernel"]) == 1:
        return from_row(pl.avg_pool(as_row(x), **_planned_row(plan), divisor=divisor))
    return pl.avg_pool(x, **plan, divisor=divisor)


def adaptive_max_pool(x: Any, parts: Sizes, places: bool = False) -> Any:
    """The largest element of each of the `parts` that the last axes are divided into, and with `places` where it is."""
    if len(parts) == 1:
        row, wide = as_row(x), (1, *parts)
        values = from_row(pl.adaptive_max_pool(row, parts=wide))
        return (values, from_row(pl.adaptive_max_pool_places(row, parts=wide))) if places else values
    values = pl.adaptive_max_pool(x, parts=parts)
    return (values, pl.adaptive_max_pool_places(x, parts=parts)) if places else values


def adaptive_avg_pool(x: Any, parts: Sizes) -> Any:
    """The means of the `parts` that the last axes are divided into."""
    if len(parts) == 1:
        return from_row(adaptive_avg_pool(as_row(x), (1, *parts)))
    size = tuple(shape_of(x))[-len(parts) :]
    return rs.resample(x, maps=tuple(rs.Map(rs.MEAN, n, m) for n, m in zip(size, parts)))


def _planned_row(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan for one axis as that for an image of one row."""
    return {key: ((0, 0) if key in ("padding", "counted") else 1, *value) for key, value in plan.items()}


# ------------------------------------------------------------------------------------------ axes


def as_row(x: Any) -> Any:
    """(..., n) as (..., 1, n)."""
    shape = tuple(shape_of(x))
    return reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def from_row(x: Any) -> Any:
    """(..., 1, n) as (..., n)."""
    shape = tuple(shape_of(x))
    return reshape(x, shape=(*shape[:-2], shape[-1]))


def channels_first(x: Any) -> Any:
    """(N, *space, C) as (N, C, *space)."""
    rank = len(shape_of(x))
    return transpose(x, axes=(0, rank - 1, *range(1, rank - 1)))


def channels_last(x: Any) -> Any:
    """(N, C, *space) as (N, *space, C)."""
    rank = len(shape_of(x))
    return transpose(x, axes=(0, *range(2, rank), 1))
