"""`paddle.geometric`: reductions of segments, and messages along the edges of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import scatter_reduce as sr
from ...ops import structural as st
from ._api import missing
from ._gather import gather
from ._operators import METHODS as _METHODS
from ._promote import single
from ._tensor import from_array

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_sum", "send_u_recv", "send_ue_recv", "send_uv",
]  # fmt: skip

_REDUCTIONS = {"sum": sr.SUM, "mean": sr.MEAN, "max": sr.AMAX, "min": sr.AMIN}
_MESSAGES = {"add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__"}


def _reduced(op: str, data: Any, places: np.ndarray, count: int, reduce: str) -> Any:
    """Rows of `data` reduced into `count` rows at places; 0 where none arrives."""
    shape = tuple(shape_of(data))
    if places.shape != shape[:1] or places.dtype.kind not in "iu":
        raise ValueError(f"{op}: wanted an integer for each of {shape[:1]} rows, got shape {list(places.shape)}")
    if places.size and not 0 <= places.min() <= places.max() < count:
        raise ValueError(f"{op}: row {places.max()} of {count} does not exist")
    start = from_array(np.zeros((count, *shape[1:]), dtype_of(data)))
    at = np.broadcast_to(places.reshape(-1, *(1,) * (len(shape) - 1)), shape).astype(np.int64)
    # Of equal extremes each gets the whole gradient, as in PaddlePaddle.
    return sr.scatter_reduce(
        start, at, data, axis=0, reduce=_REDUCTIONS[reduce], include_self=False, x_ties=False, shares=False
    )


def _segments(name: str, reduce: str) -> Any:
    def function(data: Any, segment_ids: Any, name: Any = None) -> Any:
        """The reduction of the rows with one segment number, for each number from 0 to the last; 0 for missing ones."""
        op = function.__name__
        ids = concrete(op, single(op, segment_ids)).reshape(-1)
        if (np.diff(ids) < 0).any():
            raise ValueError(f"{op}: the segment numbers must not descend")
        return _reduced(op, single(op, data), ids, int(ids[-1]) + 1 if ids.size else 0, reduce)

    function.__name__ = function.__qualname__ = name
    return function


segment_sum, segment_mean = _segments("segment_sum", "sum"), _segments("segment_mean", "mean")
segment_max, segment_min = _segments("segment_max", "max"), _segments("segment_min", "min")


def _received(op: str, messages: Any, dst_index: Any, rows: int, reduce_op: str, out_size: Any) -> Any:
    if reduce_op not in _REDUCTIONS:
        raise ValueError(f"{op}: reduce_op must be sum, mean, max or min, got {reduce_op!r}")
    size = out_size.item() if isinstance(out_size, Value) else out_size
    places = concrete(op, single(op, dst_index)).reshape(-1)
    return _reduced(op, messages, places, rows if size is None or size <= 0 else int(size), reduce_op)


def send_u_recv(x: Any, src_index: Any, dst_index: Any, reduce_op: str = "sum", out_size: Any = None,
                name: Any = None) -> Any:  # fmt: skip
    """The rows of x at the sources of edges, reduced at their destinations."""
    x = single("send_u_recv", x)
    return _received("send_u_recv", gather(x, src_index), dst_index, shape_of(x)[0], reduce_op, out_size)


def _message(op: str, a: Any, b: Any, message_op: str) -> Any:
    if message_op not in _MESSAGES:
        raise ValueError(f"{op}: message_op must be add, sub, mul or div, got {message_op!r}")
    na, nb = len(shape_of(a)), len(shape_of(b))
    if na != nb:
        small, n = (a, na) if na < nb else (b, nb)
        shape = tuple(shape_of(small))
        small = st.reshape(small, shape=(shape[0], *(1,) * (max(na, nb) - n), *shape[1:]))
        a, b = (small, b) if na < nb else (a, small)
    return _METHODS[_MESSAGES[message_op]](a, b)


def send_ue_recv(x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", reduce_op: str = "sum",
                 out_size: Any = None, name: Any = None) -> Any:  # fmt: skip
    """The rows of x at the sources of edges combined with those of y for the edges, reduced at their destinations."""
    x = single("send_ue_recv", x)
    messages = _message("send_ue_recv", gather(x, src_index), single("send_ue_recv", y), message_op)
    return _received("send_ue_recv", messages, dst_index, shape_of(x)[0], reduce_op, out_size)


def send_uv(x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: Any = None) -> Any:
    """For each edge the row of x at its source combined with the row of y at its destination."""
    return _message("send_uv", gather(x, src_index), gather(y, dst_index), message_op)


def __getattr__(name: str) -> Any:
    raise missing("paddle.geometric", name, __all__)
