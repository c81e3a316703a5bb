"""`paddle.geometric`: reductions of segments, and messages along the edges of graphs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import scatter_reduce as sr
from ...ops import structural as st
from .._shared.registry import defined
from ._api import attributes
from ._gather import gather
from ._promote import single
from ._tensor import from_array
from .random import default_generator

__all__ = [
    "reindex_graph", "reindex_heter_graph", "sample_neighbors", "segment_max", "segment_mean", "segment_min", "segment_sum",
    "send_u_recv", "send_ue_recv", "send_uv", "weighted_sample_neighbors",
]  # fmt: skip

_REDUCTIONS = {"sum": sr.SUM, "mean": sr.MEAN, "max": sr.AMAX, "min": sr.AMIN}
_MESSAGES = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}


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

    return defined(name, function)


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
    return _MESSAGES[message_op](a, b)


def send_ue_recv(x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", reduce_op: str = "sum",
                 out_size: Any = None, name: Any = None) -> Any:  # fmt: skip
    """The rows of x at the sources of edges combined with those of y for the edges, reduced at their destinations."""
    x = single("send_ue_recv", x)
    messages = _message("send_ue_recv", gather(x, src_index), single("send_ue_recv", y), message_op)
    return _received("send_ue_recv", messages, dst_index, shape_of(x)[0], reduce_op, out_size)


def send_uv(x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: Any = None) -> Any:
    """For each edge the row of x at its source combined with the row of y at its destination."""
    return _message("send_uv", gather(x, src_index), gather(y, dst_index), message_op)


# ------------------------------------------------------------------------------------------ sampled neighbours


def _integers(op: str, x: Any) -> np.ndarray:
    return concrete(op, single(op, x)).reshape(-1)


def _sampled(
    op: str, row: Any, colptr: Any, weights: np.ndarray | None, nodes: Any, size: int, eids: Any, return_eids: bool
) -> Any:
    """For each node up to `size` of its neighbours (all with -1), without replacement, and how many; their edges if asked."""
    if return_eids and eids is None:
        raise ValueError(f"{op}: return_eids needs the numbers of the edges, eids")
    rows, ends, wanted = _integers(op, row), _integers(op, colptr), _integers(op, nodes)
    if wanted.size and not 0 <= wanted.min() <= wanted.max() < ends.size - 1:
        raise ValueError(f"{op}: node {wanted.max()} is none of the {ends.size - 1} of colptr")
    draw = default_generator.draw
    edges, counts = [], []
    for node in wanted:
        all_ = np.arange(ends[node], ends[node + 1])
        if 0 <= size < len(all_):
            p = None if weights is None else weights[all_] / weights[all_].sum()
            all_ = np.sort(draw.choice(all_, size, replace=False, p=p))
        edges.append(all_)
        counts.append(len(all_))
    chosen = np.concatenate(edges).astype(np.int64) if edges else np.zeros(0, np.int64)
    found = from_array(rows[chosen]), from_array(np.asarray(counts, rows.dtype))
    return (*found, from_array(_integers(op, eids)[chosen])) if return_eids else found


def sample_neighbors(
    row: Any, colptr: Any, input_nodes: Any, sample_size: int = -1, eids: Any = None, return_eids: bool = False,
    perm_buffer: Any = None, name: Any = None,
) -> Any:  # fmt: skip
    """Neighbours of nodes in a graph by columns (node k's are `row[colptr[k] : colptr[k + 1]]`), up to `sample_size` each."""
    return _sampled("sample_neighbors", row, colptr, None, input_nodes, sample_size, eids, return_eids)


def weighted_sample_neighbors(
    row: Any, colptr: Any, edge_weight: Any, input_nodes: Any, sample_size: int = -1, eids: Any = None,
    return_eids: bool = False, name: Any = None,
) -> Any:  # fmt: skip
    """As `sample_neighbors`, edges of more weight being likelier."""
    weights = _integers("weighted_sample_neighbors", edge_weight).astype(np.float64)
    return _sampled("weighted_sample_neighbors", row, colptr, weights, input_nodes, sample_size, eids, return_eids)


def reindex_graph(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None, name: Any = None
) -> tuple[Any, Any, Any]:
    """Edges in numbers of their own: the sources and the destinations, and which node each number is, those of x first."""
    return reindex_heter_graph(x, [neighbors], [count])


def reindex_heter_graph(
    x: Any, neighbors: Any, count: Any, value_buffer: Any = None, index_buffer: Any = None, name: Any = None
) -> tuple[Any, Any, Any]:
    """As `reindex_graph` for several kinds of edges, which stand one after the other."""
    op = "reindex_heter_graph"
    nodes = _integers(op, x)
    number = {int(node): k for k, node in enumerate(nodes)}
    sources, targets = [], []
    for some, many in zip(neighbors, count):
        ends, counts = _integers(op, some), _integers(op, many)
        if counts.size != nodes.size or counts.sum() != ends.size:
            raise ValueError(f"{op}: wanted {nodes.size} counts that add up to {ends.size}, got {counts.tolist()}")
        sources += [number.setdefault(int(node), len(number)) for node in ends]
        targets.append(np.repeat(np.arange(nodes.size), counts))
    kept = nodes.dtype
    return (
        from_array(np.asarray(sources, kept)), from_array(np.concatenate(targets).astype(kept)),
        from_array(np.asarray(list(number), kept)),
    )  # fmt: skip


__getattr__ = attributes(globals())
