"""`torch.onnx`: what packages ask about exports; none is made here."""

from __future__ import annotations

import sys as _sys
import types as _types
from collections.abc import Callable as _Callable
from typing import Any as _Any
from typing import NoReturn as _NoReturn

from ..._shared.registry import defined as _defined
from .._api import attributes as _attributes
from .._api import missing as _missing


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: never."""
    return False


class ONNXProgram:
    """What an export would give; no object is one."""


def is_onnxrt_backend_supported() -> bool:
    """Whether ONNX Runtime compiles functions: it does not."""
    return False


def _refusing(name: str) -> _Callable[..., _Any]:
    def refuse(*args: _Any, **kwargs: _Any) -> _Any:
        raise NotImplementedError(
            f"torch.onnx.{name}: retrograde's torch dialect writes no ONNX files; save state_dict() with torch.save, and export "
            "the model where PyTorch is installed"
        )

    return _defined(name, refuse, "Raises NotImplementedError: no ONNX file is written here.")


export, dynamo_export = _refusing("export"), _refusing("dynamo_export")


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: _Callable[..., _Any], opset_version: int) -> None:
    """Nothing: how an operation would be written into a file is of no use where none is written."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Nothing, as `register_custom_op_symbolic`."""


def _module(name: str, **members: _Any) -> _types.ModuleType:
    """A module of functions that write operations into ONNX files: importable, and without them."""
    made = _types.ModuleType(f"{__name__}.{name}", f"`torch.onnx.{name}`: nothing is written, so there is nothing to write with.")
    vars(made).update(members, __getattr__=lambda absent: _raise(_missing(f"torch.onnx.{name}", absent, members)))
    _sys.modules[made.__name__] = made
    return made


def _raise(error: Exception) -> _NoReturn:
    raise error


symbolic_opset11 = _module("symbolic_opset11")
symbolic_helper = _module("symbolic_helper", parse_args=lambda *kinds: lambda fn: fn)  # the function, which nobody calls

__getattr__ = _attributes(globals())
