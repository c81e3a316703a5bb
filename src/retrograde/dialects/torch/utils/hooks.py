"""`torch.utils.hooks`: what registering a hook returns, and hooks that are not saved."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from ....tape.hooks import Handle as RemovableHandle

F = TypeVar("F")


def unserializable_hook(f: F) -> F:
    """Decorator of a hook that is left behind, with a warning, when its tensor is saved."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of hooks on a tensor that saving it would leave behind."""
    node = tensor._node
    if node is not None and tensor.is_leaf and node.hooks is not None:
        for hooks in node.hooks.tensor.values():
            for hook in hooks.values():
                if not hasattr(hook, "__torch_unserializable__"):
                    warnings.warn(f"the hook {hook!r} on a tensor is not saved with it", UserWarning, stacklevel=2)


__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]
