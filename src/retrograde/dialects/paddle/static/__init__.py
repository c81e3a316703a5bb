"""`paddle.static`: what dynamic programs touch; what static programs are made of is refused, with what to do instead."""

from __future__ import annotations

from typing import Any

from ..._shared.registry import defined as _defined
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


_REMEDIES = {
    "BuildStrategy CompiledProgram Executor Print Program Variable create_global_var create_parameter data "
    "default_main_program default_startup_program device_guard global_scope name_scope normalize_program program_guard "
    "py_func scope_guard": "write the program in dynamic mode; paddle.jit.to_static compiles its functions",
    "append_backward gradients": "use loss.backward() or paddle.grad(outputs, inputs)",
    "deserialize_persistables deserialize_program load load_from_file load_inference_model load_program_state save "
    "save_inference_model save_to_file serialize_persistables serialize_program set_program_state":
        "use paddle.save(layer.state_dict(), path) and layer.set_state_dict(paddle.load(path))",
    "ExponentialMovingAverage": "keep the averages yourself, or use paddle.incubate.ModelAverage",
    "accuracy auc": "use paddle.metric.accuracy and paddle.metric.Auc",
}  # fmt: skip
_REFUSED = {name: remedy for names, remedy in _REMEDIES.items() for name in names.split()}


def _refusing(name: str, remedy: str) -> Any:
    def refuse(*args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"paddle.static.{name}: there are no static programs in retrograde's paddle dialect; {remedy}")

    return _defined(name, refuse, f"Not offered; raises NotImplementedError: {remedy}.")


def __getattr__(name: str) -> Any:
    if name in ("amp", "nn"):
        return _submodule(__name__, name)
    if name in _REFUSED:
        return _refusing(name, _REFUSED[name])
    raise _missing("paddle.static", name, globals())
