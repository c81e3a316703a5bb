"""`torch.utils.hooks`: what registering a hook returns."""

from ....tape.hooks import Handle as RemovableHandle

__all__ = ["RemovableHandle"]
