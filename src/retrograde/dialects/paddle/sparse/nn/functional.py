"""`paddle.sparse.nn.functional`: activations of the values of sparse tensors, softmax over rows, attention at some places."""

from __future__ import annotations

import math as _math
from typing import Any

import numpy as np

from ...._shared import sparse as _sparse
from ...._shared.axes import axis_of
from ..._api import FUNCTIONS as _F
from ..._api import missing as _missing
from ...nn import functional as _dense
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
    q, k, v = (_F["reshape"](x, [batch * heads, length, width]) for x in (query, key, value))
    scores = masked_matmul(q, _F["transpose"](k, [0, 2, 1]), mask)
    values = scores.values() / _math.sqrt(width)
    which, rows, columns = scores._places
    if key_padding_mask is not None:
        values = values + _sparse.picked(key_padding_mask, np.stack([which // heads, columns]))
    if attn_mask is not None:
        values = values + _sparse.picked(attn_mask, np.stack([rows, columns]))
    return _F["reshape"](matmul(softmax(scores.with_values(values)), v), [batch, heads, length, width])


__all__ = ["attention", "leaky_relu", "relu", "relu6", "softmax"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.sparse.nn.functional", name, globals())
