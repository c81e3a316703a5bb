"""What PyTorch's tape does where the frameworks differ: errors, inference tensors, sparse gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _errors
from ..._state import state
from ...backend.devices import FOUND
from ...core.policy import TapePolicy
from ...core.record import Primitive
from ...core.scattered import Scattered
from ...core.value import Value, shape_of
from ...ops.devices import moved, place_of
from ._linalg_error import _LinAlgError


class CheckpointError(RuntimeError):
    """A checkpointed function did something else when it was computed again."""


class TorchPolicy(TapePolicy):
    """PyTorch's answers."""

    def check_change(self, op: str, target: Any) -> None:
        if target._inference and state.mark is None:
            raise RuntimeError(
                f"{op}: an inference tensor cannot be changed in place outside inference mode; change a clone() of it"
            )

    def together(self, op: str, operands: list[Any]) -> list[Any]:
        if not FOUND:
            return operands
        places: dict[Any, Any] = {}
        for x in operands:
            if isinstance(x, Value):
                places.setdefault(place_of(x), x)
        if len(places) < 2:
            return operands
        others = [place for place, x in places.items() if place[0] != "cpu"]
        # Numbers without axes go to the others.
        if len(others) == 1 and all(not shape_of(x) for x in operands if isinstance(x, Value) and place_of(x)[0] == "cpu"):
            return [moved(x, others[0]) if isinstance(x, Value) else x for x in operands]
        named = ["cpu" if kind == "cpu" else f"{kind}:{index}" for kind, index in places]
        raise RuntimeError(
            f"{op}: the tensors are on different devices, {' and '.join(named)}; move them to one with to()"
        )

    def viewed(self, out: Any, x: Any) -> None:
        if out._inference is not x._inference:
            out._inference = x._inference  # a view is an inference tensor where what it looks at is one

    def from_scattered(self, x: Scattered) -> Any:
        from ._sparse_tensor import from_scattered

        return from_scattered(x)


POLICY = TorchPolicy(
    errors={
        _errors.GradError: RuntimeError, _errors.ShapeError: RuntimeError, _errors.LevelError: RuntimeError,
        _errors.UnsupportedError: NotImplementedError, _errors.ElementsError: RuntimeError,
        _errors.RecomputeError: CheckpointError,
    },
    same_gradients_are_one=True, changes_arguments=True, keeps_restricted_views=False, values_outlive_levels=True,
    shows_missing_gradients=True,
    kernel_errors={ValueError: RuntimeError, TypeError: RuntimeError, np.linalg.LinAlgError: _LinAlgError},
)  # fmt: skip


def mark_inference(value: Any) -> None:
    """Note that a value was made in inference mode: what `state.mark` is there."""
    value._inference = True


def refuse_inference(prim: Primitive, operands: Any, saved: Any) -> None:
    """Raise where a node would save an inference tensor, whose changes nobody counts."""
    for x in operands:
        if isinstance(x, Value) and getattr(x, "_inference", False) and any(x._a is s for s in saved):
            raise RuntimeError(
                f"{prim.name}: an inference tensor cannot be saved for the backward pass; use a clone() of it"
            )
