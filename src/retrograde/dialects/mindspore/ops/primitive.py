"""The Primitive style: a class per operation, whose constructor takes the static arguments and whose call the tensors.

`primitive_class` makes one from a row of the table (see _table.py): a constructor's signature and the function that the
call hands its tensors to, with the constructor's arguments by name.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..._shared import guard
from .. import _dtype

_SCOPE = {d.name: d for d in _dtype.ALL}


class Primitive:
    """An operation with its static arguments, called with tensors.

    `Primitive("Name")` by itself names one that the table has; subclasses may define `__call__`.
    """

    _signature = ""
    _run: Callable[..., Any] | None = None
    _binder: Callable[..., dict[str, Any]] | None = None

    _given: dict[str, Any] = {}
    """The constructor's arguments, with which the operation is run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__dict__.update(_attrs={}, init_attrs={"name": name})

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes: the constructor's arguments, and those added."""
        return self.__dict__.setdefault("_attrs", dict(self._given))  # type: ignore[no-any-return]

    primitive_target = "CPU"
    """The device that the operation is meant for."""

    def __call__(self, *args: Any) -> Any:
        if guard.several:
            guard.refuse_foreign("mindspore", self.name, args)
        if type(self)._run is None:
            from . import __getattr__ as find

            return find(self.name)()(*args)
        return type(self)._run(*args, **self._given)

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Remember an attribute; it changes nothing about how the operation computes."""
        self.attrs[name] = self.__dict__[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Forget an attribute."""
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        return self

    def init_prim_io_names(self, inputs: Any, outputs: Any) -> None:
        """Remember what inputs and outputs are called."""
        self.add_prim_attr("input_names", inputs)
        self.add_prim_attr("output_names", outputs)

    def set_user_data(self, key: str, value: Any) -> None:
        """Keep something for a program under a key."""
        self.__dict__.setdefault("user_data", {})[key] = value

    def get_user_data(self, key: str) -> Any:
        """What `set_user_data` was given under a key, None if nothing."""
        return self.__dict__.get("user_data", {}).get(key)

    def set_prim_instance_name(self, name: str) -> Primitive:
        """Give this operation a name of its own."""
        self.instance_name = name
        return self

    def set_stage(self, stage: int) -> Primitive:
        """Pipeline stages have no meaning on one CPU; returns the operation."""
        return self.add_prim_attr("stage", stage)

    def set_device(self, device_target: str) -> Primitive:
        """There is one device; returns the operation."""
        return self.add_prim_attr("primitive_target", device_target)

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Primitive:
        """There is one device, so nothing to divide; returns the operation."""
        return self

    def recompute(self, mode: bool = True) -> Primitive:
        """A hint about memory, which changes no result; returns the operation."""
        return self.add_prim_attr("recompute", mode)

    def clone(self) -> Primitive:
        """Another operation with the same attributes."""
        return copy.deepcopy(self)

    def check_elim(self, *args: Any) -> tuple[bool, None]:
        """Whether the operation can be left out for such arguments, and what it would give: no."""
        return False, None

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v}" for k, v in self.attrs.items() if k not in ("input_names", "output_names"))
        return f"Prim[{self.name}]" + (f"<{given}>" if given else "")


class PrimitiveWithInfer(Primitive):
    """A Primitive of the user's, which states its shape rules; here they are not asked."""


class PrimitiveWithCheck(Primitive):
    """A Primitive of the user's, which checks its arguments; here `__call__` does."""


def prim_attr_register(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for the constructor of a user's Primitive: gives it its name and its arguments as attributes first."""
    signature = inspect.signature(f)

    @functools.wraps(f)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        Primitive.__init__(self, type(self).__name__)
        given = dict(list(bound.arguments.items())[1:])
        self.init_attrs = given
        for name, value in given.items():
            self.add_prim_attr(name, value)
        f(self, *args, **kwargs)

    return init


def _get_cache_prim(cls: type) -> Callable[..., Any]:
    """The constructor of a Primitive class; MindSpore would keep what it makes."""
    return cls


def binder(name: str, signature: str) -> Callable[..., dict[str, Any]]:
    """What takes the arguments of a constructor with a signature ("axis=-1" for example) to its options by name."""
    bound = eval(f"lambda {signature}: locals()", dict(_SCOPE))  # noqa: S307 - text of our own tables

    def bind(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            return bound(*args, **kwargs)  # type: ignore[no-any-return]
        except TypeError as error:
            raise TypeError(f"{name}({signature}): {str(error).replace('<lambda>()', name)}") from None

    return bind


def primitive_class(
    name: str, signature: str, run: Callable[..., Any], check: Callable[[str, dict[str, Any]], None]
) -> type[Primitive]:
    """The class of an operation: `signature` is its constructor's, "axis=-1" for example; `check` judges what it is given."""
    bound = binder(name, signature)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        attrs = bound(*args, **kwargs)
        check(name, attrs)
        self.__dict__.update(attrs, name=name, _given=attrs, init_attrs=attrs)

    return type(name, (Primitive,), {
        "__init__": __init__, "_run": staticmethod(run), "_signature": signature, "__module__": __package__,
        "__doc__": f"`{name}({signature})(...)`: see the function that it calls, {run.__name__}.",
    })  # fmt: skip
