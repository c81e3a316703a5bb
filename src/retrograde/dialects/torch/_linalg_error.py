"""`torch.linalg.LinAlgError`: what singular, indefinite or non-finite matrices raise."""

from __future__ import annotations


class _LinAlgError(RuntimeError):
    """A linear algebra operation failed on the numbers that it was given."""

    __module__ = "torch._C"
