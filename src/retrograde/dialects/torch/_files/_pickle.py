"""Writes the pickle (protocol 2) inside PyTorch's files for tensors, plain data and, if it may, objects of any class.

The opcodes are those that Python's pickler emits for the same objects in PyTorch, memo included, so that a
state dict gives the same bytes. The stock pickler cannot be used: it insists on importing what it names.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from ....backend.jit.operands import address
from ._numpy_values import numpy_parts
from ._objects import Resolve, global_name, is_global, reduced
from ._records import STORAGE_CLASSES, UNTYPED_STORAGE, GlobalName, TensorRecord, checked_record

Describe = Callable[[Any], TensorRecord | None]
Reduce = Callable[[Any], str | tuple[str, tuple[Any, ...]] | None]

_BATCH = 1000
_TUPLES = {1: pickle.TUPLE1, 2: pickle.TUPLE2, 3: pickle.TUPLE3}


_PUT, _GET, _INT = ([code + bytes([k]) for k in range(256)] for code in (pickle.BINPUT, pickle.BINGET, pickle.BININT1))
_WORD = struct.Struct("<I").pack


class _Call:
    """A call to be written where an object stands."""

    __slots__ = ("args", "name")

    def __init__(self, name: str, args: tuple[Any, ...]) -> None:
        self.name = name
        self.args = args


class _PersistentStorage:
    __slots__ = ("identity",)

    def __init__(self, identity: tuple[Any, ...]) -> None:
        self.identity = identity


class Pickler:
    """Turns one object into a pickle; `storages` then holds the arrays to be written, in the order of their keys.

    Args:
        describe: returns the record of a tensor and None for any other object.
        reduce: returns for an object of the dialect the name of a constant or a name and its arguments, or None.
        resolve: finds classes and functions by module and name; objects of any class are written with it.
    """

    def __init__(self, describe: Describe, reduce: Reduce | None = None, resolve: Resolve | None = None) -> None:
        self._describe = describe
        self._reduce = reduce
        self._resolve = resolve
        self._out = bytearray()
        self._memo: dict[int, tuple[int, Any]] = {}
        self._globals: dict[str, int] = {}
        self._count = 0
        self._keys: dict[tuple[int, int], tuple[str, str]] = {}
        self.storages: list[np.ndarray] = []

    def dumps(self, obj: Any) -> bytes:
        """Return the pickle of `obj`; without `resolve`, PicklingError for what is neither a tensor nor plain data."""
        self._out += pickle.PROTO + b"\x02"
        self._save(obj)
        self._out += pickle.STOP
        return bytes(self._out)

    def _save(self, obj: Any) -> None:
        if type(obj) is int and 0 <= obj < 256:  # half of what is written for a tensor; numbers are not remembered
            self._out += _INT[obj]
            return
        known = self._memo.get(id(obj))
        if known is not None:
            self._fetch(known[0])
            return
        write = _WRITERS.get(type(obj))
        if write is not None:
            write(self, obj)
        elif isinstance(obj, (np.generic, np.ndarray, np.dtype)):
            self._save_call(*numpy_parts(obj), owner=obj)
        else:
            self._save_foreign(obj)

    def _save_foreign(self, obj: Any) -> None:
        record = self._describe(obj)
        if record is not None:
            self._save_tensor(obj, checked_record(record))
            return
        parts = self._reduce(obj) if self._reduce is not None else None
        if parts is None and self._resolve is not None:
            self._save_object(obj, self._resolve)
            return
        if parts is None:
            kind = type(obj)
            raise pickle.PicklingError(
                f"torch.save: {kind.__module__}.{kind.__qualname__} is neither a tensor nor plain data "
                "(numbers, text, lists, tuples, dicts, sets); save its state_dict or its fields"
            )
        if isinstance(parts, str):
            self._save_global(GlobalName(parts))
        else:
            self._save_call(*parts, owner=obj)

    def _save_object(self, obj: Any, resolve: Resolve) -> None:
        """An object of any class, as Python's pickler writes it."""
        if is_global(obj):
            self._save_global(GlobalName(global_name(obj, resolve)))
            return
        parts = reduced(obj)
        if isinstance(parts, str):
            found = resolve(type(obj).__module__, parts)
            if found is not obj:
                raise pickle.PicklingError(f"torch.save: {parts!r} is not the object that is to be saved")
            self._save_global(GlobalName(f"{type(obj).__module__}.{parts}"))
            return
        make, args, state, items, pairs = parts
        if getattr(make, "__name__", "") == "__newobj__":
            self._save(args[0])
            self._save_tuple(tuple(args[1:]))
            self._out += pickle.NEWOBJ
        else:
            self._save(make)
            self._save_tuple(tuple(args))
            self._out += pickle.REDUCE
        self._memoize(obj)
        if items is not None:
            self._save_batches(items, pickle.APPEND, pickle.APPENDS, self._save)
        if pairs is not None:
            self._save_pairs(pairs)
        if state is not None:
            self._save(state)
            self._out += pickle.BUILD

    def _memoize(self, obj: Any) -> None:
        # The object is kept, since its id stands for it.
        index = self._count
        self._memo[id(obj)] = (index, obj)
        self._out += _PUT[index] if index < 256 else pickle.LONG_BINPUT + _WORD(index)
        self._count = index + 1

    def _put(self) -> None:
        index = self._count
        self._out += _PUT[index] if index < 256 else pickle.LONG_BINPUT + _WORD(index)
        self._count = index + 1

    def _fetch(self, index: int) -> None:
        self._out += _GET[index] if index < 256 else pickle.LONG_BINGET + _WORD(index)

    # Plain data

    def _save_none(self, obj: None) -> None:
        self._out += pickle.NONE

    def _save_bool(self, obj: bool) -> None:
        self._out += pickle.NEWTRUE if obj else pickle.NEWFALSE

    def _save_int(self, obj: int) -> None:
        if 0 <= obj < 256:
            self._out += _INT[obj]
        elif 0 <= obj < 65536:
            self._out += pickle.BININT2 + struct.pack("<H", obj)
        elif -(2**31) <= obj < 2**31:
            self._out += pickle.BININT + struct.pack("<i", obj)
        else:
            data = pickle.encode_long(obj)
            if len(data) < 256:
                self._out += pickle.LONG1 + bytes([len(data)]) + data
            else:
                self._out += pickle.LONG4 + struct.pack("<i", len(data)) + data

    def _save_float(self, obj: float) -> None:
        self._out += pickle.BINFLOAT + struct.pack(">d", obj)

    def _save_str(self, obj: str) -> None:
        data = obj.encode("utf-8", "surrogatepass")
        self._out += pickle.BINUNICODE + _WORD(len(data)) + data
        self._memoize(obj)

    def _save_complex(self, obj: complex) -> None:
        self._save_call("__builtin__.complex", (obj.real, obj.imag), owner=obj)

    def _save_bytes(self, obj: bytes) -> None:
        self._save_call("_codecs.encode", (obj.decode("latin-1"), "latin1"), owner=obj)

    def _save_bytearray(self, obj: bytearray) -> None:
        args = (obj.decode("latin-1"), "latin1") if obj else ()
        self._save_call("__builtin__.bytearray", args, owner=obj)

    def _save_tuple(self, obj: tuple[Any, ...]) -> None:
        if not obj:
            self._out += pickle.EMPTY_TUPLE
            return
        if len(obj) > 3:
            self._out += pickle.MARK
        for item in obj:
            self._save(item)
        known = self._memo.get(id(obj))
        if known is not None:  # the tuple holds itself and was written on the way
            self._out += pickle.POP_MARK if len(obj) > 3 else pickle.POP * len(obj)
            self._fetch(known[0])
            return
        self._out += _TUPLES.get(len(obj), pickle.TUPLE)
        self._memoize(obj)

    def _save_list(self, obj: list[Any]) -> None:
        self._out += pickle.EMPTY_LIST
        self._memoize(obj)
        self._save_batches(obj, pickle.APPEND, pickle.APPENDS, self._save)

    def _save_dict(self, obj: dict[Any, Any]) -> None:
        self._out += pickle.EMPTY_DICT
        self._memoize(obj)
        self._save_items(obj)

    def _save_ordered_dict(self, obj: OrderedDict[Any, Any]) -> None:
        self._save_call("collections.OrderedDict", (), owner=obj)
        self._save_items(obj)
        if vars(obj):
            self._save(vars(obj))
            self._out += pickle.BUILD

    def _save_counter(self, obj: Counter[Any]) -> None:
        self._save_call("collections.Counter", (dict(obj),), owner=obj)

    def _save_set(self, obj: set[Any]) -> None:
        self._save_call("__builtin__.set", (list(obj),), owner=obj)

    def _save_frozenset(self, obj: frozenset[Any]) -> None:
        self._save_call("__builtin__.frozenset", (list(obj),), owner=obj)

    def _save_items(self, obj: dict[Any, Any]) -> None:
        self._save_pairs(obj.items())

    def _save_pairs(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        def save_pair(pair: tuple[Any, Any]) -> None:
            self._save(pair[0])
            self._save(pair[1])

        self._save_batches(pairs, pickle.SETITEM, pickle.SETITEMS, save_pair)

    def _save_batches(self, items: Iterable[Any], one: bytes, many: bytes, save: Callable[[Any], None]) -> None:
        iterator = iter(items)
        while batch := list(islice(iterator, _BATCH)):
            if len(batch) > 1:
                self._out += pickle.MARK
            for item in batch:
                save(item)
            self._out += many if len(batch) > 1 else one

    # Names, calls and tensors

    def _save_global(self, obj: GlobalName) -> None:
        index = self._globals.get(obj.name)
        if index is not None:
            self._fetch(index)
            return
        module, _, name = obj.name.rpartition(".")
        self._out += pickle.GLOBAL + f"{module}\n{name}\n".encode()
        self._globals[obj.name] = self._count
        self._put()

    def _save_call(self, name: str, args: tuple[Any, ...], state: Any = None, *, owner: Any) -> None:
        self._save_global(GlobalName(name))
        self._save_tuple(args)
        self._out += pickle.REDUCE
        self._memoize(owner)
        if state is not None:
            self._save(state)
            self._out += pickle.BUILD

    def _save_deferred_call(self, obj: _Call) -> None:
        self._save_call(obj.name, obj.args, owner=obj)

    def _save_persistent(self, obj: _PersistentStorage) -> None:
        self._save(obj.identity)
        self._out += pickle.BINPERSID

    def _save_tensor(self, tensor: Any, record: TensorRecord) -> None:
        name, args = "torch._utils._rebuild_tensor_v2", self._tensor_args(record)
        if record.dtype_name not in STORAGE_CLASSES:
            name, args = "torch._utils._rebuild_tensor_v3", (*args, GlobalName(f"torch.{record.dtype_name}"))
        attributes = dict(record.attributes) if record.attributes else None
        if record.is_parameter:
            args = (_Call(name, args), record.requires_grad, _Call("collections.OrderedDict", ()))
            name = "torch._utils._rebuild_parameter"
            if attributes:
                name, args = "torch._utils._rebuild_parameter_with_state", (*args, attributes)
        elif attributes or (record.kind is not None and self._resolve is not None):
            own = record.kind is not None and self._resolve is not None
            kind = global_name(record.kind, self._resolve) if own else "torch.Tensor"  # type: ignore[arg-type]
            args = (GlobalName(name), GlobalName(kind), args, attributes or {})
            name = "torch._tensor._rebuild_from_type_v2"
        self._save_call(name, args, owner=tensor)

    def _tensor_args(self, record: TensorRecord) -> tuple[Any, ...]:
        # A tensor that is wrapped in a parameter does not require gradients itself; the parameter says so.
        requires_grad = record.requires_grad and not record.is_parameter
        hooks = _Call("collections.OrderedDict", ())
        return (self._storage(record), record.offset, record.shape, record.strides, requires_grad, hooks)

    def _storage(self, record: TensorRecord) -> _PersistentStorage:
        array = record.storage
        # Empty arrays may share an address without sharing anything.
        place = (address(array), array.nbytes) if array.size else (id(array), 0)
        if place not in self._keys:
            self._keys[place] = (str(len(self.storages)), record.dtype_name)
            self.storages.append(array)
        key, dtype_name = self._keys[place]
        if dtype_name != record.dtype_name:
            raise RuntimeError(
                f"torch.save: one storage is used as {dtype_name} and as {record.dtype_name}, which the format cannot "
                "hold; clone one of the two tensors"
            )
        typed = dtype_name in STORAGE_CLASSES
        kind = GlobalName(STORAGE_CLASSES[dtype_name] if typed else UNTYPED_STORAGE)
        return _PersistentStorage(("storage", kind, key, record.location, array.size if typed else array.nbytes))


_WRITERS: dict[type, Callable[[Pickler, Any], None]] = {
    type(None): Pickler._save_none,
    bool: Pickler._save_bool,
    int: Pickler._save_int,
    float: Pickler._save_float,
    complex: Pickler._save_complex,
    str: Pickler._save_str,
    bytes: Pickler._save_bytes,
    bytearray: Pickler._save_bytearray,
    tuple: Pickler._save_tuple,
    list: Pickler._save_list,
    dict: Pickler._save_dict,
    OrderedDict: Pickler._save_ordered_dict,
    Counter: Pickler._save_counter,
    set: Pickler._save_set,
    frozenset: Pickler._save_frozenset,
    GlobalName: Pickler._save_global,
    _Call: Pickler._save_deferred_call,
    _PersistentStorage: Pickler._save_persistent,
}
