"""The mindspore dialect: retrograde's engine under MindSpore's names and rules.

`retrograde.activate("mindspore")` makes `import mindspore` resolve to this package. The functions live in topic files,
which register themselves through `_api.api` and appear in `mindspore.ops` and as methods of `Tensor`; an unknown name
raises an AttributeError that says what is near.
"""

from __future__ import annotations

from ..._version import __version__ as _retrograde_version
from .._shared.guard import enter as _enter
from . import _dtype
from ._api import attributes as _attributes
from ._parameter import Parameter, ParameterTuple
from ._tensor import Tensor, install_methods

# The topic files, each a set of functions and methods (one line each).
from . import _arithmetic
from . import _indexing
from . import _creation
from ._creation import from_dlpack, from_numpy, is_tensor, tensor
from ._gradients import get_grad, grad, value_and_grad
from ._transforms import jacfwd, jacrev, jvp, vjp, vmap
from . import _assign, _backward
from .nn.cell import recompute
from . import _unary, _activations, _reductions, _binary, _statistics, _conversion, _shape, _joining, _blocks, _gather
from . import _sorting, _scans, _diagonals, _matmul, _linalg, _spectral, _linear, _convolution, _pooling, _normalization
from . import _dropout, _losses, _padding, _patches, _resample, _boxes, _random, _control, _scalars, _aliases
from ._sparse import COOTensor, CSRTensor, RowTensor

from . import context
from ._context import (
    COMPATIBLE, GRAPH_MODE, LAX, PYNATIVE_MODE, STRICT, ParallelMode, get_auto_parallel_context, get_context,
    get_current_device, get_seed, reset_auto_parallel_context, set_auto_parallel_context, set_context, set_deterministic,
    set_device, set_seed,
)
from ._recording import no_grad as _no_grad
from ._backward import saved_tensors_hooks
from ._generator import (
    Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state,
)  # fmt: skip
from ._jit import (
    JitConfig, constexpr, enable_dynamic, jit, jit_class, launch_blocking, lazy_inline, ms_class, ms_function, mutable,
    no_inline, run_check, set_recursion_limit,
)  # fmt: skip
from . import common
from .common._grad_function import _Function
from .common import dtype
from .common.dtype import (
    Int, Type, dtype_to_nptype, dtype_to_pytype, float_, get_py_obj_dtype, int_, list_, number, pytype_to_dtype, string,
    tensor_type, tuple_, type_none, uint,
)  # fmt: skip
from . import ops
from . import nn

__version__ = "2.10.0+retrograde." + _retrograde_version

for _d in _dtype.ALL:
    globals()[_d.name] = _d
globals().update(_dtype.ALIASES)
bool_ = _dtype.bool_

install_methods()
ops.publish()
_enter(__name__, ("", "ops", "ops.functional", "mint", "mint.nn.functional", "numpy"))

_LAZY = (
    "amp", "boost", "communication", "dataset", "experimental", "hal", "log", "mint", "numpy", "parallel", "runtime", "scipy",
    "train", "version",
)  # fmt: skip

_FROM_TRAIN = frozenset((
    "Accuracy", "Callback", "CheckpointConfig", "ConfusionMatrix", "CosineSimilarity", "Dice",
    "DynamicLossScaleManager", "EarlyStopping", "F1", "Fbeta", "FixedLossScaleManager", "History", "LambdaCallback",
    "LearningRateScheduler", "Loss", "LossMonitor", "LossScaleManager", "MAE", "MSE", "Metric", "Model",
    "ModelCheckpoint", "BleuScore", "HausdorffDistance", "MeanSurfaceDistance", "ROC",
    "RootMeanSquareDistance", "Perplexity", "Precision", "Recall", "ReduceLROnPlateau", "RunContext", "TimeMonitor",
    "Top1CategoricalAccuracy", "Top5CategoricalAccuracy", "TopKCategoricalAccuracy", "auc", "ckpt_to_safetensors", "export",
    "get_metric_fn", "load", "load_checkpoint", "load_param_into_net", "names", "rearrange_inputs", "safetensors_to_ckpt",
    "save_checkpoint",
))  # fmt: skip


def _as_framework() -> None:
    """What importing `mindspore` changes in a process: NumPy's scalars print as in NumPy 1, which MindSpore needs."""
    import numpy

    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":
        numpy.set_printoptions(legacy="1.25")


__getattr__ = _attributes(globals(), *_LAZY, **dict.fromkeys(_FROM_TRAIN, "train"))
