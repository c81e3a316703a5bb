"""`mindspore.nn.metrics`: an older path of `mindspore.train.metrics`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from ..train import metrics

    return getattr(metrics, name)
