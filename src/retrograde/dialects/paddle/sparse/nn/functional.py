"""`paddle.sparse.nn.functional`: activations of the values of sparse tensors, softmax over rows, attention at some places,
convolutions and pooling of sparse images and volumes."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from .....learn import sparse as _sparse
from .....learn.sparse_windows import Windows
from ...._shared.axes import axis_of
from ... import _shape
from ..._api import attributes as _attributes
from ..._sparse_tensor import SparseTensor
from ...nn import functional as _dense
from ...nn.functional._arguments import paddings, per_axis
from .. import _of_values, masked_matmul, matmul
from .. import _sparse as _checked

relu, relu6 = _of_values("relu", _dense.relu), _of_values("relu6", _dense.relu6)
leaky_relu = _of_values("leaky_relu", _dense.leaky_relu)


def softmax(x: Any, axis: int = -1, name: Any = None) -> Any:
    """The softmax over the values that are kept along an axis (of a tensor kept by rows: the last one)."""
    x = _checked("softmax", x)
    i = axis_of("softmax", axis, x.ndim)
    if x.is_sparse_csr() and i != x.ndim - 1:
        raise ValueError("softmax: a tensor that is kept by rows has it along the last axis only")
    if i >= x.sparse_dim():
        return x.with_values(_dense.softmax(x.values(), i - x.sparse_dim() + 1))
    groups, count = _sparse.groups_beside(np.asarray(x._places), i)
    return x.with_values(_sparse.softmax(groups, count, x.values()))


def attention(
    query: Any, key: Any, value: Any, sparse_mask: Any, key_padding_mask: Any = None, attn_mask: Any = None, name: Any = None
) -> Any:
    """softmax(QKᵀ / √d) V, computed at the places of a mask (batch · heads, length, length) kept by rows only.

    key_padding_mask (batch, length) and attn_mask (length, length) are added before the softmax.
    """
    batch, heads, length, width = query.shape
    mask = _checked("attention", sparse_mask, "sparse_mask")
    q, k, v = (_shape.reshape(x, [batch * heads, length, width]) for x in (query, key, value))
    scores = masked_matmul(q, _shape.transpose(k, [0, 2, 1]), mask)
    values = scores.values() / _math.sqrt(width)
    which, rows, columns = scores._places
    if key_padding_mask is not None:
        values = values + _sparse.picked(key_padding_mask, np.stack([which // heads, columns]))
    if attn_mask is not None:
        values = values + _sparse.picked(attn_mask, np.stack([rows, columns]))
    return _shape.reshape(matmul(softmax(scores.with_values(values)), v), [batch, heads, length, width])


# ------------------------------------------------------------------------------------------ windows


def _volume(op: str, x: Any, axes: int, data_format: str) -> SparseTensor:
    """A sparse tensor of volumes with a dense axis of channels, each place once; raises ValueError for others."""
    x = _checked(op, x)
    layout = "NDHWC" if axes == 3 else "NHWC"
    if data_format != layout or x.ndim != axes + 2 or x.dense_dim() != 1 or x.is_sparse_csr():
        raise ValueError(
            f"{op}: wanted a tensor {layout} by coordinates whose channels are dense, got {data_format} of shape "
            f"{list(x.shape)} with {x.dense_dim()} dense axes"
        )
    return x.in_order() if not x.is_coalesced() and len(np.unique(_sparse.flat(x._places, x._shape))) < x.nnz() else x


def _pads(op: str, padding: Any, axes: int) -> Any:
    """As PaddlePaddle, which takes both words for no padding here."""
    found = paddings(op, padding, axes, True)
    return ((0, 0),) * axes if isinstance(found, str) else found


def _convolution(name: str, axes: int, subm: bool) -> Any:
    def function(
        x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        data_format: str = "NDHWC" if axes == 3 else "NHWC", **options: Any,
    ) -> Any:  # fmt: skip
        if unknown := set(options) - ({"name", "key"} if subm else {"name"}):
            raise TypeError(f"{name}: there are no arguments {', '.join(sorted(unknown))}")
        if groups != 1:
            raise AssertionError(f"{name}: groups must be 1, got {groups}")
        x = _volume(name, x, axes, data_format)
        *kernel, channels, _ = weight.shape
        if len(kernel) != axes or channels != x.shape[-1]:
            raise ValueError(f"{name}: weights {list(weight.shape)} do not fit {x.shape[-1]} channels and {axes} axes")
        pads, steps = _pads(name, padding, axes), per_axis(name, "stride", stride, axes)
        apart = per_axis(name, "dilation", dilation, axes)
        if subm:
            pads, steps = tuple((k // 2 * d, k // 2 * d) for k, d in zip(kernel, apart)), (1,) * axes
        windows = Windows(x._places, x._shape, kernel, steps, pads, apart, subm)
        values = windows.convolved(x.values(), weight)
        values = values if bias is None else values + bias
        return SparseTensor(windows.places, values, (x._shape[0], *windows.space, values.shape[1]), coalesced=True)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""The convolution of a sparse tensor with weights (*kernel, C, M), {
        "at the places of x and no others, centred; stride and padding do not count."
        if subm else "wherever a window holds a value."
    }"""
    return function


conv2d, conv3d = _convolution("conv2d", 2, False), _convolution("conv3d", 3, False)
subm_conv2d = subm_conv2d_igemm = _convolution("subm_conv2d", 2, True)
subm_conv3d = subm_conv3d_igemm = _convolution("subm_conv3d", 3, True)


def max_pool3d(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, data_format: str = "NDHWC",
    name: Any = None,
) -> Any:  # fmt: skip
    """The largest value that is kept in each window, channel by channel, wherever there is one."""
    x = _volume("max_pool3d", x, 3, data_format)
    kernel = per_axis("max_pool3d", "kernel_size", kernel_size, 3)
    steps = kernel if stride is None else per_axis("max_pool3d", "stride", stride, 3)
    windows = Windows(x._places, x._shape, kernel, steps, _pads("max_pool3d", padding, 3), (1, 1, 1))
    shape = (x._shape[0], *windows.space, x._shape[-1])
    return SparseTensor(windows.places, windows.largest(x.values()), shape, coalesced=True)


__all__ = ["attention", "conv2d", "conv3d", "leaky_relu", "max_pool3d", "relu", "relu6", "softmax", "subm_conv2d",
           "subm_conv2d_igemm", "subm_conv3d", "subm_conv3d_igemm"]  # fmt: skip

__getattr__ = _attributes(globals())
