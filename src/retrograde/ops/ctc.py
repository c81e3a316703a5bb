"""The connectionist temporal classification loss (Graves et al., 2006): -log of the sum over all alignments.

Labels come with blanks around them: of S labels, L = 2 S + 1 states, of which the even ones are blank. An alignment
stays in a state, moves on by one, or skips a blank between two different labels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, device_in
from ..core.arrays import from_host, full
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, shape_of
from .comparison import equal, greater, less, logical_and, not_equal
from .elementwise import exp, logaddexp
from .indexing import along_add, take_along_axis
from .kernels import in_single, widened
from .reduction import logsumexp, sum
from .rules import batch_loop
from .samples import normal, sample
from .selection import drop, keep, where
from .shapes import demand, matching
from .structural import broadcast_to, concatenate, getitem, reshape, stack

IMPOSSIBLE = -1e30
"""The logarithm of no probability: unlike -inf it has differences and derivatives."""


def with_blanks(targets: np.ndarray, blank: int) -> np.ndarray:
    """Rows of labels (N, S) with blanks before, between and behind them."""
    out = np.full((targets.shape[0], 2 * targets.shape[1] + 1), blank, np.int64)
    out[:, 1::2] = targets
    return out


def _up(xp: Any, x: Any, by: int, value: Any) -> Any:
    """Rows moved up by some states, and a value where they come from."""
    n, states = x.shape
    by = min(by, states)
    return xp.concat([xp.full((n, by), value, dtype=x.dtype, device=device_in(x)), x[:, : states - by]], axis=1)


@widened
def _ctc_kernel(
    xp: Any, x: Any, labels: Any, frames: Any, lengths: Any, *, zero_infinity: bool, normalised: bool
) -> Any:
    n, width = labels.shape
    states = xp.arange(width, dtype=labels.dtype, device=device_in(x))
    skip = (labels != _up(xp, labels, 2, -1)) & (states % 2 == 1) & (states >= 2)
    duration = x.shape[0]
    emitted = xp.take_along_axis(x, astype(xp, xp.broadcast_to(labels, (duration, n, width)), np.int64), axis=2)
    last = 2 * astype(xp, lengths, labels.dtype)[:, None]
    final = (states == last) | (states == last - 1)
    nothing = xp.full((n, width), -math.inf, dtype=x.dtype, device=device_in(x))
    forward = nothing
    for t in range(duration):
        if t:
            arrived = xp.logaddexp(forward, _up(xp, forward, 1, -math.inf))
            skipped = xp.logaddexp(arrived, _up(xp, forward, 2, -math.inf))
            arrived = xp.where(skip, skipped, arrived)
        else:
            arrived = xp.where(states < 2, xp.zeros_like(nothing), nothing)
        forward = xp.where((frames > t)[:, None], arrived + emitted[t, ...], forward)
    ends = xp.where(final, forward, nothing)
    most = xp.max(ends, axis=1)
    finite = xp.where(xp.isfinite(most), most, 0)
    out = -(xp.log(xp.sum(xp.exp(ends - finite[:, None]), axis=1)) + finite)
    return xp.where(frames == 0, xp.where(lengths == 0, 0, xp.full_like(out, math.inf)), out)


def _step(before: Any, skip: Any) -> Any:
    """The logarithm of the probability of arriving in each state."""
    out = before.copy()
    out[:, 1:] = np.logaddexp(out[:, 1:], before[:, :-1])
    out[:, 2:] = np.where(skip[:, 2:], np.logaddexp(out[:, 2:], before[:, :-2]), out[:, 2:])
    return out


def _beginning(x: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a blank may be skipped, what each frame gives each state, and the states in which an alignment begins."""
    states = np.arange(labels.shape[1])
    skip = np.zeros(labels.shape, bool)
    skip[:, 2:] = (labels[:, 2:] != labels[:, :-2]) & (states[2:] % 2 == 1)
    emitted = np.take_along_axis(x, np.broadcast_to(labels, (x.shape[0], *labels.shape)), axis=2)
    return skip, emitted, np.where(states < 2, x.dtype.type(0), x.dtype.type(-math.inf))


def arrivals(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The logarithms (N, T, L) of the probabilities of having arrived in each state with each frame."""
    skip, emitted, start = _beginning(x, labels)
    out = [start + emitted[0]]
    for frame in emitted[1:]:
        out.append(_step(out[-1], skip) + frame)
    return np.stack(out, axis=1)


def _ctc_numpy(x: Any, labels: Any, frames: Any, lengths: Any, *, zero_infinity: bool, normalised: bool) -> Any:
    wide = in_single(x)
    states = np.arange(labels.shape[1])
    skip, emitted, start = _beginning(wide, labels)
    final = (states == 2 * lengths[:, None]) | (states == 2 * lengths[:, None] - 1)
    forward = np.full(labels.shape, -math.inf, wide.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        for t in range(x.shape[0]):
            arrived = _step(forward, skip) if t else start
            forward = np.where((t < frames)[:, None], arrived + emitted[t], forward)
        out = -np.logaddexp.reduce(np.where(final, forward, wide.dtype.type(-math.inf)), axis=1)
    return np.where(frames == 0, np.where(lengths == 0, 0, math.inf), out).astype(x.dtype, copy=False)


def _impossible(like: Any) -> Any:
    return full((), IMPOSSIBLE, dtype_of(like), like)


def _moved(x: Any, by: int) -> Any:
    """`x` (N, L) shifted by some states, up or (negative) down."""
    n, states = shape_of(x)
    edge = full((n, min(abs(by), states)), IMPOSSIBLE, dtype_of(x), x)
    if abs(by) >= states:
        return edge
    if by > 0:
        return concatenate(edge, getitem(x, index=(slice(None), slice(0, states - by))), axis=1)
    return concatenate(getitem(x, index=(slice(None), slice(-by, states))), edge, axis=1)


def _stepped(x: Any, skip: Any, by: int) -> Any:
    """As `_step`, by operations; forwards in time for by=1, backwards for by=-1."""
    return logaddexp(logaddexp(x, _moved(x, by)), where(skip, _moved(x, 2 * by), _impossible(x)))


def _posterior(x: Any, labels: Any, frames: Any, lengths: Any, nothing: float) -> tuple[Any, Any, Any]:
    """The probability of each class at each frame over all alignments (`nothing` where there is none), which frames
    count, and which elements have no alignment."""
    duration, n, _ = shape_of(x)
    states = shape_of(labels)[1]
    place = from_host(np.arange(states), x)
    spread = broadcast_to(labels, shape=(duration, n, states))
    emitted = take_along_axis(x, spread, axis=2)
    ends = reshape(lengths * 2, shape=(n, 1))
    row = np.where(np.arange(states) < 2, 0, IMPOSSIBLE).astype(dtype_of(x))
    start = from_host(np.broadcast_to(row, (n, states)), x)
    final = where(equal(ends, place), 0 * start, where(equal(ends - 1, place), 0 * start, _impossible(x)))
    count = reshape(frames, shape=(n, 1))
    skip, skip_next = _skips(labels, n, states)
    forward, alphas = start, []
    for t in range(duration):
        step = (_stepped(forward, skip, 1) if t else start) + getitem(emitted, index=(t,))
        forward = where(greater(count, t), step, forward)
        alphas.append(forward)
    behind, betas = final, []
    for t in range(duration - 1, -1, -1):
        if t < duration - 1:
            step = _stepped(behind + getitem(emitted, index=(t + 1,)), skip_next, -1)
            behind = where(greater(count, t + 1), step, behind)
        betas.append(behind)
    total = logsumexp(forward + final, axis=(1,), keepdims=True)
    paths = exp(stack(*alphas, axis=0) + stack(*betas[::-1], axis=0) - total)
    impossible = less(total, IMPOSSIBLE / 2)
    paths = where(impossible, full((), nothing, dtype_of(x), x), paths)
    within = greater(count, from_host(np.arange(duration).reshape(duration, 1, 1), x))
    return along_add(keep(paths, within), spread, shape=tuple(shape_of(x)), axis=2), within, impossible


def _skips(labels: Any, n: int, states: int) -> tuple[Any, Any]:
    """From where to where a blank may be skipped: by the state arrived in, and by the state left."""
    none = full((n, min(2, states)), False, np.dtype(bool), labels)
    if states < 3:
        return none, none
    differs = not_equal(getitem(labels, index=(slice(None), slice(2, None))),
                        getitem(labels, index=(slice(None), slice(0, states - 2))))  # fmt: skip
    differs = logical_and(differs, from_host(np.arange(2, states) % 2 == 1, labels))
    return concatenate(none, differs, axis=1), concatenate(differs, none, axis=1)


def _slope(x: Any, labels: Any, frames: Any, lengths: Any, zero_infinity: bool, normalised: bool) -> Any:
    """The derivative of each element's loss by its log-probabilities."""
    nothing = 0.0 if zero_infinity else math.nan
    posterior, within, impossible = _posterior(x, labels, frames, lengths, nothing)
    if not normalised:
        return -posterior
    own = keep(exp(x), within)
    return (drop(own, impossible) if zero_infinity else own) - posterior


def _ctc_samples() -> Any:
    labels = with_blanks(np.array([[1, 2], [1, 1], [2, 0]]), 0)
    yield sample(
        normal(4, 3, 3), labels, np.array([3, 4, 2]), np.array([2, 2, 1]), zero_infinity=False, normalised=False
    )
    yield sample(normal(3, 1, 3), with_blanks(np.zeros((1, 0)), 0), np.array([3]), np.array([0]), zero_infinity=True,
                 normalised=False)  # fmt: skip


def _infer_ctc(avals: Any, p: dict[str, Any]) -> Aval:
    x, labels, frames, lengths = avals
    demand(len(x.shape) == 3 and len(labels.shape) == 2, f"(T, N, C) and (N, L) are wanted, got {x.shape}, {labels.shape}")
    matching("labels, frames and lengths", (labels.shape[0], *frames.shape, *lengths.shape), (x.shape[1],) * 3)
    return Aval((x.shape[1],), x.dtype)


# x (T, N, C) are log-probabilities, `labels` (N, L) as of with_blanks, `frames` and `lengths` (N,) how many frames and
# labels count; the result is (N,), inf where no alignment exists. normalised=True: the derivative is that along which
# each frame's probabilities keep their sum (exp(x) added), as frameworks have it. zero_infinity: and 0 where the loss
# is infinite, else NaN.
ctc_loss = primitive(
    "ctc_loss", kernel=_ctc_kernel, numpy=_ctc_numpy,
    vjps=[lambda g, _out, x, labels, frames, lengths, *, zero_infinity, normalised:
          _slope(x, labels, frames, lengths, zero_infinity, normalised) * reshape(g, shape=(1, *shape_of(g), 1)),
          None, None, None],
    jvp=lambda tangents, out, x, labels, frames, lengths, *, zero_infinity, normalised: sum(
        _slope(x, labels, frames, lengths, zero_infinity, normalised) * tangents[0], axis=(0, 2), keepdims=False),
    batch=batch_loop, infer=_infer_ctc, samples=_ctc_samples,
)  # fmt: skip
