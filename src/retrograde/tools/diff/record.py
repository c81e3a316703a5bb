"""What one program computes, written down: `Recorder` observes the engine, `Record` is what it has seen.

The record is in single-assignment form: every value that an operation reads or makes has a number, memory that is
written gets a new one. Values are kept whole up to a budget of bytes, as digests beyond it. Called by program.py,
which runs the user's program under a Recorder.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import mmap
import os
import pickle
import threading
import weakref
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from ..._state import Observer
from ...backend.numpy import NUMPY
from ...core.node import Accumulate as Arrival
from ...core.node import Node, Slot
from ...core.record import PRIMITIVES, Primitive
from ...core.value import Value
from ...ops.manipulation import as_strided
from ...ops.structural import view_scatter
from ..arrays import inside, owner_of
from . import places
from .constants import Constants
from .events import (
    ABSENT,
    NOWHERE,
    Accumulate,
    Clear,
    Cotangent,
    Detach,
    Edge,
    Event,
    Gave,
    Operation,
    Pass,
    Passed,
    Reread,
    Returned,
    Source,
    Update,
    WithParameters,
    Write,
    of_row,
    row,
)

_ndarray = np.ndarray
_SCATTER: Primitive = view_scatter.prim  # type: ignore[attr-defined]

SAMPLES = 32
"""How many elements a digest keeps, evenly spaced."""

BUDGET = 256 * 2**20
"""The bytes of values that a record keeps whole, unless told otherwise; what leaves begin with is kept besides."""

PREPARING = 4
"""What comes before the first operation that is differentiated, such as draws, may take one in so many of these more."""

VALUES = "values.bin"
"""The file of a record in which the bytes of its values lie."""


class Kept(NamedTuple):
    """A value: whole at `offset` of the record's bytes, or (`offset` -1) as a digest there would be no room for."""

    shape: Sequence[int]
    dtype: str
    offset: int
    digest: Sequence[float] = ()
    """Sum, sum of magnitudes, root of the sum of squares, smallest, largest; then `SAMPLES` elements at most."""


class Leaf(NamedTuple):
    """A tensor that accumulates: its name ("" if it has none), its value when first seen."""

    name: str
    value: int


class Record:
    """What a program computed, as read by the comparison."""

    def __init__(
        self, events: list[Event], values: list[Kept], leaves: list[Leaf], files: list[str], content: memoryview,
        modules: dict[str, str] | None = None, replaced: dict[int, np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.events, self.values, self.leaves, self.files, self.content = events, values, leaves, files, content
        self.modules = modules or {}
        """The name of a primitive -> the module that registers it."""
        self.replaced = replaced or {}
        """Values that are other than what the program had (replay.py)."""
        self.norms: dict[int, float] = {}
        """The norms of values that somebody has asked for."""
        self.keys: dict[int, tuple[str, tuple[int, ...], object]] = {}
        """What tells the contents of values apart, of those that somebody has asked for."""
        self._seen = 0

    SEEN = 64 * 2**20
    """How many bytes of values are looked at before their memory is given back: they lie in a file."""

    def bytes_at(self, offset: int, n: int) -> memoryview:
        """A part of the content."""
        part = self.content[offset : offset + n]
        self._seen += n
        if self._seen > self.SEEN and isinstance(self.content.obj, mmap.mmap):
            self._seen = 0
            self.content.obj.madvise(mmap.MADV_DONTNEED)
        return part

    @classmethod
    def read(cls, folder: Path) -> Record:
        """The record that a Recorder has written into a folder."""
        events: list[Event] = []
        values: list[Kept] = []
        leaves: list[Leaf] = []
        files: list[str] = []
        modules: dict[str, str] = {}
        with open(folder / "events.pickle", "rb") as parts:
            while parts.peek(1):
                part = pickle.load(parts)  # noqa: S301 - what a process of ours has written a moment ago
                events += map(of_row, part["events"])
                values += map(Kept._make, part["values"])
                leaves += map(Leaf._make, part["leaves"])
                files += part["files"]
                modules.update(part.get("modules", {}))
                for number, offset in part.get("later", ()):
                    values[number] = values[number]._replace(offset=offset)
        with open(folder / VALUES, "rb") as binary:
            size = os.fstat(binary.fileno()).st_size
            content: Any = mmap.mmap(binary.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        return cls(events, values, leaves, files, memoryview(content), modules)

    def primitive(self, name: str) -> Primitive | None:
        """The primitive of an operation; None for a user's function."""
        module = self.modules.get(name)
        if module is None:
            return None
        importlib.import_module(module)
        return PRIMITIVES.get(name)


def bits_of(array: np.ndarray) -> np.ndarray:
    """The bytes of an array, in the order of its axes, several at a time: its own memory where it lies so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint64 if array.nbytes % 8 == 0 else np.uint8)


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays are the same to the last bit."""
    return x.dtype == y.dtype and x.shape == y.shape and np.array_equal(bits_of(x), bits_of(y))


def digest(array: np.ndarray) -> list[float]:
    """What is kept of a large value (see `Kept.digest`)."""
    flat = array.reshape(-1)
    flat = np.abs(flat) if flat.dtype.kind == "c" else flat
    samples = flat[:: max(1, -(-flat.size // SAMPLES))]
    with np.errstate(all="ignore"):
        wide = flat.astype(np.float64)
        total, squares = wide.sum(), np.dot(wide, wide)
        figures = [total, np.abs(wide, out=wide).sum(), np.sqrt(squares), flat.min(), flat.max()]
    return [float(x) for x in (*figures, *samples)]


class Recorder(Observer):
    """Writes down what the engine shows it (see `_state.observe`), in memory or into a folder."""

    BATCH = 4096
    """Events that are kept in memory before they are written."""
    CHUNK = 2**20
    """Bytes of values that are kept in memory before they are written; a larger value is written as it is."""

    def __init__(self, folder: Path | None = None, budget: int | None = BUDGET,
                 progress: Callable[[int, int], None] | None = None,
                 given: Mapping[int, np.ndarray] | None = None, thread: int | None = None) -> None:  # fmt: skip
        """budget: as `BUDGET`; None for a record without values, but for what leaves begin with.

        given: values that the program is to go on with where it has others, by their numbers (`--start-from A`).
        thread: the one of which is recorded what it does; this one if None.
        """
        self.events: list[Event] = []
        self.values: list[Kept] = []
        self.leaves: list[Leaf] = []
        self.files: list[str] = []
        self.content = bytearray()
        self._flushed = [0, 0]  # events and values that have been written already
        self._size = 0
        self._folder, self._progress = folder, progress
        self._valueless, self._whole = budget is None, budget or 0
        self._budget = self._whole // PREPARING
        self._given = given or {}
        self._open = set(self._given)
        """The numbers of given values to which the program has not come yet."""
        self._started = False
        """Whether something that an operation has read already was given only now."""
        self.refused: list[int] = []
        """The numbers of given values for which the program has memory of another shape, or none that may be written."""
        self._sinks: tuple[IO[bytes], IO[bytes]] | None = None
        if folder is not None:  # closed by close(), when the program has ended
            self._sinks = open(folder / "events.pickle", "wb"), open(folder / VALUES, "w+b")  # noqa: SIM115
        self._preparing = True
        """Whether no operation has been recorded by the tape yet."""
        self._small: set[int] = set()
        """Values that are kept as digests."""
        self._later: list[tuple[int, int]] = []
        """Those of which it has turned out that they have to be kept whole, and where they are."""
        self._file_numbers: dict[str, int] = {}
        self._written_tables = [0, 0]
        self._known: dict[int, tuple[Any, int, int, int]] = {}
        """id(array) -> weak reference, its value, the number of events when it was noted, the operation that made it."""
        self._known_limit = 4096
        self._writes: dict[int, tuple[Any, int]] = {}
        """id(owner) -> weak reference, the number of events when its memory was written last."""
        self._entered: dict[int, tuple[Any, tuple[str, int, str, int]]] = {}
        """id(array) -> weak reference, where a tensor was made of it that nothing has read yet."""
        self._pending: list[tuple[Any, str, int]] = []
        self._incoming: dict[int, int] = {}
        """id(array) -> the value that is about to be written into it."""
        self._leaf_numbers: dict[int, tuple[Any, int]] = {}
        """id of a leaf, and of its array -> weak reference, number."""
        self._accumulators: dict[int, tuple[Any, int]] = {}
        """id of where a leaf's gradient arrives -> weak reference, number."""
        self._numbers = itertools.count()
        self._updating: tuple[str, list[Any], dict[str, Any], list[list[int]]] | None = None
        self.modules: dict[str, str] = {}
        self.constants = Constants()
        """To be entered while the program runs."""
        self._thread = threading.get_ident() if thread is None else thread
        self._named_in = -1
        self._names: tuple[dict[int, str], dict[int, int]] = {}, {}
        """The names of what the user's frames hold, and who holds which arrays, in the pass of the number before."""
        self.passes = self.elsewhere = 0
        """Backward passes that were recorded, and those in other threads, which are not."""

    def remarks(self) -> list[str]:
        """What has to be said of how the run was recorded."""
        return []

    # ------------------------------------------------------------------------------------------ keeping

    def _event(self, kind: Callable[..., Event], name: str, ins: Sequence[int], outs: Sequence[int],
               place: tuple[str, int] | tuple[str, int, str, int], *more: Any) -> int:  # fmt: skip
        """Note an event of a kind, with what that kind has beside others; gives its number."""
        line = place[1]
        caller = (self._file(place[2]), place[3]) if len(place) == 4 and place[2] else ()
        self.events.append(kind(name, ins, outs, self._file(place[0]), line, caller, *more))
        number = self._flushed[0] + len(self.events) - 1
        if self._sinks is not None and len(self.events) >= self.BATCH:
            self._flush()
        if self._progress is not None and not number % 256:
            self._progress(number, line)
        return number

    def _file(self, filename: str) -> int:
        file = self._file_numbers.get(filename)
        if file is None:
            file = self._file_numbers[filename] = len(self.files)
            self.files.append(filename)
        return file

    @property
    def _now(self) -> int:
        return self._flushed[0] + len(self.events)

    def _keep(self, a: np.ndarray, like: int = ABSENT) -> int:
        """Keep an array's content as a new value; like: a value that is known to be the same."""
        if self._open:
            self._start(a)
        a = self._content_of(a)
        n = a.nbytes
        if like >= self._flushed[1]:
            kept = self.values[like - self._flushed[1]]
        elif n <= 64 or (self._size + n <= self._budget and not self._valueless):
            kept = Kept(a.shape, name_of(a.dtype), self._put(a))
        else:
            kept = Kept(a.shape, name_of(a.dtype), -1, self._summary(a))
        if kept.offset < 0:
            self._small.add(self._flushed[1] + len(self.values))
        self.values.append(kept)
        return self._flushed[1] + len(self.values) - 1

    def _summary(self, a: np.ndarray) -> list[float]:
        """What is kept of a value that is not kept whole: with the values of a record, what tells whether it has changed."""
        return [float(zlib.crc32(bits_of(a).data))] if self._valueless else digest(a)

    def _put(self, a: np.ndarray) -> int:
        """Put an array's bytes behind those that are kept already; gives where they are."""
        offset, n = self._size, a.nbytes
        pad = -n % 16
        self._size += n + pad
        content = bits_of(a).data
        if self._sinks is not None and len(self.content) + n > self.CHUNK:
            self._sinks[1].write(self.content)
            self._sinks[1].write(content)
            self.content = bytearray(pad)
        else:
            self.content += content
            self.content += bytes(pad)
        return offset

    def _start(self, a: np.ndarray) -> bool:
        """Let an array hold what is given for the value that it is about to become; False where nothing is."""
        number = self._flushed[1] + len(self.values)
        if number not in self._open:
            return False
        self._open.remove(number)
        new = self._given[number]
        if new.shape != a.shape or not a.flags.writeable:
            self.refused.append(number)
        else:
            a[...] = new
            self._started = True
        return True

    def _content_of(self, a: np.ndarray) -> np.ndarray:
        """What is kept of an array: what it holds."""
        return a

    def _note(self, a: np.ndarray, value: int, operation: int = -1) -> None:
        """From now on this array holds that value."""
        known = self._known
        if len(known) > self._known_limit:
            for key in [key for key, entry in known.items() if entry[0]() is None]:
                del known[key]
            for key in [key for key, write in self._writes.items() if write[0]() is None]:
                del self._writes[key]
            self._known_limit = max(4096, 2 * len(known))
        known[id(a)] = (weakref.ref(a), value, self._now, operation)

    def _flush(self) -> None:
        assert self._sinks is not None
        parts, binary = self._sinks
        leaves, files = self._written_tables
        part = {"values": list(map(tuple, self.values)), "leaves": list(map(tuple, self.leaves[leaves:])),
                "files": self.files[files:], "modules": self.modules, "later": self._later}  # fmt: skip
        parts.write(_pickled(part, self.events))
        binary.write(self.content)
        self._flushed[0] += len(self.events)
        self._flushed[1] += len(self.values)
        self._written_tables = [len(self.leaves), len(self.files)]
        self.events, self.values, self.content, self._later = [], [], bytearray(), []

    def close(self) -> None:
        """Write what is still in memory."""
        self._settle()
        if self._sinks is not None:
            self._flush()
            for sink in self._sinks:
                sink.close()

    def record(self) -> Record:
        """The record of a Recorder without a folder."""
        self._settle()
        content = memoryview(bytes(self.content))
        for number, offset in self._later:
            self.values[number] = self.values[number]._replace(offset=offset)
        return Record(self.events, self.values, self.leaves, self.files, content, self.modules)

    # ------------------------------------------------------------------------------------------ reading memory

    def _ref(self, x: Any, kind: str = "") -> int:
        """The number of the value that an operand has now; kind: what it is called if nothing is known of it."""
        if x is None:
            return ABSENT
        a = x._a if isinstance(x, Value) else x
        if type(a) is not _ndarray:
            a, _ = inside(a)
        entry = self._known.get(id(a))
        if entry is not None and entry[0]() is a:
            if self._writes:
                owner = a if a.base is None else owner_of(a)
                write = self._writes.get(id(owner))
                if write is not None and write[1] > entry[2] and write[0]() is owner:
                    return self._reread(a, entry[1])
            return entry[1]
        if a.base is not None:  # the same elements through another array, such as `.data`
            owner = owner_of(a)
            entry = self._known.get(id(owner))
            if entry is not None and entry[0]() is owner and owner.shape == a.shape and owner.strides == a.strides:
                return self._ref(owner)
        value = self._keep(a)
        kind = kind or ("value" if isinstance(x, Value) else "number")
        made, entered = self.constants.of(a), self._entered.pop(id(a), None)
        if isinstance(x, Value) and x._node is not None:  # of a parameter it is said where it is read
            entered = None
        if entered is not None and entered[0]() is a:
            self._event(Source, kind, (), (value,), entered[1], made, True)
        else:
            self._event(Source, kind, (), (value,), places.user_line(3), made)
        self._note(a, value)
        return value

    def _reread(self, a: np.ndarray, old: int) -> int:
        if self._holds(old, self._content_of(a)):
            self._note(a, old)
            return old
        value = self._keep(a)
        self._event(Reread, "written through another view", (old,), (value,), places.user_line(4))
        self._note(a, value)
        return value

    def _holds(self, value: int, a: np.ndarray) -> bool:
        """Whether an array holds a value still, of those that have not been written yet; however that is kept."""
        index = value - self._flushed[1]
        if index < 0:
            return False
        kept = self.values[index]
        if kept.offset < 0:
            return np.array_equal(kept.digest, self._summary(a), equal_nan=True)
        start, n = kept.offset - (self._size - len(self.content)), _nbytes(kept)
        content: bytes | bytearray = self.content[start : start + n]
        if start < 0 and self._sinks is not None:
            self._sinks[1].flush()
            content = os.pread(self._sinks[1].fileno(), n, kept.offset)
        bits = bits_of(a)
        return np.array_equal(np.frombuffer(content, bits.dtype), bits) if len(content) == bits.nbytes else False

    def _settle(self) -> None:
        """Look at the memory that has been written since the last event."""
        pending, self._pending = self._pending, []
        for a, filename, line in pending:
            self._wrote(a, (filename, line))

    def _wrote(self, a: np.ndarray, place: tuple[str, int]) -> None:
        incoming = self._incoming.pop(id(a), ABSENT)
        owner = owner_of(a)
        target = a
        entry = self._known.get(id(a))
        if entry is None or entry[0]() is not a:
            entry = self._known.get(id(owner))
            target = owner
        value = self._keep(target)
        ins = [ABSENT] if entry is None or entry[0]() is not target else [entry[1]]
        if incoming != ABSENT and target is a:
            ins.append(incoming)
        elif incoming != ABSENT and ins[0] != ABSENT and target.flags.c_contiguous and target.dtype == a.dtype:
            whole = self._keep(target, value)
            self.modules.setdefault("view_scatter", _SCATTER.module)
            self._event(Operation, "view_scatter", (ins[0], incoming), (whole,), place, {"steps": _steps(a, target)},
                        (False, False), None)  # fmt: skip
            ins.append(whole)
        self._event(Write, "write in place", ins, (value,), place)
        self._writes[id(owner)] = (weakref.ref(owner), self._now)
        self._note(target, value)

    # ------------------------------------------------------------------------------------------ what the engine shows

    def operation(self, prim: Any, operands: Any, params: dict[str, Any], results: Any, node: Any) -> None:
        """An operation has been evaluated."""
        if threading.get_ident() != self._thread:
            return
        several = type(results) is tuple or type(results) is list
        arrays = []
        for y in results if several else (results,):
            a = y._a
            if type(a) is not _ndarray:
                a, below = inside(y)
                if below:  # what lies between has been recorded by itself
                    if node is not None:
                        node.event = self._producer(a)
                    return
            arrays.append(a)
        if self._pending:
            self._settle()
        ref = self._ref
        if node is not None and self._preparing:  # what parameters are drawn from leaves the computation its room
            self._preparing, self._budget = False, self._whole + self._size
        self._started = False
        ins = [ref(x) for x in operands]
        if self._started:
            self._repeat(prim, operands, params, arrays)
        carries = [isinstance(x, Value) and x._node is not None for x in operands]
        self._evaluated(prim, operands, params, arrays)
        outs = [self._keep(a) for a in arrays]
        number = self._event(Operation, prim.name, ins, outs, places.user_lines(2), _as_now(params), carries,
                             None if node is None else self._edges(node.edges))  # fmt: skip
        if prim.name not in self.modules and isinstance(prim, Primitive):
            self.modules[prim.name] = prim.module
        for a, value in zip(arrays, outs):
            self._note(a, value, number)
        if node is not None:
            node.event = number

    def created(self, x: Value) -> None:
        """A tensor has been made of data."""
        a = x._a
        if type(a) is _ndarray and threading.get_ident() == self._thread:
            key = id(a)
            self._entered[key] = (weakref.ref(a, lambda _: self._entered.pop(key, None)), places.user_lines(2))

    def _edges(self, edges: Sequence[Any]) -> list[Edge]:
        """Where the gradients of operands go."""
        found: list[Edge] = []
        for edge in edges:
            kind = type(edge)
            if kind is Node:
                found.append((edge.event, 0))
            elif kind is Slot:
                found.append((edge.node.event, edge.index))
            else:
                found.append((NOWHERE if edge is None else self._accumulator(edge), 0))
        return found

    def _accumulator(self, edge: Any) -> int:
        """The number of the place where a leaf's gradient arrives."""
        entry = self._accumulators.get(id(edge))
        if entry is None or entry[0]() is not edge:
            entry = self._accumulators[id(edge)] = (weakref.ref(edge), NOWHERE - 1 - next(self._numbers))
        return entry[1]

    def _repeat(self, prim: Any, operands: Any, params: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
        """Compute an operation again in place, of which operands have been given other values."""
        given = [x._a if isinstance(x, Value) else x for x in operands]
        owners = [owner_of(x) for x in given if type(x) is _ndarray]
        if all(any(owner_of(a) is owner for owner in owners) for a in arrays):  # views show it already
            return
        if any(x is not None and type(x) is not _ndarray for x in given) or not isinstance(prim, Primitive):
            self.refused.append(-1)
            return
        found = NUMPY.evaluate(prim, given, params)
        for a, new in zip(arrays, found if prim.multi else (found,)):
            a[...] = new

    def _evaluated(self, prim: Any, operands: Any, params: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
        """An operation has given these arrays, which are about to be kept."""

    def _producer(self, a: Any) -> int:
        entry = self._known.get(id(a))
        return -1 if entry is None or entry[0]() is not a else entry[3]

    def reading(self, array: Any) -> None:
        """Memory is about to be changed without an operation, by what it holds."""
        if type(array) is _ndarray and threading.get_ident() == self._thread:
            self._settle()
            self._ref(array)

    def assigning(self, target: Any, new: Any) -> None:
        """An array is about to be written into another."""
        if type(new) is _ndarray and type(target) is _ndarray and threading.get_ident() == self._thread:
            if self._pending:
                self._settle()
            entry = self._known.get(id(new))
            if entry is not None and entry[0]() is new:
                self._incoming[id(target)] = entry[1]
                owner = owner_of(target)
                if owner is not target and owner.dtype == target.dtype and owner.flags.c_contiguous:
                    self._ref(owner, "value")  # what it is a part of, as it was

    def changed(self, array: Any) -> None:
        """Memory is being written; what it holds is looked at when something is recorded next."""
        if self._updating is None and type(array) is _ndarray and threading.get_ident() == self._thread:
            for entry in self._pending:
                if entry[0] is array:
                    self._settle()
                    break
            self._pending.append((array, *places.user_line(2)))

    def moved(self, old: Any, new: Any) -> None:
        """The elements of a value have gone to another array."""
        if type(old) is _ndarray and threading.get_ident() == self._thread:
            entry = self._known.get(id(old))
            if entry is not None and entry[0]() is old:
                self._note(new, entry[1], entry[3])

    def updating(self, rule: str, columns: list[Any], options: dict[str, Any]) -> None:
        """An optimiser's rule is about to run on parameters, gradients and state (a column each)."""
        self._settle()
        ins = [[self._ref(x) for x in row] for row in zip(*(c or [None] * len(columns[0]) for c in columns))]
        self._updating = (rule, columns, options, ins)

    def updated(self) -> None:
        """The rule has run."""
        assert self._updating is not None
        (rule, columns, options, ins), self._updating = self._updating, None
        place, options = places.user_line(2), _as_now(options)
        for i, before in enumerate(ins):
            arrays = [c[i] for j, c in enumerate(columns) if c is not None and j != 1]
            outs = [self._keep(a) for a in arrays]
            self._event(Update, rule.lstrip("_"), before, outs, place, options, rule)
            for a, value in zip(arrays, outs):
                owner = owner_of(a)
                self._writes[id(owner)] = (weakref.ref(owner), self._now)
                self._note(a, value)

    def detached(self, x: Value) -> None:
        """The history of a value is cut off here."""
        entry = self._known.get(id(x._a))
        if x._node is not None and entry is not None and entry[0]() is x._a:
            self._settle()
            self._event(Detach, "detach", (self._ref(x),), (), places.user_line(2))

    def cleared(self, x: Value) -> None:
        """The user has set a gradient."""
        entry = self._leaf_numbers.get(id(x))
        if entry is not None and entry[0]() is x:
            self._settle()
            self._event(Clear, "grad", (), (), places.user_line(2), entry[1])

    # ------------------------------------------------------------------------------------------ backward passes

    def _leaf(self, x: Value) -> int:
        entry = self._leaf_numbers.get(id(x))
        if entry is not None and entry[0]() is x:
            return entry[1]
        a, _ = inside(x)
        entry = self._leaf_numbers.get(id(a))
        if entry is not None and entry[0]() is a:  # a stand-in for the same memory, as gradient functions make them
            self._leaf_numbers[id(x)] = (weakref.ref(x), entry[1])
            return entry[1]
        if self._named_in != self.passes:  # what the user's frames hold stays the same while a pass runs
            holders: dict[int, int] = {}

            def is_value(y: Any) -> bool:
                if not isinstance(y, Value):
                    return False
                holders.setdefault(id(y._a), id(y))
                return True

            self._named_in, self._names = self.passes, (places.names_in_sight(is_value, 2), holders)
        names, holders = self._names
        name = names.get(id(x)) or names.get(holders.get(id(a), 0)) or getattr(x, "name", None)
        number = len(self.leaves)
        self._leaf_numbers[id(x)] = (weakref.ref(x), number)
        self._leaf_numbers[id(a)] = (weakref.ref(a), number)
        value = self._ref(x)
        if value in self._small:  # what a program starts from is known whole, whatever the budget
            self._small.discard(value)
            before = self._size
            self._later.append((value, self._put(self._content_of(a))))
            self._budget += self._size - before
        self.leaves.append(Leaf(name if isinstance(name, str) else "", value))
        return number

    def pass_begins(self, run: Any, roots: Sequence[Any], gradients: Sequence[Any], inputs: Any) -> None:
        """A backward pass begins at these edges."""
        if threading.get_ident() != self._thread:
            self.elsewhere += 1
            return
        self.passes += 1
        self._settle()
        at = [(edge, output) if edge >= 0 else (NOWHERE, 0) for edge, output in self._edges(roots)]
        seeds = [self._keep(inside(g)[0]) for g in gradients]
        self._event(Pass, "backward", (), seeds, places.user_lines(2), run.number, bool(run.create_graph), at)

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        """The gradient with respect to an operation's results has arrived."""
        if node.event < 0 or threading.get_ident() != self._thread:
            return
        if self._pending:
            self._settle()
        place, own = ("", 0), not isinstance(node.prim, Primitive)
        for i, part in enumerate(g if type(g) is list else (g,)):
            if part is not None:
                value = self._gradient(part)
                self._event(Cotangent, "gradient", (), (value,), place, run.number, node.event, i)
                if own and type(a := inside(part)[0]) is _ndarray:  # the user's rule will read it
                    self._note(a, value)

    def gave(self, run: Any, node: Any, needs: Any, results: Any) -> None:
        """The user's own rule has given the gradients of an operation's operands."""
        if node.event < 0 or isinstance(node.prim, Primitive) or threading.get_ident() != self._thread:
            return
        if self._pending:
            self._settle()
        ins = [ABSENT if edge is None or r is None else self._gradient(r) for edge, r in zip(needs, results)]
        self._event(Gave, "gradient", ins, (), ("", 0), run.number, node.event)

    def _gradient(self, g: Any) -> int:
        """A gradient's value: a known one if the user's own backward or a hook computed it."""
        a, _ = inside(g)
        entry = self._known.get(id(a))
        return entry[1] if entry is not None and entry[0]() is a else self._keep(a)

    def arriving(self, run: Any, target: Value, g: Any) -> None:
        """A gradient is about to be added to `target.grad`."""
        if threading.get_ident() != self._thread:
            return
        self._settle()
        leaf = self._leaf(target)
        held = None if target._grad is None else inside(target._grad)[0]
        had = held is not None and bool(np.any(held))
        before = self._ref(held) if had and type(held) is _ndarray else ABSENT
        self._arriving = (leaf, self._gradient(g), had, before, inside(g)[0])

    def arrived(self, run: Any, target: Value) -> None:
        """It has been added."""
        if threading.get_ident() != self._thread:
            return
        self._pending.clear()
        leaf, contribution, had, before, array = self._arriving
        total, _ = inside(target._grad)
        same = total is array or (not had and same_bits(total, array))
        value = self._keep(total, contribution if same else ABSENT)
        self._event(Accumulate, "accumulate", (contribution,), (value,), places.user_line(2), run.number, leaf,
                    self._edges((target._node,))[0], had, before)  # fmt: skip
        owner = owner_of(total)
        self._writes[id(owner)] = (weakref.ref(owner), self._now)
        self._note(total, value)

    def pass_ends(self, run: Any, inputs: Any) -> None:
        """A backward pass has ended; it returns what it captured for `inputs`."""
        if threading.get_ident() != self._thread:
            return
        self._event(Passed, "backward", (), (), ("", 0), run.number)
        if inputs is None:
            return
        place = places.user_line(2)
        for position, edge in enumerate(inputs):
            g = run.captured.get(edge)
            leaf = -1
            if type(edge) is Arrival:
                x = edge.leaf()
                if x is not None:
                    leaf = self._leaf(x)
            if g is not None and not run.accumulate:
                a, _ = inside(g)
                value = self._gradient(g)
                self._event(Returned, "gradient", (), (value,), place, run.number, leaf, self._edges((edge,))[0], position)
                if type(a) is _ndarray:
                    self._note(a, value)


def _steps(a: np.ndarray, owner: np.ndarray) -> tuple[Any, ...]:
    """How an array is a view of its owner's memory, as `view_scatter` wants to be told."""
    start = (a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // a.itemsize
    strides = tuple(s // a.itemsize for s in a.strides)
    return ((as_strided, (("shape", a.shape), ("strides", strides), ("offset", start))),)


def _as_now(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters, arrays among them as they are by now: a rate may be written in place later."""
    if any(type(x) is _ndarray for x in params.values()):
        return {key: x.copy() if type(x) is _ndarray else x for key, x in params.items()}
    return params


_NOT_PICKLED = (pickle.PicklingError, AttributeError, TypeError, ValueError)


def _pickled(part: dict[str, Any], events: list[Event]) -> bytes:
    """Some of a record for another process; of parameters that cannot go there (a function made on the way), the text."""
    try:
        return pickle.dumps({**part, "events": list(map(row, events))})
    except _NOT_PICKLED:
        for e in events:
            if isinstance(e, WithParameters) and not _can_go(e.params):
                e.params = e.text
        return pickle.dumps({**part, "events": list(map(row, events))})


def _can_go(params: Any) -> bool:
    try:
        pickle.dumps(params)
    except _NOT_PICKLED:
        return False
    return True


def _nbytes(kept: Kept) -> int:
    n = dtype_named(kept.dtype).itemsize
    for size in kept.shape:
        n *= size
    return n


@functools.cache
def name_of(dtype: np.dtype) -> str:
    """The name of a dtype, which NumPy takes 5 us to put together."""
    return dtype.name


@functools.cache
def dtype_named(name: str) -> np.dtype:
    """A dtype by its name, those of ml_dtypes among them."""
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))
