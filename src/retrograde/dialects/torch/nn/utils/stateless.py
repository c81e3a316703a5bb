"""`nn.utils.stateless.functional_call`, the old place of `torch.func.functional_call`."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from typing import Any

from ..modules.module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module, parameters_and_buffers: dict[str, Any], args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other parameters and buffers than its own, which stay as they are."""
    from ...func import functional_call as call

    warnings.warn(
        "nn.utils.stateless.functional_call is deprecated; use torch.func.functional_call", FutureWarning, stacklevel=2
    )
    return call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _reparametrize_module(
    module: Module, parameters_and_buffers: dict[str, Any], tie_weights: bool = False, strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:  # fmt: skip
    """A context in which a module has other parameters and buffers than its own."""
    from ...func._stateless import replaced

    given = parameters_and_buffers
    return replaced("_reparametrize_module", module, given, given, tie_weights=tie_weights, strict=strict)
