"""A machine that runs the pickles in frameworks' files without ever calling what a file names.

It knows the opcodes that plain data needs. A global is looked up in tables, never imported, and becomes a value or an
inert `Internal`; REDUCE calls only what the tables hold. A dialect derives from `Machine` for what its files hold besides.
What a few bytes can multiply (copies of a remembered list, hashes of tuples that share their items) is counted on a
`Budget`, so that time and memory stay in proportion to the file.
"""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, Any, NoReturn

import numpy as np

from .file_budget import Budget, stream_size
from .numpy_values import set_numpy_state

# What running a damaged pickle may raise. Instructions that call out of the machine take care of it themselves,
# since an error of the caller's functions must not pass for a damaged file.
DAMAGE = (IndexError, KeyError, TypeError, ValueError, OverflowError, MemoryError, RecursionError, struct.error)
_PUT1, _GET1, _INT1 = pickle.BINPUT, pickle.BINGET, pickle.BININT1
_LAYOUTS = {layout: struct.Struct(layout) for layout in ("<i", "<H", "<I", "<Q", ">d")}
_CALLING = (pickle.REDUCE, pickle.BINPERSID, pickle.BUILD)

_ITEM = 64  # bytes that an item of a copied container may take: what a set keeps for one
_HASHED = 16  # bytes that looking at one item for a hash counts for
_DEPTH = 500  # tuples within tuples in a key: Python hashes them by recursion, without looking at its stack
_SMALL = 4096  # bytes that are read without asking how many are left


class Internal:
    """A value that only exists while a file is read; it must not appear in what the file gives."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Function(Internal):
    """What a file names and may call."""

    __slots__ = ("call",)

    def __init__(self, name: str, call: Callable[..., Any]) -> None:
        super().__init__(name)
        self.call = call


def _encode(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "latin-1"):
        raise ValueError(f"text is to be encoded as {encoding!r}, and only latin-1 stands for bytes")
    return text.encode("latin-1")


def _bytearray(*args: Any) -> bytearray:
    # bytearray(n) would let a small file ask for any amount of memory.
    if not args:
        return bytearray()
    return bytearray(args[0] if isinstance(args[0], bytes) else _encode(*args))


def _collection(kind: type) -> Callable[..., Any]:
    def make(*args: Any) -> Any:
        if args and not isinstance(args[0], (list, tuple, dict)):
            raise TypeError(f"{kind.__name__} of {type(args[0]).__name__}")
        return kind(*args)

    return make


def _bytes(*args: Any) -> bytes:
    if args:
        raise TypeError("bytes with arguments")
    return b""


_BUILTINS: dict[str, Callable[..., Any]] = {
    "set": _collection(set),
    "frozenset": _collection(frozenset),
    "bytearray": _bytearray,
    "bytes": _bytes,
    "complex": complex,
}
_PLAIN: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": _collection(OrderedDict),
    "collections.Counter": _collection(Counter),
    "_codecs.encode": _encode,
    **{f"builtins.{name}": make for name, make in _BUILTINS.items()},
    **{f"__builtin__.{name}": make for name, make in _BUILTINS.items()},
}


class Machine:
    """Runs one pickle from a stream.

    Args:
        stream: binary and able to seek, positioned at the pickle; left behind its last byte.
        constants: values by full name, "torch.float32".
        functions: what may be called, by full name, "torch.Size".
        budget: what the file may ask for; by default that of a file as long as the stream.
    """

    op = "load"
    """What error messages begin with."""
    refused = "only tensors, numbers, text and plain containers are read from files"
    remedy = "save a state_dict"

    def __init__(
        self, stream: IO[bytes], constants: Mapping[str, Any] | None = None, functions: Mapping[str, Callable[..., Any]]
        | None = None, budget: Budget | None = None,
    ) -> None:  # fmt: skip
        self._stream = stream
        self._end = stream_size(stream)
        self._budget = budget if budget is not None else Budget(self.op, self._end)
        self._keys: dict[int, tuple[Any, int, int]] = {}  # of hashed tuples: the tuple, its items, its depth
        self._states: list[Any] = []
        self._constants = constants or {}
        self._functions = {**(functions or {}), **_PLAIN}
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}
        self._handlers: dict[int, Callable[[], None]] = {
            code[0]: getattr(self, f"_{name}") for name, code in _OPCODES.items()
        }

    def find_more(self, name: str) -> Any:
        """What a name stands for that is in no table; None for a name that is refused."""
        return None

    def load(self) -> Any:
        """Return the value of the pickle; raises UnpicklingError for one that is damaged or asks for more."""
        handlers, stack, memo = self._handlers, self._stack, self._memo
        read = self._stream.read
        while True:
            code = read(1)
            try:  # a third of all instructions: the call of a handler takes longer than what it does
                if code == _PUT1:
                    memo[read(1)[0]] = stack[-1]
                    continue
                if code == _INT1:
                    stack.append(read(1)[0])
                    continue
                if code == _GET1:
                    stack.append(memo[read(1)[0]])
                    continue
            except DAMAGE as error:
                self.damaged(error)
            if not code:
                raise pickle.UnpicklingError(
                    f"{self.op}: the pickle in the file ends early; the file is damaged or cut short"
                )
            if code == pickle.STOP:
                break
            handler = handlers.get(code[0])
            if handler is None:
                raise pickle.UnpicklingError(
                    f"{self.op}: the file uses the pickle instruction {code!r}, which plain data and tensors do not "
                    "need; it is damaged, or was written by another program"
                )
            try:
                handler()
            except DAMAGE as error:
                if code in _CALLING:
                    raise
                self.damaged(error)
        if len(self._stack) != 1 or self._marks:
            self.damaged(None)
        result = self._stack.pop()
        self._refuse_internals([result, *self._states])
        return result

    def damaged(self, error: Exception | None) -> NoReturn:
        """Raise UnpicklingError for a pickle that does not hold together."""
        detail = f" ({type(error).__name__}: {error})" if error is not None else ""
        raise pickle.UnpicklingError(f"{self.op}: the pickle in the file is damaged{detail}") from error

    def _read(self, count: int) -> bytes:
        if count > _SMALL and count > self._end - self._stream.tell():  # a stream may make room for all of it first
            raise ValueError("cut short")
        data = self._stream.read(count)
        if len(data) != count:
            raise ValueError("cut short")
        return data

    def _unpack(self, layout: str) -> Any:
        form = _LAYOUTS[layout]
        return form.unpack(self._read(form.size))[0]

    def _line(self) -> str:
        line = self._stream.readline()
        if not line.endswith(b"\n"):
            raise ValueError("cut short")
        return line[:-1].decode()

    def _since_mark(self) -> list[Any]:
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    # Numbers and text

    def _proto(self) -> None:
        self._read(1)

    def _frame(self) -> None:
        self._read(8)

    def _none(self) -> None:
        self._stack.append(None)

    def _true(self) -> None:
        self._stack.append(True)

    def _false(self) -> None:
        self._stack.append(False)

    def _int4(self) -> None:
        self._stack.append(self._unpack("<i"))

    def _int2(self) -> None:
        self._stack.append(self._unpack("<H"))

    def _long1(self) -> None:
        self._stack.append(int.from_bytes(self._read(self._read(1)[0]), "little", signed=True))

    def _long4(self) -> None:
        self._stack.append(int.from_bytes(self._read(self._unpack("<I")), "little", signed=True))

    def _float(self) -> None:
        self._stack.append(self._unpack(">d"))

    def _text1(self) -> None:
        self._stack.append(self._read(self._read(1)[0]).decode("utf-8", "surrogatepass"))

    def _text4(self) -> None:
        self._stack.append(self._read(self._unpack("<I")).decode("utf-8", "surrogatepass"))

    def _text8(self) -> None:
        self._stack.append(self._read(self._unpack("<Q")).decode("utf-8", "surrogatepass"))

    def _bytes1(self) -> None:
        self._stack.append(self._read(self._read(1)[0]))

    def _bytes4(self) -> None:
        self._stack.append(self._read(self._unpack("<I")))

    def _bytes8(self) -> None:
        self._stack.append(self._read(self._unpack("<Q")))

    def _bytearray8(self) -> None:
        self._stack.append(bytearray(self._read(self._unpack("<Q"))))

    # Containers

    def _mark(self) -> None:
        self._marks.append(len(self._stack))

    def _pop(self) -> None:
        self._stack.pop()

    def _pop_mark(self) -> None:
        self._since_mark()

    def _tuple0(self) -> None:
        self._stack.append(())

    def _tuple1(self) -> None:
        self._stack[-1] = (self._stack[-1],)

    def _tuple2(self) -> None:
        self._stack[-2:] = [(self._stack[-2], self._stack[-1])]

    def _tuple3(self) -> None:
        self._stack[-3:] = [(self._stack[-3], self._stack[-2], self._stack[-1])]

    def _tuple(self) -> None:
        items = self._since_mark()
        self._stack.append(tuple(items))

    def _list(self) -> None:
        self._stack.append([])

    def _append(self) -> None:
        item = self._stack.pop()
        self._target(list).append(item)

    def _appends(self) -> None:
        items = self._since_mark()
        self._target(list).extend(items)

    def _dict(self) -> None:
        self._stack.append({})

    def _setitem(self) -> None:
        value = self._stack.pop()
        key = self._stack.pop()
        self._target(dict)[self._hashed(key)] = value

    def _setitems(self) -> None:
        items = self._since_mark()
        self._target(dict).update(zip(map(self._hashed, items[::2]), items[1::2], strict=True))

    def _set(self) -> None:
        self._stack.append(set())

    def _additems(self) -> None:
        items = self._since_mark()
        self._target(set).update(map(self._hashed, items))

    def _frozenset(self) -> None:
        items = self._since_mark()
        self._stack.append(frozenset(map(self._hashed, items)))

    def _hashed(self, key: Any) -> Any:
        """A key, once it is clear that its hash can be taken: a tuple's looks at every item as often as it occurs."""
        if type(key) is tuple:
            items, depth = self._weighed(key)
            if depth > _DEPTH:
                raise ValueError(f"a key of tuples that are nested more than {_DEPTH} deep")
            self._budget.spend(_HASHED * items)
        return key

    def _weighed(self, key: tuple[Any, ...]) -> tuple[int, int]:
        """How many items a tuple has, those of the tuples inside counted wherever they occur, and how deep it is."""
        known = self._keys
        pending = [key]
        while pending:
            item = pending[-1]
            inner = [part for part in item if type(part) is tuple]
            open_ones = [part for part in inner if id(part) not in known]
            if open_ones:
                pending.extend(open_ones)
                continue
            pending.pop()
            weights = [known[id(part)] for part in inner]
            known[id(item)] = (
                item,
                len(item) + sum(items for _, items, _ in weights),
                1 + max((depth for _, _, depth in weights), default=0),
            )
        return known[id(key)][1:]

    def _target(self, kind: type) -> Any:
        target = self._stack[-1]
        if not isinstance(target, kind):
            raise TypeError(f"items for a {kind.__name__} are given to {type(target).__name__}")
        return target

    # The memo

    def _put4(self) -> None:
        self._memo[self._unpack("<I")] = self._stack[-1]

    def _memoize(self) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get4(self) -> None:
        self._stack.append(self._memo[self._unpack("<I")])

    # What a file names

    def _global(self) -> None:
        module = self._line()
        self._stack.append(self._find(f"{module}.{self._line()}"))

    def _stack_global(self) -> None:
        name = self._stack.pop()
        module = self._stack.pop()
        self._stack.append(self._find(f"{module}.{name}"))

    def _find(self, name: str) -> Any:
        if name in self._functions:
            return Function(name, self._functions[name])
        if name in self._constants:
            return self._constants[name]
        found = self.find_more(name)
        if found is not None:
            return found
        raise pickle.UnpicklingError(
            f"{self.op}: the file asks for {name!r}, which is refused: {self.refused}; {self.remedy}"
        )

    def _persistent(self) -> None:
        raise pickle.UnpicklingError(f"{self.op}: the file refers to something outside its pickle")

    def _reduce(self) -> None:
        try:
            args = self._stack.pop()
            function = self._stack.pop()
        except IndexError as error:
            self.damaged(error)
        if not isinstance(function, Function) or not isinstance(args, tuple):
            named = function.name if isinstance(function, Internal) else type(function).__name__
            raise pickle.UnpicklingError(
                f"{self.op}: the file calls {named!r}, which is no function that files may call"
            )
        try:
            self._count_arguments(args)
            self._stack.append(function.call(*args))
        except (*DAMAGE, AttributeError) as error:
            raise pickle.UnpicklingError(
                f"{self.op}: the file calls {function.name!r} with arguments that it does not take: {error}"
            ) from error

    def _count_arguments(self, args: tuple[Any, ...]) -> None:
        """Spend what a copy of each argument may take, and what hashing the items of one may."""
        for arg in args:
            if isinstance(arg, (list, tuple, dict, set, frozenset)):
                self._budget.spend(_ITEM * len(arg))
                for item in arg:
                    self._hashed(item)
            elif isinstance(arg, (str, bytes, bytearray)):
                self._budget.spend(4 * len(arg))

    def _build(self) -> None:
        try:
            state = self._stack.pop()
            self._restore(self._stack[-1], state)
        except (*DAMAGE, AttributeError) as error:
            self.damaged(error)

    def _restore(self, target: Any, state: Any) -> None:
        """Give an object that the file made its state."""
        if isinstance(target, (np.ndarray, np.dtype)):
            if isinstance(state, tuple) and isinstance(state[-1], bytes):
                self._budget.spend(len(state[-1]))
            set_numpy_state(target, state)
        elif isinstance(target, OrderedDict):
            check_attributes(target, state)
            vars(target).update(state)
            self.give(state)
        else:
            raise TypeError(f"attributes are given to {type(target).__name__}")

    def give(self, state: Any) -> None:
        """Have a state looked through at the end, as what the file gives: it holds no internals either."""
        self._states.append(state)

    def _refuse_internals(self, values: list[Any]) -> None:
        """Raise UnpicklingError if a storage, a storage class or a function ended up in the data itself."""
        seen: set[int] = set()
        pending = values
        while pending:
            item = pending.pop()
            if isinstance(item, Internal):
                raise pickle.UnpicklingError(
                    f"{self.op}: the file holds {item.name!r} as a value, which is refused: {self.refused}"
                )
            if not isinstance(item, (list, tuple, dict, set, frozenset)) or id(item) in seen:
                continue
            seen.add(id(item))
            if isinstance(item, dict):
                pending.extend(item)
                pending.extend(dict.values(item))
            else:
                pending.extend(item)


_OPCODES = {
    "proto": pickle.PROTO,
    "frame": pickle.FRAME,
    "none": pickle.NONE,
    "true": pickle.NEWTRUE,
    "false": pickle.NEWFALSE,
    "int4": pickle.BININT,
    "int2": pickle.BININT2,
    "long1": pickle.LONG1,
    "long4": pickle.LONG4,
    "float": pickle.BINFLOAT,
    "text1": pickle.SHORT_BINUNICODE,
    "text4": pickle.BINUNICODE,
    "text8": pickle.BINUNICODE8,
    "bytes1": pickle.SHORT_BINBYTES,
    "bytes4": pickle.BINBYTES,
    "bytes8": pickle.BINBYTES8,
    "bytearray8": pickle.BYTEARRAY8,
    "mark": pickle.MARK,
    "pop": pickle.POP,
    "pop_mark": pickle.POP_MARK,
    "tuple0": pickle.EMPTY_TUPLE,
    "tuple1": pickle.TUPLE1,
    "tuple2": pickle.TUPLE2,
    "tuple3": pickle.TUPLE3,
    "tuple": pickle.TUPLE,
    "list": pickle.EMPTY_LIST,
    "append": pickle.APPEND,
    "appends": pickle.APPENDS,
    "dict": pickle.EMPTY_DICT,
    "setitem": pickle.SETITEM,
    "setitems": pickle.SETITEMS,
    "set": pickle.EMPTY_SET,
    "additems": pickle.ADDITEMS,
    "frozenset": pickle.FROZENSET,
    "put4": pickle.LONG_BINPUT,
    "memoize": pickle.MEMOIZE,
    "get4": pickle.LONG_BINGET,
    "global": pickle.GLOBAL,
    "stack_global": pickle.STACK_GLOBAL,
    "persistent": pickle.BINPERSID,
    "reduce": pickle.REDUCE,
    "build": pickle.BUILD,
}


def check_attributes(target: Any, state: Any, *, hiding: bool = False) -> None:
    """Raise TypeError or ValueError unless a state is a dict of attributes, which hide no method unless they may."""
    if not isinstance(state, dict):
        raise TypeError(f"attributes come as {type(state).__name__}, wanted dict")
    for name in state:
        if not isinstance(name, str) or name.startswith("__"):
            raise ValueError(f"an attribute is called {name!r}")
        if not hiding and callable(getattr(type(target), name, None)):
            raise ValueError(f"an attribute would hide {name!r} of {type(target).__name__}")
