"""`torch.jit.annotations`: names for annotations of TorchScript."""

from __future__ import annotations

from typing import Any, Dict, Final, List, Optional, Tuple, Union  # noqa: UP035 - the names that are imported from here

from .._api import attributes
from ..futures import Future

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final", "Future", "List", "Optional", "Tuple",
    "Union",
]  # fmt: skip


class _BroadcastingList:
    """`BroadcastingList2[int]`: an int, or a list of so many."""

    def __getitem__(self, kind: Any) -> Any:
        return Union[kind, list[kind]]  # noqa: UP007 - kinds may be strings


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()

__getattr__ = attributes(globals())
