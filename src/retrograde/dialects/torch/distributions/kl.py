"""Kullback-Leibler divergences: `kl_divergence`, and the registry that others add theirs to."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["register_kl", "kl_divergence"]

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Register a function of two distributions as the divergence of those types and their subclasses."""
    for t in (type_p, type_q):
        if not isinstance(t, type):  # other packages' distributions derive from classes of their own
            raise TypeError(f"register_kl: wanted a class, got {t!r}")

    def decorator(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        _KL_REGISTRY[type_p, type_q] = f
        _KL_MEMOIZE.clear()
        return f

    return decorator


@functools.total_ordering
class _Match:
    """Types ordered by how special they are."""

    __slots__ = ("types",)

    def __init__(self, *types: type) -> None:
        self.types = types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Match) and self.types == other.types

    __hash__ = object.__hash__

    def __le__(self, other: _Match) -> bool:
        for x, y in zip(self.types, other.types):
            if not issubclass(x, y):
                return False
            if x is not y:
                break
        return True


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The most special registered divergence for two types; NotImplemented where there is none."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    left_p, left_q = min(_Match(*m) for m in matches).types
    right_q, right_p = min(_Match(*reversed(m)) for m in matches).types
    left, right = _KL_REGISTRY[left_p, left_q], _KL_REGISTRY[right_p, right_q]
    if left is not right:
        warnings.warn(
            f"kl_divergence({type_p.__name__}, {type_q.__name__}) is ambiguous; register one for just these types",
            RuntimeWarning, stacklevel=3,
        )  # fmt: skip
    return left


def kl_divergence(p: Any, q: Any) -> Any:
    """The divergence of q from p for each of the batch; raises NotImplementedError where none is registered."""
    key = type(p), type(q)
    try:
        f = _KL_MEMOIZE[key]
    except KeyError:
        f = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if f is NotImplemented:
        raise NotImplementedError(
            f"kl_divergence: none is registered for {type(p).__name__} and {type(q).__name__}; see register_kl"
        )
    return f(p, q)
