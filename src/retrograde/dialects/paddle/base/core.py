"""`paddle.base.core`: what programs name of PaddlePaddle's compiled part."""

from __future__ import annotations

import sys
from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import _creation
from .._api import attributes as _attributes
from .._device import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    CustomPlace,
    IPUPlace,
    Place,
    XPUPlace,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_mkldnn,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)  # fmt: skip
from .._dtype import dtype as DataType
from .._flags import get_flags
from .._gradients import backward as _backward
from .._gradients import grad as _grad
from .._kernels import EnforceNotMet
from .._selected_rows import SelectedRows
from .._tensor import Tensor
from ..random import Generator, default_generator

VarBase = LoDTensor = DenseTensor = Tensor


def default_cpu_generator() -> Generator:
    """The generator of the CPU's random stream."""
    return default_generator


class EOFException(Exception):
    """The end of data, where a reader of static programs has one."""


class VarDesc:
    """How static programs describe variables: here only the numbers of dtypes and of kinds of tensors."""

    class VarType(IntEnum):
        """The numbers."""

        BOOL, INT16, INT32, INT64, FP16, FP32, FP64 = range(7)
        LOD_TENSOR, SELECTED_ROWS = 7, 8
        UINT8, INT8, BF16, COMPLEX64, COMPLEX128 = 20, 21, 22, 23, 24


_LABELS = {"BOOL": "bool", "INT16": "int16", "INT32": "int32", "INT64": "int64", "FP16": "float16", "FP32": "float32",
           "FP64": "float64", "UINT8": "uint8", "INT8": "int8", "BF16": "bfloat16", "COMPLEX64": "complex64",
           "COMPLEX128": "complex128"}  # fmt: skip


def _tensor(*args: Any, **options: Any) -> Tensor:
    """`core.eager.Tensor(value, place, persistable, zero_copy, name, stop_gradient)`, or of a dtype, sizes, a name and a kind."""
    if args and isinstance(args[0], (VarDesc.VarType, DataType)):
        kind, sizes, name, *_ = (*args, None, None)
        label = _LABELS[kind.name] if isinstance(kind, VarDesc.VarType) else kind.label
        made: Tensor = _creation.zeros(list(sizes or []), label)
        if name:
            made.name = name
        return made
    names = ("value", "place", "persistable", "zero_copy", "name", "stop_gradient")
    given = {**dict(zip(names, args)), **options}
    stop, value = given.pop("stop_gradient", True), given.pop("value", None)
    return Tensor(np.zeros([], np.float32) if value is None else value, stop_gradient=stop in (True, -1), **given)


class _Eager(SimpleNamespace):
    """`core.eager`."""


def _run_partial_grad(
    outputs: Any, inputs: Any, grad_outputs: Any = (), retain_graph: bool = False, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool = False, no_grad_vars: Any = (),
) -> Any:  # fmt: skip
    return _grad(outputs, inputs, list(grad_outputs) or None, retain_graph, create_graph, only_inputs, allow_unused,
                 list(no_grad_vars) or None)  # fmt: skip


eager = _Eager(
    Tensor=_tensor, to_tensor=_creation.to_tensor, run_partial_grad=_run_partial_grad,
    run_backward=lambda tensors, grads=(), retain=False: _backward(tensors, list(grads) or None, bool(retain)),
)


class Scope:
    """What holds the variables of static programs, of which there are none."""

    def find_var(self, name: str) -> None:
        """None: there is no such variable."""

    def var(self, name: str) -> Any:
        """Raises NotImplementedError: there are no static programs."""
        raise NotImplementedError("Scope.var: there are no static programs here; use tensors of the dynamic mode")


def globals() -> dict[str, Any]:
    """The values of all flags."""
    from .._flags import _flags

    return get_flags(list(_flags))


def get_cuda_device_count() -> int:
    """0: there is no CUDA device."""
    return 0


def is_float16_supported(place: Any = None) -> bool:
    """Whether a device computes in float16: the CPU does not."""
    return False


def is_bfloat16_supported(place: Any = None) -> bool:
    """Whether a device computes in bfloat16, as PaddlePaddle's build for the CPU says."""
    return True


def set_num_threads(num: int) -> None:
    """Nothing is to be set: retrograde's own threads are those of the machine."""


def _no_prim(*args: Any) -> bool:
    """False: operations are not taken apart."""
    return False


_is_fwd_prim_enabled = _is_bwd_prim_enabled = _is_all_prim_enabled = _set_prim_all_enabled = _no_prim
_set_prim_forward_enabled = _set_prim_backward_enabled = _no_prim

__all__ = [
    "CPUPlace", "CUDAPinnedPlace", "CUDAPlace", "CustomPlace", "DataType", "DenseTensor", "EOFException", "EnforceNotMet",
    "Generator", "IPUPlace", "LoDTensor", "Place", "Scope", "SelectedRows", "VarBase", "VarDesc", "XPUPlace",
    "default_cpu_generator", "eager", "get_cuda_device_count", "globals", "is_bfloat16_supported", "is_compiled_with_cinn",
    "is_compiled_with_cuda", "is_compiled_with_distribute", "is_compiled_with_ipu", "is_compiled_with_mkldnn",
    "is_compiled_with_rocm", "is_compiled_with_xpu", "is_float16_supported", "set_num_threads",
]  # fmt: skip

__getattr__ = _attributes(vars(sys.modules[__name__]))
