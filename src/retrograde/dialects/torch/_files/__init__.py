"""The file formats of `torch.save` and `torch.load`, as functions over NumPy arrays.

The dialect's `save` and `load` call these with callbacks that take a tensor apart and put one together
(`describe`, `rebuild`), and with the names of the dialect's own constants and constructors, so that nothing
here imports a Tensor. Reading runs no code that a file names, unless the caller trusts it: the pickle inside is
interpreted by a machine that knows tensors, plain containers and what the caller passes, and refuses everything else
by name.
"""

from __future__ import annotations

from ._legacy import read_legacy
from ._records import TensorRecord
from ._safetensors import read_safetensors, write_safetensors
from ._trusted import Trust
from ._zip import read, read_pickle, read_zip, write_zip

__all__ = [
    "TensorRecord", "Trust", "read", "read_legacy", "read_pickle", "read_safetensors", "read_zip", "write_safetensors",
    "write_zip",
]  # fmt: skip
