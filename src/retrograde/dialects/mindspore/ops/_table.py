"""The one table of Primitive classes: name, constructor, and the function that a call goes to.

A row's function gets the tensors of the call, then the constructor's arguments by name. `_SAME` lists the classes whose
constructor takes nothing and whose call is that of a function of `ops`; `_rows` those with static arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.notation import product_text
from ....core.unwrap import constant
from ....core.value import Value, dtype_of
from ....ops import elementwise as ew
from ....ops import reduction as rd
from ....ops import scan
from ....ops import structural as st
from ..._shared.axes import axes_of, axis_of, integers
from ..._shared.registry import defined
from .. import (
    _activations,
    _arithmetic,
    _assign,
    _backward,
    _binary,
    _blocks,
    _boxes,
    _control,
    _conversion,
    _convolution,
    _creation,
    _diagonals,
    _dropout,
    _gather,
    _joining,
    _linalg,
    _linear,
    _losses,
    _matmul,
    _normalization,
    _padding,
    _patches,
    _pooling,
    _random,
    _reductions,
    _resample,
    _scans,
    _shape,
    _sizes,
    _sorting,
    _spectral,
    _statistics,
    _unary,
)  # fmt: skip
from .. import _sparse as sparse
from .._dtype import as_dtype, int32
from .._promote import FLOATING, NUMBER, pair, single, tensor_argument, to_dtype
from .._stream import generator
from .._tensor import from_array
from . import _arrays, _between, _grads, _updates
from .primitive import Primitive, primitive_class

Function = Callable[..., Any]

# The constructor takes nothing, and the call is that of a function.
_SAME: dict[str, Function] = {
    "ACos": _unary.acos, "Acosh": _unary.acosh, "Abs": _arithmetic.absolute, "Add": _arithmetic.add_ext,
    "TensorAdd": _arithmetic.add_ext, "AddN": _binary.addn, "AccumulateNV2": _binary.accumulate_n,
    "Addcdiv": _binary.addcdiv, "Addcmul": _binary.addcmul, "Angle": _unary.angle, "Asin": _unary.asin,
    "Asinh": _unary.asinh, "Assign": _assign.assign, "AssignAdd": _assign.assign_add, "AssignSub": _assign.assign_sub,
    "Atan": _unary.atan, "Atan2": _binary.atan2, "Atanh": _unary.atanh,
    "BesselI0": _unary.bessel_i0, "BesselI0e": _unary.bessel_i0e, "BesselI1": _unary.bessel_i1,
    "BesselI1e": _unary.bessel_i1e, "BesselJ0": _unary.bessel_j0, "BesselJ1": _unary.bessel_j1,
    "BesselK0": _unary.bessel_k0, "BesselK0e": _unary.bessel_k0e, "BesselK1": _unary.bessel_k1,
    "BesselK1e": _unary.bessel_k1e, "BesselY0": _unary.bessel_y0, "BesselY1": _unary.bessel_y1,
    "BitwiseAnd": _arithmetic.bitwise_and, "BitwiseOr": _arithmetic.bitwise_or, "BitwiseXor": _arithmetic.bitwise_xor,
    "Cast": _conversion.cast, "Ceil": _unary.ceil, "Complex": _unary.make_complex, "ComplexAbs": _arithmetic.absolute,
    "Conj": _unary.conj, "Cos": _unary.cos, "Cosh": _unary.cosh, "Depend": _control.depend, "Dense": _linear.dense,
    "Diag": _diagonals.diag, "DType": _conversion.dtype, "DataType": _conversion.dtype, "Digamma": _unary.digamma,
    "Div": _arithmetic.div_ext, "DynamicShape": _conversion.dyn_shape, "TensorShape": _conversion.dyn_shape,
    "Equal": _arithmetic.equal, "Erf": _unary.erf, "Erfc": _unary.erfc, "Erfinv": _unary.erfinv, "Exp": _unary.exp,
    "ExpandDims": _shape.expand_dims, "Expand": _shape.expand, "Expm1": _unary.expm1, "Eye": _creation.eye,
    "FastGeLU": _activations.fast_gelu, "FastGelu": _activations.fast_gelu, "Fill": _creation.fill,
    "Fills": _creation.fills, "Flatten": _shape.flatten, "Floor": _unary.floor, "FloorDiv": _arithmetic.floor_div,
    "FloorMod": _arithmetic.floor_mod, "Fmax": _binary.fmax, "Fmin": _binary.fmin, "GatherD": _gather.gather_elements,
    "GatherNd": _gather.gather_nd, "Gcd": _binary.gcd, "Geqrf": _linalg.geqrf, "Ger": _matmul.ger,
    "Greater": _arithmetic.greater, "GreaterEqual": _arithmetic.greater_equal, "HSigmoid": _activations.hardsigmoid,
    "HSwish": _activations.hardswish, "Heaviside": _binary.heaviside, "Hypot": _binary.hypot, "Identity": _unary.identity,
    "Igamma": _binary.igamma, "Igammac": _binary.igammac, "Imag": _unary.imag, "Inv": _unary.inv, "Invert": _unary.invert,
    "IsFinite": _unary.isfinite, "IsInf": _unary.isinf, "IsNan": _unary.isnan, "Lcm": _binary.lcm,
    "LeftShift": _binary.bitwise_left_shift, "Lerp": _binary.lerp, "LerpScalar": _binary.lerp, "Less": _arithmetic.less,
    "LessEqual": _arithmetic.less_equal, "Lgamma": _unary.lgamma, "LinSpace": _creation.linspace, "Log": _unary.log,
    "Log1p": _unary.log1p, "LogMatrixDeterminant": _linalg.slogdet, "LogicalAnd": _binary.logical_and,
    "LogicalNot": _arithmetic.logical_not, "LogicalOr": _binary.logical_or, "LogicalXor": _binary.logical_xor,
    "LuSolve": _linalg.lu_solve, "MaskedFill": _gather.masked_fill, "MaskedSelect": _gather.masked_select,
    "MatrixBandPart": _diagonals.matrix_band_part, "MatrixDeterminant": _linalg.det, "MatrixExp": _linalg.matrix_exp,
    "Maximum": _binary.maximum, "Minimum": _binary.minimum, "Mish": _activations.mish, "Mod": _binary.fmod,
    "Mul": _binary.mul, "Neg": _arithmetic.neg, "NextAfter": _binary.nextafter, "NonZero": _gather.nonzero,
    "NotEqual": _arithmetic.not_equal, "OnesLike": _creation.ones_like, "Ones": _creation.ones, "Orgqr": _linalg.orgqr,
    "PReLU": _activations.prelu, "Polar": _unary.polar, "Polygamma": _unary.polygamma,
    "PopulationCount": _unary.population_count, "Pow": _arithmetic.pow, "Rank": _conversion.rank, "ReLU": _activations.relu,
    "ReLU6": _activations.relu6, "Real": _unary.real, "Reciprocal": _unary.reciprocal, "Reshape": _shape.reshape,
    "RightShift": _binary.bitwise_right_shift, "Rint": _unary.rint, "Round": _unary.round, "Rsqrt": _unary.rsqrt,
    "ScalarCast": _creation.scalar_cast, "ScalarToTensor": _creation.scalar_to_tensor,
    "ScalarToArray": _creation.scalar_to_tensor, "ScatterNd": _gather.scatter_nd, "SeLU": _activations.selu,
    "Select": _gather.select, "Shape": _conversion.shape, "Sigmoid": _activations.sigmoid, "Sign": _unary.sign,
    "Sin": _unary.sin, "Sinc": _unary.sinc, "Sinh": _unary.sinh, "Size": _conversion.size, "Slice": _joining.slice_,
    "Softplus": _activations.softplus, "Softsign": _activations.softsign, "Sqrt": _unary.sqrt, "Square": _unary.square,
    "StopGradient": _backward.stop_gradient, "Sub": _arithmetic.sub_ext, "Tan": _unary.tan, "Tanh": _unary.tanh,
    "TensorScatterAdd": _gather.tensor_scatter_add, "TensorScatterDiv": _gather.tensor_scatter_div,
    "TensorScatterMax": _gather.tensor_scatter_max, "TensorScatterMin": _gather.tensor_scatter_min,
    "TensorScatterMul": _gather.tensor_scatter_mul, "TensorScatterSub": _gather.tensor_scatter_sub,
    "TensorScatterUpdate": _gather.tensor_scatter_update, "Tile": _shape.tile, "Trace": _diagonals.trace,
    "Transpose": _shape.transpose, "Trunc": _unary.trunc, "TruncateDiv": _binary.truncate_div,
    "TruncateMod": _binary.truncate_mod, "TupleToArray": _creation.tuple_to_array, "Unique": _sorting.unique,
    "UniqueWithPad": _sorting.unique_with_pad, "UnsortedSegmentMax": _gather.unsorted_segment_max,
    "UnsortedSegmentMin": _gather.unsorted_segment_min, "UnsortedSegmentProd": _gather.unsorted_segment_prod,
    "UnsortedSegmentSum": _gather.unsorted_segment_sum, "Xdivy": _binary.xdivy, "Xlogy": _binary.xlogy,
    "ZerosLike": _creation.zeros_like, "Zeros": _creation.zeros, "Zeta": _binary.zeta,
}  # fmt: skip

# ------------------------------------------------------------------------------------------ calls of their own


def _real_div(x: Any, y: Any) -> Any:
    """The quotient; of integers the whole part."""
    a, b = pair("RealDiv", x, y, NUMBER)
    return _binary.truncate_div(a, b) if dtype_of(a).kind in "iu" else ew.divide(a, b)


def _keeping(name: str, op: Any) -> Function:
    """A reduction that keeps the dtype; bools are all or any."""
    plain = _reductions._plain_reduction(name, op)

    def run(x: Any, axis: Any = (), *, keep_dims: bool, skip_mode: bool = False) -> Any:
        if skip_mode and axis == ():
            return st.copy(x)
        return plain(x, axis, bool(keep_dims))

    return defined(name, run)


def _reduced(f: Function) -> Function:
    def run(x: Any, axis: Any = (), *, keep_dims: bool) -> Any:
        return f(x, axis, bool(keep_dims))

    return defined(f.__name__, run)


def _product(x: Any, y: Any, *, transpose_a: bool, transpose_b: bool, op: str = "MatMul", ndim: Any = 2) -> Any:
    a, b = tensor_argument(op, x, "x1"), tensor_argument(op, y, "x2")
    if (a.ndim != 2 or b.ndim != 2) if ndim == 2 else (a.ndim < 2 or b.ndim < 2):
        wanted = "two axes" if ndim == 2 else "two axes or more"
        raise ValueError(f"{op}: wanted tensors with {wanted}, got shapes {a.shape} and {b.shape}; use ops.matmul()")
    a = _matmul.transposed(a) if transpose_a else a
    b = _matmul.transposed(b) if transpose_b else b
    if a.shape[-1] != b.shape[-2] or not _fit(a.shape[:-2], b.shape[:-2]):
        raise ValueError(f"{op}: {product_text(a.shape, b.shape)}")
    return _arithmetic.matmul(a, b)


def _fit(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether shapes broadcast."""
    return all(a == b or 1 in (a, b) for a, b in zip(x[::-1], y[::-1]))


def _batch_matmul(x: Any, y: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    return _product(x, y, transpose_a=transpose_a, transpose_b=transpose_b, op="BatchMatMul", ndim=None)


def _scanned(op: str, run: Any, x: Any, axis: Any, exclusive: bool, reverse: bool, empty: float) -> Any:
    x = single(op, x, NUMBER)
    i = axis_of(op, axis, x.ndim)
    out = run(x, axis=i, reverse=bool(reverse))
    if exclusive:
        n = x.shape[i]
        ends = np.full((*x.shape[:i], 1, *x.shape[i + 1 :]), empty, dtype_of(x))
        if reverse:
            out = st.concatenate(_joining.narrow(out, i, 1, n - 1), ends, axis=i)
        else:
            out = st.concatenate(ends, _joining.narrow(out, i, 0, n - 1), axis=i)
    return out if dtype_of(out) == dtype_of(x) else st.cast(out, dtype=dtype_of(x))


def _with_value(largest: bool) -> Function:
    def run(x: Any, *, axis: int, keep_dims: bool) -> tuple[Any, Any]:
        values, at = _reductions.with_positions("ArgMaxWithValue", x, axis, bool(keep_dims), largest)
        return at, values

    return run


def _arg(f: Function) -> Function:
    def run(x: Any, *, axis: int, output_type: Any) -> Any:
        return to_dtype(f(x, axis), as_dtype(output_type))

    return defined(f.__name__, run)


def _l2_normalize(x: Any, *, axis: Any, epsilon: float) -> Any:
    x = single("L2Normalize", x, FLOATING)
    axes = axes_of("L2Normalize", axis, x.ndim)
    squares = rd.sum(ew.square(x), axis=axes, keepdims=True)
    return x / ew.sqrt(_binary.maximum(squares, float(epsilon)))


def _lp_norm(x: Any, *, axis: Any, p: int, keep_dims: bool, epsilon: float) -> Any:
    return _statistics.lp_norm(single("LpNorm", x, FLOATING), p, integers("LpNorm", "axis", axis), keep_dims, float(epsilon))


def _split(x: Any, *, axis: int, output_num: int) -> Any:
    x = tensor_argument("Split", x, "x")
    return _joining.equal_parts("Split", x, axis_of("Split", axis, x.ndim), output_num)


def _joined(f: Function) -> Function:
    def run(*x: Any, axis: int) -> Any:
        return f(x[0] if len(x) == 1 else x, axis)

    return defined(f.__name__, run)


def _concat(*tensors: Any, axis: int) -> Any:
    if len(tensors) != 1:
        raise TypeError(f"Concat: wanted one tuple or list of tensors, got {len(tensors)} arguments")
    return _joining.concat(tensors[0], axis)


def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    return _linear.one_hot(indices, depth, on_value, off_value, axis)


def _pad(x: Any, *, paddings: Any) -> Any:
    wanted = "Pad: paddings must be a tuple of (before, after) for each axis"
    if not isinstance(paddings, (tuple, list)) or not all(isinstance(p, (tuple, list)) for p in paddings):
        raise TypeError(f"{wanted}, got {paddings!r}")
    widths = [n for p in reversed(paddings) for n in integers("Pad", "paddings", p)]
    if any(len(p) != 2 for p in paddings) or len(paddings) != tensor_argument("Pad", x, "input_x").ndim or min(widths) < 0:
        raise ValueError(f"{wanted} of {x.shape}, none negative, got {paddings!r}")
    return _padding.pad(x, widths)


def _mirror_pad(x: Any, paddings: Any, *, mode: str) -> Any:
    return _padding.mirror_pad(x, paddings, mode)


def _pad_v3(x: Any, paddings: Any, constant: Any = None, *, mode: str, paddings_contiguous: bool) -> Any:
    widths = list(integers("PadV3", "paddings", paddings))
    if not paddings_contiguous:
        half = len(widths) // 2
        widths = [n for pair_ in zip(widths[:half], widths[half:]) for n in pair_]
    value = None if constant is None else constant.item() if isinstance(constant, Value) else constant
    return _padding.pad(x, widths, "replicate" if mode == "edge" else mode, value if mode == "constant" else None)


def _diag_part(x: Any) -> Any:
    half = x.shape[: x.ndim // 2]
    if x.shape != (*half, *half):
        raise ValueError(f"DiagPart: the second half of the axes must repeat the first, got shape {x.shape}")
    n = math.prod(half)
    return st.reshape(_diagonals.diagonal(st.reshape(x, shape=(n, n))), shape=half)


def _conv(name: str, axes: int, format: str) -> Function:
    def run(x: Any, w: Any, *, out_channel: int, kernel_size: Any, mode: int, pad_mode: str, pad: Any, stride: Any,
            dilation: Any, group: int, data_format: str) -> Any:  # fmt: skip
        _channels_first(name, data_format, format)
        kernel = _sizes.per_axis(name, "kernel_size", kernel_size, axes)
        if w.shape[0] != out_channel or w.shape[2:] != kernel:
            raise ValueError(f"{name}: the weight must have {out_channel} channels of {kernel}, got shape {w.shape}")
        stride, dilation = (v[-axes:] if isinstance(v, (tuple, list)) and len(v) == axes + 2 else v for v in (stride, dilation))
        return _convolution.convolve_checked(name, axes, x, w, None, stride, pad_mode, pad if pad_mode == "pad" else 0, dilation,
                                        group)  # fmt: skip

    return run


def _conv2d_input(dout: Any, weight: Any, input_size: Any, *, out_channel: int, kernel_size: Any, pad_mode: str, pad: Any,
                  pad_list: Any, mode: int, stride: Any, dilation: Any, group: int, data_format: str) -> Any:  # fmt: skip
    _channels_first("Conv2DBackpropInput", data_format)
    return _convolution.convolve_backprop_input("Conv2DBackpropInput", dout, weight, input_size, stride, pad_mode,
                                           pad if pad_mode == "pad" else 0, dilation, group)  # fmt: skip


def _channels_first(op: str, data_format: str, wanted: str = "NCHW") -> None:
    if data_format != wanted:
        raise ValueError(f"{op}: data_format must be {wanted!r} on a CPU, got {data_format!r}")


def _pool(name: str, axes: int, largest: bool) -> Function:
    def run(x: Any, *, kernel_size: Any, strides: Any, pad_mode: str, data_format: str = "NCHW", **rest: Any) -> Any:
        kernel, stride = (v[-axes:] if isinstance(v, (tuple, list)) else v for v in (kernel_size, strides))
        pool = _pooling.max_pool if largest else _pooling.avg_pool
        mode, pad = pad_mode.lower(), rest.get("pad_list", rest.get("pad", 0))
        if mode not in ("same", "valid", "pad"):
            raise ValueError(f"{name}: pad_mode must be 'same', 'valid' or 'pad', got {pad_mode!r}")
        if largest:
            return pool(name, axes, x, kernel, stride, pad, 1, bool(rest.get("ceil_mode")), mode=mode)
        counted = bool(rest.get("count_include_pad", False))
        return pool(name, axes, x, kernel, stride, pad, bool(rest.get("ceil_mode")), counted,
                    rest.get("divisor_override", 0), mode=mode)  # fmt: skip

    return defined(name, run)


def _max_pool_places(x: Any, *, kernel_size: Any, strides: Any, pads: Any, dilation: Any, ceil_mode: bool,
                     argmax_type: Any) -> Any:  # fmt: skip
    stride = kernel_size if strides is None else strides
    values, at = _pooling.max_pool("MaxPoolWithArgmaxV2", 2, x, kernel_size, stride, pads, dilation, ceil_mode, True)
    return values, to_dtype(at, as_dtype(argmax_type))


def _nll(logits: Any, labels: Any, weight: Any, *, reduction: str, ignore_index: int) -> tuple[Any, Any]:
    loss = _losses.nll_loss(logits, labels, weight, ignore_index, reduction)
    array = labels._concrete("NLLLoss")
    chosen = weight[from_array(np.where(array == ignore_index, 0, array))]
    kept = from_array((array != ignore_index).astype(dtype_of(weight)))
    return loss, (chosen * kept).sum()


def _sigmoid_cross_entropy(logits: Any, label: Any) -> Any:
    label = constant(label) if isinstance(label, Value) else label  # it gets no gradient
    return _losses.binary_cross_entropy_with_logits(logits, label, None, None, "none")


def _bce_with_logits(x: Any, label: Any, weight: Any, pos_weight: Any, *, reduction: str) -> Any:
    return _losses.binary_cross_entropy_with_logits(x, label, weight, pos_weight, reduction)


def _triplet(x: Any, positive: Any, negative: Any, margin: Any, *, p: int, swap: bool, eps: float, reduction: str) -> Any:
    return _losses.triplet_margin_loss(x, positive, negative, float(margin), p, eps, swap, reduction)


def _svd(x: Any, *, full_matrices: bool, compute_uv: bool) -> Any:
    if compute_uv:
        return _linalg.svd(x, full_matrices, True)
    empty = from_array(np.zeros(1, dtype_of(x)))
    return _linalg.svd(x, full_matrices, False), empty, empty


def _inverse(x: Any, *, adjoint: bool) -> Any:
    return _linalg.inverse(_matmul.transposed(x) if adjoint else x)


def _triangular(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    a = _matmul.transposed(matrix) if adjoint else matrix
    return _linalg.solve_triangular(a, rhs, lower == adjoint, False)


def _reduce_std(x: Any, *, axis: Any, unbiased: bool, keep_dims: bool) -> tuple[Any, Any]:
    axes = axes_of("ReduceStd", axis, x.ndim)
    return _reductions.std(x, axes, int(unbiased), keep_dims), _reductions.mean(x, axes, keep_dims)


def _square_sums(x: Any, y: Any) -> tuple[Any, Any]:
    return _reductions.sum(ew.square(x)), _reductions.sum(ew.square(y))


def _l2_loss(x: Any) -> Any:
    return _reductions.sum(ew.square(single("L2Loss", x, FLOATING))) / 2


def _invert_permutation(x: Any) -> Any:
    order = [int(i) for i in x]
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"InvertPermutation: wanted the numbers below {len(order)} in some order, got {tuple(order)}")
    return tuple(int(i) for i in np.argsort(order))


def _index_add(x: Any, indices: Any, y: Any, *, axis: int, use_lock: bool, check_index_bound: bool) -> Any:
    return _gather.index_add(x, indices, y, axis)


def _histogram(x: Any, *, bins: int, min: float, max: float) -> Any:
    return _sorting.histc(x, bins, min, max)


def _one_seed(seed: int, seed2: int) -> Any:
    """The seed that two stand for; both 0 mean the global stream."""
    return (seed * 1000003 + seed2) or None


def _unary_random(draw: Function) -> Function:
    """A random Primitive with seed and seed2."""

    def run(*args: Any, seed: int, seed2: int = 0, **rest: Any) -> Any:
        return draw(*args, seed=_one_seed(seed, seed2), **rest)

    return defined(draw.__name__, run)


def _uniform_real(shape: Any, seed: Any = None) -> Any:
    return _random.rand(*shape, seed=seed)


def _uniform_int(shape: Any, minval: Any, maxval: Any, seed: Any = None) -> Any:
    return _random.uniform(shape, minval, maxval, seed, int32)


def _multinomial(x: Any, num_samples: int, seed: Any = None, dtype: Any = None) -> Any:
    return to_dtype(_random.multinomial(x, num_samples, True, seed), as_dtype(dtype))


def _choice(x: Any, count: int = 256, seed: Any = None) -> Any:
    return _random.choice_with_mask(x, count, seed)


def _gamma(shape: Any, alpha: Any, beta: Any, seed: Any = None) -> Any:
    return _random.gamma(shape, alpha, beta, seed)


def _bernoulli(x: Any, p: Any, *, seed: int, offset: int) -> Any:
    return _random.bernoulli(x, p, None if seed < 0 else seed)


def _dropped(x: Any, *, keep_prob: float, Seed0: int, Seed1: int) -> Any:
    return _dropout.dropout_with_mask(x, keep_prob)


def _scatter(name: str) -> Function:
    f = _gather.SCATTER_INTO[name]

    def run(x: Any, indices: Any, updates: Any, *, use_locking: bool) -> Any:
        return f(x, indices, updates)

    return defined(name, run)


def _fft_with_size(x: Any, *, signal_ndim: int, inverse: bool, real: bool, norm: str, onesided: bool,
                   signal_sizes: Any) -> Any:  # fmt: skip
    axes = tuple(range(x.ndim - signal_ndim, x.ndim))
    if not real:
        return (_spectral.ifftn if inverse else _spectral.fftn)(x, None, axes, norm)
    if not inverse:
        return (_spectral.rfftn if onesided else _spectral.fftn)(x, None, axes, norm)
    if onesided:
        return _spectral.irfftn(x, signal_sizes or None, axes, norm)
    return _unary.real(_spectral.ifftn(x, None, axes, norm))


def _search_sorted(sequence: Any, values: Any, *, dtype: Any, right: bool) -> Any:
    return to_dtype(_sorting.searchsorted(sequence, values, right=right), as_dtype(dtype))


def _fill_v2(shape: Any, value: Any) -> Any:
    sizes = tuple(shape._concrete("FillV2").tolist()) if isinstance(shape, Value) else shape
    return _creation.full(sizes, value, dtype=tensor_argument("FillV2", value, "value").dtype)


def _check_numerics(x: Any) -> Any:
    if not np.isfinite(x._concrete("CheckNumerics")).all():
        raise RuntimeError("CheckNumerics: the tensor holds nan or infinite elements")
    return x


def _segment(f: Function) -> Function:
    """Segments with rising ids, whose number is the last one's."""

    def run(x: Any, segment_ids: Any) -> Any:
        return f(x, segment_ids, int(segment_ids._concrete(f.__name__).max(initial=-1)) + 1)

    return defined(f.__name__, run)


def _segment_mean(x: Any, segment_ids: Any) -> Any:
    counts = np.bincount(segment_ids._concrete("SegmentMean")).astype(dtype_of(x))
    sums = _segment(_gather.unsorted_segment_sum)(x, segment_ids)
    return ew.divide(sums, np.maximum(counts, 1).reshape(-1, *(1,) * (sums.ndim - 1)))


def _cumulative_logsumexp(x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
    x, i = single("CumulativeLogsumexp", x, FLOATING), axis.item() if isinstance(axis, Value) else axis
    least = float(np.finfo(dtype_of(x)).min)
    return _scanned("CumulativeLogsumexp", scan.logcumsumexp, x, i, exclusive, reverse, least)


def _max_pool_flat(x: Any, *, kernel_size: Any, strides: Any, pad_mode: str, data_format: str) -> Any:
    """As MaxPoolWithArgmaxV2, but positions count through all channels."""
    _channels_first("MaxPoolWithArgmax", data_format)
    values, at = _pooling.max_pool("MaxPoolWithArgmax", 2, x, kernel_size, strides, 0, 1, False, True, mode=pad_mode.lower())
    first = np.arange(x.shape[1]).reshape(1, -1, 1, 1) * (x.shape[2] * x.shape[3])
    return values, from_array((at._concrete("MaxPoolWithArgmax") + first).astype(np.int32))


def _nth(x: Any, n: Any, *, reverse: bool) -> Any:
    return _sorting.sort(x, -1, reverse)[0][..., int(n)]


def _truncated_normal(shape: Any, *, dtype: Any, seed: int, seed2: int) -> Any:
    """Normal numbers within two standard deviations."""
    stream = generator(_one_seed(seed, seed2))
    sizes = integers("TruncatedNormal", "shape", shape)
    out = stream.standard_normal(sizes)
    while (beyond := np.abs(out) > 2).any():
        out[beyond] = stream.standard_normal(int(beyond.sum()))
    return from_array(out.astype(as_dtype(dtype).np))


def _assert(condition: Any, input_data: Any, *, summarize: int) -> None:
    if not bool(condition):
        raise RuntimeError(f"Assert: the condition is false; {', '.join(str(x) for x in input_data)}")


def _columns(x: Any, *, ksizes: Any, strides: Any, dilations: Any, pads: Any) -> Any:
    """The patches of images: (batch, channels, elements of a patch, number of patches)."""
    out = _patches.unfold(x, ksizes, dilations, pads, strides)
    return st.reshape(out, shape=(*x.shape[:2], -1, out.shape[-1]))


def _meshgrid(inputs: Any, *, indexing: str) -> Any:
    return _shape.meshgrid(*inputs, indexing=indexing)


def _einsum(x: Any, *, equation: str) -> Any:
    return _matmul.einsum(equation, *x)


# ------------------------------------------------------------------------------------------ the table


def _flat(f: Function, **renamed: str) -> Function:
    """A function with constructor arguments renamed: `_flat(f, axis="dim")`."""

    def run(*args: Any, **attrs: Any) -> Any:
        for old, new in renamed.items():
            attrs[new] = attrs.pop(old)
        return f(*args, **attrs)

    return defined(f.__name__, run)


def _without(f: Function, *dropped: str) -> Function:
    """A function, some constructor arguments left out."""

    def run(*args: Any, **attrs: Any) -> Any:
        return f(*args, **{k: v for k, v in attrs.items() if k not in dropped})

    return defined(f.__name__, run)


def _rows() -> dict[str, tuple[str, Function]]:
    conv = 'out_channel, kernel_size, mode=1, pad_mode="valid", pad=0, stride=1, dilation=1, group=1, data_format="{}"'
    conv_input = (
        'out_channel, kernel_size, pad_mode="valid", pad=0, pad_list=None, mode=1, stride=1, dilation=1, group=1, '
        'data_format="NCHW"'
    )
    pool_3d = (
        'kernel_size=1, strides=1, pad_mode="valid", pad=0, ceil_mode=False, count_include_pad=True, '
        'divisor_override=0, data_format="NCDHW"'
    )
    pool = 'kernel_size=1, strides=1, pad_mode="valid", data_format="NCHW"'
    rows: dict[str, tuple[str, Function]] = {
        "RealDiv": ("", _real_div), "SquaredDifference": ("", _binary.squared_difference),
        "DivNoNan": ("", _binary.div_no_nan), "MulNoNan": ("", _binary.mul_no_nan),
        "ApproximateEqual": ("tolerance=1e-05", _binary.approximate_equal),
        "IsClose": ("rtol=1e-05, atol=1e-08, equal_nan=False", _binary.isclose),
        "NanToNum": ("nan=None, posinf=None, neginf=None", _unary.nan_to_num),
        "Logit": ("eps=-1.0", _unary.logit), "Mvlgamma": ("p", _unary.mvlgamma),
        "ReduceSum": ("keep_dims=False, skip_mode=False", _keeping("ReduceSum", rd.sum)),
        "ReduceProd": ("keep_dims=False", _keeping("ReduceProd", rd.prod)),
        "ReduceMean": ("keep_dims=False", _reduced(_reductions.mean)),
        "ReduceMax": ("keep_dims=False", _reduced(_reductions.amax)),
        "ReduceMin": ("keep_dims=False", _reduced(_reductions.amin)),
        "ReduceAll": ("keep_dims=False", _reduced(_reductions.all)), "ReduceAny": ("keep_dims=False", _reduced(_reductions.any)),
        "ReduceStd": ("axis=(), unbiased=True, keep_dims=False", _reduce_std),
        "EuclideanNorm": ("keep_dims=False", lambda x, axis=(), *, keep_dims: _statistics.vector_norm(
            x, 2, axis, keep_dims)),
        "LpNorm": ("axis, p=2, keep_dims=False, epsilon=1e-12", _lp_norm), "L2Loss": ("", _l2_loss),
        "L2Normalize": ("axis=0, epsilon=0.0001", _l2_normalize), "SquareSumAll": ("", _square_sums),
        "Argmax": ("axis=-1, output_type=int32", _arg(_reductions.argmax)),
        "Argmin": ("axis=-1, output_type=int32", _arg(_reductions.argmin)),
        "ArgMaxWithValue": ("axis=0, keep_dims=False", _with_value(True)),
        "ArgMinWithValue": ("axis=0, keep_dims=False", _with_value(False)),
        "CumSum": ("exclusive=False, reverse=False", lambda x, axis, **how: _scanned("CumSum", scan.cumsum, x, axis,
                                                                                    **how, empty=0)),
        "CumProd": ("exclusive=False, reverse=False", lambda x, axis, **how: _scanned("CumProd", scan.cumprod, x, axis,
                                                                                     **how, empty=1)),
        "Cummax": ("axis", _scans.cummax), "Cummin": ("axis", _scans.cummin),
        "CountNonZero": ("dims=None", _flat(_reductions.count_nonzero, dims="axis")),
        "Median": ("global_median=False, axis=0, keep_dims=False, ignore_nan=False", lambda x, *, global_median, axis,
                   keep_dims, ignore_nan: _sorting._median("Median", st.reshape(x, shape=(-1,)) if global_median
                                                              else x, 0 if global_median else axis, keep_dims,
                                                              ignore_nan)),
        "Cdist": ("p=2.0", _statistics.cdist), "Pdist": ("p=2.0", _statistics.pdist),
        "Renorm": ("p, dim, maxnorm", _flat(_statistics.renorm, dim="axis")),
        "Histogram": ("bins=100, min=0.0, max=0.0", _histogram), "Cross": ("dim=-65530", _matmul.cross),
        "MatMul": ("transpose_a=False, transpose_b=False", _product),
        "BatchMatMul": ("transpose_a=False, transpose_b=False", _batch_matmul),
        "Einsum": ("equation", _einsum), "BiasAdd": ('data_format="NCHW"', _without(_linear.bias_add, "data_format")),
        "MatrixInverse": ("adjoint=False", _inverse), "MatrixPower": ("n", _linalg.matrix_power),
        "MatrixSolve": ("adjoint=False", _linalg.matrix_solve),
        "MatrixTriangularSolve": ("lower=True, adjoint=False", _triangular),
        "Cholesky": ("upper=False", _linalg.cholesky), "CholeskyInverse": ("upper=False", _linalg.cholesky_inverse),
        "CholeskySolve": ("upper=False", _linalg.cholesky_solve),
        "Svd": ("full_matrices=False, compute_uv=True", _svd),
        "Qr": ("full_matrices=False", lambda x, *, full_matrices: _linalg.qr(x, "complete" if full_matrices else "reduced")),
        "Eig": ("compute_v=False", lambda x, *, compute_v: _linalg.eig(x) if compute_v else (_linalg.eigvals(x), None)),
        "Ormqr": ("left=True, transpose=False", _linalg.ormqr),
        "FFTWithSize": ('signal_ndim, inverse, real, norm="backward", onesided=True, signal_sizes=()', _fft_with_size),
        "Concat": ("axis=0", _concat), "Stack": ("axis=0", _joined(_joining.stack)),
        "Pack": ("axis=0", _joined(_joining.stack)), "Unstack": ("axis=0, num=None", _without(_joining.unstack, "num")),
        "Unpack": ("axis=0", _joining.unstack), "Split": ("axis=0, output_num=1", _split),
        "SplitV": ("size_splits, split_dim, num_split", lambda x, *, size_splits, split_dim, num_split: _joining.split(
            x, list(size_splits), split_dim)),
        "Squeeze": ("axis=()", lambda x, *, axis: _shape.squeeze(x, None if axis == () else axis)),
        "BroadcastTo": ("shape", _shape.broadcast_to), "ReverseV2": ("axis", _shape.reverse),
        "ReverseSequence": ("seq_dim, batch_dim=0", _sorting.reverse_sequence),
        "Roll": ("shifts, dims=None", _shape.roll), "Meshgrid": ('indexing="xy"', _meshgrid),
        "StridedSlice": ("begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0, shrink_axis_mask=0",
                         _joining.strided_slice),
        "Pad": ("paddings", _pad), "PadV3": ('mode="constant", paddings_contiguous=True', _pad_v3),
        "MirrorPad": ('mode="REFLECT"', _mirror_pad), "Padding": ("pad_dim_size=8", _blocks.padding),
        "DiagPart": ("", _diag_part), "Tril": ("diagonal=0", _diagonals.tril), "Triu": ("diagonal=0", _diagonals.triu),
        "TrilIndices": ("row, col, offset=0, dtype=int32", _diagonals.tril_indices),
        "TriuIndices": ("row, col, offset=0, dtype=int32", _diagonals.triu_indices),
        "DepthToSpace": ("block_size", lambda x, *, block_size: _blocks.depth_to_space(x, block_size)),
        "SpaceToDepth": ("block_size", lambda x, *, block_size: _blocks.space_to_depth(x, block_size)),
        "SpaceToBatchND": ("block_shape, paddings", _flat(_blocks.space_to_batch_nd, block_shape="block_size")),
        "BatchToSpaceND": ("block_shape, crops", _blocks.batch_to_space_nd),
        "ChannelShuffle": ("group", _flat(_patches.channel_shuffle, group="groups")),
        "IdentityN": ("", lambda x: tuple(st.copy(part) for part in x)),
        "InvertPermutation": ("", _invert_permutation), "Range": ("maxlen=1000000", _creation.range),
        "Gather": ("batch_dims=0", _gather.gather), "GatherV2": ("", _gather.gather),
        "SparseGatherV2": ("", _gather.gather), "EmbeddingLookup": ("", _linear.embedding_lookup),
        "TensorScatterElements": ('axis=0, reduction="none"', _gather.tensor_scatter_elements),
        "IndexAdd": ("axis, use_lock=True, check_index_bound=True", _index_add),
        "IndexFill": ("", _gather.index_fill),
        "InplaceAdd": ("indices", lambda x, v, *, indices: _gather.inplace_add(x, v, indices)),
        "InplaceSub": ("indices", lambda x, v, *, indices: _gather.inplace_sub(x, v, indices)),
        "InplaceUpdate": ("indices", lambda x, v, *, indices: _gather.inplace_update(x, v, indices)),
        "OneHot": ("axis=-1", _one_hot), "Sort": ("axis=-1, descending=False", _sorting.sort),
        "TopK": ("sorted=True", _sorting.top_k), "InTopK": ("k", _sorting.intopk),
        "SearchSorted": ("dtype=int64, right=False", _search_sorted),
        "Bucketize": ("boundaries", lambda x, *, boundaries: _sorting.bucketize(x, boundaries, right=True)),
        "Bincount": ("", lambda x, size, weights: _sorting.bincount(x, weights, int(size))[: int(size)]),
        "UniqueConsecutive": ("return_inverse=False, return_counts=False, dim=None", _sorting.unique_consecutive),
        "CheckNumerics": ("", _check_numerics), "FillV2": ("", _fill_v2),
        "SegmentSum": ("", _segment(_gather.unsorted_segment_sum)), "SegmentProd": ("", _segment(_gather.unsorted_segment_prod)),
        "SegmentMax": ("", _segment(_gather.unsorted_segment_max)), "SegmentMin": ("", _segment(_gather.unsorted_segment_min)),
        "SegmentMean": ("", _segment_mean), "CumulativeLogsumexp": ("exclusive=False, reverse=False", _cumulative_logsumexp),
        "ConjugateTranspose": ("", lambda x, perm: _unary.conj(_shape.transpose(x, perm))),
        "EqualCount": ("", lambda x, y: to_dtype(st.reshape(_reductions.sum(_arithmetic.equal(x, y)), shape=(1,)), x.dtype)),
        "UnravelIndex": ("", lambda at, dims: from_array(np.stack(np.unravel_index(
            at._concrete("UnravelIndex"), tuple(dims._concrete("UnravelIndex"))), axis=0))),
        "MaxPoolWithArgmax": (pool, _max_pool_flat), "NthElement": ("reverse=False", _nth),
        "LogSpace": ("steps=10, base=10, dtype=float32", lambda a, b, *, steps, base, dtype: _creation.logspace(
            float(a), float(b), steps, base, dtype=dtype)),
        "NuclearNorm": ("dim=None, keepdim=False", lambda x, *, dim, keepdim: _statistics.matrix_norm(
            x, "nuc", (-2, -1) if dim is None else dim, keepdim)),
        "Lstsq": ("fast=True, l2_regularizer=0.0", _without(_linalg.lstsq, "fast", "l2_regularizer")),
        "LuUnpack": ("unpack_data=True, unpack_pivots=True", _linalg.lu_unpack),
        "MatrixDiagV3": ('align="RIGHT_LEFT"', _diagonals.matrix_diag),
        "MatrixDiagPartV3": ('align="RIGHT_LEFT"', _diagonals.matrix_diag_part),
        "MatrixSetDiagV3": ('align="RIGHT_LEFT"', _diagonals.matrix_set_diag),
        "MaxUnpool2D": ('ksize, strides=0, pads=0, output_shape=(), data_format="NCHW"', lambda x, at, *, ksize, strides, pads,
                        output_shape, data_format: _pooling.max_unpool2d(
                            x, at, ksize, strides or None, pads, output_shape or None)),
        "MultilabelMarginLoss": ('reduction="mean"', lambda x, target, *, reduction: (
            _losses.multilabel_margin_loss(x, target, reduction), _creation.zeros_like(target))),
        "AdaptiveMaxPool3D": ("", lambda x, output_size: _pooling.adaptive_max_pool3d(x, tuple(output_size), True)),
        "Quantile": ("dim=None, keep_dims=False, ignore_nan=False", lambda x, q, *, dim, keep_dims, ignore_nan: (
            _sorting.nanquantile if ignore_nan else _sorting.quantile)(x, q, dim, keep_dims)),
        "IOU": ('mode="iou"', _boxes.iou), "TruncatedNormal": ("dtype=float32, seed=0, seed2=0", _truncated_normal),
        "RandomPoisson": ("seed=0, seed2=0, dtype=int64", _unary_random(_random.random_poisson)),
        "Cauchy": ("size, median=0.0, sigma=1.0", lambda *, size, median, sigma: from_array(
            (median + sigma * generator().standard_cauchy(size)).astype(np.float32))),
        "Assert": ("summarize=3", _assert), "TensorToTuple": ("", lambda x: tuple(x.tolist())),
        "LowerBound": ("out_type=int32", lambda rows, values, *, out_type: to_dtype(
            _sorting.searchsorted(rows, values), as_dtype(out_type))),
        "UpperBound": ("out_type=int32", lambda rows, values, *, out_type: to_dtype(
            _sorting.searchsorted(rows, values, right=True), as_dtype(out_type))),
        "Softmax": ("axis=-1", _activations.softmax), "LogSoftmax": ("axis=-1", _activations.log_softmax),
        "LogSoftmaxExt": ("", _activations.log_softmax), "GeLU": ("", lambda x: _activations.gelu(x, "tanh")),
        "Gelu": ("", lambda x: _activations.gelu(x, "tanh")), "Elu": ("alpha=1.0", _activations.elu),
        "CeLU": ("alpha=1.0", _activations.celu), "HShrink": ("lambd=0.5", _activations.hardshrink),
        "SoftShrink": ("lambd=0.5", _activations.softshrink), "GLU": ("axis=-1", _activations.glu),
        "LRN": ('depth_radius=5, bias=1.0, alpha=1.0, beta=0.5, norm_region="ACROSS_CHANNELS"', _normalization.lrn),
        "Conv2D": (conv.format("NCHW"), _conv("Conv2D", 2, "NCHW")),
        "Conv3D": (conv.format("NCDHW"), _conv("Conv3D", 3, "NCDHW")),
        "Conv2DTranspose": (conv_input, _conv2d_input), "Conv2DBackpropInput": (conv_input, _conv2d_input),
        "MaxPool": (pool, _pool("MaxPool", 2, True)), "AvgPool": (pool, _pool("AvgPool", 2, False)),
        "MaxPool3D": ('kernel_size=1, strides=1, pad_mode="VALID", pad_list=0, ceil_mode=None, data_format="NCDHW"',
                      _pool("MaxPool3D", 3, True)),
        "AvgPool3D": (pool_3d, _pool("AvgPool3D", 3, False)),
        "MaxPoolWithArgmaxV2": ("kernel_size, strides=None, pads=0, dilation=(1, 1), ceil_mode=False, argmax_type=int64",
                                _max_pool_places),
        "AdaptiveAvgPool2D": ("output_size", _pooling.adaptive_avg_pool2d),
        "AdaptiveAvgPool3D": ("output_size", _pooling.adaptive_avg_pool3d),
        "AdaptiveMaxPool2D": ("output_size", lambda x, *, output_size: _pooling.adaptive_max_pool2d(x, output_size, True)),
        "BatchNorm": ('is_training=False, epsilon=1e-05, momentum=0.1, data_format="NCHW"',
                      lambda *xs, data_format, **how: _normalization.batch_norm_with_statistics(*xs, **how)),
        "LayerNorm": ("begin_norm_axis=1, begin_params_axis=1, epsilon=1e-07", _normalization.layer_norm_with_statistics),
        "RmsNorm": ("epsilon=1e-06", _normalization.rms_norm), "Eps": ("", _creation.eps),
        "Dropout": ("keep_prob=0.5, Seed0=0, Seed1=0", _dropped),
        "Dropout2D": ("keep_prob=0.5", lambda x, *, keep_prob: _dropout.dropout_with_mask(x, keep_prob, 2)),
        "Dropout3D": ("keep_prob=0.5", lambda x, *, keep_prob: _dropout.dropout_with_mask(x, keep_prob, 3)),
        "GridSampler2D": ('interpolation_mode="bilinear", padding_mode="zeros", align_corners=False',
                          _flat(_resample.grid_sample, interpolation_mode="mode")),
        "GridSampler3D": ('interpolation_mode="bilinear", padding_mode="zeros", align_corners=False',
                          _flat(_resample.grid_sample, interpolation_mode="mode")),
        "AffineGrid": ("align_corners=False", _resample.affine_grid),
        "ResizeNearestNeighbor": ("size, align_corners=False, half_pixel_centers=False",
                                  lambda x, *, size, align_corners, half_pixel_centers: _resample.interpolate(x, size)),
        "ResizeBilinearV2": ("align_corners=False, half_pixel_centers=False", _resample.resizing("bilinear")),
        "ResizeBicubic": ("align_corners=False, half_pixel_centers=False", _resample.resizing("bicubic")),
        "Im2Col": ("ksizes, strides=1, dilations=1, pads=0", _columns),
        "Col2Im": ("kernel_size, dilation=1, padding=0, stride=1", lambda x, output_size, **how: _patches.fold(
            x, output_size, **how)),
        "NLLLoss": ('reduction="mean", ignore_index=-100', _nll),
        "SoftmaxCrossEntropyWithLogits": ("", _losses.softmax_cross_entropy_with_logits),
        "SparseSoftmaxCrossEntropyWithLogits": ("is_grad=False", _losses.sparse_softmax_cross_entropy_with_logits),
        "SigmoidCrossEntropyWithLogits": ("", _sigmoid_cross_entropy),
        "BCEWithLogitsLoss": ('reduction="mean"', _bce_with_logits),
        "BinaryCrossEntropy": ('reduction="mean"', _losses.binary_cross_entropy),
        "KLDivLoss": ('reduction="mean"', _losses.kl_div), "SoftMarginLoss": ('reduction="mean"', _losses.soft_margin_loss),
        "SmoothL1Loss": ('beta=1.0, reduction="none"', _losses.smooth_l1_loss),
        "MultiMarginLoss": ('p=1, margin=1.0, reduction="mean"', lambda x, target, weight=None, *, p, margin, reduction: (
            _losses.multi_margin_loss(x, target, p, margin, weight, reduction))),
        "TripletMarginLoss": ('p=2, swap=False, eps=1e-06, reduction="mean"', _triplet),
        "CTCLossV2": ('blank=0, reduction="none", zero_infinity=False', _losses.ctc_loss),
        "StandardNormal": ("seed=0, seed2=0", _unary_random(_random.standard_normal)),
        "StandardLaplace": ("seed=0, seed2=0", _unary_random(_random.standard_laplace)),
        "UniformReal": ("seed=0, seed2=0", _unary_random(_uniform_real)),
        "UniformInt": ("seed=0, seed2=0", _unary_random(_uniform_int)),
        "Gamma": ("seed=0, seed2=0", _unary_random(_gamma)), "Poisson": ("seed=0, seed2=0", _unary_random(_random.poisson)),
        "RandomShuffle": ("seed=0, seed2=0", _unary_random(_random.shuffle)),
        "RandomGamma": ("seed=0, seed2=0", _unary_random(_random.random_gamma)),
        "Multinomial": ("seed=0, seed2=0, dtype=int32", _unary_random(_multinomial)),
        "RandomChoiceWithMask": ("count=256, seed=0, seed2=0", _unary_random(_choice)),
        "RandomCategorical": ("dtype=int64", lambda x, n, seed=0, *, dtype: _random.random_categorical(x, n, seed, dtype)),
        "RandpermV2": ("seed=0, offset=0, dtype=int64", lambda n, **how: _random.randperm(n, **how)),
        "SparseToDense": ("", sparse.sparse_to_dense),
        "SparseTensorDenseMatmul": ("adjoint_st=False, adjoint_dt=False", sparse.sparse_dense_matmul),
        "Bernoulli": ("seed=-1, offset=0", _bernoulli), "Print": ("", _control.print_),
    }  # fmt: skip
    for stem in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Update"):
        for prefix, name in (("Scatter", "scatter_"), ("ScatterNd", "scatter_nd_")):
            rows[prefix + stem] = (f"use_locking={stem == 'Update'}", _scatter(name + stem.lower()))
    return {name: ("", f) for name, f in _SAME.items()} | rows


ROWS = {**_rows(), **_updates.ROWS, **_grads.ROWS, **_arrays.ROWS, **_between.ROWS, **_boxes.ROWS}
CLASSES: dict[str, type[Primitive]] = {}


def find(name: str) -> type[Primitive] | None:
    """The Primitive class of a name, made when it is first asked for; None if the table has none."""
    found = CLASSES.get(name)
    if found is None and name in ROWS:
        from ._static import check_static  # its checks stand in nn, which this package must not import while it loads

        found = CLASSES[name] = primitive_class(name, *ROWS[name], check_static)
    return found
