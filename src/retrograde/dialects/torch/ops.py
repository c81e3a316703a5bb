"""`torch.ops.aten`: the functions under the names and overloads of PyTorch's operator library.

An overload (`aten.add.Tensor`) is the function itself, which tells by its arguments what is meant.
"""

from __future__ import annotations

from typing import Any

from ._api import FUNCTIONS, METHODS, missing


class _Operator:
    """One operator: callable, and each of its overloads as an attribute."""

    def __init__(self, name: str, function: Any, namespace: str = "aten") -> None:
        self._name, self._function, self._namespace = name, function, namespace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, overload: str) -> Any:
        if overload.startswith("__"):
            raise AttributeError(overload)
        return self._function

    def __repr__(self) -> str:
        return f"{self._namespace}.{self._name}"


class _Namespace:
    """The operators of one library."""

    def __getattr__(self, name: str) -> Any:
        found = FUNCTIONS.get(name, METHODS.get(name))
        if found is None:
            raise missing("torch.ops.aten", name, FUNCTIONS)
        return _Operator(name, found)


class _Library:
    """The operations that a program has defined in one namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from .library import OPERATIONS

        known = OPERATIONS.get(self._name, {})
        if name not in known:
            raise missing(f"torch.ops.{self._name}", name, known)
        return _Operator(name, known[name], self._name)


aten = _Namespace()


def __getattr__(name: str) -> Any:
    from .library import OPERATIONS

    if name in OPERATIONS:
        return _Library(name)
    raise missing("torch.ops", name, ["aten", *OPERATIONS])
