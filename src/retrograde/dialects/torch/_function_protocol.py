"""`__torch_function__`: types that answer for functions called on them, and modes that answer for all calls.

Nothing of it costs anything until it is used: the first Tensor subclass of a program, or the first
`TorchFunctionMode`, puts a dispatcher in front of the public functions, methods and properties (`install`). What the
dialect calls inside itself stays as it is, so one call of the user is one question.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ._api import FUNCTIONS
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

_UNCONVERTED: list[property] = []
"""The properties whose tensors stay as they are: a gradient is a plain tensor."""

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


def _asking(run: Callable[..., Any], name: str, public: Callable[[], Any] | None = None) -> Callable[..., Any]:
    """`run` behind the question who answers for it; `public` gives what they are handed as the function called."""

    @functools.wraps(run)
    def function(*args: Any, **kwargs: Any) -> Any:
        here = state
        kinds = [] if here.disabled else answering_types(_candidates(args, kwargs))
        if kinds or here.modes:
            return ask(function if public is None else public(), kinds, args, kwargs)
        return run(*args, **kwargs)

    function.__name__ = name
    return function


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


def install() -> None:
    """Put the dispatcher in front of everything public, once."""
    global _installed
    with _lock:
        if _installed:
            return
        _installed = True
        torch = sys.modules[__package__]
        _wrap_class(Tensor)
        _wrap_module(torch, FUNCTIONS, "")
        for path, prefix in _NAMESPACES.items():
            module = torch
            for part in path.split("."):
                module = getattr(module, part)
            offered = [name for name, f in vars(module).items() if isinstance(f, FunctionType) and name[0] != "_"]
            _wrap_module(module, offered, prefix)


def _wrap_module(module: Any, names: Iterable[str], prefix: str) -> None:
    for name in names:
        f = getattr(module, name, None)
        if isinstance(f, FunctionType) and name not in _NOT_ASKED:
            setattr(module, name, _asking(f, prefix + name))


def _wrap_class(cls: type) -> None:
    inherited = {name: getattr(cls, name) for name in ("dtype", "ndim", "itemsize", "real", "imag")}
    for name, f in list({**inherited, **vars(cls)}.items()):
        if name in _NOT_ASKED or (name[0] == "_" and not name.endswith("__")):
            continue
        if isinstance(f, FunctionType):
            other = _OPERATORS.get(name)  # the method that an operator is taken for
            public = None if other is None else functools.partial(getattr, cls, other)
            setattr(cls, name, _asking(f, _RENAMED.get(name, name), public))
        elif isinstance(f, property):
            made = _asking_property(f)
            setattr(cls, name, made)
            if name in ("grad", "_base"):
                _UNCONVERTED.append(made)


def _asking_property(plain: property) -> property:
    """A property whose reading and writing ask; the function they name is its own `__get__` or `__set__`."""
    fget, fset, fdel = plain.fget, plain.fset, plain.fdel
    get = None if fget is None else _asking(fget, "__get__", lambda: made.__get__)
    put = None if fset is None else _asking(fset, "__set__", lambda: made.__set__)
    delete = None if fdel is None else _asking(fdel, "__delete__", lambda: made.__delete__)
    made = property(get, put, delete, plain.__doc__)
    return made
