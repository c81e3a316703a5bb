"""`paddle.static`: only what dynamic programs touch; there are no static programs."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from .._api import submodule as _submodule
from .._dtype import as_dtype


class InputSpec:
    """The shape and dtype of an argument, as `to_static` is told."""

    def __init__(self, shape: Any, dtype: Any = "float32", name: str | None = None, stop_gradient: bool = False) -> None:
        self.shape = tuple(-1 if n is None else n for n in shape)
        self.dtype, self.name, self.stop_gradient = as_dtype("InputSpec", dtype), name, stop_gradient

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> InputSpec:
        """The specification of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.name)

    @classmethod
    def from_numpy(cls, ndarray: Any, name: str | None = None) -> InputSpec:
        """The specification of a NumPy array."""
        return cls(ndarray.shape, ndarray.dtype, name)

    def __repr__(self) -> str:
        return f"InputSpec(shape={self.shape}, dtype={self.dtype}, name={self.name}, stop_gradient={self.stop_gradient})"


def __getattr__(name: str) -> Any:
    if name == "nn":
        return _submodule(__name__, name)
    raise _missing("paddle.static", name, globals())
