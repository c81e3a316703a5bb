"""Import paths of MindSpore's own files: modules without one here, which offer what the package around them offers."""

from __future__ import annotations

import sys
import types
from importlib.machinery import ModuleSpec
from typing import Any

_OPERATIONS = """
    array_ops comm_ops control_ops custom_ops debug_ops image_ops inner_ops linalg_ops math_ops nn_ops other_ops random_ops
    reshard_ops sparse_ops spectral_ops _csr_ops _custom_grad _embedding_cache_ops _grad_ops
    _infer_ops _inner_ops _map_tensor_ops _ocr_ops
    _quant_ops _rl_inner_ops _scalar_ops _sequence_ops _sparse_grad_ops _thor_ops manually_defined manually_defined.ops_def
    manually_defined._inner
"""
_FUNCTION = """
    array_func clip_func comm_func debug_func fft_func grad grad.grad_func image_func linalg_func math_func nn_func
    other_func parameter_func random_func reshard_func sparse_func sparse_unary_func spectral_func vmap_func
"""
_MULTITYPE = """
    add_impl bitwise_and_impl bitwise_or_impl bitwise_xor_impl div_impl equal_impl floordiv_impl getitem_impl
    greater_equal_impl greater_impl in_impl invert_impl left_shift_impl less_equal_impl less_impl logical_and_impl
    logical_not_impl logical_or_impl mod_impl mul_impl negative_impl not_equal_impl not_in_impl ones_like_impl pow_impl
    right_shift_impl setitem_impl sub_impl uadd_impl zeros_like_impl
"""
_OPTIMISERS = """
    ada_grad adadelta adafactor adam adamax asgd ftrl lamb lazyadam momentum proximal_ada_grad rmsprop rprop sgd thor
"""
_PATHS = {
    "ops": "_primitive_cache _register_for_op deprecated functional_overload op_info_register",
    "ops.operations": _OPERATIONS,
    "ops.function": _FUNCTION,
    "ops.composite": f"base env_ops math_ops multitype_ops {' '.join('multitype_ops.' + n for n in _MULTITYPE.split())}",
    "ops.auto_generate": "cpp_create_prim_instance_helper gen_extend_func gen_ops_def gen_ops_prim pyboost_inner_prim",
    "nn.layer": "channel_shuffle container dense embedding image rnn_cells thor_layer timedistributed",
    "nn.optim": _OPTIMISERS,
    "nn.grad": "cell_grad",
    "common": "_stub_tensor hook_handle jit_config lazy_inline mutable no_inline np_dtype recompute storage symbol",
    "numpy": "array_creations array_ops dtypes logic_ops math_ops utils utils_const",
    "train.callback": """
        _callback _checkpoint _early_stop _history _lambda_callback _loss_monitor _lr_scheduler_callback
        _reduce_lr_on_plateau _summary_collector _time_monitor
    """,
    "dataset": "engine engine.datasets engine.iterators engine.samplers",
    "experimental.optim": "adadelta adagrad adam adamax adamw asgd nadam radam rmsprop rprop sgd optimizer",
}  # fmt: skip
"""The paths below a package of the dialect; a name with a dot is below the one before the dot."""


class _Path(types.ModuleType):
    """A module that offers what another one does."""

    def __init__(self, name: str, offers: str) -> None:
        super().__init__(name, f"An import path of what `{offers.removeprefix('retrograde.dialects.')}` offers.")
        self._offers = offers
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(sys.modules[self._offers], name)


def offer_paths(package: str) -> None:
    """Make the paths below a package importable; called by the package, which may be a single file."""
    top = sys.modules[package]
    vars(top).setdefault("__path__", [])
    for path in _PATHS[package.removeprefix(f"{__package__}.")].split():
        parent, _, name = f"{package}.{path}".rpartition(".")
        module = sys.modules[f"{parent}.{name}"] = _Path(f"{parent}.{name}", package)
        if not hasattr(sys.modules[parent], name):  # a function of that name is what the package offers
            setattr(sys.modules[parent], name, module)
