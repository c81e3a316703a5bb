"""How samples become batches (`default_collate`) and NumPy data tensors (`default_convert`)."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from .... import torch
from ..._tensor import Tensor

# Strings, bytes and objects stay what they are.
_NO_TENSOR_KINDS = "SaUO"
np_str_obj_array_pattern = re.compile(f"[{_NO_TENSOR_KINDS}]")
"""What is found in the code (`dtype.str`) of such a NumPy dtype."""

default_collate_fn_map: dict[Any, Any] = {}
"""How packages have `default_collate` batch their own types: `f(batch, collate_fn_map=...)` by type."""


def default_convert(data: Any) -> Any:
    """NumPy arrays and scalars, also inside dicts and sequences, as tensors; everything else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in _NO_TENSOR_KINDS else torch.as_tensor(data)
    if isinstance(data, Mapping):
        return _rebuilt_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        converted = [default_convert(entry) for entry in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt_sequence(data, [default_convert(entry) for entry in data])
    return data


def default_collate(batch: Any) -> Any:
    """A list of samples as one batch: tensors are stacked, numbers become a tensor, containers are collated inside.

    Raises:
        TypeError: samples of a type that has no batch; pass a `collate_fn`.
        RuntimeError: sequences of different lengths, or tensors of different shapes.
    """
    first = batch[0]
    for kind, collate in default_collate_fn_map.items():
        if isinstance(first, kind):
            return collate(batch, collate_fn_map=default_collate_fn_map)
    if isinstance(first, Tensor):
        return torch.stack(batch, 0)
    if isinstance(first, np.ndarray):
        if first.dtype.kind not in _NO_TENSOR_KINDS:
            return torch.stack([torch.as_tensor(x) for x in batch], 0)
    elif isinstance(first, np.generic) and first.dtype.kind not in _NO_TENSOR_KINDS:
        return torch.as_tensor(np.asarray(batch))
    elif isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64 if all(isinstance(x, float) for x in batch) else None)
    elif isinstance(first, int):
        return torch.tensor(batch)
    elif isinstance(first, (str, bytes)):
        return batch
    elif isinstance(first, Mapping):
        return _rebuilt_mapping(first, {key: default_collate([sample[key] for sample in batch]) for key in first})
    elif isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(column) for column in zip(*batch)))
    elif isinstance(first, Sequence):
        if set(map(len, batch)) != {len(first)}:
            raise RuntimeError(
                f"default_collate: samples of lengths {sorted({len(s) for s in batch})}; wanted equal lengths"
            )
        columns = [default_collate(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _rebuilt_sequence(first, columns)
    what = f"array of {first.dtype}" if isinstance(first, np.ndarray) else type(first).__name__
    raise TypeError(
        f"default_collate: a sample holds a {what}; wanted tensors, NumPy arrays, numbers, strings, dicts or "
        "sequences, or a collate_fn of your own"
    )


def _rebuilt_mapping(like: Any, items: dict[Any, Any]) -> Any:
    """The items in a mapping of the same type, where that can be built."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(items)
            return clone
        return type(like)(items)
    except TypeError:
        return items


def _rebuilt_sequence(like: Any, entries: list[Any]) -> Any:
    """The entries in a sequence of the same type, where that can be built."""
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            clone[:] = entries
            return clone
        return type(like)(entries)
    except TypeError:
        return entries
