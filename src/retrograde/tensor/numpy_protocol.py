"""NumPy's functions on Tensors: `np.sin(x)`, `np.add.reduce(x)`, `np.linalg.inv(x)`, `scipy.special.erf(x)`.

NumPy hands a call with a Tensor among its arguments to `call_ufunc` or `call_function`. What is not in the tables here
and in numpy_functions.py raises TypeError: nothing is ever converted to a plain array behind the user's back.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import math
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
from .ways_out import recorded

# ------------------------------------------------------------------------------------------ ufuncs by name


def _float_power(x: Any, y: Any) -> Any:
    x, y = promoted_all(operand("float_power", x), operand("float_power", y))
    wide = np.dtype(np.complex128 if dtype_of(x).kind == "c" else np.float64)
    return ew.power(to_dtype(value(x), wide), to_dtype(y, wide))


def _cbrt(x: Any) -> Any:
    x = floating(value(x))
    root = ew.power_by(ew.absolute(x), exponent=1 / 3)
    return sel.sign(x, nan_to_zero=False) * root


def _matvec(x: Any, y: Any) -> Any:
    y = value(y)
    out = contraction.matmul(x, st.reshape(y, shape=(*shape_of(y), 1)))
    return st.reshape(out, shape=tuple(shape_of(out))[:-1])


def _vecmat(x: Any, y: Any) -> Any:
    x = st.conj(value(x))
    shape = tuple(shape_of(x))
    out = contraction.matmul(st.reshape(x, shape=(*shape[:-1], 1, shape[-1])), y)
    return st.reshape(out, shape=(*tuple(shape_of(out))[:-2], shape_of(out)[-1]))


# The namespace's functions, under another name in NumPy where one is given.
_OF_THE_NAMESPACE = """
add subtract multiply divide floor_divide remainder hypot logaddexp copysign nextafter maximum minimum negative positive
sign square reciprocal sqrt exp exp2 expm1 log log1p log2 log10 sin cos tan sinh cosh tanh floor ceil trunc equal not_equal
less less_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor
isfinite isinf isnan signbit absolute=abs fabs=abs power=pow arctan2=atan2 arcsin=asin arccos=acos arctan=atan
arcsinh=asinh arccosh=acosh arctanh=atanh conjugate=conj rint=round invert=bitwise_invert left_shift=bitwise_left_shift
right_shift=bitwise_right_shift
"""


def _named(functions: Any, names: str) -> dict[str, Callable[..., Any]]:
    """Functions of a module by NumPy's names: the same, or "theirs=ours"."""
    pairs = (name.partition("=") for name in names.split())
    return {theirs: getattr(functions, ours or theirs) for theirs, _, ours in pairs}


_UFUNCS: dict[str, Callable[..., Any]] = {
    **_named(elementwise, _OF_THE_NAMESPACE), **_named(contraction, "matmul vecdot"),
    "fmod": binary("fmod", ew.fmod, "C's remainder.", ordered),
    "fmax": binary("fmax", sel.fmax, "The maximum, where nan loses.", ordered),
    "fmin": binary("fmin", sel.fmin, "The minimum, where nan loses.", ordered),
    "logaddexp2": binary("logaddexp2", ew.logaddexp2, "log2(2^x + 2^y).", as_floating),
    "heaviside": binary("heaviside", sel.heaviside, "0, the second operand at 0, or 1.", as_floating),
    "ldexp": binary("ldexp", ew.ldexp, "x 2^y.", as_floating),
    "gcd": binary("gcd", cmp.gcd, "The greatest common divisor.", integers),
    "lcm": binary("lcm", cmp.lcm, "The least common multiple.", integers),
    "deg2rad": unary("deg2rad", ew.deg2rad, "Degrees in radians.", only_floats=True),
    "rad2deg": unary("rad2deg", ew.rad2deg, "Radians in degrees.", only_floats=True),
    "frexp": lambda x: ew.frexp(floating(value(x))),
    "modf": lambda x: (sel.frac(floating(value(x))), sel.trunc(floating(value(x)))),
    "divmod": lambda x, y: (elementwise.floor_divide(x, y), elementwise.remainder(x, y)),
    "float_power": _float_power, "cbrt": _cbrt, "matvec": _matvec, "vecmat": _vecmat,
}  # fmt: skip
_UFUNCS |= {"radians": _UFUNCS["deg2rad"], "degrees": _UFUNCS["rad2deg"]}

# ------------------------------------------------------------------------------------------ special functions

_FLOAT32 = np.dtype(np.float32)


def _scipys(x: Any) -> Any:
    """An operand in the floating dtype in which SciPy computes functions of it: float32 at least."""
    dtype = dtype_of(x)
    narrow = dtype.itemsize < (4 if dtype.kind in "iub" else 3) and dtype.isbuiltin == 1
    return to_dtype(x, _FLOAT32) if narrow else floating(x)


def special(module: str, name: str, arity: int = 1, prepare: Callable[[Any], Any] = _scipys, **params: Any) -> Any:
    """A special function of one or two numbers; the file of its primitive is imported when it is called."""

    def f(*args: Any) -> Any:
        op = getattr(importlib.import_module(f"..ops.{module}", __package__), name)
        if arity == 1:
            return op(prepare(value(args[0])), **params)
        x, y = promoted_all(*(operand(name, a) for a in args))
        return op(value(prepare(x)), prepare(y))

    return f


def _rel_entr(x: Any, y: Any) -> Any:
    """x log(x / y), 0 where x is, infinity outside the domain."""
    x, y = promoted_all(operand("rel_entr", x), operand("rel_entr", y))
    x, y = value(_scipys(x)), value(_scipys(y))
    inside = elementwise.logical_and(x > 0, y > 0)
    x1, y1 = (elementwise.where(inside, v, 1) for v in (x, y))
    edge = elementwise.where(elementwise.logical_and(elementwise.equal(x, 0), y >= 0), 0, math.inf)
    found = elementwise.where(inside, x1 * elementwise.log(x1 / y1), edge)
    return elementwise.where(elementwise.logical_or(elementwise.isnan(x), elementwise.isnan(y)), math.nan, found)


_ONE = "erf erfc erfcx erfinv ndtr log_ndtr ndtri digamma entr i0 i0e i1 i1e j0 j1 y0 y1 k0 k1 k0e k1e"
_TWO = "xlogy xlog1py gammainc gammaincc zeta _zeta"

_SPECIAL: dict[str, Callable[..., Any]] = {
    **{name: special("special", name) for name in _ONE.split()},
    **{name: special("special", name, arity=2) for name in _TWO.split()},
    "psi": special("special", "digamma"), "gammaln": special("special", "lgamma"),
    "logit": special("special", "logit", eps=None), "expit": special("activation", "sigmoid"),
    "log_expit": special("activation", "log_sigmoid"), "rel_entr": _rel_entr,
    **{name: lambda x, f=_UFUNCS[name]: f(_scipys(value(x))) for name in ("exp2", "expm1", "log1p", "cbrt")},
}  # fmt: skip


def _of_numpy(ufunc: Any) -> bool:
    return getattr(np, ufunc.__name__, None) is ufunc or ufunc.__name__ in _CORE_NAMES


def _called(ufunc: Any) -> str:
    """What a program calls a ufunc."""
    return f"{'np' if _of_numpy(ufunc) else 'scipy.special'}.{ufunc.__name__}"


@functools.cache
def _implementation(ufunc: Any) -> Callable[..., Any]:
    found = (_UFUNCS if _of_numpy(ufunc) else _SPECIAL).get(ufunc.__name__)
    if found is None:
        raise unsupported(_called(ufunc))
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
    "order": ("K", "C", "A"), "subok": (True, False), "where": (True,), "casting": ("same_kind", "safe", "unsafe"),
    "kind": ("quicksort", "mergesort", "heapsort", "stable", "introselect"), "stable": (True, False), "copy": (True,),
    "overwrite_input": (True, False), "suppress_small": (True, False), "optimize": (True, False, "greedy", "optimal"),
}  # fmt: skip


def check_defaults(what: str, given: dict[str, Any]) -> None:
    """Raise TypeError for an argument that is left and would change the result."""
    for key, x in given.items():
        if x is None or x is np._NoValue:  # what NumPy's functions have as a default
            continue
        if not (isinstance(x, (str, bool)) and x in _PASSED_OVER.get(key, ())):
            raise unsupported(f"{what}({key}=...)")


def call_ufunc(ufunc: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Tensor.__array_ufunc__` does."""
    for x in inputs:
        if isinstance(x, np.ndarray) and x.dtype.hasobject:
            raise TypeError(f"{_called(ufunc)}: an array of Python objects beside a Tensor; make it numeric first")
    if not kwargs and method == "__call__":
        return _implementation(ufunc)(*inputs)
    out = kwargs.pop("out", None)
    if method == "__call__":
        f = _implementation(ufunc)
        dtype = kwargs.pop("dtype", None)
        axis = {"axis": kwargs.pop("axis")} if ufunc.__name__ == "vecdot" and "axis" in kwargs else {}
        check_defaults(_called(ufunc), kwargs)
        if dtype is not None:
            inputs = tuple(to_dtype(value(x), as_dtype(dtype)) for x in inputs)
        result = f(*inputs, **axis)
    elif method in _METHODS:
        result = _METHODS[method](ufunc, *inputs, **kwargs)
    else:
        raise unsupported(f"{_called(ufunc)}.{method}")
    if out is None:
        return result
    if ufunc.nout == 1 or method != "__call__":
        return write_out(_called(ufunc), result, out[0])
    return tuple(r if o is None else write_out(_called(ufunc), r, o) for r, o in zip(result, out))


def write_out(what: str, result: Any, out: Any) -> Any:
    """A result written into `out`: history and all into a Tensor; into an array only where there is no history."""
    if out is None:
        return result
    if isinstance(out, tuple):
        (out,) = out
    if isinstance(out, Value):
        storable(what, result, out)
        return inplace.update(what, out, lambda: result)
    if recorded(result):
        raise TypeError(
            f"{what}: the result is recorded for a gradient, which a NumPy array as target (out=, or the left side of an "
            "augmented assignment) cannot hold; write x = x + y instead of x += y, or use a Tensor"
        )
    np.copyto(out, concrete(what, result), casting="same_kind")
    return out


def _along(method: str, functions: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """A method of ufuncs that has a function of the namespace for some of them."""

    def call(ufunc: Any, x: Any, axis: Any = 0, keepdims: bool = False, **rest: Any) -> Any:
        if ufunc.__name__ not in functions:
            raise unsupported(f"{_called(ufunc)}.{method}")
        options = {key: rest.pop(key) for key in ("dtype",) if rest.get(key) is not None}
        if keepdims:
            options["keepdims"] = True
        check_defaults(f"{_called(ufunc)}.{method}", rest)
        return functions[ufunc.__name__](x, axis=axis, **options)

    return call


def _outer(ufunc: Any, x: Any, y: Any, **rest: Any) -> Any:
    if ufunc.signature is not None or ufunc.nin != 2:
        raise unsupported(f"{_called(ufunc)}.outer")
    check_defaults(f"{_called(ufunc)}.outer", rest)
    x, y = value(x), value(y)
    return _implementation(ufunc)(st.reshape(x, shape=(*shape_of(x), *(1,) * rank(y))), y)


_REDUCED = "add=sum multiply=prod maximum=max minimum=min logical_and=all logical_or=any"
_ACCUMULATED = "add=cumulative_sum multiply=cumulative_prod"
_METHODS: dict[str, Callable[..., Any]] = {
    "reduce": _along("reduce", _named(reductions, _REDUCED)),
    "accumulate": _along("accumulate", _named(reductions, _ACCUMULATED)), "outer": _outer,
}  # fmt: skip

# ------------------------------------------------------------------------------------------ calling functions

# Those that are C functions, of which NumPy before 2.4 tells no signature.
_PARAMETERS = {
    "concatenate": "arrays axis out dtype casting", "dot": "a b out", "inner": "a b", "vdot": "a b", "where": "condition x y",
    "can_cast": "from_ to casting", "copyto": "dst src casting where", "may_share_memory": "a b max_work",
    "shares_memory": "a b max_work", "empty_like": "prototype dtype order subok shape device",
}  # fmt: skip
_EMPTY = inspect.Parameter.empty


class Adapter:
    """A function of the table, called as NumPy's function is.

    NumPy's own signature says what an argument given by position is called, and what it is when it is left out. Arguments
    that have no default there go to the function in their order, the others by their name; one at NumPy's default is left
    to the function, `out` is written to at the end, and any other that the function has no parameter for must not change
    the result.
    """

    def __init__(self, name: str, theirs: Any, function: Callable[..., Any], renamed: dict[str, str]) -> None:
        self.name, self.theirs, self.function, self.renamed = name, theirs, function, renamed
        code = inspect.unwrap(function).__code__
        self.first = code.co_posonlyargcount
        self.takes = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        self.takes_all = bool(code.co_flags & inspect.CO_VARKEYWORDS)

    @functools.cached_property
    def parameters(self) -> tuple[bool, tuple[str, ...], int, dict[str, Any]]:
        """Whether NumPy's function takes any number of arguments, their names, how many come first, the defaults."""
        try:
            found = inspect.signature(self.theirs).parameters
        except (TypeError, ValueError):
            ours = inspect.unwrap(self.function)
            names = tuple(_PARAMETERS.get(self.name, "").split())
            return not names, names, ours.__code__.co_argcount - len(ours.__defaults__ or ()), {}
        variadic = any(p.kind is p.VAR_POSITIONAL for p in found.values())
        required = sum(p.default is _EMPTY and p.kind is not p.VAR_KEYWORD for p in found.values())
        defaults = {name: p.default for name, p in found.items() if p.default is not _EMPTY}
        return variadic, tuple(found), max(required, self.first), defaults

    def __call__(self, *args: Any, **given: Any) -> Any:
        variadic, names, first, defaults = self.parameters
        if not variadic:
            if len(args) > len(names):
                raise TypeError(f"np.{self.name}: {len(args)} arguments, {len(names)} at most")
            given |= zip(names[first:], args[first:])
            args = (*args[:first], *(given.pop(name) for name in names[len(args) : first] if name in given))
        out = given.pop("out", None)
        options: dict[str, Any] = {}
        for name, x in given.items():
            key = self.renamed.get(name, name)
            if x is np._NoValue or _equals(x, defaults.get(name, np._NoValue)):
                continue
            if key in self.takes or self.takes_all:
                options[key] = x
            else:
                check_defaults(f"np.{self.name}", {name: x})
        return write_out(f"np.{self.name}", self.function(*args, **options), out)


def _equals(x: Any, default: Any) -> bool:
    return x is default or (type(x) is type(default) and isinstance(x, (int, float, str, tuple)) and x == default)


_ADAPTERS: dict[Any, Adapter] = {}
_BY_NAME: dict[str, Adapter] = {}


def implements(*names: str, **renamed: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for NumPy's functions of these names ("linalg.inv"); `renamed` says what an argument of NumPy's
    is called in it where that differs."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            theirs: Any = np
            for part in name.split("."):
                theirs = getattr(theirs, part, None)
            _BY_NAME[name] = Adapter(name, theirs, f, renamed)
            if theirs is not None and not isinstance(theirs, np.ufunc):  # this NumPy has it
                _ADAPTERS[theirs] = _BY_NAME[name]
        return f

    return register


def same(functions: Any, names: str, prefix: str = "") -> None:
    """Register functions of a module for NumPy's of the same name, or of another ("amax=max"), with its parameters."""
    for theirs, ours in _named(functions, names).items():
        implements(prefix + theirs)(ours)


@functools.cache
def _table() -> dict[Any, Adapter]:
    for name in ("numpy_functions", "numpy_shapes", "numpy_algebra"):  # they register theirs
        importlib.import_module(f".{name}", __package__)
    return _ADAPTERS


def numpy_function(name: str) -> Adapter:
    """What a function of NumPy's does with Tensors, under NumPy's name and with its arguments."""
    _table()
    return _BY_NAME[name]


def call_function(func: Any, args: Any, kwargs: Any) -> Any:
    """What `Tensor.__array_function__` does."""
    f = _table().get(func)
    if f is None:
        name = f"{func.__module__ or 'numpy'}.{func.__name__}".replace("._core", "").replace("._", ".")
        raise unsupported(f"np{name.removeprefix('numpy')}")
    if not kwargs and len(args) < 2:  # `out` is never the first
        return f.function(*args)
    return f(*args, **kwargs)
