"""`torch.utils._foreach_utils`: tensors sorted into lists that `_foreach_*` functions can take, as optimisers do."""

from __future__ import annotations

from typing import Any


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Lists of equal length divided by device and dtype of the first list's tensors, each with where they stood.

    Raises:
        RuntimeError: the lists differ in length.
    """
    if len({len(column) for column in tensorlistlist}) > 1:
        raise RuntimeError(f"_group_tensors_by_device_and_dtype: lists of {[len(column) for column in tensorlistlist]} tensors")
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for i, row in enumerate(zip(*tensorlistlist)):
        first = next(x for x in row if x is not None)
        columns, indices = groups.setdefault((first.device, first.dtype), ([[] for _ in row], []))
        for column, x in zip(columns, row):
            column.append(x)
        if with_indices:
            indices.append(i)
    return groups
