"""`__torch_function__`: types that answer for functions called on them, and modes that answer for all calls.

Nothing of it costs anything until it is used: the first Tensor subclass of a program, or the first
`TorchFunctionMode`, puts a dispatcher in front of the public functions, methods and properties (`install`). What the
dialect calls inside itself stays as it is, so one call of the user is one question.
"""

from __future__ import annotations

import functools
import inspect
import sys
import threading
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from .._shared.guard import standing_before
from .._shared.registry import defined
from ._api import FUNCTIONS
from ._dtype import dtype
from ._tensor import Tensor


class _State(threading.local):
    disabled = False
    """Inside `DisableTorchFunctionSubclass`: subclasses are not asked."""
    modes: tuple[Any, ...] = ()
    """The modes that are entered, the innermost last."""


state = _State()

_OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__rtruediv__": "__rdiv__", "__mod__": "remainder", "__matmul__": "matmul", "__neg__": "neg",
    "__pos__": "positive", "__abs__": "abs", "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt",
    "__ge__": "ge", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor", "__iadd__": "add_",
    "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_",
}  # fmt: skip
"""The function that is handed on for an operator, where it is not its own method."""

_RENAMED = {"__pow__": "pow", "__ipow__": "pow_"}
"""What `__name__` says of a method where that is another name than its own."""

_NOT_ASKED = frozenset((
    "__new__", "__init__", "__init_subclass__", "__getattr__", "__getattribute__", "__setattr__", "__hash__", "__class__",
    "__dict__", "__iter__", "__torch_function__", "__del__", "__reduce__", "__setstate__", "__getstate__",
    "__dlpack_device__", "as_subclass", "tensor", "as_tensor", "from_numpy", "gradcheck", "gradgradcheck",
))  # fmt: skip
"""What takes its argument as data, or is none of the tensor's functions."""
_NAMESPACES = {"linalg": "linalg_", "fft": "fft_", "special": "special_", "nn.functional": "", "autograd": ""}
"""Modules beside `torch` itself whose functions ask, and what stands before a function's name in `__name__`."""

_COMPLETED = frozenset((
    "split", "stft", "unique", "unique_consecutive", "tensordot", "cdist", "norm", "unravel_index", "meshgrid",
))  # fmt: skip
"""The functions of `torch` that hand on all arguments with defaults, by name; of `nn.functional` all but these do."""
_AS_GIVEN = frozenset((
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "conv_tbc", "avg_pool1d",
    "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "threshold_", "relu_", "hardtanh_", "elu_", "selu_", "celu_",
    "leaky_relu_", "prelu", "rrelu_", "logsigmoid", "gelu", "hardshrink", "softplus", "softshrink", "linear", "bilinear",
    "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "native_channel_shuffle", "pairwise_distance", "pdist",
    "cosine_similarity", "one_hot", "scaled_dot_product_attention",
))  # fmt: skip

_UNCONVERTED: list[property] = []
"""The properties whose tensors stay as they are: a gradient is a plain tensor."""

_PLAIN = frozenset((Tensor, int, float, complex, bool, str, type(None), dtype, slice, range))
"""Types of arguments that are never asked, and nothing in which is."""

_lock = threading.Lock()
_installed = False


def asks(x: Any) -> bool:
    """Whether the type of an argument is asked: it has a `__torch_function__`, be it that of Tensor for a subclass."""
    kind = type(x)
    return kind is not Tensor and getattr(kind, "__torch_function__", never) is not never


def answering_types(arguments: Iterable[Any]) -> list[type]:
    """The types among the arguments that are to be asked, subclasses before their bases, else from left to right."""
    kinds: list[type] = []
    for x in arguments:
        kind = type(x)
        if kind not in kinds and asks(x):
            place = next((i for i, other in enumerate(kinds) if issubclass(kind, other)), len(kinds))
            kinds.insert(place, kind)
    return kinds


def ask(public: Any, kinds: list[type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first answer of modes and types to a call; raises TypeError where all decline."""
    types = tuple(kinds)
    if state.modes:
        *outer, mode = state.modes
        before, state.modes = state.modes, tuple(outer)
        try:
            result = mode.__torch_function__(public, types, args, kwargs)
        finally:
            state.modes = before
        if result is not NotImplemented:
            return result
    for kind in kinds:
        result = kind.__torch_function__(public, types, args, kwargs)  # type: ignore[attr-defined]
        if result is not NotImplemented:
            return result
    asked = ", ".join([type(m).__name__ for m in state.modes[-1:]] + [kind.__name__ for kind in kinds])
    raise TypeError(
        f"{getattr(public, '__name__', public)}: __torch_function__ of {asked} returned NotImplemented, so nobody "
        "computes this call; handle the function there, or pass plain tensors"
    )


def _candidates(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterable[Any]:
    """The arguments, and the elements of those that are sequences."""
    for x in (*args, *kwargs.values()) if kwargs else args:
        if type(x) in (list, tuple):
            yield from x
        else:
            yield x


def _asking(
    run: Callable[..., Any], name: str, public: Callable[[], Any] | None = None, complete: bool = False
) -> Any:
    """`run` behind the question who answers for it; `public` gives what they are handed as the function called.

    complete: whether they are handed the arguments that have a default by name, all of them.
    """

    @functools.wraps(run)
    def function(*args: Any, **kwargs: Any) -> Any:
        here = state
        if not kwargs and not here.modes:
            for x in args:
                if type(x) not in _PLAIN:
                    break
            else:
                return run(*args)
        kinds = [] if here.disabled else answering_types(_candidates(args, kwargs))
        if kinds or here.modes:
            if complete:
                args, kwargs = completed(run, args, kwargs)
            return ask(function if public is None else public(), kinds, args, kwargs)
        return run(*args, **kwargs)

    return defined(name, function)


def completed(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: by place those whose parameters have no default, by name the others with those left out."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for name, parameter in bound.signature.parameters.items():
        given = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += given
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(given)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(given)
        else:
            named[name] = given
    return tuple(positional), named


def default(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What `Tensor.__torch_function__` does: compute the call; tensors in the result are of class `cls`."""
    if not all(issubclass(cls, t) for t in types):
        return NotImplemented
    with disabled():
        result = func(*args, **(kwargs or {}))
    return result if getattr(func, "__self__", None) in _UNCONVERTED else _converted(result, cls)


def _converted(result: Any, cls: type) -> Any:
    if isinstance(result, Tensor):
        return result if cls is Tensor or isinstance(result, cls) else result.as_subclass(cls)
    if type(result) in (tuple, list):
        return type(result)(_converted(x, cls) for x in result)
    if isinstance(result, tuple) and hasattr(result, "_make"):
        return type(result)._make(_converted(x, cls) for x in result)  # type: ignore[attr-defined]
    return result


def never(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """A `__torch_function__` for subclasses that are not asked and whose results are plain tensors."""
    with disabled():
        return func(*args, **(kwargs or {}))


class disabled:
    """A context in which subclasses are not asked (`torch._C.DisableTorchFunctionSubclass`)."""

    def __enter__(self) -> None:
        self._before, state.disabled = state.disabled, True

    def __exit__(self, *error: object) -> None:
        state.disabled = self._before


class all_disabled(disabled):
    """A context in which neither subclasses nor modes are asked (`torch._C.DisableTorchFunction`)."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes, state.modes = state.modes, ()

    def __exit__(self, *error: object) -> None:
        state.modes = self._modes
        super().__exit__(*error)


class TorchFunctionMode:
    """A context in which `__torch_function__` of this object answers for every call of a torch function.

    Inside that method the mode is left, so it can call what it was asked about.

    Examples
    --------
    >>> import retrograde.dialects.torch as torch
    >>> from retrograde.dialects.torch.overrides import TorchFunctionMode
    >>> class Names(TorchFunctionMode):
    ...     def __torch_function__(self, func, types, args=(), kwargs=None):
    ...         print(func.__name__)
    ...         return func(*args, **(kwargs or {}))
    >>> with Names():
    ...     x = torch.ones(2) * 3
    ones
    mul
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: a mode defines __torch_function__(func, types, args, kwargs)")

    def __enter__(self) -> TorchFunctionMode:
        install()
        state.modes = (*state.modes, self)
        return self

    def __exit__(self, *error: object) -> None:
        state.modes = state.modes[:-1]


_prepared: list[tuple[Any, str, Any, Any]] = []
"""What is put in front of what: (owner, name, as it is, the one that asks)."""
_other: dict[Any, Any] = {}
"""For each function or property the one that asks, and for that the plain one."""
_asks: set[Any] = set()
_places: set[tuple[Any, str, Any]] = set()
_paths: dict[Any, str] = {}
"""The dotted name of every function of a module, plain or asking."""
METHODS_ASKING: set[Any] = set()
"""The asking methods of Tensor."""
_borrowed: list[tuple[ModuleType, str, Any]] = []
"""Where programs have functions of the dialect by name, in the plain form."""
_borrowers = 0
"""How many `asking` contexts are entered."""
_NEVER_BORROW = frozenset(("retrograde", "torch", *sys.stdlib_module_names)) - {"__main__"}
"""Packages in which nothing is looked for that was imported by name from the dialect."""


def install() -> None:
    """Put the dispatcher in front of everything public, once."""
    global _installed
    with _lock:
        if not _installed:
            if not _borrowers:
                _put(asking=True)
            _installed = True


class asking:
    """A context in which the dispatcher is there; outside of it functions are as fast as before."""

    def __enter__(self) -> None:
        global _borrowers
        with _lock:
            if not _installed and not _borrowers:
                _put(asking=True)
            _borrowers += 1

    def __exit__(self, *error: object) -> None:
        global _borrowers
        with _lock:
            _borrowers -= 1
            if not _installed and not _borrowers:
                _put(asking=False)


class Asking:
    """An object for as long as which the dispatcher is there."""

    def __init__(self) -> None:
        self._context = asking()
        self._context.__enter__()

    def __del__(self) -> None:
        if sys is not None and not sys.is_finalizing():
            self._context.__exit__()


def public(f: Any) -> Any:
    """What a program gets now under the name of a function of which there are two, the plain one and the one that asks."""
    return form(f, _installed or _borrowers > 0)


def form(f: Any, asks: bool) -> Any:
    """Of a function of which there are two the one that asks, or the plain one; any other object as it is."""
    other = _other.get(f) if type(f) is FunctionType else None
    return f if other is None or (f in _asks) is asks else other


def paths() -> dict[Any, str]:
    """The dotted names of the functions that ask, in either form."""
    _prepare()
    return _paths


def _prepare() -> None:
    """Make the asking form of what has none yet: everything at first, later what autocasting has put in front."""
    torch = sys.modules[__package__]
    _prepare_class(Tensor)
    _prepare_module(torch, FUNCTIONS, "", "torch")
    for path, prefix in _NAMESPACES.items():
        module = functools.reduce(getattr, path.split("."), torch)
        offered = [name for name, f in vars(module).items() if isinstance(f, FunctionType) and name[0] != "_"]
        _prepare_module(module, offered, prefix, f"torch.{path}")


def _put(asking: bool) -> None:
    """Put the asking functions in their places, or the plain ones back, also where programs imported them by name."""
    if asking:
        _prepare()
    for owner, name, plain, made in _prepared:
        if getattr(owner, name) is (plain if asking else made):
            setattr(owner, name, made if asking else plain)
    if asking:
        _borrowed[:] = [
            (module, own, f)
            for name, module in list(sys.modules.items())
            if isinstance(module, ModuleType) and name.partition(".")[0] not in _NEVER_BORROW
            for own, f in list(vars(module).items())
            if type(f) is FunctionType and f in _other and f not in _asks
        ]
    for module, own, f in _borrowed:
        if vars(module).get(own) is (f if asking else _other[f]):
            setattr(module, own, _other[f] if asking else f)


def _prepared_as(owner: Any, name: str, plain: Any, made: Any) -> None:
    _prepared.append((owner, name, plain, made))
    _places.add((owner, name, plain))
    if _other.get(plain) in METHODS_ASKING | {None}:  # of several places the first in a module is the one it is known by
        _other[plain] = made
    _other[made] = plain
    _asks.add(made)


def _prepare_module(module: Any, names: Iterable[str], prefix: str, path: str) -> None:
    for name in names:
        f = getattr(module, name, None)
        if not isinstance(f, FunctionType) or name in _NOT_ASKED or f in _asks or (module, name, f) in _places:
            continue
        complete = name in _COMPLETED if path == "torch" else path == "torch.nn.functional" and name not in _AS_GIVEN
        made = standing_before(f, _asking(f, prefix + name, complete=complete), module, name)
        _prepared_as(module, name, f, made)
        forms = [f, made]
        if hasattr(f, "_checks_dialect"):  # what a program had imported by name before there was a second dialect
            forms.append(f.__wrapped__)
            _other.setdefault(f.__wrapped__, made)
        for one in forms:
            _paths.setdefault(one, f"{path}.{name}")


def _prepare_class(cls: type) -> None:
    inherited = {name: getattr(cls, name) for name in ("dtype", "ndim", "itemsize", "real", "imag")}
    for name, f in list({**inherited, **vars(cls)}.items()):
        if name in _NOT_ASKED or (name[0] == "_" and not name.endswith("__")):
            continue
        if not isinstance(f, (FunctionType, property)) or f in _asks or (cls, name, f) in _places:
            continue
        if isinstance(f, FunctionType):
            other = _OPERATORS.get(name)  # the method that an operator is taken for
            public = None if other is None else functools.partial(getattr, cls, other)
            made: Any = _asking(f, _RENAMED.get(name, name), public)
            METHODS_ASKING.add(made)
        else:
            made = _asking_property(f)
            if name in ("grad", "_base"):
                _UNCONVERTED.append(made)
        _prepared_as(cls, name, f, made)


def _asking_property(plain: property) -> property:
    """A property whose reading and writing ask; the function they name is its own `__get__` or `__set__`."""
    fget, fset, fdel = plain.fget, plain.fset, plain.fdel
    get = None if fget is None else _asking(fget, "__get__", lambda: made.__get__)
    put = None if fset is None else _asking(fset, "__set__", lambda: made.__set__)
    delete = None if fdel is None else _asking(fdel, "__delete__", lambda: made.__delete__)
    made = property(get, put, delete, plain.__doc__)
    return made
