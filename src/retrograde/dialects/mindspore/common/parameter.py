"""`mindspore.common.parameter`: an older path of what `mindspore` offers."""

from __future__ import annotations

from .._parameter import Parameter, ParameterTuple

__all__ = ["Parameter", "ParameterTuple"]
