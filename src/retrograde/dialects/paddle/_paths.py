"""Second import paths: modules of PaddlePaddle whose names stand in another module here.

Each is a module of its own that looks its names up where they are, so that `import paddle.nn.loss` and `paddle.nn.loss` work.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ._api import REGISTRY, missing

_PACKAGE = str(__package__)

PATHS = {
    "autograd.autograd autograd.backward_mode": "autograd",
    "base.data_feeder base.layer_helper base.layers base.log_helper base.wrapped_decorator base.param_attr "
    "base.variable_index base.libpaddle": "base.framework",
    "base.dygraph.base base.dygraph.tensor_patch_methods": "base.dygraph",
    "base.unique_name utils.unique_name": "utils:unique_name",
    "base.initializer": "nn.initializer",
    "distribution.bernoulli distribution.beta distribution.binomial distribution.categorical distribution.cauchy "
    "distribution.chi2 distribution.continuous_bernoulli distribution.dirichlet distribution.exponential "
    "distribution.exponential_family distribution.gamma distribution.geometric distribution.gumbel distribution.independent "
    "distribution.laplace distribution.lognormal distribution.multinomial distribution.multivariate_normal "
    "distribution.normal distribution.poisson distribution.student_t distribution.transformed_distribution "
    "distribution.uniform": "distribution",
    "framework.dtype framework.framework framework.io": "framework",
    "framework.random": "random",
    "io.dataloader io.reader": "io",
    "jit.api": "jit",
    "metric.metrics": "metric",
    "nn.loss": "nn.layer.loss",
    "nn.layer.distance nn.layer.vision": "nn",
    "nn.functional.activation nn.functional.common nn.functional.conv nn.functional.distance nn.functional.extension "
    "nn.functional.flash_attention nn.functional.input nn.functional.loss nn.functional.norm nn.functional.pooling "
    "nn.functional.vision": "nn.functional",
    "nn.initializer.assign nn.initializer.bilinear nn.initializer.constant nn.initializer.dirac nn.initializer.initializer "
    "nn.initializer.kaiming nn.initializer.normal nn.initializer.orthogonal nn.initializer.uniform nn.initializer.xavier":
        "nn.initializer",
    "nn.utils.spectral_norm_hook nn.utils.transform_parameters nn.utils.weight_norm_hook": "nn.utils",
    "optimizer.adadelta optimizer.adagrad optimizer.adam optimizer.adamax optimizer.adamw optimizer.asgd optimizer.lamb "
    "optimizer.momentum optimizer.nadam optimizer.radam optimizer.rmsprop optimizer.rprop optimizer.sgd": "optimizer",
    "tensor.attribute tensor.creation tensor.einsum tensor.fft tensor.logic tensor.manipulation tensor.math tensor.ops "
    "tensor.random tensor.search tensor.stat tensor.to_string": "tensor",
    "utils.flops": "hapi.flops",
    "common_ops_import": "base.framework",
}  # fmt: skip
"""The paths, with blanks between, and the module that has their names."""
_TARGETS = {path: target for paths, target in PATHS.items() for path in paths.split()}


class _Path(ModuleType):
    """A module whose names stand in another one."""

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        path = self.__name__.removeprefix(f"{_PACKAGE}.")
        return getattr(pkgutil.resolve_name(f"{_PACKAGE}.{_TARGETS[path]}"), name)


for _path, _target in _TARGETS.items():
    _name = f"{_PACKAGE}.{_path}"
    _module = sys.modules[_name] = _Path(_name, f"The names of `paddle.{_target.replace(':', '.')}`.")
    _module.__spec__ = ModuleSpec(_name, None)


def _standing_in(owner: str, name: str) -> Any:
    """The module of `PATHS` that a module does not have itself, or None."""
    found = sys.modules.get(f"{_PACKAGE}{owner.removeprefix('paddle')}.{name}")
    return found if type(found) is _Path else None


REGISTRY.path = _standing_in


def otherwise(owner: str, name: str, known: Iterable[str]) -> Any:
    """What a module answers for a name that it does not have itself: a module of `PATHS`; raises AttributeError for another."""
    found = _standing_in(owner, name)
    if found is None:
        raise missing(owner, name, known)
    return found
