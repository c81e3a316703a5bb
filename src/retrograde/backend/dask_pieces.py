"""Which primitives compute Dask arrays piece by piece, and how: by Dask's own algorithms, over blocks of the axes that an
operation leaves alone, or as a sum over blocks of what each gives.

Nobody else gathers an array of several blocks into one task: what is not here does so only within `allow_whole`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np

OWN = frozenset({
    "add_matmul", "advanced_index", "affine", "affine_grid", "affine_grid_spread", "all", "amax", "amin", "aminmax", "any",
    "argmax", "argmin", "attention", "avg_pool", "avg_pool_spread", "binary_cross_entropy_with_logits", "block_diagonal",
    "broadcast_to", "cast", "cdist", "col2im", "concatenate", "convolve", "convolve_transpose", "convolve_weight", "copy",
    "count_nonzero", "cross", "cumprod", "cumsum", "diagonal", "diagonal_embed", "dist", "einsum", "embed", "flip",
    "getitem", "glu", "gru_layer", "gru_pointwise", "gru_states", "huber_loss", "im2col", "isin", "log_softmax",
    "log_softmax_pullback", "logcumsumexp", "logsumexp", "lstm_layer", "lstm_pointwise", "lstm_states", "matmul",
    "max_pool", "max_pool_places", "mean", "move", "mse_loss", "nansum", "normalize", "normalize_by", "normalize_stats",
    "pad_constant", "pad_edges", "pick", "pool_at", "prod", "product_of_others", "project", "rearrange", "renorm",
    "repeat_elements", "replace", "reshape", "rnn_layer", "roll", "rot90", "safe_softmax", "searchsorted",
    "share_among_ties", "sliding_windows", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmax_pullback", "split",
    "stack", "std", "std_mean", "stop_gradient", "sum", "sum_windows", "take", "tie_weights", "tile", "trace", "transpose",
    "transposed_matmul", "tril", "triu", "unstack", "var", "var_mean", "vector_norm", "view_as_complex", "view_as_real",
    "view_scatter", "zero_norm",
})  # fmt: skip
"""What Dask's own algorithms do in pieces, and right."""


class _Aval(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype


Cores = tuple[Sequence[int], Sequence[int]]
"""For each operand, and for each result, how many of its last axes the operation works on; the axes before are free."""


def _square(operands: int, results: int) -> Callable[[dict[str, Any], list[Any]], Cores]:
    return lambda params, arrays: ([2] * operands, [results])


def _spatial(*extra: int) -> Callable[[dict[str, Any], list[Any]], Cores]:
    """Windows over the last axes: as many as the kernel has; `extra` axes before them for the operands and the result."""
    return lambda params, arrays: (
        [len(params["kernel"]) + n for n in extra[:-1]], [len(params["kernel"]) + extra[-1]],
    )  # fmt: skip


def _convolution(params: dict[str, Any], arrays: list[Any]) -> Cores:
    n = len(params["stride"])
    return [n + 1, n + 2, 1][: len(arrays)], [n + 1]


def _solving(params: dict[str, Any], arrays: list[Any]) -> Cores:
    right = 1 if params.get("vector") else 2
    return [2, right], [right]


def _attending(params: dict[str, Any], arrays: list[Any]) -> Cores:
    return [2] * len(arrays), [2]


def _rows_of_table(params: dict[str, Any], arrays: list[Any]) -> Cores:
    return [2, 0], [1]


TRAILING: dict[str, Callable[[dict[str, Any], list[Any]], Cores]] = {
    "adjugate": _square(1, 2), "attention": _attending, "avg_pool": _spatial(0, 0), "avg_pool_spread": _spatial(0, 0),
    "cholesky": _square(1, 2), "cholesky_inverse": _square(1, 2), "cholesky_solve": _square(2, 2), "convolve": _convolution,
    "convolve_transpose": _convolution, "det": _square(1, 0),
    "eigvals": _square(1, 1), "eigvalsh": _square(1, 1), "embedding": _rows_of_table, "inv": _square(1, 2),
    "matrix_exp": _square(1, 2), "max_pool": _spatial(0, 0), "max_pool_gather": _spatial(0, 0, 0),
    "max_pool_places": _spatial(0, 0), "max_pool_scatter": _spatial(0, 0, 0), "one_hot": lambda params, arrays: ([0], [1]),
    "solve": _solving, "solve_triangular": _square(2, 2), "svdvals": _square(1, 1),
}  # fmt: skip
"""What works on the last axes, by itself for each element of those before."""

ALONG = frozenset({
    "argcum", "argkth", "argmedian", "argmode", "argsort", "argtopk", "fft_c2c", "fft_c2r", "fft_r2c", "linear_recurrence",
    "median", "take_along_axis",
})  # fmt: skip
"""What works along the axes that `axis` or `axes` names, by itself for each element of the others."""

ADDED = frozenset({"convolve_weight", "embedding_add"})
"""What is a sum over blocks, along the first axis of every operand, of what each block gives."""


def in_pieces(prim: Any, kernel: Callable[..., Any], avals: Any, arrays: list[Any], params: dict[str, Any]) -> Any:
    """The result, computed in pieces; NotImplemented where that would need a whole array of several blocks in one task.

    kernel: `kernel(params)` is what computes blocks with such parameters. avals: shape and dtype of the results.
    """
    name = prim.name
    if not all(x.ndim for x in arrays) and (name in ALONG or name == "along_add"):
        return NotImplemented  # a number has no axes
    if prim.kind == "elementwise" and all(a.shape == avals[0].shape for a in avals):
        every = kernel(params)
        block = every if len(avals) > 1 else lambda *blocks: every(*blocks)[0]
        found = _over_free_axes(block, avals, arrays, [()] * len(arrays), [()] * len(avals))
        return found if isinstance(found, tuple) or found is NotImplemented else (found,)
    if name in TRAILING:
        cores, results = TRAILING[name](params, arrays)
        return _over_free_axes(kernel(params), avals, arrays, [range(x.ndim - n, x.ndim) for x, n in zip(arrays, cores)],
                               [range(len(a.shape) - n, len(a.shape)) for a, n in zip(avals, results)])  # fmt: skip
    if name in ALONG:
        key = "axes" if "axes" in params else "axis"
        given = params[key]
        axes = (given,) if isinstance(given, int) else tuple(range(arrays[0].ndim)) if given is None else tuple(given)
        last = arrays[0].ndim
        moved = {**params, key: last - 1 if isinstance(given, int) else tuple(range(last - len(axes), last))}
        kept = [axes if len(a.shape) == last else () for a in avals]
        return _over_free_axes(kernel(moved), avals, arrays, [axes] * len(arrays), kept)
    if name == "along_add":
        axis = params["axis"] % arrays[0].ndim
        block = lambda g, i: kernel({"shape": (*g.shape[:-1], params["shape"][axis]), "axis": g.ndim - 1})(g, i)  # noqa: E731
        return _over_free_axes(block, avals, arrays, [(axis,)] * 2, [(axis,)])
    if name in ("nll_loss", "nll_spread"):
        return _classes(prim, kernel, avals[0], arrays, params)
    if name in ADDED and not params.get("by_frequency"):  # how often an index comes is told by all blocks together
        return _added(kernel(params), avals[0], arrays)
    return NotImplemented


def gathers(array: Any, axes: Sequence[int]) -> bool:
    """Whether to have these axes of an array in one block each is to have the whole array, of several blocks, in one."""
    free = [n for axis, n in enumerate(array.numblocks) if axis not in axes]
    return math.prod(array.numblocks) > 1 and math.prod(free) == 1


def _over_free_axes(kernel: Any, avals: Any, arrays: list[Any], cores: list[Any], results: list[Any]) -> Any:
    """A kernel on blocks of the free axes, with the others whole in each."""
    if any(isinstance(x, da.Array) and gathers(x, list(axes)) for x, axes in zip(arrays, cores)):
        return NotImplemented
    if any(not x.size for x in arrays):  # Dask divides by such sizes
        return NotImplemented
    letters = iter(range(1000))
    sides = ["(" + ",".join(f"i{next(letters)}" for _ in axes) + ")" for axes in cores]
    outs: list[str] = []
    sizes: dict[str, int] = {}
    for aval, axes in zip(avals, results):
        names = [f"o{next(letters)}" for _ in axes]
        sizes.update(zip(names, (aval.shape[axis] for axis in axes)))
        outs.append("(" + ",".join(names) + ")")
    found = da.apply_gufunc(
        kernel, f"{','.join(sides)}->{','.join(outs)}", *arrays, axes=[*map(tuple, cores), *map(tuple, results)],
        output_dtypes=[a.dtype for a in avals] if len(avals) > 1 else avals[0].dtype, output_sizes=sizes, allow_rechunk=True,
    )  # fmt: skip
    parts = found if isinstance(found, tuple) else (found,)
    if any(part.shape != aval.shape for part, aval in zip(parts, avals)):
        return NotImplemented
    return found


def _classes(prim: Any, kernel: Callable[..., Any], aval: Any, arrays: list[Any], params: dict[str, Any]) -> Any:
    """A loss on class numbers, or its cotangent: a loss for each target in pieces, then the sum, and the mean with the weights.

    A kernel on blocks looks at the class numbers that it is given. It sees rows of classes, a target for each.
    """
    spreads, reduction, dtype, ignored = prim.name == "nll_spread", params["reduction"], aval.dtype, params["ignore_index"]
    shape = params["shape"] if spreads else arrays[0].shape
    axis = 1 if len(shape) > 1 else 0
    classes, target, weight = shape[axis], arrays[1], arrays[2:]
    whole = [(0,)] * len(weight)

    def weights(t: Any, *w: Any) -> Any:
        return np.where(t == ignored, 0, w[0][np.where(t == ignored, 0, t)] if w else 1).astype(dtype)

    def losses(x: Any, t: Any, *w: Any) -> Any:
        return kernel({**params, "reduction": "none"})(x.reshape(-1, classes), t.reshape(-1), *w).reshape(t.shape)

    def spread(g: Any, t: Any, *w: Any) -> Any:
        block = {**params, "reduction": "none", "shape": (t.size, classes)}
        return kernel(block)(np.broadcast_to(g, t.shape).reshape(-1), t.reshape(-1), *w).reshape(*t.shape, classes)

    total: Any = 1
    if reduction == "mean":
        each = _over_free_axes(weights, [_Aval(target.shape, dtype)], [target, *weight], [(), *whole], [()])
        if each is NotImplemented:
            return NotImplemented
        total = da.sum(each, dtype=dtype)
    if not spreads:
        found = _over_free_axes(losses, [_Aval(target.shape, dtype)], arrays, [(axis,), (), *whole], [()])
        return found if found is NotImplemented or reduction == "none" else da.sum(found, dtype=dtype) / total
    g = da.broadcast_to(da.asarray(arrays[0]) / total, target.shape, chunks=da.asarray(target).chunks)
    return _over_free_axes(spread, [aval], [g, target, *weight], [(), (), *whole], [(axis,)])


def _added(kernel: Any, aval: Any, arrays: list[Any]) -> Any:
    """The sum of what a kernel gives for blocks along the first axis of each operand, in a fixed tree."""
    chunks = next((x.chunks[0] for x in arrays if isinstance(x, da.Array)), None)
    if chunks is None or any(len(x) != sum(chunks) for x in arrays):
        return NotImplemented
    indices, whole = [], iter(range(1, 1000))
    for x in arrays:
        x = da.asarray(x).rechunk({0: chunks, **dict.fromkeys(range(1, x.ndim), -1)})
        indices += [x, [0, *(next(whole) for _ in range(1, x.ndim))]]
    new = {1000 + i: n for i, n in enumerate(aval.shape)}
    parts = da.blockwise(
        lambda *blocks: np.asarray(kernel(*blocks))[None], [0, *new], *indices, new_axes=new, adjust_chunks={0: 1},
        dtype=aval.dtype, concatenate=True, meta=np.empty((0,) * (len(new) + 1), aval.dtype),
    )  # fmt: skip
    return da.sum(parts, axis=0, dtype=aval.dtype, split_every=8)


def take_along_axis(x: Any, indices: Any, axis: int) -> Any:
    """Elements of x along an axis, whole in each block; raises NotImplementedError where that is the whole array."""
    axes = (axis % x.ndim,)
    shape = tuple(m if i == axes[0] else max(n, m) for i, (n, m) in enumerate(zip(x.shape, indices.shape)))
    found = _over_free_axes(
        lambda a, i: np.take_along_axis(a, i, axis=-1), [_Aval(shape, x.dtype)], [x, indices], [axes] * 2, [axes]
    )
    if found is NotImplemented:
        raise NotImplementedError
    return found
