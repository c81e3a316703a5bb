"""NumPy's functions on Tensors: `np.sin(x)`, `np.add.reduce(x)`, `np.linalg.inv(x)`, `scipy.special.erf(x)`.

NumPy hands a call with a Tensor among its arguments to `call_ufunc` or `call_function`. What is not in the tables here
and in numpy_functions.py raises TypeError: nothing is ever converted to a plain array behind the user's back.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import comparison as cmp
from ..ops import elementwise as ew
from ..ops import selection as sel
from ..ops import structural as st
from ..tape import inplace
from . import contraction, elementwise, reductions
from ._values import rank
from .conversion import operand, value
from .dtypes import as_dtype
from .operators import as_floating, binary, integers, ordered, promoted_all, storable, unary
from .promotion import floating, to_dtype

# ------------------------------------------------------------------------------------------ ufuncs by name


def _float_power(x: Any, y: Any) -> Any:
    x, y = promoted_all(operand("float_power", x), operand("float_power", y))
    wide = np.dtype(np.complex128 if dtype_of(x).kind == "c" else np.float64)
    return ew.power(to_dtype(value(x), wide), to_dtype(y, wide))


def _cbrt(x: Any) -> Any:
    x = floating(value(x))
    root = ew.power_by(ew.absolute(x), exponent=1 / 3)
    return sel.sign(x, nan_to_zero=False) * root


def _modf(x: Any) -> tuple[Any, Any]:
    x = floating(value(x))
    return sel.frac(x), sel.trunc(x)


def _divmod(x: Any, y: Any) -> tuple[Any, Any]:
    return elementwise.floor_divide(x, y), elementwise.remainder(x, y)


def _matvec(x: Any, y: Any) -> Any:
    y = value(y)
    out = contraction.matmul(x, st.reshape(y, shape=(*shape_of(y), 1)))
    return st.reshape(out, shape=tuple(shape_of(out))[:-1])


def _vecmat(x: Any, y: Any) -> Any:
    x = st.conj(value(x))
    shape = tuple(shape_of(x))
    out = contraction.matmul(st.reshape(x, shape=(*shape[:-1], 1, shape[-1])), y)
    return st.reshape(out, shape=(*tuple(shape_of(out))[:-2], shape_of(out)[-1]))


_SAME_NAMES = (
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "hypot", "logaddexp", "copysign", "nextafter",
    "maximum", "minimum", "negative", "positive", "sign", "square", "reciprocal", "sqrt", "exp", "exp2", "expm1", "log",
    "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "equal",
    "not_equal",
    "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not",
    "bitwise_and", "bitwise_or", "bitwise_xor", "isfinite", "isinf", "isnan", "signbit",
)  # fmt: skip

_UFUNCS: dict[str, Callable[..., Any]] = {
    **{name: getattr(elementwise, name) for name in _SAME_NAMES},
    **{
        theirs: getattr(elementwise, ours)
        for theirs, ours in {
            "absolute": "abs", "fabs": "abs", "power": "pow", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos",
            "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh", "conjugate": "conj",
            "rint": "round", "invert": "bitwise_invert", "left_shift": "bitwise_left_shift",
            "right_shift": "bitwise_right_shift",
        }.items()
    },
    "fmod": binary("fmod", ew.fmod, "C's remainder.", prepare=ordered),
    "fmax": binary("fmax", sel.fmax, "The maximum, where nan loses.", prepare=ordered),
    "fmin": binary("fmin", sel.fmin, "The minimum, where nan loses.", prepare=ordered),
    "logaddexp2": binary("logaddexp2", ew.logaddexp2, "log2(2^x + 2^y).", prepare=as_floating),
    "heaviside": binary("heaviside", sel.heaviside, "0, the second operand at 0, or 1.", prepare=as_floating),
    "ldexp": binary("ldexp", ew.ldexp, "x 2^y.", prepare=as_floating),
    "gcd": binary("gcd", cmp.gcd, "The greatest common divisor.", prepare=integers),
    "lcm": binary("lcm", cmp.lcm, "The least common multiple.", prepare=integers),
    "deg2rad": unary("deg2rad", ew.deg2rad, "Degrees in radians.", only_floats=True),
    "rad2deg": unary("rad2deg", ew.rad2deg, "Radians in degrees.", only_floats=True),
    "frexp": lambda x: ew.frexp(floating(value(x))),
    "float_power": _float_power, "cbrt": _cbrt, "modf": _modf, "divmod": _divmod, "matmul": contraction.matmul,
    "vecdot": contraction.vecdot, "matvec": _matvec, "vecmat": _vecmat,
}  # fmt: skip
for _alias, _name in (("radians", "deg2rad"), ("degrees", "rad2deg")):
    _UFUNCS[_alias] = _UFUNCS[_name]


def _special(*names: str, arity: int = 1) -> Callable[..., Any]:
    """A special function of scipy.special; the file of its primitive is imported when it is called."""
    module, name = names

    def f(*args: Any) -> Any:
        op = getattr(importlib.import_module(f"..ops.{module}", __package__), name)
        if arity == 1:
            return op(floating(value(args[0])))
        x, y = promoted_all(*(operand(name, a) for a in args))
        return op(value(floating(x)), floating(y))

    return f


def _rel_entr(x: Any, y: Any) -> Any:
    xlogy = _SPECIAL["xlogy"]
    return xlogy(x, elementwise.divide(x, y))


_SPECIAL_NAMES = (
    "erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "ndtri", "digamma", "entr", "i0", "i0e", "i1", "i1e",
    "j0",
    "j1",
    "y0", "y1", "k0", "k1", "k0e", "k1e",
)  # fmt: skip
_SPECIAL_NAMES_OF_TWO = ("xlogy", "xlog1py", "gammainc", "gammaincc", "zeta", "_zeta")

_SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: _special("special", name) for name in _SPECIAL_NAMES},
    **{
        theirs: _special("special", ours)
        for theirs, ours in {
            "psi": "digamma", "gammaln": "lgamma",
        }.items()
    },
    **{name: _special("special", name, arity=2) for name in _SPECIAL_NAMES_OF_TWO},
    "expit": _special("activation", "sigmoid"), "log_expit": _special("activation", "log_sigmoid"),
    "rel_entr": _rel_entr,
    "logit": lambda x: importlib.import_module("..ops.special", __package__).logit(floating(value(x)), eps=None),
    **{name: _UFUNCS[name] for name in ("exp2", "expm1", "log1p", "cbrt")},
}  # fmt: skip


def _implementation(ufunc: Any) -> Callable[..., Any]:
    name = ufunc.__name__
    found = _UFUNCS.get(name) if getattr(np, name, None) is ufunc or name in _CORE_NAMES else _SPECIAL.get(name)
    if found is None:
        where = "np" if getattr(np, name, None) is ufunc else "scipy.special"
        raise unsupported(f"{where}.{name}")
    return found


# Ufuncs whose own name is another one in NumPy's namespace.
_CORE_NAMES = frozenset({"conjugate", "divide", "remainder", "absolute", "matvec", "vecmat"})


def unsupported(what: str, reason: str = "") -> TypeError:
    """The error for a function, or an argument of one, that does not take Tensors."""
    return TypeError(
        f"{what} is not differentiated by retrograde{reason}; write it with functions that are, or pass "
        "x.detach().numpy() if no gradient is to flow through it"
    )


# ------------------------------------------------------------------------------------------ calling ufuncs

_PASSED_OVER: dict[str, tuple[Any, ...]] = {
    "order": ("K", "C", "A"), "subok": (True,), "where": (True,), "casting": ("same_kind", "safe", "unsafe"),
}  # fmt: skip


def check_defaults(what: str, given: dict[str, Any]) -> None:
    """Raise TypeError for an argument that is left and would change the result."""
    for key, x in given.items():
        if x is None or x is np._NoValue:  # what NumPy's functions have as a default
            continue
        if not (isinstance(x, (str, bool)) and x in _PASSED_OVER.get(key, ())):
            raise unsupported(f"{what}({key}=...)")


_FOUND: dict[Any, Callable[..., Any]] = {}


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` does."""
    for x in inputs:
        if isinstance(x, np.ndarray) and x.dtype.hasobject:
            raise TypeError(f"np.{ufunc.__name__}: an array of Python objects beside a Tensor; make it numeric first")
    if not kwargs and method == "__call__":
        f = _FOUND.get(ufunc)
        if f is None:
            f = _FOUND[ufunc] = _implementation(ufunc)
        return f(*inputs)
    out = kwargs.pop("out", None)
    if method == "__call__":
        f = _implementation(ufunc)
        dtype = kwargs.pop("dtype", None)
        axis = {"axis": kwargs.pop("axis")} if ufunc.__name__ == "vecdot" and "axis" in kwargs else {}
        check_defaults(f"np.{ufunc.__name__}", kwargs)
        if dtype is not None:
            inputs = tuple(to_dtype(value(x), as_dtype(dtype)) for x in inputs)
        result = f(*inputs, **axis)
    elif method in _METHODS:
        result = _METHODS[method](ufunc, *inputs, **kwargs)
    else:
        raise unsupported(f"np.{ufunc.__name__}.{method}")
    if out is None:
        return result
    if ufunc.nout == 1 or method != "__call__":
        return write_out(f"np.{ufunc.__name__}", result, out[0])
    return tuple(r if o is None else write_out(f"np.{ufunc.__name__}", r, o) for r, o in zip(result, out))


def write_out(what: str, result: Any, out: Any) -> Any:
    """A result written into `out`: history and all into a Tensor; into an array only where there is no history."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if isinstance(out, Value):
        storable(what, result, out)
        return inplace.update(what, out, lambda: result)
    if result.requires_grad or result._level:
        raise TypeError(
            f"{what}: the result is recorded for a gradient, which a NumPy array as target (out=, or the left "
            "side of an "
            "augmented assignment) cannot hold; write x = x + y instead of x += y, or use a Tensor"
        )
    np.copyto(out, concrete(what, result), casting="same_kind")
    return out


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": reductions.sum, "multiply": reductions.prod, "maximum": reductions.max, "minimum": reductions.min,
    "logical_and": reductions.all, "logical_or": reductions.any,
}  # fmt: skip


def _reduce(ufunc: Any, x: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **rest: Any) -> Any:
    name = ufunc.__name__
    if name not in _REDUCTIONS:
        raise unsupported(f"np.{name}.reduce")
    check_defaults(f"np.{name}.reduce", rest)
    given = {} if dtype is None else {"dtype": dtype}
    return _REDUCTIONS[name](x, axis=axis, keepdims=keepdims, **given)


def _accumulate(ufunc: Any, x: Any, axis: int = 0, dtype: Any = None, **rest: Any) -> Any:
    scans = {"add": reductions.cumulative_sum, "multiply": reductions.cumulative_prod}
    if ufunc.__name__ not in scans:
        raise unsupported(f"np.{ufunc.__name__}.accumulate")
    check_defaults(f"np.{ufunc.__name__}.accumulate", rest)
    return scans[ufunc.__name__](x, axis=axis, dtype=dtype)


def _outer(ufunc: Any, x: Any, y: Any, **rest: Any) -> Any:
    if ufunc.signature is not None or ufunc.nin != 2:
        raise unsupported(f"np.{ufunc.__name__}.outer")
    check_defaults(f"np.{ufunc.__name__}.outer", rest)
    x, y = value(x), value(y)
    return _implementation(ufunc)(st.reshape(x, shape=(*shape_of(x), *(1,) * rank(y))), y)


_METHODS: dict[str, Callable[..., Any]] = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer}

# ------------------------------------------------------------------------------------------ calling functions


FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's function -> ours."""


def implements(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for NumPy's functions of these names ("linalg.inv"), those that this NumPy has."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            found: Any = np
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is not None and not isinstance(found, np.ufunc):
                FUNCTIONS[found] = f
        return f

    return register


@functools.cache
def _functions() -> dict[Any, Callable[..., Any]]:
    for name in ("numpy_functions", "numpy_shapes", "numpy_algebra"):  # they register theirs in the table
        importlib.import_module(f".{name}", __package__)
    return FUNCTIONS


def call_function(func: Any, args: Any, kwargs: Any) -> Any:
    """What `Tensor.__array_function__` does."""
    f = _functions().get(func)
    if f is not None and not kwargs and len(args) < 2:  # `out` is never the first
        return f(*args)
    module = func.__module__ or "numpy"
    name = f"np{module.removeprefix('numpy')}.{func.__name__}".replace("._core", "").replace("._", ".")
    if f is None:
        raise unsupported(name)
    given = {k: x for k, x in kwargs.items() if x is not np._NoValue}
    out = given.pop("out", None)
    code = getattr(f, "__code__", None)
    if code is not None and "out" in code.co_varnames[: min(len(args), code.co_argcount)]:
        place = code.co_varnames.index("out")
        out, args = args[place], (*args[:place], None, *args[place + 1 :])
    if code is not None and not code.co_flags & inspect.CO_VARKEYWORDS:
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        check_defaults(name, {k: x for k, x in given.items() if k not in known})
        given = {k: x for k, x in given.items() if k in known}
    return write_out(name, f(*args, **given), out)
