"""The file formats of `torch.save` and `torch.load`, as functions over NumPy arrays.

The dialect's `save` and `load` call these with callbacks that take a tensor apart and put one together
(`describe`, `rebuild`), and with the names of the dialect's own constants and constructors, so that nothing
here imports a Tensor. Reading never runs code that a file names: the pickle inside is interpreted by a machine
that knows tensors, plain containers and what the caller passes, and refuses everything else by name.
"""

from __future__ import annotations

from typing import Any

from ._legacy import read_legacy
from ._numpy_values import NUMPY_CONSTANTS, NUMPY_FUNCTIONS
from ._records import TensorRecord
from ._safe_globals import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from ._safetensors import read_safetensors, write_safetensors
from ._zip import read, read_zip, write_zip

__all__ = [
    "NUMPY_CONSTANTS",
    "NUMPY_FUNCTIONS",
    "TensorRecord",
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "read",
    "read_legacy",
    "read_safetensors",
    "read_zip",
    "safe_globals",
    "save",
    "write_safetensors",
    "write_zip",
]


def __getattr__(name: str) -> Any:
    if name in ("save", "load", "get_unsafe_globals_in_checkpoint"):
        from .. import _save_load  # it uses this package, and is loaded with the dialect

        return getattr(_save_load, name)
    from .._api import missing

    raise missing("torch.serialization", name, __all__)
