"""Batch normalisation, and the bookkeeping that instance normalisation shares."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import numpy as np

from .....tape import mutation
from ...._shared.layers import shown
from ..._creation import empty, ones, zeros
from ..._grad_modes import no_grad
from ..._tensor import Tensor, from_array
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


def _count(device: Any) -> Tensor:
    return from_array(np.array(0, np.int64), device=device)


class _NormBase(Module):
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    _version = 2
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        where = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_features, **where)) if affine else None)
        self.register_parameter("bias", Parameter(empty(num_features, **where)) if affine and bias else None)
        self.register_buffer("running_mean", zeros(num_features, **where) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **where) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", _count(device) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()  # type: ignore[union-attr]
            self.running_var.fill_(1)  # type: ignore[union-attr]
            self.num_batches_tracked.zero_()  # type: ignore[union-attr]

    def reset_parameters(self) -> None:
        """Forget the running statistics; weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say which inputs it takes")

    extra_repr = shown("=num_features, eps, momentum, affine, bias!, track_running_stats")

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            # State dicts of old versions have no count of batches.
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                state_dict[key] = self.num_batches_tracked if self.num_batches_tracked is not None else _count("cpu")
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def _count_batch(self, counter: Any) -> None:
        array = counter._a
        if type(array) is np.ndarray and array.flags.writeable:  # 0.4 µs, where add_(1) takes 10
            array += 1
            mutation.note(array)
        else:
            counter.add_(1)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input; in training the running statistics move as well."""
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        training, parameters, buffers = self.training, self._parameters, self._buffers
        if "weight" in parameters and "bias" in parameters and "running_mean" in buffers and "running_var" in buffers:
            weight, bias, mean, var = parameters["weight"], parameters["bias"], buffers["running_mean"], buffers["running_var"]
        else:  # under parametrizations
            weight, bias, mean, var = self.weight, self.bias, self.running_mean, self.running_var
        if training and self.track_running_stats:
            name = "num_batches_tracked"
            counter = buffers[name] if name in buffers else self.num_batches_tracked  # noqa: SIM401 - which is slow
            if counter is not None:
                self._count_batch(counter)
                if self.momentum is None:
                    factor = 1.0 / float(counter)
        by_batch = training or (mean is None and var is None)
        if training and not self.track_running_stats:
            mean = var = None
        return F.batch_norm(input, mean, var, weight, bias, by_batch, factor, self.eps)


def _fitting(input: Tensor) -> str:
    """Which of the layers takes such an input."""
    which = {2: "1d", 3: "1d", 4: "2d", 5: "3d"}.get(input.ndim)
    return f"; BatchNorm{which} takes such an input" if which else "; the batch is the first axis, the channels the second"


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L) (Ioffe and Szegedy, 2015)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"BatchNorm1d: wanted 2 or 3 dimensions, got {input.ndim}{_fitting(input)}")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 4:
            raise ValueError(f"BatchNorm2d: wanted 4 dimensions, got {input.ndim}{_fitting(input)}")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim != 5:
            raise ValueError(f"BatchNorm3d: wanted 5 dimensions, got {input.ndim}{_fitting(input)}")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation by the statistics of the batches of all processes of a group, in training."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"SyncBatchNorm: wanted 2 dimensions or more, got {input.ndim}")

    def forward(self, input: Any) -> Any:
        """The normalised input; in training the running statistics move as well."""
        distributed: Any = sys.modules.get(f"{__name__.rpartition('.nn.')[0]}.distributed")
        together = distributed is not None and (self.process_group is not None or distributed.is_initialized())
        by_batch = self.training or self.running_mean is None
        if not together or not by_batch or distributed.get_world_size(self.process_group) == 1:
            return super().forward(input)
        self._check_input_dim(input)
        total = partial(distributed.nn.functional.all_reduce, group=self.process_group)
        axes = [0, *range(2, input.ndim)]
        shape = (1, -1, *[1] * (input.ndim - 2))
        count = total(input.new_full((1,), float(input.numel() // input.shape[1])))
        mean = total(input.sum(axes)) / count
        moved = input - mean.reshape(shape)
        var = total((moved * moved).sum(axes)) / count
        if self.training and self.track_running_stats:
            self._count_batch(self.num_batches_tracked)
            factor = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
            with no_grad():
                self.running_mean.lerp_(mean, factor)
                self.running_var.lerp_(var * (count / (count - 1)), factor)
        y = moved * (var + self.eps).rsqrt().reshape(shape)
        if self.weight is not None:
            y = y * self.weight.reshape(shape)
        return y if self.bias is None else y + self.bias.reshape(shape)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with each batch normalisation in it as one of this class, of the same parameters and statistics."""
        found = module
        if isinstance(module, _BatchNorm) and not isinstance(module, cls):
            found = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group
            )
            if module.affine:
                found.weight, found.bias = module.weight, module.bias
            found.running_mean, found.running_var = module.running_mean, module.running_var
            found.num_batches_tracked, found.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            found.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return found


__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]
