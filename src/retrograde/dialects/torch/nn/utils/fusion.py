"""Convolution or linear layers and the batch normalisation behind them as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from ..._tensor import Tensor
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
    bn_b: Tensor | None, transpose: bool = False,
) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of the convolution that also normalises by running mean and variance."""
    zero, one = bn_rm * 0, bn_rm * 0 + 1
    conv_b, bn_w, bn_b = (zero if conv_b is None else conv_b), (one if bn_w is None else bn_w), (
        zero if bn_b is None else bn_b)  # fmt: skip
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * scale.reshape(shape + [1] * (conv_w.ndim - 2))
    bias = (conv_b - bn_rm) * scale + bn_b
    return Parameter(weight.detach(), conv_w.requires_grad), Parameter(bias.detach(), conv_b.requires_grad)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A copy of a convolution that does what it and a batch normalisation behind it do; both must be in evaluation."""
    if conv.training or bn.training:
        raise AssertionError("fuse_conv_bn_eval: both modules must be in evaluation mode")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the linear layer that also normalises by running mean and variance."""
    linear_b = bn_rm * 0 if linear_b is None else linear_b
    scale = bn_w * (bn_rv + bn_eps).rsqrt()
    bias = (linear_b - bn_rm) * scale + bn_b
    weight = linear_w * scale.unsqueeze(-1)
    return Parameter(weight.detach(), linear_w.requires_grad), Parameter(bias.detach(), linear_b.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A copy of a linear layer that does what it and a batch normalisation behind it do; both must be in evaluation."""
    if linear.training or bn.training:
        raise AssertionError("fuse_linear_bn_eval: both modules must be in evaluation mode")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            f"fuse_linear_bn_eval: {linear.out_features} features do not fit a normalisation of {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
