"""Clipping of gradients: by value, by the norm of each, by the norm of all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...._state import grad_mode
from ....core.value import Value, dtype_of
from ....learn.clipping import norm
from ....ops import elementwise as ew
from ....ops import selection as sel
from ....tape import inplace
from .functional._arguments import constant

Pairs = list[tuple[Any, Any]]


def _bound(clip: str, norm: Any) -> float:
    """A norm as a float; raises ValueError for no number."""
    try:
        return float(norm)
    except (TypeError, ValueError):
        raise ValueError(f"{clip}: clip_norm must be a number, got {norm!r}") from None


class ClipGradBase:
    """Base of the clips: called with (parameter, gradient) pairs it gives such pairs, those without a gradient left out."""

    def __call__(self, params_grads: Iterable[tuple[Any, Any]]) -> Pairs:
        pairs = [(p, g) for p, g in params_grads if g is not None]
        chosen = [i for i, (p, _) in enumerate(pairs) if getattr(p, "need_clip", True)]
        with grad_mode(False):
            for i, g in zip(chosen, self._clip([pairs[i][1] for i in chosen])):
                pairs[i] = (pairs[i][0], g)
        return pairs

    def _clip(self, grads: list[Any]) -> list[Any]:
        raise NotImplementedError(f"{type(self).__name__} defines no _clip")


class ClipGradByValue(ClipGradBase):
    """Each element of a gradient kept within [min, max]; min is -max by default."""

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None:
            if not max > 0.0:
                raise AssertionError(f"ClipGradByValue: max must be positive where min is not given, got {max}")
            min = -max
        self.max, self.min = float(max), float(min)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        return [sel.clip(g, low=self.min, high=self.max) for g in grads]


class ClipGradByNorm(ClipGradBase):
    """Each gradient scaled down to a norm if it is longer."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = _bound("ClipGradByNorm", clip_norm)

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        return [_times(g, _factor(norm(g), self.clip_norm)) for g in grads]


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients scaled down by one factor, in place, if their common norm is larger."""

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        if not isinstance(auto_skip_clip, bool):
            raise AssertionError(f"ClipGradByGlobalNorm: auto_skip_clip must be a bool, got {auto_skip_clip!r}")
        self.clip_norm = _bound("ClipGradByGlobalNorm", clip_norm)
        self.group_name, self.auto_skip_clip = group_name, auto_skip_clip

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"

    def _clip(self, grads: list[Any]) -> list[Any]:
        if not grads:
            return grads
        squares = [ew.square(norm(g)) for g in grads]
        total = squares[0]
        for square in squares[1:]:
            total = ew.add(total, square)
        factor = _factor(ew.sqrt(total), self.clip_norm)
        return [inplace.update("ClipGradByGlobalNorm", g, lambda g=g: _times(g, factor)) for g in grads]


def _factor(length: Any, bound: float) -> Any:
    """bound / length where the length is above the bound, else 1."""
    return ew.divide(constant(bound, length), sel.maximum(length, constant(bound, length), ties="half"))


def _times(g: Any, factor: Any) -> Any:
    return ew.multiply(
        g, factor.astype(g.dtype) if isinstance(factor, Value) and dtype_of(factor) != dtype_of(g) else factor
    )
