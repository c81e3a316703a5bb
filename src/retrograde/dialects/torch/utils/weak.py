"""`torch.utils.weak`: references that go with an object, and dicts whose keys are such, by what the object is."""

from __future__ import annotations

import builtins
import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any


class WeakIdRef(weakref.ref[Any]):
    """A weak reference that equals those to the same object: tensors compare by elements, and are no keys themselves."""

    __slots__ = ("_id",)

    def __new__(cls, key: Any, callback: Any = None) -> WeakIdRef:
        self = super().__new__(cls, key, callback)
        self._id = id(key)
        return self

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine = self()
        return self is other if mine is None or not isinstance(other, weakref.ref) else mine is other()


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dict by the identity of its keys, each of which stays as long as there is its object."""

    def __init__(self, dict: Any = ()) -> None:
        held: builtins.dict[WeakIdRef, Any] = {}
        self.data = held
        self._gone = lambda reference: held.pop(reference, None)
        self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[WeakIdRef(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[WeakIdRef(key, self._gone)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[WeakIdRef(key)]

    def __iter__(self) -> Iterator[Any]:
        return (key for reference in list(self.data) if (key := reference()) is not None)

    def __len__(self) -> int:
        return len(self.data)


WeakTensorKeyDictionary = WeakIdKeyDictionary
