"""What PaddlePaddle's tape does where the frameworks differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _errors
from ...core.policy import TapePolicy
from ...core.scattered import Scattered


class PaddlePolicy(TapePolicy):
    """PaddlePaddle's answers."""

    def renews_gradient(self, target: Any) -> bool:
        """After `clear_gradient`, also where user code has written into the zeros."""
        if not target._zeroed:
            return False
        target._zeroed, target._grad_stops = 0, None
        return True

    def from_scattered(self, x: Scattered) -> Any:
        from ._selected_rows import SelectedRows

        return SelectedRows(x)


POLICY = PaddlePolicy(
    errors={
        _errors.FreedGraphError: SystemError, _errors.MutationError: RuntimeError, _errors.LevelError: RuntimeError,
        _errors.GradError: ValueError, _errors.ShapeError: ValueError, _errors.UnsupportedError: NotImplementedError,
    },
    kernel_errors={ValueError: ValueError, TypeError: RuntimeError, np.linalg.LinAlgError: ValueError},
    captures_hooked=True,
    serves_second_first=True,
    frees_all=True,
    flat_is_unused=True,
    changes_leaf_views=True,
    detaches_silent_views=True,
    fills_stopped=True,
    fills_missing_gradients=True,
    joint_gradients={
        "multiply": (True, (0, 1)), "divide": (True, (0, 1)), "matmul": (False, (0, 1)), "add_matmul": (False, (1, 2)),
        "convolve": (False, (0, 1)),
    },
)  # fmt: skip
