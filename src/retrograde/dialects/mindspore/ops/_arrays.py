"""The Primitive classes on arrays, matrices and sequences that no function of `ops` stands for; what cannot be, says so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of
from ....learn import losses as formulas
from ....ops import structural as st
from ....ops.softmax import log_softmax
from ..._shared.axes import integer, integers
from .. import (
    _activations,
    _arithmetic,
    _binary,
    _blocks,
    _convolution,
    _creation,
    _diagonals,
    _gather,
    _joining,
    _linalg,
    _losses,
    _matmul,
    _pooling,
    _random,
    _reductions,
    _shape,
    _spectral,
    _unary,
)
from .._assign import written
from .._dtype import as_dtype, float32
from .._promote import FLOATING, single, tensor_argument, to_dtype
from .._recording import Recording
from .._sparse import COOTensor
from .._stream import generator
from .._tensor import Tensor, from_array
from ._updates import _adam as adam_step

Function = Callable[..., Any]


def _array(op: str, x: Any) -> np.ndarray:
    return np.asarray(x._concrete(op) if isinstance(x, Value) else x)


# ------------------------------------------------------------------------------------------ arrays


def _window(f: Function) -> Function:
    def run(length: Any, *, periodic: bool, dtype: Any, **options: float) -> Any:
        return f(int(_array(f.__name__, length).item()), periodic, dtype=dtype, **options)

    return run


def _histogram(x: Any, bounds: Any, *, nbins: int, dtype: str) -> Any:
    values, (low, high) = _array("HistogramFixedWidth", x), _array("HistogramFixedWidth", bounds).tolist()
    places = np.clip(((values - low) / (high - low) * nbins).astype(np.int64), 0, nbins - 1)
    return from_array(np.bincount(places.ravel(), minlength=nbins).astype(as_dtype(dtype).np))


def _difference(x: Any, y: Any, *, out_idx: Any) -> tuple[Any, Any]:
    """The elements of a vector that another one has not, and where they are."""
    values = _array("ListDiff", x)
    places = np.flatnonzero(~np.isin(values, _array("ListDiff", y)))
    return from_array(values[places]), from_array(places.astype(as_dtype(out_idx).np))


def _added_along(x: Any, indices: Any, updates: Any, *, axis: int) -> Any:
    return written("ScatterAddWithAxis", x, _gather.tensor_scatter_elements(x, indices, updates, axis, "add"))


def _added_at(x: Any, indices: Any, updates: Any, *, axis: int) -> Any:
    return _gather.index_add(x, indices, updates, axis)  # which writes into x


def _block_sizes(op: str, block_size: Any) -> tuple[int, int]:
    n = integer(op, "block_size", block_size)
    if n < 2:
        raise ValueError(f"{op}: block_size must be 2 or more, got {n}")
    return n, n


def _tridiagonal_product(above: Any, main: Any, below: Any, rhs: Any) -> Any:
    """The product of a matrix that is zero beside its diagonal and its neighbours; they are vectors of one length."""
    up = _joining.cat((rhs[..., 1:, :], _creation.zeros_like(rhs[..., :1, :])), -2)
    down = _joining.cat((_creation.zeros_like(rhs[..., :1, :]), rhs[..., :-1, :]), -2)
    wide = [st.reshape(v, shape=(*v.shape[:-2], v.shape[-1], 1)) for v in (above, main, below)]
    return wide[0] * up + wide[1] * rhs + wide[2] * down


def _tridiagonal_solution(diagonals: Any, rhs: Any, *, partial_pivoting: bool) -> Any:
    """The solution for a matrix that is zero beside its diagonal and its neighbours: rows above, on and below it."""
    n = diagonals.shape[-1]
    matrix: Any = 0
    for row, shift in enumerate((1, 0, -1)):
        part = diagonals[..., row, : n - 1] if shift == 1 else diagonals[..., row, 1:] if shift else diagonals[..., row, :]
        matrix = matrix + _diagonals.diag_embed(part, shift)
    return _linalg.matrix_solve(matrix, rhs)


def _least_squares(matrix: Any, rhs: Any, l2: Any, *, fast: bool) -> Any:
    a = single("MatrixSolveLs", matrix, FLOATING)
    across = _shape.swapaxes(a, -1, -2)
    eye = from_array(np.eye(a.shape[-1], dtype=dtype_of(a)))
    normal = _arithmetic.matmul(across, a) + eye * float(_array("MatrixSolveLs", l2))
    return _linalg.matrix_solve(normal, _arithmetic.matmul(across, rhs))


def _eigen(x: Any, *, vectors: bool, lower: bool = True) -> tuple[Any, Any]:
    from ....tensor import linalg

    x = single("Eigh", x, FLOATING)
    x = x if lower else _unary.conj(_shape.swapaxes(x, -1, -2))
    if vectors:
        return tuple(linalg.eigh(x))  # type: ignore[return-value]
    return linalg.eigvalsh(x), from_array(np.zeros((0,), dtype_of(x)))


def _ranges(starts: Any, limits: Any, deltas: Any, *, Tsplits: Any) -> tuple[Any, Any]:
    rows = [_array("RaggedRange", v) for v in (starts, limits, deltas)]
    parts = [np.arange(a, b, d) for a, b, d in zip(*np.broadcast_arrays(*map(np.atleast_1d, rows)))]
    splits = np.cumsum([0, *map(len, parts)])
    return from_array(splits.astype(as_dtype(Tsplits).np)), from_array(np.concatenate(parts).astype(rows[0].dtype))


def _confusion(labels: Any, predictions: Any, weights: Any = None, *, num_classes: int, dtype: str) -> Any:
    rows, columns = (_array("ConfusionMatrix", v).ravel() for v in (labels, predictions))
    out = np.zeros((num_classes, num_classes), as_dtype(dtype).np)
    np.add.at(out, (rows, columns), 1 if weights is None else _array("ConfusionMatrix", weights).ravel())
    return from_array(out)


def _hits(classes: Any, candidates: Any, *, num_true: int) -> tuple[Any, Any, Any]:
    """Where drawn candidates are among the true classes: rows, places of the candidates, and a weight that removes them."""
    true, drawn = _array("ComputeAccidentalHits", classes), _array("ComputeAccidentalHits", candidates)
    rows, places = np.nonzero((true[:, :, None] == drawn).any(axis=1))
    weights = np.full(len(rows), -np.finfo(np.float32).max, np.float32)
    return from_array(rows.astype(np.int32)), from_array(places.astype(np.int32)), from_array(weights)


def _of_layout(op: str, x: Any, source: str, target: str, permuted: bool) -> Any:
    """Places of axes, or what stands in their places, in one layout of images taken to another."""
    values = _array(op, x)
    if permuted:
        return from_array(values[[source.index(axis) for axis in target]])
    places = np.asarray([source.index(axis) for axis in target], values.dtype)
    return from_array(places[values])


def _filtered(x: Any, most: Any, offset: Any) -> tuple[Any, Any]:
    values = _array("SubAndFilter", x)
    values = (values - _array("SubAndFilter", offset)).astype(values.dtype)
    places = np.flatnonzero((values >= 0) & (values < _array("SubAndFilter", most)))
    return from_array(values[places]), from_array(places.astype(values.dtype))


def _segments(power: float) -> Function:
    """The sums of rows that are named, by segments with rising ids, over their number to a power."""

    def run(x: Any, indices: Any, segments: Any, number: Any = None) -> Any:
        ids = _array("SparseSegment", segments)
        count = int(ids.max(initial=-1)) + 1 if number is None else int(_array("SparseSegment", number).item())
        sums = _gather.unsorted_segment_sum(_gather.gather(x, indices, 0), segments, count)
        if not power:
            return sums
        sizes = np.maximum(np.bincount(ids, minlength=count), 1) ** power
        return sums / from_array(sizes.reshape(-1, *(1,) * (sums.ndim - 1)).astype(dtype_of(sums)))

    return run


def _without_repeats(sequences: Any, scores: Any, *, ngram_size: int) -> Any:
    """The scores (batch, beams, words) of next words, the least there is for those that would repeat a row of words."""
    if ngram_size < 1:
        raise ValueError(f"NoRepeatNGram: ngram_size must be 1 or more, got {ngram_size}")
    rows, out = _array("NoRepeatNGram", sequences), _array("NoRepeatNGram", scores).copy()
    for place in np.ndindex(rows.shape[:-1]):
        row = rows[place]
        last = row[len(row) - ngram_size + 1 :]
        for start in range(len(row) - ngram_size + 1):
            if np.array_equal(row[start : start + ngram_size - 1], last):
                out[(*place, row[start + ngram_size - 1])] = -np.finfo(np.float32).max
    return from_array(out)


def _offsets(tensors: Any, *, N: int, axis: int) -> Any:
    """Where each tensor begins in the concatenation of all: a row of places each."""
    out = np.zeros((len(tensors), tensors[0].ndim), np.int64)
    out[1:, axis] = np.cumsum([x.shape[axis] for x in tensors])[:-1]
    return from_array(out)


def _logarithm(x: Any) -> Any:
    """The principal logarithm of matrices that have a basis of eigenvectors."""
    a = _array("MatrixLogarithm", x)
    values, basis = np.linalg.eig(a)
    if (np.linalg.cond(basis) > 1 / np.sqrt(np.finfo(values.real.dtype).eps)).any():
        raise NotImplementedError("MatrixLogarithm: a matrix without a basis of eigenvectors is not supported")
    return from_array((basis @ (np.log(values.astype(complex))[..., None] * np.linalg.inv(basis))).astype(a.dtype))


def _sliced(at: Any, values: Any, shape: Any, start: Any, size: Any) -> tuple[Any, Any, Any]:
    """The elements of a sparse tensor within a box, their places counted from its corner, and its shape."""
    places, low, sizes = (_array("SparseSlice", v) for v in (at, start, size))
    sizes = np.minimum(sizes, _array("SparseSlice", shape) - low)
    inside = np.flatnonzero(((places >= low) & (places < low + sizes)).all(axis=1))
    return from_array(places[inside] - low), _gather.gather(values, from_array(inside), 0), from_array(sizes)


def _reordered(at: Any, values: Any, shape: Any) -> tuple[Any, Any]:
    """A sparse tensor with its elements row by row."""
    places = _array("SparseReorder", at)
    order = np.lexsort(places.T[::-1])
    return from_array(places[order]), _gather.gather(values, from_array(order), 0)


def _with_dense(f: Function) -> Function:
    """An operation on the elements of a sparse tensor and those of a dense one, which broadcasts, at their places."""

    def run(at: Any, values: Any, shape: Any, dense: Any) -> Any:
        sizes = tuple(_array("SparseDense", shape).tolist())
        return f(values, _gather.gather_nd(_shape.broadcast_to(dense, sizes), at))

    return run


def _clipped(x: Any, most: Any, *, axis: Any) -> Any:
    """A tensor whose norms over axes (all, if none are given) are scaled down to the largest that is allowed."""
    axes = tuple(range(x.ndim)) if axis is None else axis
    norm = _unary.sqrt(_reductions.sum(x * x, axes, True))
    return x * most / _binary.maximum(norm, most)


def _dealt(x: Any, per_group: Any, groups: Any) -> Any:
    """The places of numbers that are dealt out to groups in turn, each of which has its own row."""
    values = _array("MapUniform", x)
    size, count = (int(_array("MapUniform", v)) for v in (per_group, groups))
    return from_array((values % count * size + values // count).astype(values.dtype))


def _step_of_adam(m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, grad: Any, *,
                  use_nesterov: bool, **_: Any) -> Any:  # fmt: skip
    """What a step of Adam would add to the parameter; its slots take their new values."""
    given = [_array("AdamNoUpdateParam", a) for a in (m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad)]
    change, *slots = adam_step(np.zeros_like(given[0]), *given, use_nesterov=use_nesterov)
    for slot, new in zip((m, v), slots):
        written("AdamNoUpdateParam", slot, new.astype(given[0].dtype))
    return from_array(change.astype(given[0].dtype))


def _all_finite(*tensors: Any) -> Any:
    given = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    return from_array(np.asarray(not all(np.isfinite(_array("AllFinite", x)).all() for x in given)))


def _called(*inputs: Any, fn: Function, in_types: Any, in_shapes: Any, out_types: Any, out_shapes: Any, stateful: bool) -> Any:
    """What a Python function makes of NumPy arrays."""
    found = fn(*(_array("PyFunc", x) for x in inputs))
    parts = found if isinstance(found, (tuple, list)) else (found,)
    return tuple(Tensor(np.asarray(y, as_dtype(d).np)) for y, d in zip(parts, out_types))


# ------------------------------------------------------------------------------------------ networks


def _ctc(inputs: Any, places: Any, values: Any, lengths: Any, *, preprocess_collapse_repeated: bool, ctc_merge_repeated: bool,
         ignore_longer_outputs_than_inputs: bool) -> tuple[Any, Any]:  # fmt: skip
    """The loss of (time, batch, classes) scores, whose last class is the blank, for labels at places; and its gradient."""
    if preprocess_collapse_repeated or not ctc_merge_repeated:
        raise NotImplementedError("CTCLoss: labels are taken as they are, and repeated outputs are merged; leave these options")
    x = single("CTCLoss", inputs, FLOATING)
    at, labels = _array("CTCLoss", places), _array("CTCLoss", values)
    counts = np.bincount(at[:, 0], minlength=x.shape[1])
    table = np.zeros((x.shape[1], max(int(counts.max(initial=0)), 1)), np.int32)
    table[at[:, 0], at[:, 1]] = labels

    def loss(scores: Any) -> Any:
        logs = _activations.log_softmax(scores, 2)
        return _losses.ctc_loss(logs, from_array(table), lengths, from_array(counts.astype(np.int32)), x.shape[2] - 1, "none")[0]

    call = Recording(loss, [x], {}, None, [])
    gradient = call.pull([call.out])[0]
    return call.result(), gradient


def _greedy(inputs: Any, lengths: Any, *, merge_repeated: bool) -> tuple[Any, ...]:
    """The likeliest labels of (time, batch, classes) scores, whose last class is the blank: places, labels, shape, scores."""
    x, frames = _array("CTCGreedyDecoder", inputs), _array("CTCGreedyDecoder", lengths)
    blank = x.shape[2] - 1
    rows, scores = [], np.zeros((x.shape[1], 1), x.dtype)
    for b in range(x.shape[1]):
        best = x[: frames[b], b].argmax(axis=1)
        scores[b] = -x[: frames[b], b].max(axis=1).sum()
        keep = best != blank
        if merge_repeated:
            keep[1:] &= best[1:] != best[:-1]
        rows.append(best[keep])
    places = [(b, k) for b, row in enumerate(rows) for k in range(len(row))]
    shape = (x.shape[1], max(map(len, rows), default=0))
    return (
        from_array(np.asarray(places, np.int64).reshape(-1, 2)), from_array(np.concatenate(rows).astype(np.int64)),
        from_array(np.asarray(shape, np.int64)), from_array(scores),
    )  # fmt: skip


def _transducer(acts: Any, labels: Any, frames: Any, lengths: Any, *, blank_label: int) -> tuple[Any, Any]:
    x = single("RNNTLoss", acts, FLOATING)
    at, rows, counts = (_array("RNNTLoss", v).astype(np.int64) for v in (labels, frames, lengths))
    if x.ndim != 4 or at.shape != (x.shape[0], x.shape[2] - 1):
        raise ValueError(f"RNNTLoss: labels of shape {at.shape} do not go with acts of shape {x.shape}")
    losses = lambda scores: formulas.transducer(log_softmax(scores, axis=3), at, rows, counts, blank_label)  # noqa: E731
    call = Recording(losses, [x], {}, None, [])
    gradient = call.pull([call.out])[0]
    return call.result(), gradient


def _transposed_convolution(x: Any, w: Any, *, in_channel: int, out_channel: int, kernel_size: Any, mode: int, data_format: str,
                            **how: Any) -> Any:  # fmt: skip
    padding = how.pop("pad")
    return _convolution.conv3d_transpose(x, w, padding=padding, **how)


def _unpooled(x: Any, at: Any, *, ksize: Any, strides: Any, pads: Any, output_shape: Any, data_format: str) -> Any:
    return _pooling.max_unpool3d(x, at, ksize, strides or None, pads, output_shape or None)


def _pooled(x: Any, *, ksize: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: bool, data_format: str,
            argmax_type: Any) -> Any:  # fmt: skip
    values, at = _pooling.max_pool("MaxPool3DWithArgmax", 3, x, ksize, strides, pads, dilation, ceil_mode, True)
    return values, to_dtype(at, as_dtype(argmax_type))


def _fractional(pool: Function) -> Function:
    def run(x: Any, samples: Any, *, ksize: Any, output_shape: Any, data_format: str) -> Any:
        return pool(x, ksize, output_shape, return_indices=True, _random_samples=samples)

    return run


# ------------------------------------------------------------------------------------------ draws


def _candidates(true: Any, drawn: np.ndarray, chance: Function) -> tuple[Any, Any, Any]:
    """Drawn classes, and how often the true ones and they are expected among them."""
    expected = [np.asarray(chance(v), np.float32) for v in (_array("sampler", true), drawn)]
    return from_array(drawn.astype(np.int32)), from_array(expected[0]), from_array(expected[1])


def _uniform_candidates(true: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int,
                        remove_accidental_hits: bool) -> tuple[Any, ...]:  # fmt: skip
    classes = np.arange(range_max)
    if remove_accidental_hits:
        classes = np.setdiff1d(classes, _array("UniformCandidateSampler", true))
    if unique and num_sampled > len(classes):
        raise ValueError(f"UniformCandidateSampler: there are {len(classes)} classes to draw {num_sampled} different ones from")
    drawn = generator(seed or None).choice(classes, num_sampled, replace=not unique)
    return _candidates(true, drawn, lambda v: np.full(v.shape, num_sampled / range_max))


def _log_uniform_candidates(true: Any, *, num_true: int, num_sampled: int, unique: bool, range_max: int,
                            seed: int) -> tuple[Any, ...]:  # fmt: skip
    classes = np.arange(range_max)
    chances = np.log((classes + 2) / (classes + 1)) / np.log(range_max + 1)
    stream, drawn, tries = generator(seed or None), [], 0
    if unique and num_sampled > range_max:
        raise ValueError(f"LogUniformCandidateSampler: there are {range_max} classes to draw {num_sampled} different ones from")
    while len(drawn) < num_sampled:
        tries += 1
        found = int(stream.choice(classes, p=chances / chances.sum()))
        if not unique or found not in drawn:
            drawn.append(found)

    def expected(v: np.ndarray) -> np.ndarray:
        chance = np.log((v + 2) / (v + 1)) / np.log(range_max + 1)
        return -np.expm1(tries * np.log1p(-chance)) if unique else chance * num_sampled

    return _candidates(true, np.asarray(drawn), expected)


def _whole(shape: Any, *, dtype: Any) -> Any:
    d = as_dtype(dtype).np
    sizes = integers("NonDeterministicInts", "shape", _array("shape", shape).tolist() if isinstance(shape, Value) else shape)
    info = np.iinfo(d)
    return from_array(generator().integers(info.min, info.max, sizes, dtype=d, endpoint=True))


def _logarithmic(x: Any, *, mean: float, std: float) -> Any:
    x = tensor_argument("LogNormalReverse", x)
    return from_array(generator().lognormal(mean, std, x.shape).astype(dtype_of(x)))


def _uniform(x: Any, *, minval: float, maxval: float, seed: int, offset: int) -> Any:
    x = tensor_argument("Uniform", x)
    return from_array(generator(seed or None).uniform(minval, maxval, x.shape).astype(dtype_of(x)))


def _with_replacement(x: Any, seed: Any, offset: Any, *, numsamples: int, replacement: bool) -> Any:
    return to_dtype(_random.multinomial(x, numsamples, replacement, int(seed) or None), as_dtype("int64"))


def _shuffled(n: Any, *, max_length: int, pad: int, dtype: Any) -> Any:
    count = int(_array("Randperm", n).item())
    if count > max_length:
        raise ValueError(f"Randperm: n must be at most max_length, {max_length}, got {count}")
    out = np.full(max_length, pad, as_dtype(dtype).np)
    out[:count] = generator().permutation(count)
    return from_array(out)


# ------------------------------------------------------------------------------------------ places, sequences, areas


def _ordered(indices: Any, values: Any, shape: Any) -> tuple[Any, Any, Any]:
    """The places (axes, elements) of a sparse tensor in order, each once, with the sums of their values."""
    places = _array("Coalesce", indices)
    found = COOTensor(from_array(places.T.copy()), values, tuple(_array("Coalesce", shape).tolist())).coalesce()
    return from_array(found._coordinates().T.copy()), found.values, shape


def _sequences(op: str, places: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """The values of each last axis of a sparse tensor, by the place along the others."""
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(_array(op, places), _array(op, values)):
        found.setdefault(tuple(map(int, place[:-1])), []).append(value)
    return found


def _distance(a: list[Any], b: list[Any]) -> int:
    """How many elements have to be put in, taken out or replaced to make one list of the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _edits(*parts: Any, normalize: bool) -> Any:
    op = "EditDistance"
    given, wanted = _sequences(op, *parts[:2]), _sequences(op, *parts[3:5])
    shape = np.maximum(_array(op, parts[2]), _array(op, parts[5]))[:-1]
    out = np.zeros(shape, np.float32)
    for place in {*given, *wanted}:
        a, b = given.get(place, []), wanted.get(place, [])
        with np.errstate(divide="ignore"):
            out[place] = np.float32(_distance(a, b)) / np.float32(len(b) if normalize else 1)
    return from_array(out)


def _areas(before: int, after: int, align: bool) -> np.ndarray:
    """Which part of each place a longer or shorter axis's places lie on: (after, before)."""
    scale = (before - 1) / (after - 1) if align and after > 1 else before / after
    low = np.arange(after)[:, None] * scale
    at = np.arange(math.ceil(low[-1, 0] + scale))
    parts = np.clip(np.minimum(at + 1, low + scale) - np.maximum(at, low), 0, None) / scale
    weights = np.zeros((after, before))
    np.add.at(weights.T, np.minimum(at, before - 1), parts.T)
    return weights


def _resized(x: Any, size: Any, *, align_corners: bool) -> Any:
    x = to_dtype(tensor_argument("ResizeArea", x), float32)
    down, across = (_areas(n, int(m), align_corners).astype(np.float32)
                    for n, m in zip(x.shape[1:3], _array("ResizeArea", size)))  # fmt: skip
    return _matmul.einsum("ia,nabc,jb->nijc", from_array(down), x, from_array(across))


# ------------------------------------------------------------------------------------------ what cannot be


def _refused(name: str, why: str) -> Function:
    def run(*args: Any, **attrs: Any) -> Any:
        raise NotImplementedError(f"{name}: {why}")

    return run


_REFUSED = {
    "it passes tensors between processes in a way that is not offered; AllReduce, AllGather, Send and their like are": """
        AllGatherV AlltoAllV AlltoAllVC BatchISendIRecv NeighborExchange NeighborExchangeV2 Pull Push ReduceScatterV Reshard
        _AllSwap
    """,
    "it has kernels for accelerators only, in MindSpore too": """
        ApplyRotaryPosEmb BasicLSTMCell DynamicGRUV2 DynamicRNN ExtractImagePatches FusedCastAdamWeightDecay FusedAdaFactor
        FusedAdaFactorWithGlobalNorm GroupTopk LARSUpdate NPUAllocFloatStatus NPUClearFloatStatus NPUGetFloatStatus PagedAttention
        PagedAttentionMask ReshapeAndCache DepthwiseConv2dNative DeformableOffsets
    """,
    "it is a part of compiled graphs; write it in Python": "GeSwitch GetNext Merge Morph PyExecute Reusing UpdateState",
}  # fmt: skip

ROWS: dict[str, tuple[str, Function]] = {
    "Coalesce": ("", _ordered), "EditDistance": ("normalize=True", _edits), "ResizeArea": ("align_corners=False", _resized),
    "TransposeView": ("", lambda x, axes: _shape.transpose(x, tuple(axes))),
    "TransposeExtView": ("", lambda x, a, b: _shape.swapaxes(x, a, b)),
    "SelectView": ("", lambda x, i, axis: _gather.select_method(x, axis, i)),
    "BartlettWindow": ("periodic=True, dtype=float32", _window(_spectral.bartlett_window)),
    "BlackmanWindow": ("periodic=True, dtype=float32", _window(_spectral.blackman_window)),
    "HammingWindow": ("periodic=True, alpha=0.54, beta=0.46, dtype=float32", _window(_spectral.hamming_window)),
    "CompareAndBitpack": ("", lambda x, limit: from_array(np.packbits(
        _array("CompareAndBitpack", x) > _array("CompareAndBitpack", limit), axis=-1))),
    "FillDiagonal": ("fill_value, wrap=False", lambda x, **how: _diagonals.fill_diagonal(x, **how)),
    "HistogramFixedWidth": ('nbins, dtype="int32"', _histogram), "ListDiff": ("out_idx=int32", _difference),
    "IndexPut": ("accumulate=0", lambda x, values, indices, *, accumulate: _gather.index_put(
        x, indices, values, bool(accumulate))),
    "InplaceIndexAdd": ("axis", _added_at), "ScatterAddWithAxis": ("axis=0", _added_along),
    "InplaceUpdateV2": ("", lambda x, indices, v: _gather.inplace_update(x, v, indices)),
    "MaskedScatter": ("", lambda x, mask, source: _gather.masked_scatter(x, mask, source)),
    "ParallelConcat": ("", lambda tensors: _joining.cat(tensors, 0)), "TridiagonalMatMul": ("", _tridiagonal_product),
    "TridiagonalSolve": ("partial_pivoting=True", _tridiagonal_solution), "MatrixSolveLs": ("fast=True", _least_squares),
    "SelfAdjointEig": ("compute_v=True", lambda x, *, compute_v: _eigen(x, vectors=compute_v)),
    "Eigh": ("compute_eigenvectors=True, lower=True", lambda x, *, compute_eigenvectors, lower: _eigen(
        x, vectors=compute_eigenvectors, lower=lower)),
    "RaggedRange": ("Tsplits", _ranges),
    "STFT": ("n_fft, hop_length, win_length, normalized, onesided, return_complex", lambda x, window, **how: _spectral.stft(
        x, window=window, center=False, **how)),
    "SpaceToBatch": ("block_size, paddings", lambda x, *, block_size, paddings: _blocks.space_to_batch_nd(
        x, list(_block_sizes("SpaceToBatch", block_size)), paddings)),
    "BatchToSpace": ("block_size, crops", lambda x, *, block_size, crops: _blocks.batch_to_space_nd(
        x, list(_block_sizes("BatchToSpace", block_size)), crops)),
    "BatchToSpaceNDV2": ("", lambda x, blocks, crops: _blocks.batch_to_space_nd(
        x, _array("BatchToSpaceNDV2", blocks).tolist(), _array("BatchToSpaceNDV2", crops).tolist())),
    "RangeV2": ("maxlen=1000000", lambda *args, maxlen: _creation.range(*args)),
    "Unsqueeze": ("axis", lambda x, *, axis: _shape.expand_dims(x, axis)), "AddV2": ("", lambda x, y: _arithmetic.add_ext(x, y)),
    "ReLUV3": ("", lambda x: _activations.relu(x)), "ConfusionMatrix": ('num_classes, dtype="int32"', _confusion),
    "ComputeAccidentalHits": ("num_true=1", _hits), "SubAndFilter": ("", _filtered), "AllFinite": ("", _all_finite),
    "DataFormatDimMap": ('src_format="NHWC", dst_format="NCHW"', lambda x, *, src_format, dst_format: _of_layout(
        "DataFormatDimMap", x, src_format, dst_format, False)),
    "DataFormatVecPermute": ('src_format="NHWC", dst_format="NCHW"', lambda x, *, src_format, dst_format: _of_layout(
        "DataFormatVecPermute", x, src_format, dst_format, True)),
    "SparseSegmentSum": ("", _segments(0.0)), "SparseSegmentMean": ("", _segments(1.0)),
    "SparseSegmentSqrtN": ("", _segments(0.5)),
    "SparseSegmentSumWithNumSegments": ("", _segments(0.0)), "SparseSegmentMeanWithNumSegments": ("", _segments(1.0)),
    "SparseSegmentSqrtNWithNumSegments": ("", _segments(0.5)), "SparseSlice": ("", _sliced), "SparseReorder": ("", _reordered),
    "SparseDenseCwiseAdd": ("", _with_dense(_arithmetic.add_ext)), "SparseDenseCwiseMul": ("", _with_dense(_binary.mul)),
    "SparseDenseCwiseDiv": ("", _with_dense(_arithmetic.div_ext)), "MatrixLogarithm": ("", _logarithm),
    "AdamNoUpdateParam": ("use_locking=False, use_nesterov=False", _step_of_adam),
    "ClipByNorm": ("axis=None", _clipped), "MapUniform": ("", _dealt),
    "NewOnes": ("", lambda x, size, dtype=None: _creation.new_ones(x, size, dtype)),
    "NewZeros": ("", lambda x, size, dtype=None: _creation.new_zeros(x, size, dtype)),
    "MaxDim": ("", lambda x, dim, keepdim=False: _reductions.max(x, dim, keepdim)),
    "MinDim": ("", lambda x, dim, keepdim=False: _reductions.min(x, dim, keepdim)),
    **{f"{kind}Summary": ("", lambda name, value: None) for kind in ("Scalar", "Tensor", "Image", "Histogram")},
    "SparseTensorDenseAdd": ("", lambda at, values, shape, x: _gather.tensor_scatter_add(x, at, values)),
    "NoRepeatNGram": ("ngram_size=1", _without_repeats), "ConcatOffset": ("N=2, axis=0", _offsets),
    "FloatStatus": ("", lambda x: from_array(np.asarray([not np.isfinite(_array("FloatStatus", x)).all()], np.float32))),
    "PyFunc": ("fn, in_types, in_shapes, out_types, out_shapes, stateful=True", _called),
    "CTCLoss": ("preprocess_collapse_repeated=False, ctc_merge_repeated=True, ignore_longer_outputs_than_inputs=False", _ctc),
    "RNNTLoss": ("blank_label=0", _transducer), "CTCGreedyDecoder": ("merge_repeated=True", _greedy),
    "Conv3DTranspose": (('in_channel, out_channel, kernel_size, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1, '
                        'output_padding=0, data_format="NCDHW"'), _transposed_convolution),
    "MaxUnpool3D": ('ksize, strides=0, pads=0, output_shape=(), data_format="NCDHW"', _unpooled),
    "MaxPool3DWithArgmax": ('ksize, strides, pads, dilation=(1, 1, 1), ceil_mode=False, data_format="NCDHW", argmax_type=int64',
                            _pooled),
    "FractionalMaxPoolWithFixedKsize": ('ksize, output_shape, data_format="NCHW"', _fractional(_pooling.fractional_max_pool2d)),
    "FractionalMaxPool3DWithFixedKsize": ('ksize, output_shape, data_format="NCDHW"',
                                          _fractional(_pooling.fractional_max_pool3d)),
    "UniformCandidateSampler": ("num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False",
                                _uniform_candidates),
    "LogUniformCandidateSampler": ("num_true=1, num_sampled=5, unique=True, range_max=5, seed=0", _log_uniform_candidates),
    "NonDeterministicInts": ("dtype=int64", _whole), "LogNormalReverse": ("mean=1.0, std=2.0", _logarithmic),
    "Uniform": ("minval=0.0, maxval=1.0, seed=0, offset=0", _uniform),
    "MultinomialWithReplacement": ("numsamples, replacement=False", _with_replacement),
    "Randperm": ("max_length=1, pad=-1, dtype=int32", _shuffled),
    **{name: ("*args, **kwargs", _refused(name, why)) for why, names in _REFUSED.items() for name in names.split()},
}  # fmt: skip
