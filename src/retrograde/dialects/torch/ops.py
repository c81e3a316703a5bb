"""`torch.ops`: the functions under the names and overloads of PyTorch's operator library.

An overload (`aten.add.Tensor`) calls the function, which tells by its arguments what is meant.
"""

from __future__ import annotations

from typing import Any

from ._api import FUNCTIONS, METHODS, missing
from .nn.functional import _convolution


class OpOverload:
    """One overload of an operator: `aten.mm.default`."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket, self._overloadname, self.namespace = packet, overload, packet.namespace
        self.__name__ = f"{packet.__name__}.{overload}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def name(self) -> str:
        """The operator's name in the library, "aten::mm"; with the overload, where that has a name."""
        full = f"{self.namespace}::{self.overloadpacket.__name__}"
        return full if self._overloadname == "default" else f"{full}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"


class OpOverloadPacket:
    """One operator: callable, and each of its overloads as an attribute."""

    def __init__(self, name: str, function: Any, namespace: str = "aten") -> None:
        self.__name__, self._function, self.namespace = name, function, namespace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        made = self.__dict__[overload] = OpOverload(self, overload)
        return made

    def __repr__(self) -> str:
        return f"{self.namespace}.{self.__name__}"


def _index(self: Any, indices: Any) -> Any:
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _slice(self: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return self[(slice(None),) * (dim % self.ndim) + (slice(start, end, step),)]


def _convolved(*args: Any) -> Any:
    return _convolution.convolution(*args[:9])  # the others choose among the algorithms of a library


def _refusing(name: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"aten::{name}: retrograde's torch dialect does not have this operator; it computes on the CPU")

    return refuse


_OWN: dict[str, Any] = {
    "_to_copy": lambda self, *, dtype=None, **_: self.to(dtype, copy=True) if dtype is not None else self.clone(),
    "_convolution": _convolved, "alias": lambda self: self.view(self.shape), "index": _index, "slice": _slice,
    **{name: _refusing(name) for name in ("_pin_memory", "_sparse_addmm", "_sparse_mm_reduce_impl")},
}  # fmt: skip
"""Operators that are no functions of `torch`."""


class _Namespace:
    """The operators of one library."""

    def __getattr__(self, name: str) -> Any:
        found = _OWN.get(name) or FUNCTIONS.get(name, METHODS.get(name))
        if found is None:
            raise missing("torch.ops.aten", name, FUNCTIONS)
        made = self.__dict__[name] = OpOverloadPacket(name, found)
        return made

    def named(self, name: str) -> OpOverloadPacket:
        """The operator of a name, be it one that cannot be called here."""
        try:
            return getattr(self, name)  # type: ignore[no-any-return]
        except AttributeError:
            made = self.__dict__[name] = OpOverloadPacket(name, _refusing(name))
            return made


class _Library:
    """The operations that a program has defined in one namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from . import library

        known = library.operations(self._name)
        if name not in known:
            raise missing(f"torch.ops.{self._name}", name, known)
        return OpOverloadPacket(name, known[name], self._name)


aten = _Namespace()


def load_library(path: Any) -> None:
    """Nothing for a library whose operators the dialect has itself; raises OSError for any other compiled code."""
    import pathlib

    from . import library

    if not library.operations(pathlib.Path(path).parent.name):
        raise OSError(
            f"load_library: {path} is compiled for PyTorch and cannot be loaded into retrograde's torch dialect; define its "
            "operators in Python with custom_op"
        )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # whoever looks through modules is not to load one by it
        raise AttributeError(name)
    from . import library

    if library.operations(name):
        return _Library(name)
    raise missing("torch.ops", name, ["aten", *library.OPERATIONS])
