"""`torch.types`: the names of types that annotations use."""

from __future__ import annotations

import os as _os
from collections.abc import Sequence as _Sequence
from typing import IO, Any, Union

from ._size import Size
from ._size import device as _device
from ._tensor import Tensor

Number = Union[int, float, bool]
Device = Union[_device, str, int, None]
FileLike = Union[str, _os.PathLike[str], IO[bytes]]
TensorOrTensors = Union[Tensor, _Sequence[Tensor]]
_TensorOrTensors = TensorOrTensors
_dtype, _layout = Any, Any
_size = Union[Size, list[int], tuple[int, ...]]
_int, _float, _bool, _complex = int, float, bool, complex
_symsize = _size
SymInt = int
PySymType = int
__all__ = ["Any", "Device", "FileLike", "Number", "Size", "TensorOrTensors"]
