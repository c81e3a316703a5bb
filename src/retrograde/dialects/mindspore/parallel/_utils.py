"""`mindspore.parallel._utils`: what training cells of older programs ask of the parallel settings."""

from __future__ import annotations

from ....backend import launch
from .._context import get_auto_parallel_context


def _get_device_num() -> int:
    """The number of devices."""
    return launch.started()[1]


def _get_gradients_mean() -> bool:
    """Whether gradients of several devices are averaged."""
    return bool(get_auto_parallel_context("gradients_mean"))


def _get_parallel_mode() -> str:
    """The name of the parallel mode."""
    return str(get_auto_parallel_context("parallel_mode"))
