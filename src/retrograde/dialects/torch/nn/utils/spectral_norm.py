"""`spectral_norm` by a hook, its old form: `parametrizations.spectral_norm` is the new one."""

from __future__ import annotations

from typing import Any

from .....learn.layers.reparametrise import as_matrix, power_iterations, unit
from .....learn.layers.reparametrise import spectral_norm as layers_spectral_norm
from ..._grad_modes import no_grad
from ..modules.conv import _ConvTransposeNd
from ..modules.module import Module
from ..parameter import Parameter
from ._norms import check_free, take_away

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that divides a weight by its largest singular value, which power iteration follows in training."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, got {n_power_iterations}")
        self.name = self._tensor_name = name
        self.dim, self.n_power_iterations, self.eps = dim, n_power_iterations, eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight over its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            power_iterations(matrix, u, v, self.n_power_iterations, self.eps, left_first=False)
        return layers_spectral_norm(weight, matrix, u, v)

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Move a weight aside and register the hook; raises RuntimeError where there is one."""
        check_free("spectral_norm", module, SpectralNorm, name)
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"spectral_norm: parameter {name!r} is None")
        with no_grad():
            height, width = as_matrix(weight, dim).shape
            u = unit(weight.new_empty(height).normal_(0, 1), eps)
            v = unit(weight.new_empty(width).normal_(0, 1), eps)
        del module._parameters[name]
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value at each call (Miyato et al., 2018); returns the module."""
    if dim is None:
        dim = 1 if isinstance(module, _ConvTransposeNd) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`; raises ValueError where there is none."""
    return take_away("remove_spectral_norm", module, SpectralNorm, name, "has no spectral_norm")  # type: ignore[no-any-return]
