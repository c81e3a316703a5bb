"""Functions of two and three tensors, elementwise: extremes, logic, angles, interpolation, choices, closeness."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.unwrap import constant
from ...core.value import Value, dtype_of, shape_of
from ...ops import comparison as cmp
from ...ops import complex_parts as parts
from ...ops import elementwise as ew
from ...ops import selection as sel
from ...ops import special
from ...ops import structural as st
from ...ops.indexing import argwhere, take
from . import _kernels
from ._api import FUNCTIONS, METHODS, api, check_shape, offered, row, write_out
from ._arithmetic import divide, equal, greater_equal, greater_than, less_equal, less_than, not_equal
from ._dtype import FROM_NUMPY, float32, float64
from ._elementwise import FLOATED, STRICT, TENSORS, TENSORS_FLOATED, TENSORS_STRICT, binary, register, tensors_in_place
from ._promote import operand, pair, scalar_dtype, to_dtype
from ._tensor import from_array
from ._unary import logical_not

# ------------------------------------------------------------------------------------------ tables

# Where two are equal, each gets half of the gradient; of fmax and fmin the first gets all.
maximum = register("maximum", binary("maximum", sel.maximum, TENSORS, fast="fiu", ties="half_ordered"), in_place=False)
minimum = register("minimum", binary("minimum", sel.minimum, TENSORS, fast="fiu", ties="half_ordered"), in_place=False)
for _name, _op in {"fmax": sel.fmax, "fmin": sel.fmin}.items():
    register(_name, binary(_name, _op, TENSORS, fast="fiu"), in_place=False, out=False)
for _name, _op in {"hypot": ew.hypot, "logaddexp": ew.logaddexp}.items():
    register(_name, binary(_name, _op, TENSORS_FLOATED), in_place=_name == "hypot", out=False)
_next_after = binary("nextafter", ew.nextafter, TENSORS)
for _name, _op in {"gcd": cmp.gcd, "lcm": cmp.lcm}.items():
    register(_name, binary(_name, _op, TENSORS_STRICT, fast="iu"), out=False)


def _in_double(name: str, op: Any, x: Any, y: Any) -> tuple[Any, np.dtype]:
    """A function of two tensors, of integers in float64; and the dtype that they had."""
    x, y = pair(name, x, y, TENSORS)
    d = dtype_of(x)
    if d.kind in "iub":
        x, y = to_dtype(x, float64), to_dtype(y, float64)
    return op(x, y), d


atan2 = row("atan2", lambda x, y, name=None: _in_double("atan2", ew.atan2_undefined, x, y)[0],
    "The angle of the point (y, x), in radians from -pi to pi, elementwise; of integers in float64.")  # fmt: skip


@api()
def nextafter(x: Any, y: Any, name: Any = None) -> Any:
    """The next number after x in the direction of y, elementwise; no gradient flows through it."""
    return _next_after(*(v.detach() if isinstance(v, Value) else v for v in (x, y)))


def _keeping(name: str, op: Any, in_place: bool) -> None:
    @api(name, in_place=in_place)
    def f(x: Any, y: Any, name: Any = None) -> Any:
        """The size of x with the sign of y (copysign); 0 below 0, 1 above and y at 0 (heaviside): in x's dtype."""
        if f.__name__ == "copysign" and not isinstance(x, Value):
            raise AttributeError(f"copysign: x must be a Tensor, got {type(x).__name__}; use paddle.to_tensor(...)")
        if f.__name__ == "copysign" and not isinstance(y, Value):
            y = from_array(np.asarray(y, dtype_of(x)))
        found, d = _in_double(f.__name__, op, x, y)
        return found if dtype_of(found) == d else st.cast(found, dtype=d)

    f.__name__ = f.__qualname__ = name


_keeping("copysign", ew.copysign, True)
_keeping("heaviside", sel.heaviside, False)


def _to_bool_in_place(f: Any, names: str) -> None:
    """The in-place forms of a function whose results are booleans: the tensor takes their dtype."""
    public = offered(f)
    for name in names.split():
        def method(x: Any, *args: Any, _f: Any = public, _name: str = name, **options: Any) -> Any:
            found = _f(x, *args, **options)
            check_shape(_name + "_", found, x)
            return write_out(_name + "_", found, x)

        method.__name__ = method.__qualname__ = name + "_"
        method.__doc__ = f"`{name}` with the result put in the tensor's place; returns it."
        METHODS[name + "_"] = FUNCTIONS[name + "_"] = method
    if f is not logical_not:
        tensors_in_place(names)


logical_and = register("logical_and", binary("logical_and", cmp.logical_and, TENSORS, fast="biufc"), in_place=False)
logical_or = register("logical_or", binary("logical_or", cmp.logical_or, TENSORS, fast="biufc"), in_place=False)
logical_xor = register("logical_xor", binary("logical_xor", cmp.logical_xor, TENSORS, fast="biufc"), in_place=False)
for _f in (logical_and, logical_or, logical_xor, logical_not, equal, not_equal, less_equal, greater_equal):
    _to_bool_in_place(_f, _f.__name__)
_to_bool_in_place(less_than, "less_than less")
_to_bool_in_place(greater_than, "greater_than greater")

# ------------------------------------------------------------------------------------------ bits, powers of two


@api(in_place=True)
def ldexp(x: Any, y: Any, name: Any = None) -> Any:
    """`x * 2**y`, elementwise, in float32 or float64."""
    given = [operand("ldexp", a) for a in (x, y)]
    if not all(isinstance(a, Value) for a in given):
        raise TypeError("ldexp: wanted two Tensors; use paddle.to_tensor(...) for a number")
    d = float64 if any(dtype_of(a) == float64.np for a in given) else float32
    return ew.ldexp(*(to_dtype(a, d) for a in given))


def _unsigned_shift(x: Any, y: Any) -> Any:
    x, y = pair("bitwise_right_shift", x, y, STRICT)
    d = dtype_of(x)
    wide = np.dtype(f"u{d.itemsize}")
    return st.cast(cmp.right_shift(st.cast(x, dtype=wide), st.cast(y, dtype=wide)), dtype=d)


def _shift(name: str, op: Any) -> None:
    @api(name, in_place=True)
    def f(x: Any, y: Any, is_arithmetic: bool = True, out: Any = None, name: Any = None) -> Any:
        """The bits of x moved by y places; to the right, the sign is kept unless `is_arithmetic` is False."""
        if not is_arithmetic and op is cmp.right_shift and dtype_of(x).kind == "i":
            result = _unsigned_shift(x, y)
        else:
            if isinstance(x, Value) and isinstance(y, Value) and (dtype_of(x) != dtype_of(y) or dtype_of(x).kind not in "iu"):
                raise ValueError(f"{f.__name__}: wanted two integer tensors of one dtype, got {x.dtype} and {y.dtype}")
            result = op(*pair(f.__name__, x, y, STRICT))
        return result if out is None else write_out(f.__name__, result, out)

    f.__name__ = f.__qualname__ = name


_shift("bitwise_left_shift", cmp.left_shift)
_shift("bitwise_right_shift", cmp.right_shift)

# ------------------------------------------------------------------------------------------ sums, interpolation


def same_dtype(op: str, *operands: Any) -> None:
    """Raise ValueError unless all are tensors of one dtype."""
    for x in operands:
        if not isinstance(x, Value):
            raise ValueError(f"{op}: wanted Tensors, got {type(x).__name__}; use paddle.to_tensor(...)")
    dtypes = {dtype_of(x) for x in operands}
    for d in dtypes:
        _kernels.check(op, d)
    if len(dtypes) > 1:
        names = ", ".join(str(FROM_NUMPY[dtype_of(x)]) for x in operands)
        raise ValueError(f"{op}: the tensors have dtypes {names}; convert them to one with astype()")


@api(method=True)
def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of the tensors of a list, all of one shape and dtype."""
    if isinstance(inputs, Value):
        return st.copy(inputs)
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("add_n: wanted a list of Tensors, one at least")
    same_dtype("add_n", *inputs)
    if len({tuple(shape_of(x)) for x in inputs}) > 1:
        raise ValueError(f"add_n: the tensors have different shapes, {[list(shape_of(x)) for x in inputs]}")
    total = inputs[0]
    for x in inputs[1:]:
        total = ew.add(total, x)
    return st.copy(total) if len(inputs) == 1 else total


@api(in_place=True)
def lerp(x: Any, y: Any, weight: Any, name: Any = None) -> Any:
    """`x + weight * (y - x)`, elementwise; the weight is a number or a tensor, which gets no gradient."""
    if isinstance(weight, Value):
        same_dtype("lerp", x, y, weight)
        return ew.lerp(x, y, constant(weight))
    same_dtype("lerp", x, y)
    return ew.lerp_by(x, y, weight=float(weight))


@api("complex")
def complex_(real: Any, imag: Any, name: Any = None, *, out: Any = None) -> Any:
    """The complex tensor of two floating ones, its real and its imaginary part."""
    same_dtype("complex", real, imag)
    result = parts.make_complex(real, imag)
    return result if out is None else write_out("complex", result, out)


@api()
def polar(abs: Any, angle: Any, name: Any = None, *, out: Any = None) -> Any:
    """The complex tensor with these absolute values and angles."""
    size, turn = pair("polar", abs, angle, FLOATED)
    if dtype_of(size).kind == "c":
        raise TypeError("polar: wanted real tensors")
    result = parts.polar(size, turn)
    return result if out is None else write_out("polar", result, out)


def _gamma(name: str, op: Any) -> None:
    @api(name, in_place=True)
    def f(x: Any, y: Any, name: Any = None) -> Any:
        """The regularised incomplete gamma function of order x at y (lower: gammainc, upper: gammaincc)."""
        same_dtype(f.__name__, x, y)
        for which, given in (("x", x), ("y", y)):
            if isinstance(given._a, np.ndarray) and not (given._a >= 0).all():
                raise ValueError(f"{name}: {which} must not be negative or nan")
        return op(x.detach(), y)  # no derivative by the order, as in PaddlePaddle

    f.__name__ = f.__qualname__ = name


_gamma("gammainc", special.gammainc)
_gamma("gammaincc", special.gammaincc)


@api()
def multiplex(inputs: Any, index: Any, name: Any = None) -> Any:
    """For each row i, row i of the tensor that `index[i]` names among the inputs."""
    if not isinstance(inputs, (list, tuple)) or len(inputs) < 2:
        raise RuntimeError("multiplex: wanted a list of two Tensors at least")
    same_dtype("multiplex", *inputs)
    rows = shape_of(inputs[0])[0]
    chosen = np.asarray(index.numpy()).reshape(-1)
    if chosen.size != rows or (chosen.size and not (chosen.min() >= 0 and chosen.max() < len(inputs))):
        raise ValueError(f"multiplex: index must hold one of 0 to {len(inputs) - 1} for each of {rows} rows")
    return take(st.concatenate(*inputs, axis=0), chosen.astype(np.int64) * rows + np.arange(rows), axis=0)


# ------------------------------------------------------------------------------------------ choices


@api(method=False)
def where(condition: Any, x: Any = None, y: Any = None, name: Any = None, *, out: Any = None) -> Any:
    """Elements of x where the condition holds, of y elsewhere; without these, the positions where it holds."""
    if not isinstance(condition, Value):
        raise ValueError(f"where: condition must be a Tensor, got {type(condition).__name__}")
    if x is None and y is None:
        found = argwhere(condition)
        return tuple(st.getitem(found, index=(slice(None), i)) for i in range(len(shape_of(condition))))
    if x is None or y is None:
        raise ValueError("where: give both x and y, or neither")
    if dtype_of(condition).kind != "b":
        raise ValueError(f"where: the condition must be a bool Tensor, got {condition.dtype}")
    x, y = (v if isinstance(v, Value) else from_array(np.asarray(v, scalar_dtype(v).np)) for v in (x, y))
    result = sel.where(condition, *pair("where", x, y, STRICT))
    return result if out is None else write_out("where", result, out)


where_method = row("where", lambda condition, x=None, y=None, name=None: where(condition, x, y),
    "`paddle.where(condition, x, y)`.", function=False)  # fmt: skip


@api("where_", method=True)
def where_(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """`where` written into x."""
    if not isinstance(x, Value):
        raise ValueError(f"where_: x must be a Tensor, got {type(x).__name__}")
    return write_out("where_", where(condition, x, y), x)


@api()
def true_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """`input / other`, elementwise."""
    result = divide(input, other)
    return result if out is None else write_out("true_divide", result, out)


# ------------------------------------------------------------------------------------------ closeness


def _close(op: str, x: Any, y: Any, rtol: Any, atol: Any, equal_nan: bool) -> Any:
    same_dtype(op, x, y)
    if op == "allclose" and tuple(shape_of(x)) != tuple(shape_of(y)):
        raise RuntimeError(f"allclose: the tensors have shapes {list(shape_of(x))} and {list(shape_of(y))}")
    rtol, atol = (float(v.item()) if isinstance(v, Value) else float(v) for v in (rtol, atol))
    return cmp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=bool(equal_nan))


@api()
def isclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
            name: Any = None) -> Any:  # fmt: skip
    """Whether `|x - y| <= atol + rtol * |y|`, elementwise."""
    return _close("isclose", x, y, rtol, atol, equal_nan)


@api()
def allclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False,
             name: Any = None) -> Any:  # fmt: skip
    """Whether `isclose` holds everywhere, as a 0-d tensor."""
    return _close("allclose", x, y, rtol, atol, equal_nan).all()


@api()
def equal_all(x: Any, y: Any, name: Any = None) -> Any:
    """Whether two tensors have the same shape and elements, as a 0-d tensor."""
    same_dtype("equal_all", x, y)
    if tuple(shape_of(x)) != tuple(shape_of(y)):
        return from_array(np.zeros((), bool))
    return cmp.equal(x, y).all()
