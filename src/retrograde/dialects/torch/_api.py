"""How the dialect's names come about: functions register themselves as `torch.NAME` and `Tensor.NAME`.

Files of this folder define plain functions over tensors and decorate them with `api`; the package's `__init__` and
`_tensor.py` collect what is here. One definition serves the function, the method and the in-place form.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ...core.value import Value, dtype_of
from ...tape import inplace
from ._dtype import FROM_NUMPY, can_cast

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[str, Any] = {}
"""What the module `torch` offers, by name."""
METHODS: dict[str, Any] = {}
"""What `Tensor` offers, by name."""


def api(
    *names: str, function: bool = True, method: bool = True, in_place: bool = False, out: bool = False
) -> Callable[[F], F]:
    """Register a function under its own name (or `names`, the first being the main one).

    function: as `torch.NAME`. method: as `Tensor.NAME` (the first parameter is the tensor). in_place: `Tensor.NAME_`
    as well. out: `torch.NAME` takes `out=`.
    """

    def register(f: F) -> F:
        for name in names or (f.__name__,):
            if function:
                FUNCTIONS[name] = with_out(name, f) if out else f
            if method:
                METHODS[name] = f
            if in_place:
                METHODS[name + "_"] = in_place_form(name + "_", f)
        return f

    return register


def in_place_form(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The method that computes `f(self, ...)` and writes it into `self`."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        def compute() -> Any:
            result = f(self, *args, **kwargs)
            check_cast(name, result, self)
            return result

        return inplace.update(name, self, compute)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"`{name[:-1]}` written into this tensor; returns it."
    return method


def check_cast(name: str, result: Value, target: Value) -> None:
    """Raise RuntimeError where a result would lose its kind (float into int) in the target."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and not can_cast(FROM_NUMPY[have], FROM_NUMPY[want]):
        raise RuntimeError(
            f"{name}: the result has dtype {FROM_NUMPY[have]!r}, which cannot be stored in a tensor of dtype "
            f"{FROM_NUMPY[want]!r}; convert the tensor first, or use the out-of-place form"
        )


def with_out(name: str, f: F) -> F:
    """The function with PyTorch's `out=`: the result is written there, history and all, and `out` returned."""

    @functools.wraps(f)
    def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is None:
            return f(*args, **kwargs)
        return write_out(name, f(*args, **kwargs), out)

    return function  # type: ignore[return-value]


def write_out(name: str, result: Any, out: Any) -> Any:
    """Write a result (or a tuple of them) into `out`, resized where its shape differs."""
    if isinstance(result, tuple):
        outs = tuple(out)
        if len(outs) != len(result):
            raise RuntimeError(f"{name}: out= needs {len(result)} tensors, got {len(outs)}")
        for part, target in zip(result, outs):
            write_out(name, part, target)
        return type(result)(outs) if not hasattr(result, "_make") else result._make(outs)
    if not isinstance(out, Value):
        raise TypeError(f"{name}: out= must be a tensor, got {type(out).__name__}")
    if result.requires_grad or out.requires_grad:
        raise RuntimeError(
            f"{name}: out= does not record gradients, and one of the tensors requires grad; "
            "assign the result instead, or use no_grad()"
        )
    check_cast(name, result, out)
    if tuple(out._a.shape) != tuple(result._a.shape):
        out._a = result._a.astype(out._a.dtype)
        return out
    return inplace.update(name, out, lambda: result)


def named(f: Any, name: str) -> Any:
    """A function whose `__name__` is the one it is offered under: itself, or a copy where one stands for several
    names."""
    if not isinstance(f, types.FunctionType) or f.__name__ == name:
        return f
    copy = types.FunctionType(f.__code__, f.__globals__, name, f.__defaults__, f.__closure__)
    copy.__kwdefaults__, copy.__doc__, copy.__annotations__ = f.__kwdefaults__, f.__doc__, f.__annotations__
    copy.__dict__.update(f.__dict__)
    copy.__qualname__, copy.__module__ = name, f.__module__
    return copy


def submodule(package: str, name: str) -> Any:
    """A module of the dialect that is imported when it is asked for, under the name that programs know if it is active."""
    public = package.removeprefix("retrograde.dialects.")
    active = sys.modules.get(public) is not None and sys.modules.get(public) is sys.modules.get(package)
    return importlib.import_module(f"{public if active else package}.{name}")


_tensor_class: list[Any] = []


def set_tensor_class(cls: Any) -> None:
    """Say what the dialect's tensor is; called once by _tensor.py, which stands above the files that ask."""
    _tensor_class[:] = [cls]


def tensor_class() -> Any:
    """The dialect's tensor class, for files that `_tensor.py` itself builds on."""
    return _tensor_class[0]


def near(name: str, known: Iterable[str]) -> str:
    """The clause of an error message that names what is near a name that does not exist."""
    found = difflib.get_close_matches(name, [k for k in known if not k.startswith("_")], n=3, cutoff=0.6)
    return f"; near it are {', '.join(found)}" if found else ""


class Message:
    """A text that is made when somebody reads it: `hasattr` asks for errors that nobody sees (200 µs with what is near)."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __repr__(self) -> str:
        return repr(str(self))


def missing(owner: str, name: str, known: Iterable[str] | Callable[[], Iterable[str]]) -> AttributeError:
    """The error for a name that the dialect does not have; `known` are the names there are, or a function for them."""
    error = AttributeError(Message(lambda: (
        f"retrograde's torch dialect has no {owner}.{name}{near(name, known() if callable(known) else known)} "
        "(this is retrograde answering, not PyTorch)"
    )))  # fmt: skip
    error.name = name
    return error
