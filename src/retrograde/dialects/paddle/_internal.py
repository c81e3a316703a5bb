"""Methods of tensors that begin with an underscore or show what is inside, as programs close to PaddlePaddle's core call them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tape import mutation
from .._shared.registry import defined
from ._api import api
from ._device import CPU
from ._tensor import Tensor


def _shared(x: Tensor, y: Tensor) -> bool:
    return mutation.owner_of(x._a) is mutation.owner_of(y._a)


def _take_memory(x: Tensor, dst: Tensor) -> None:
    dst._a, dst._level = x._a, x._level


def _cleared(x: Tensor) -> None:
    x._a = np.zeros((0,), x.dtype.np)


def _fresh_copy(x: Tensor, place: Any = None, blocking: bool = True) -> Any:
    return x.clone()


def _empty_gradient(x: Tensor, is_empty: bool) -> None:
    if is_empty:
        x.clear_gradient(False)


_ANSWERS: dict[str, Any] = {
    "_clear": _cleared,
    "_clear_data": _cleared,
    "_copy_to": _fresh_copy,
    "_grad_name": lambda x: "" if x.grad is None else f"{x.name}@GRAD",
    "_grad_value": lambda x: x.grad,
    "_gradient_set_empty": _empty_gradient,
    "_is_dense_tensor_hold_allocation": lambda x: True,
    "_is_gradient_set_empty": lambda x: x._awaits_gradient(),
    "_is_shared_buffer_with": _shared,
    "_is_shared_underline_tensor_with": _shared,
    "_local_value": lambda x: x,
    "_offset": lambda x: int(x.data_ptr() - mutation.owner_of(x._a).__array_interface__["data"][0]),
    "_set_grad_ivar": lambda x, gradient: setattr(x, "grad", gradient),
    "_share_buffer_to": _take_memory,
    "_share_underline_tensor_to": _take_memory,
    "_slice": lambda x, begin, end: x[begin:end],
    "_use_gpudnn": lambda x, use: x,
    "_zero_grads": lambda x: x.clear_gradient(),
}


def _register(name: str, f: Any) -> None:
    def method(self: Tensor, *args: Any) -> Any:
        return f(self, *args)

    api(name, function=False)(defined(name, method, "What is inside; see _internal.py."))


for _name, _f in _ANSWERS.items():
    _register(_name, _f)
Tensor._place_str = str(CPU)  # type: ignore[attr-defined]
Tensor.num_shard = None  # type: ignore[attr-defined]
