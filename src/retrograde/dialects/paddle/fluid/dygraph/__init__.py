"""`paddle.fluid.dygraph`: the dynamic mode of old programs, its `grad`, `to_variable` and layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....core.value import Value
from ..._api import missing as _missing
from ..._api import submodule as _submodule
from ..._creation import to_tensor
from ..._gradients import BackwardStrategy
from ..._gradients import grad as _grad
from ..._parameter import EagerParamBase
from ..._tensor import Tensor
from ...base.dygraph import disable_dygraph, enable_dygraph, enabled, guard, no_grad


def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: bool = False, no_grad_vars: Any = None, backward_strategy: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """As `paddle.grad`, as a tuple.

    backward_strategy: a BackwardStrategy or None; raises AssertionError for anything else.
    """
    if backward_strategy is not None and not isinstance(backward_strategy, BackwardStrategy):
        raise AssertionError(
            f"grad: backward_strategy must be a BackwardStrategy or None, got {type(backward_strategy).__name__}"
        )
    return tuple(
        _grad(outputs, inputs, grad_outputs, retain_graph, create_graph, only_inputs, allow_unused, no_grad_vars)
    )


def to_variable(value: Any, name: str | None = None, zero_copy: bool | None = None, dtype: Any = None) -> Tensor:
    """A tensor with the elements of an array, a tensor or nested lists; raises TypeError for anything else."""
    if isinstance(value, Tensor) and dtype is None:
        return value
    if not isinstance(value, (np.ndarray, np.generic, Value, list, tuple, int, float, complex)):
        raise TypeError(f"to_variable: wanted a NumPy array, a Tensor or numbers, got {type(value).__name__}")
    tensor = to_tensor(value, dtype)
    if name is not None:
        tensor.name = name
    return tensor


def save_dygraph(state_dict: Any, model_path: str) -> None:
    """Save the state of a layer (`.pdparams`) or of an optimiser (`.pdopt`), which holds no parameters."""
    from .... import paddle

    layer = any(isinstance(v, EagerParamBase) for v in state_dict.values())
    paddle.save(state_dict, model_path + (".pdparams" if layer else ".pdopt"))


def load_dygraph(model_path: str) -> tuple[Any, Any]:
    """The states of a layer and of an optimiser that were saved under a path, None for one that was not."""
    import os

    from .... import paddle

    found = [f"{model_path}{end}" for end in (".pdparams", ".pdopt")]
    if not any(os.path.exists(path) for path in found):
        raise ValueError(f"load_dygraph: there is neither {found[0]} nor {found[1]}")
    states = tuple(paddle.load(path) if os.path.exists(path) else None for path in found)
    return states[0], states[1]


_LAYERS = (
    "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dropout", "Embedding",
    "Flatten", "GRUUnit", "GroupNorm", "InstanceNorm", "Layer", "LayerList", "LayerNorm", "Linear", "PRelu",
    "ParameterList", "Pool2D", "Sequential", "SpectralNorm",
)  # fmt: skip
_SCHEDULES = (
    "CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LambdaDecay", "LearningRateDecay", "LinearLrWarmup",
    "MultiStepDecay", "NaturalExpDecay", "NoamDecay", "PiecewiseDecay", "PolynomialDecay", "ReduceLROnPlateau", "StepDecay",
)  # fmt: skip

__all__ = [
    "BackwardStrategy", "disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "load_dygraph", "no_grad",
    "prepare_context", "save_dygraph", "to_variable",
]  # fmt: skip


def prepare_context(strategy: Any = None) -> Any:
    """What `DataParallel` is told of the processes: that this is the only one."""
    return _parallel().ParallelEnv()


def _parallel() -> Any:
    return _submodule("retrograde.dialects.paddle", "distributed")


def __getattr__(name: str) -> Any:
    if name in ("DataParallel", "ParallelEnv"):
        return getattr(_parallel(), name)
    if name in _LAYERS:
        from .. import _layers

        return getattr(_layers, name)
    if name in _SCHEDULES:
        return getattr(_submodule(__name__, "learning_rate_scheduler"), name)
    if name in ("base", "checkpoint", "learning_rate_scheduler", "nn"):
        return _submodule(__name__, name)
    raise _missing("paddle.fluid.dygraph", name, globals())
