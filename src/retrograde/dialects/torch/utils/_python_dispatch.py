"""`torch.utils._python_dispatch`: subclasses of tensors that hold others; modes that see operators, which are refused."""

from __future__ import annotations

from typing import Any, NoReturn

from .._tensor import Tensor


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor says which tensors it holds, and how it is made of such again."""
    return isinstance(t, Tensor) and hasattr(t, "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


class TorchDispatchMode:
    """A context that would see every operator below autograd; raises NotImplementedError when it is entered."""

    def __enter__(self) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__}: retrograde's torch dialect runs no aten operators that a mode could see; "
            "torch.overrides.TorchFunctionMode sees the functions that a program calls"
        )

    def __exit__(self, *error: object) -> None:
        pass

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What an operator gives; for subclasses."""
        return func(*args, **(kwargs or {}))
