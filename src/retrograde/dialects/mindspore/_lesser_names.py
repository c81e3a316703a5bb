"""Names of `ops` and of tensors that few programs use: older aliases, band matrices, unpooling, in-place forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.value import Value, dtype_of, shape_of
from ...ops import structural as st
from ...ops import triangular
from ...tape import inplace
from .._shared.axes import integers, length_of, spread
from ._api import FUNCTIONS, METHODS, api, in_place_form
from ._assign import write
from ._dtype import as_dtype, int64
from ._generator import stream_of
from ._promote import FLOATING, single, tensor_argument, to_dtype
from ._stream import generator as global_stream
from ._tensor import from_array

for _alias, _name in (
    ("tensor_add", "add"), ("tensor_sub", "sub"), ("tensor_mul", "mul"), ("tensor_div", "div"), ("tensor_mod", "floor_mod"),
    ("tensor_pow", "pow"), ("tensor_floordiv", "floor_div"), ("floordiv", "floor_div"), ("floormod", "floor_mod"),
    ("tensor_lt", "less"), ("tensor_le", "less_equal"), ("tensor_gt", "greater"), ("tensor_ge", "greater_equal"),
    ("pows", "pow"), ("tensor_muls", "mul"), ("hyper_add", "add"),
):  # fmt: skip
    FUNCTIONS[_alias] = FUNCTIONS[_name]


@api(method=False)
def is_nonzero(input: Any) -> bool:
    """Whether the only element of a tensor is not zero."""
    return bool(tensor_argument("is_nonzero", input).item())


@api("is_", method=False)
def is_(x: Any, y: Any) -> bool:
    """Whether two objects are one."""
    return x is y


@api("is_not", method=False)
def is_not(x: Any, y: Any) -> bool:
    """Whether two objects are not one."""
    return x is not y


@api(method=False)
def eps(x: Any) -> Any:
    """The distance from 1 to the next number, in the shape and dtype of a tensor."""
    d = dtype_of(single("eps", x, FLOATING))
    if d.kind != "f":
        raise TypeError(f"eps: wanted a float16, float32 or float64 Tensor, got {x.dtype}")
    return from_array(np.full(shape_of(x), np.finfo(d).eps, d))


@api(method=False)
def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Any:
    """x above 0, below it x times a random factor in [lower, upper)."""
    from ...ops.activation import prelu

    x = single("rrelu", input, FLOATING)
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu: wanted 0 <= lower <= upper <= 1, got {lower} and {upper}")
    return prelu(x, from_array(global_stream().uniform(lower, upper, x.shape).astype(dtype_of(x))))


# ------------------------------------------------------------------------------------------ matrices of diagonals


def _one_diagonal(op: str, k: Any, align: str) -> int:
    """The only diagonal asked for; how several would be aligned is checked and changes nothing."""
    if align not in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        raise ValueError(f"{op}: align must be 'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT' or 'RIGHT_RIGHT', got {align!r}")
    found = integers(op, "k", k)
    if len(set(found)) != 1:
        raise ValueError(f"{op}: only one diagonal is supported, got k={found}; add up one call per diagonal")
    return found[0]


@api(method=False)
def matrix_diag(x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0,
                align: str = "RIGHT_LEFT") -> Any:  # fmt: skip
    """Matrices with the last axis along diagonal k and `padding_value` elsewhere."""
    x = tensor_argument("matrix_diag", x, "x")
    offset = _one_diagonal("matrix_diag", k, align)
    n = length_of("matrix_diag", x.shape, -1)
    rows, columns = int(num_rows), int(num_cols)
    rows, columns = (n + abs(offset) if size == -1 else size for size in (rows, columns))
    out = triangular.diagonal_embed(x, shape=(*x.shape[:-1], rows, columns), offset=offset, axis1=x.ndim - 1, axis2=x.ndim)
    value = padding_value.item() if isinstance(padding_value, Value) else padding_value
    if not value:
        return out
    there = np.zeros((rows, columns), bool)
    i = np.arange(n)
    there[i + max(-offset, 0), i + max(offset, 0)] = True
    return FUNCTIONS["where"](from_array(np.broadcast_to(there, out.shape).copy()), out, value)


@api(method=False)
def matrix_diag_part(x: Any, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Any:
    """The k-th diagonal of matrices; alone it needs no `padding_value`."""
    x = tensor_argument("matrix_diag_part", x, "x")
    return triangular.diagonal(x, offset=_one_diagonal("matrix_diag_part", k, align), axis1=x.ndim - 2, axis2=x.ndim - 1)


@api(method=False)
def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with the k-th diagonal replaced."""
    x = tensor_argument("matrix_set_diag", x, "x")
    return FUNCTIONS["diagonal_scatter"](x, diagonal, _one_diagonal("matrix_set_diag", k, align), x.ndim - 2, x.ndim - 1)


@api("fill_diagonal", function=False, in_place=True)
def fill_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """The tensor with a number along the main diagonal."""
    if self.ndim < 2:
        raise ValueError(f"fill_diagonal: wanted at least two axes, got shape {self.shape}")
    places = np.zeros(self.shape, bool)
    np.fill_diagonal(places, True, wrap=wrap)
    return FUNCTIONS["masked_fill"](self, from_array(places), fill_value)


@api(method=False)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """The permutation and the two triangular matrices that LU factors and pivots stand for."""
    from ...ops.linalg_factor import permutation_matrix

    lu = single("lu_unpack", LU_data, FLOATING)
    n, m = lu.shape[-2:]
    pivots = np.minimum(np.asarray(tensor_argument("lu_unpack", LU_pivots, "LU_pivots")._concrete("lu_unpack")), n - 1)
    p = permutation_matrix(from_array(pivots), n=n, dtype=dtype_of(lu)) if unpack_pivots else None
    if not unpack_data:
        return p, None, None
    small = min(n, m)
    lower = triangular.tril(lu[..., :, :small], k=-1) + from_array(np.eye(n, small, dtype=dtype_of(lu)))
    return p, lower, triangular.triu(lu[..., :small, :], k=0)


# ------------------------------------------------------------------------------------------ images


def _unpool(axes: int) -> None:
    name = f"max_unpool{axes}d"

    def f(x: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Any:
        from ...ops.pooling import unpool
        from ._layers import per_axis

        values, places = single(name, x, FLOATING), tensor_argument(name, indices, "indices")
        if values.shape != places.shape or values.ndim not in (axes + 1, axes + 2):
            raise ValueError(f"{name}: x {values.shape} and indices {places.shape} must have one shape of {axes + 2} axes")
        kernel = per_axis(name, "kernel_size", kernel_size, axes)
        steps = kernel if stride is None else per_axis(name, "stride", stride, axes)
        pads = per_axis(name, "padding", padding, axes)
        if output_size:
            size = integers(name, "output_size", output_size)[-axes:]
        else:
            size = tuple((n - 1) * s - 2 * p + k for n, s, p, k in zip(values.shape[-axes:], steps, pads, kernel))
        return unpool(values, to_dtype(places, as_dtype("int64")), size=size)

    f.__doc__ = "Zeros with the elements of a max-pooled tensor where they came from."
    api(name, method=False)(f)


for _axes in (1, 2, 3):
    _unpool(_axes)


@api()
def col2im(input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Any:
    """Columns of patches (n, c, kh kw, number of patches) added up to images."""
    return FUNCTIONS["fold"](input_x, output_size, kernel_size, dilation, padding_value, stride)


@api(method=False)
def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Any:
    """For every pair of boxes (x0, y0, x1, y1) their common area over the area of both ("iou") or of the second ("iof")."""
    a, b = single("iou", anchor_boxes, FLOATING), single("iou", gt_boxes, FLOATING)
    if mode not in ("iou", "iof"):
        raise ValueError(f"iou: mode must be 'iou' or 'iof', got {mode!r}")
    # As MindSpore counts: a box has its last pixel too.
    low, high = FUNCTIONS["maximum"](a[None, :, :2], b[:, None, :2]), FUNCTIONS["minimum"](a[None, :, 2:], b[:, None, 2:])
    sides = FUNCTIONS["relu"](high - low + 1.0)
    common = sides[..., 0] * sides[..., 1]
    first, second = ((x[:, 2] - x[:, 0] + 1.0) * (x[:, 3] - x[:, 1] + 1.0) for x in (a, b))
    return common / (first[None, :] + second[:, None] - common if mode == "iou" else second[:, None])


# ------------------------------------------------------------------------------------------ methods


def _drawn(name: str, draw: Any) -> None:
    def method(self: Any, *args: Any, generator: Any = None, **options: Any) -> Any:
        drawn = draw(stream_of(name, generator), self.shape, *args, **options)
        return write(name, self, np.asarray(drawn, dtype_of(self)))

    method.__doc__ = "Random numbers written everywhere; returns the tensor."
    api(name, function=False)(method)


_drawn("uniform_", lambda stream, shape, from_=0.0, to=1.0: stream.uniform(from_, to, shape))
_drawn("normal_", lambda stream, shape, mean=0.0, std=1.0: stream.normal(mean, std, shape))
_drawn("exponential_", lambda stream, shape, lambd=1.0: stream.exponential(1 / lambd, shape))
_drawn("bernoulli_", lambda stream, shape, p=0.5: stream.random(shape) < p)
_drawn("random_", lambda stream, shape, from_=0, to=None: stream.integers(from_ if to else 0, to or from_ or 2**24, shape))

for _name in ("mul", "remainder", "floor_divide", "index_add", "index_put", "index_fill", "masked_scatter", "scatter",
              "scatter_add", "addmm", "sigmoid", "sign"):  # fmt: skip
    METHODS[_name + "_"] = in_place_form(_name + "_", METHODS[_name])


@api("unique", function=False)
def unique_method(self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                  dim: Any = None) -> Any:  # fmt: skip
    """The different elements in order, and for each element which one it is, and how often each occurs."""
    from .mint import unique  # type: ignore[attr-defined]

    return unique(self, sorted, return_inverse, return_counts, dim)


@api(function=False)
def choose(self: Any, choices: Any, mode: str = "clip") -> Any:
    """For each number the element at its place of the choice that it names."""
    parts = FUNCTIONS["stack"]([c if isinstance(c, Value) else from_array(np.asarray(c, np.float32)) for c in choices])
    at = np.asarray(self._concrete("choose")).astype(np.int64)
    count = parts.shape[0]
    at = np.clip(at, 0, count - 1) if mode == "clip" else at % count if mode == "wrap" else at
    if mode == "raise" and ((at < 0) | (at >= count)).any():
        raise ValueError(f"choose: a number is beyond the {count} choices")
    places = from_array(np.broadcast_to(at, parts.shape[1:]).copy())
    return FUNCTIONS["gather_elements"](parts, 0, places[None])[0]


@api(function=False)
def sum_to_size(self: Any, *size: Any) -> Any:
    """The sum over the axes that broadcasting from a shape would repeat."""
    from ...tape.engine import fit

    wanted = spread("sum_to_size", size, "size")
    if tuple(np.broadcast_shapes(wanted, self.shape)) != self.shape:
        raise ValueError(f"sum_to_size: the shape {wanted} does not broadcast to {self.shape}")
    x = to_dtype(self, int64) if dtype_of(self).kind in "iub" else self
    return fit(x, Aval(wanted, dtype_of(x)))


@api(function=False)
def resize(self: Any, *new_shape: Any) -> Any:
    """As many elements as a shape has, in order: cut off, or filled up with zeros."""
    shape = spread("resize", new_shape, "new_shape")
    count = int(np.prod(shape, dtype=np.int64))
    flat = st.reshape(self, shape=(self.size,))
    if count > self.size:
        from ...ops.manipulation import pad_constant

        flat = pad_constant(flat, widths=((0, count - self.size),), value=0)
    return st.reshape(flat[:count], shape=shape)


@api(function=False)
def index(self: Any, indices: Any) -> Any:
    """The elements that a list of index tensors picks."""
    return self[tuple(indices)]


@api(function=False)
def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Elements written (or added) at positions in the flattened tensor; returns the tensor."""
    flat = inplace.view(st.reshape, self, shape=(self.size,))
    values = st.reshape(source, shape=(source.size,))
    places = st.reshape(index, shape=(index.size,))
    new = METHODS["index_put"](flat, (places,), values, accumulate)
    return write("put_", self, st.reshape(new, shape=self.shape))


@api(function=False)
def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """Say whether gradients are wanted of a Parameter; a tensor's are wanted where a gradient function is given it."""
    if hasattr(type(self), "requires_grad"):
        self.requires_grad = requires_grad
    return self


METHODS["storage_offset"] = lambda self: 0
METHODS["is_shared"] = METHODS["is_pinned"] = lambda self: False
METHODS["is_init"] = lambda self: False
METHODS["inv"] = FUNCTIONS["inv"]
METHODS["fills"] = FUNCTIONS["fills"]
METHODS["pin_memory"] = METHODS["set_const_arg"] = METHODS["move_to"] = METHODS["data_sync"] = lambda self, *_, **__: self


@api("bernoulli", function=False)
def bernoulli_method(self: Any, *, generator: Any = None) -> Any:
    """1 with the probability that an element is, else 0."""
    return FUNCTIONS["bernoulli"](self, self, stream_of("bernoulli", generator))
