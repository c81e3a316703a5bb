"""Named tensors in the safetensors format: no pickle, one header, raw bytes (tensor/saving.py)."""

from __future__ import annotations

from ....tensor.saving import read_safetensors, write_safetensors

__all__ = ["read_safetensors", "write_safetensors"]
