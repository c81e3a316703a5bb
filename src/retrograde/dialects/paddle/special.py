"""`paddle.special`: expm1, logsumexp and softmax."""

from __future__ import annotations

from typing import Any

from ._api import FUNCTIONS, missing

__all__ = ["expm1", "logsumexp", "softmax"]

expm1, logsumexp, softmax = FUNCTIONS["expm1"], FUNCTIONS["logsumexp"], FUNCTIONS["softmax"]


def __getattr__(name: str) -> Any:
    raise missing("paddle.special", name, __all__)
