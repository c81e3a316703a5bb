"""NumPy's kernels under jax's primitives: jax differentiates and batches, nothing is compiled.

XLA compiles every primitive anew for every shape, which takes a thousand times as long as a random program of small arrays
runs. What is compared with jax is its transforms and its rules, and these see no difference. A primitive that has no
kernel here is compiled as ever. Runs in the process that has jax only, without the package.
"""

import itertools
import string
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import scipy.linalg
from jax._src import ad_util, core
from jax._src.lax import lax, linalg, slicing
from jax._src.lax.control_flow import loops
from jax._src.lib import xla_client

Kernel = Callable[..., Any]

DEVICE = jax.devices("cpu")[0]
SHARDING = jax.sharding.SingleDeviceSharding(DEVICE)


def wrapped(x: np.ndarray, weak: bool) -> jax.Array:
    x = np.asarray(x)
    return xla_client.batched_device_put(core.ShapedArray(x.shape, x.dtype, weak_type=weak), SHARDING, [x], [DEVICE])


def is_weak(x: Any) -> bool:
    return x.weak_type if isinstance(x, jax.Array) else isinstance(x, (bool, int, float, complex))


def install(primitive: Any, kernel: Kernel, several: bool = False) -> None:
    """Evaluate `primitive` by `kernel`; what the kernel refuses is left to the compiled one."""
    compiled = primitive.impl

    def evaluate(*operands: Any, **params: Any) -> Any:
        weak = bool(operands) and "new_dtype" not in params and all(map(is_weak, operands))
        weak = weak or bool(params.get("weak_type"))
        try:
            with np.errstate(all="ignore"):
                made = kernel(*map(np.asarray, operands), **params)
        except np.linalg.LinAlgError:
            return compiled(*operands, **params)
        return [wrapped(x, weak) for x in made] if several else wrapped(made, weak)

    primitive.def_impl(evaluate)


def elementwise(function: Kernel) -> Kernel:
    def kernel(*operands: np.ndarray, **_: Any) -> np.ndarray:
        return function(*operands)

    return kernel


def reduction(function: Kernel) -> Kernel:
    def kernel(x: np.ndarray, *, axes: tuple[int, ...], **_: Any) -> np.ndarray:
        return function(x, axis=tuple(axes)).astype(x.dtype, copy=False)

    return kernel


def sign(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0, x, x / np.abs(x)) if x.dtype.kind == "c" else np.sign(x)


def integer_pow(x: np.ndarray, *, y: int) -> np.ndarray:
    return np.power(x, y) if y >= 0 else 1 / np.power(x, -y)


def divided(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.divide(x, y) if x.dtype.kind in "fc" else np.trunc(np.divide(x, y)).astype(x.dtype)


def converted(x: np.ndarray, *, new_dtype: Any, **_: Any) -> np.ndarray:
    if x.dtype.kind == "c" and np.dtype(new_dtype).kind != "c":
        x = x.real
    return x.astype(new_dtype)


def select_n(which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    if which.dtype == bool:
        return np.where(which, cases[-1], cases[0])
    return np.choose(np.broadcast_to(which, cases[0].shape), cases)


def broadcast_in_dim(x: np.ndarray, *_: Any, shape: Any, broadcast_dimensions: Any, **__: Any) -> np.ndarray:
    own = [1] * len(shape)
    for axis, n in zip(broadcast_dimensions, x.shape):
        own[axis] = n
    return np.broadcast_to(x.reshape(own), shape)


def reshape(x: np.ndarray, *_: Any, new_sizes: Any, dimensions: Any, **__: Any) -> np.ndarray:
    return (x if dimensions is None else x.transpose(dimensions)).reshape(new_sizes)


def iota(*_: Any, dtype: Any, shape: Any, dimension: int, **__: Any) -> np.ndarray:
    return np.indices(shape)[dimension].astype(dtype)


def sliced(x: np.ndarray, *, start_indices: Any, limit_indices: Any, strides: Any) -> np.ndarray:
    return x[tuple(map(slice, start_indices, limit_indices, strides or [1] * x.ndim))]


def dot_general(
    a: np.ndarray, b: np.ndarray, *, dimension_numbers: Any, preferred_element_type: Any, **_: Any
) -> np.ndarray:
    (contracted_a, contracted_b), (batch_a, batch_b) = dimension_numbers
    letters = iter(string.ascii_letters)
    of_a, of_b = [next(letters) for _ in a.shape], [next(letters) for _ in b.shape]
    for i, j in itertools.chain(zip(contracted_a, contracted_b), zip(batch_a, batch_b)):
        of_b[j] = of_a[i]
    result = [of_a[i] for i in batch_a]
    result += [x for i, x in enumerate(of_a) if i not in batch_a and i not in contracted_a]
    result += [x for j, x in enumerate(of_b) if j not in batch_b and j not in contracted_b]
    made = np.einsum(f"{''.join(of_a)},{''.join(of_b)}->{''.join(result)}", a, b)
    return made if preferred_element_type is None else made.astype(preferred_element_type, copy=False)


def scan(ufunc: np.ufunc) -> Kernel:
    def kernel(x: np.ndarray, *, axis: int, reverse: bool) -> np.ndarray:
        if reverse:
            return np.flip(ufunc.accumulate(np.flip(x, axis), axis=axis), axis)
        return ufunc.accumulate(x, axis=axis)

    return kernel


def sort(*operands: np.ndarray, dimension: int, num_keys: int, **_: Any) -> list[np.ndarray]:
    if num_keys == 1:
        order = np.argsort(operands[0], axis=dimension, kind="stable")
    else:
        order = np.lexsort(operands[num_keys - 1 :: -1], axis=dimension)
    return [np.take_along_axis(x, order, axis=dimension) for x in operands]


def pad(x: np.ndarray, value: np.ndarray, *, padding_config: Any) -> np.ndarray:
    shape = [low + high + n + max(n - 1, 0) * between for n, (low, high, between) in zip(x.shape, padding_config)]
    made = np.full([max(n, 0) for n in shape], value, x.dtype)
    own, target = [], []
    for n, size, (low, _, between) in zip(x.shape, shape, padding_config):
        places = low + np.arange(n) * (between + 1)
        inside = (places >= 0) & (places < size)
        own.append(np.flatnonzero(inside))
        target.append(places[inside])
    if x.ndim:
        made[np.ix_(*target)] = x[np.ix_(*own)]
    else:
        made[...] = x
    return made


def window(
    shape: tuple[int, ...],
    starts: np.ndarray,
    sizes: list[int],
    to_operand: Any,
    batching: Any,
    starts_batching: Any,
    clip: bool,
) -> tuple[list[np.ndarray], np.ndarray]:
    """For each axis of the operand the places that are read or written (starts' batch axes, then the operand's axes), and where
    all of them are inside."""
    batch = starts.shape[:-1]
    places: list[np.ndarray] = []
    for axis, size in enumerate(sizes):
        local = np.arange(size).reshape([size if k == axis else 1 for k in range(len(sizes))])
        if axis in to_operand:
            start = starts[..., to_operand.index(axis)]
            start = np.clip(start, 0, shape[axis] - size) if clip else start
        elif axis in batching:
            start = np.indices(batch)[starts_batching[batching.index(axis)]]
        else:
            start = np.zeros(batch, int)
        places.append(start.reshape(*batch, *[1] * len(sizes)) + local)
    valid = np.ones((*batch, *sizes), bool)
    for axis, place in enumerate(places):
        valid &= (place >= 0) & (place < shape[axis])
    return [np.broadcast_to(place, valid.shape) for place in places], valid


def missing(dtype: np.dtype, given: Any) -> Any:
    if given is not None:
        return given
    if dtype.kind in "fc":
        return np.nan
    return np.iinfo(dtype).min if dtype.kind == "i" else True if dtype.kind == "b" else np.iinfo(dtype).max


def gather(
    x: np.ndarray, starts: np.ndarray, *, dimension_numbers: Any, slice_sizes: Any, mode: Any, fill_value: Any, **_: Any
) -> np.ndarray:
    numbers = dimension_numbers
    places, valid = window(
        x.shape, starts.astype(int), list(slice_sizes), numbers.start_index_map, numbers.operand_batching_dims,
        numbers.start_indices_batching_dims, mode == slicing.GatherScatterMode.CLIP,
    )  # fmt: skip
    inside = tuple(np.where(valid, place, 0) for place in places)
    made = x[inside] if x.size else np.zeros(valid.shape, x.dtype)
    if not valid.all():
        made = np.where(valid, made, missing(x.dtype, fill_value))
    n = starts.ndim - 1
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    made = made.reshape(*made.shape[:n], *[m for k, m in enumerate(slice_sizes) if k not in gone])
    return np.moveaxis(made, range(n, made.ndim), numbers.offset_dims)


def scatter(ufunc: np.ufunc | None) -> Kernel:
    def kernel(
        x: np.ndarray, starts: np.ndarray, updates: np.ndarray, *, dimension_numbers: Any, mode: Any, **_: Any
    ) -> np.ndarray:
        numbers = dimension_numbers
        n = starts.ndim - 1
        updates = np.moveaxis(updates, numbers.update_window_dims, range(n, updates.ndim))
        gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        lengths = iter(updates.shape[n:])
        sizes = [1 if k in gone else next(lengths) for k in range(x.ndim)]
        places, valid = window(
            x.shape, starts.astype(int), sizes, numbers.scatter_dims_to_operand_dims, numbers.operand_batching_dims,
            numbers.scatter_indices_batching_dims, mode == slicing.GatherScatterMode.CLIP,
        )  # fmt: skip
        if mode != slicing.GatherScatterMode.CLIP:  # a window is written whole or not at all
            whole = valid.all(axis=tuple(range(n, valid.ndim)), keepdims=True)
            valid = valid & whole
        made = x.copy()
        chosen = tuple(place[valid] for place in places)
        values = updates.reshape(valid.shape)[valid]
        if ufunc is None:
            made[chosen] = values
        else:
            ufunc.at(made, chosen, values)
        return made

    return kernel


def dynamic_slice(x: np.ndarray, *starts: np.ndarray, slice_sizes: Any) -> np.ndarray:
    first = [int(np.clip(s, 0, n - m)) for s, n, m in zip(starts, x.shape, slice_sizes)]
    return x[tuple(slice(s, s + m) for s, m in zip(first, slice_sizes))]


def dynamic_update_slice(x: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    made = x.copy()
    first = [int(np.clip(s, 0, n - m)) for s, n, m in zip(starts, x.shape, update.shape)]
    made[tuple(slice(s, s + m) for s, m in zip(first, update.shape))] = update
    return made


def triangular_solve(
    a: np.ndarray,
    b: np.ndarray,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> np.ndarray:
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        eye = np.eye(a.shape[-1], dtype=a.dtype)
        a = a * (1 - eye) + eye
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    a = np.conj(a) if conjugate_a else a
    if left_side:
        return np.linalg.solve(a, b).astype(b.dtype, copy=False)
    return np.swapaxes(np.linalg.solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def lu(a: np.ndarray) -> list[np.ndarray]:
    batch, n = a.shape[:-2], min(a.shape[-2:])
    factors, pivots = np.empty_like(a), np.empty((*batch, n), np.int32)
    order = np.empty((*batch, a.shape[-2]), np.int32)
    for place in np.ndindex(*batch):
        factors[place], pivots[place] = scipy.linalg.lu_factor(a[place], check_finite=False)
        order[place] = np.arange(a.shape[-2])
        for i, j in enumerate(pivots[place]):
            order[place][[i, j]] = order[place][[j, i]]
    return [factors, pivots, order]


def cholesky(a: np.ndarray, **_: Any) -> np.ndarray:
    """Of the lower triangle."""
    return np.linalg.cholesky(np.tril(a) + np.conj(np.swapaxes(np.tril(a, -1), -1, -2)))


ELEMENTWISE: dict[str, Kernel] = {
    "abs": np.abs, "acos": np.arccos, "acosh": np.arccosh, "add": np.add, "and": np.bitwise_and, "asin": np.arcsin,
    "asinh": np.arcsinh, "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "ceil": np.ceil,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high), "complex": lambda x, y: x + (x * 0 + 1j) * y,
    "conj": np.conj, "copy": np.copy, "cos": np.cos, "cosh": np.cosh, "div": divided, "eq": np.equal, "exp": np.exp,
    "exp2": np.exp2, "expm1": np.expm1, "floor": np.floor, "ge": np.greater_equal, "gt": np.greater, "imag": np.imag,
    "is_finite": np.isfinite, "le": np.less_equal, "log": np.log, "log1p": np.log1p, "lt": np.less, "max": np.maximum,
    "min": np.minimum, "mul": np.multiply, "ne": np.not_equal, "neg": np.negative, "not": np.invert, "or": np.bitwise_or,
    "pow": lambda x, y: np.power(x, y).astype(x.dtype, copy=False), "real": np.real, "rem": np.fmod,
    "rsqrt": lambda x: 1 / np.sqrt(x), "select_n": select_n, "shift_right_arithmetic": np.right_shift, "sign": sign,
    "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "sub": np.subtract, "tan": np.tan,
    "tanh": np.tanh, "xor": np.bitwise_xor,
}  # fmt: skip
REDUCTIONS: dict[str, Kernel] = {
    "reduce_and": np.all, "reduce_max": np.max, "reduce_min": np.min, "reduce_or": np.any, "reduce_prod": np.prod,
    "reduce_sum": np.sum,
}  # fmt: skip
OTHERS: dict[str, Kernel] = {
    "bitcast_convert_type": lambda x, *, new_dtype: x.view(new_dtype),
    "broadcast_in_dim": broadcast_in_dim,
    "concatenate": lambda *xs, dimension: np.concatenate(xs, axis=dimension),
    "convert_element_type": converted,
    "dot_general": dot_general,
    "integer_pow": integer_pow,
    "iota": iota,
    "pad": pad,
    "reshape": reshape,
    "rev": lambda x, *, dimensions: np.flip(x, dimensions),
    "squeeze": lambda x, *, dimensions: np.squeeze(x, tuple(dimensions)),
    "stack": lambda *xs, axis: np.stack(xs, axis=axis),
    "tile": lambda x, *, reps: np.tile(x, reps),
    "transpose": lambda x, *, permutation: np.transpose(x, permutation),
}
SEVERAL: dict[str, Kernel] = {
    "sort": sort,
    "split": lambda x, *, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis=axis),
    "unstack": lambda x, *, axis: list(np.moveaxis(x, axis, 0)),
}


def install_all() -> None:
    for name, kernel in ELEMENTWISE.items():
        install(getattr(lax, f"{name}_p"), elementwise(kernel))
    for name, kernel in REDUCTIONS.items():
        install(getattr(lax, f"{name}_p"), reduction(kernel))
    for name, kernel in OTHERS.items():
        install(getattr(lax, f"{name}_p"), kernel)
    for name, kernel in SEVERAL.items():
        install(getattr(lax, f"{name}_p"), kernel, several=True)
    for name, kernel in (
        ("gather", gather), ("slice", sliced), ("scatter", scatter(None)), ("scatter_add", scatter(np.add)),
        ("scatter_mul", scatter(np.multiply)), ("dynamic_slice", dynamic_slice),
        ("dynamic_update_slice", dynamic_update_slice),
    ):  # fmt: skip
        install(getattr(slicing, f"{name}_p"), kernel)
    install(ad_util.add_any_p, elementwise(np.add))
    install(loops.cumsum_p, scan(np.add))
    install(loops.cumprod_p, scan(np.multiply))
    install(linalg.triangular_solve_p, triangular_solve)
    install(linalg.lu_p, lu, several=True)
    install(linalg.cholesky_p, cholesky)
