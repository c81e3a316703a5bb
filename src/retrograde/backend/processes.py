"""Groups of processes that exchange arrays, over MPI: what the dialects' collective operations stand on.

A process that nothing has started beside others is a group of one, for which MPI is not loaded. Everything else goes through
mpi4py and whatever MPI it is built on, without a protocol of our own. Every operation begins without waiting and gives a
`Pending`: so whoever waits has a limit of time, and answers to an interrupt.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import os
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from .._errors import UnsupportedError
from .launch import started
from .staging import Disagreement, Staging, advance, compare, divide, open_staging, told

TIMEOUT = 1800.0
"""Seconds that an operation waits for the other processes, unless its group says otherwise."""
CHECKED = 10
"""The first operations of a group for which the processes compare what they are about to do."""
REDUCTIONS = {
    "sum": ("SUM", np.add), "mean": ("SUM", np.add), "product": ("PROD", np.multiply), "min": ("MIN", np.minimum),
    "max": ("MAX", np.maximum), "and": ("BAND", np.bitwise_and), "or": ("BOR", np.bitwise_or), "xor": ("BXOR", np.bitwise_xor),
}  # fmt: skip
"""How elements of several processes are combined: by which operation of MPI, and which function of NumPy's."""


class TimedOut(RuntimeError):
    """Not all processes of a group have come in time."""


@functools.cache
def _mpi() -> Any:
    # Open MPI's windows over UCX print an error where there is no hardware for them, whoever asks for a window.
    os.environ.setdefault("OMPI_MCA_osc", "^ucx")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as problem:  # a RuntimeError where there is no MPI below it
        raise UnsupportedError(
            f"several processes exchange arrays through MPI, which cannot be loaded here ({problem}); "
            "pip install 'retrograde[mpi]' brings mpi4py and an MPI"
        ) from problem
    return MPI


class Pending:
    """An operation between processes that has begun."""

    def __init__(self, group: Group, name: str, requests: Sequence[Any], finish: Callable[[], Any]) -> None:
        self._group, self._name, self._requests, self._finish = group, name, list(requests), finish
        self._found: Any = None
        self._complete = not self._requests
        if self._complete:
            self._found = finish()

    def done(self) -> bool:
        """Whether it is complete."""
        if not self._complete:
            advance()
            try:
                complete = all(r.Test() for r in self._requests)
            except _mpi().Exception as problem:
                self._complete = True
                raise Disagreement(
                    f"{self._name}: MPI says {problem}; probably the processes are not at the same operation, or their arrays "
                    "differ in shape or dtype: TORCH_DISTRIBUTED_DEBUG=DETAIL lets them compare that before each one"
                ) from problem
            if complete:
                self._end()
        return self._complete

    def wait(self, timeout: float | None = None) -> Any:
        """What it gives, as soon as all processes have done their part.

        Raises TimedOut after `timeout` seconds (the group's, where it is None).
        """
        if self._complete:
            return self._found
        limit = self._group.timeout if timeout is None else timeout
        begun = now = time.perf_counter()
        while not self.done():
            now = time.perf_counter()
            if now - begun > limit:
                raise TimedOut(
                    f"{self._name}: process {self._group.rank} of {self._group.size} has waited {limit:g} s for the others, of "
                    "which some have not come to this operation, or have ended"
                )
            if now - begun > 1e-3:
                time.sleep(min(1e-3, (now - begun) / 50))
            elif now - begun > 2e-5:
                time.sleep(0)  # there may be more processes than cores
        return self._found

    def _end(self) -> None:
        self._complete, self._requests = True, []
        self._found = self._finish()


class Group:
    """Some of the processes, in an order.

    ranks: their numbers among all processes. rank: the place of this one among them, -1 where it is none of them.
    staging: what reduces through memory that all share, if they do.
    """

    def __init__(
        self, comm: Any, ranks: Sequence[int], timeout: float = TIMEOUT, staging: Staging | None = None
    ) -> None:  # fmt: skip
        self._comm, self.ranks, self.timeout, self._staging = comm, tuple(ranks), timeout, staging
        self.size = len(self.ranks)
        own = started_rank()
        self.rank = self.ranks.index(own) if own in self.ranks else -1
        self._count = 0

    # ---------------------------------------------------------------------------------------- what is the same for all

    def _agree(self, name: str, array: np.ndarray | None, *options: Any) -> None:
        """Compare with the others what is about to be done, for the first operations and where
        TORCH_DISTRIBUTED_DEBUG=DETAIL asks for it."""
        self._count += 1
        always = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "").upper() == "DETAIL"
        if self.size == 1 or not (always or self._count <= CHECKED):
            return
        mine = told(name, *([] if array is None else [f"{array.dtype}{list(array.shape)}"]), *options)
        every = np.empty((self.size, mine.size), np.uint8)
        Pending(self, name, [self._comm.Iallgather(mine, every)], bool).wait()
        compare(name, self.ranks, every)

    def _begin(
        self, name: str, array: np.ndarray | None, start: Callable[[Any], Any], finish: Callable[[], Any], *options: Any,
    ) -> Pending:  # fmt: skip
        if self.rank < 0:
            raise ValueError(f"{name}: process {started_rank()} is not in the group of processes {list(self.ranks)}")
        if self.size == 1:
            return Pending(self, name, [], finish)
        self._agree(name, array, *options)
        return Pending(self, name, [start(self._comm)], finish)

    def root(self, name: str, process: int) -> int:
        """The place in the group of a process with a number among all."""
        if process not in self.ranks:
            raise ValueError(f"{name}: process {process} is not in the group of processes {list(self.ranks)}")
        return self.ranks.index(process)

    # ---------------------------------------------------------------------------------------- collective operations

    def barrier(self) -> Pending:
        """Wait for all."""
        return self._begin("barrier", None, lambda c: c.Ibarrier(), lambda: None)

    def all_reduce(self, array: np.ndarray, how: str = "sum") -> Pending:
        """The elements of all processes' arrays combined: an array like this one."""
        wide, rounded = _widened(array, how)
        by = self.size if how == "mean" else 1
        return self._all_reduce([wide], f"{array.dtype}{list(array.shape)}", how, by, lambda: rounded(wide))

    def all_reduce_in_place(self, arrays: Sequence[np.ndarray], how: str = "sum", divisor: int | None = None) -> Pending:
        """The elements of all processes' arrays combined, in the arrays themselves, which have one dtype and are `combinable`.

        divisor: what the results are divided by; the number of processes for the mean and 1 for others, where it is None.
        """
        first = arrays[0]
        _combined_dtype(first, how)
        size = list(first.shape) if len(arrays) == 1 else f"[{sum([a.size for a in arrays])}] in {len(arrays)} arrays"
        said = f"{first.dtype}{size}"
        if divisor is None:
            divisor = self.size if how == "mean" else 1
        return self._all_reduce(arrays, said, how, divisor, lambda: None)

    def _all_reduce(
        self, arrays: Sequence[np.ndarray], said: str, how: str, divisor: int, finish: Callable[[], Any]
    ) -> Pending:  # fmt: skip
        operation, function = REDUCTIONS[how]
        name, staging = "all_reduce", self._staging
        if staging is not None:
            return self._begin(
                name, None, lambda _: staging.reduce(name, self.ranks, arrays, function, divisor, told(name, said, how)),
                finish, said, how,
            )  # fmt: skip
        together = self.size > 1 and len(arrays) > 1
        flat = np.concatenate([a.reshape(-1) for a in arrays]) if together else arrays[0]

        def end() -> Any:
            for a in [flat] if self.size > 1 else arrays:
                divide(a, divisor)
            if together:
                for a, part in zip(arrays, np.split(flat, np.cumsum([a.size for a in arrays])[:-1])):
                    a[...] = part.reshape(a.shape)
            return finish()

        return self._begin(name, None, lambda c: c.Iallreduce(_mpi().IN_PLACE, flat, getattr(_mpi(), operation)), end, said, how)

    def reduce(self, array: np.ndarray, root: int, how: str = "sum") -> Pending:
        """As `all_reduce`, for the process at place `root`; the others get None."""
        wide, rounded = _widened(array, how)
        mine = self.rank == root

        def start(c: Any) -> Any:
            op = getattr(_mpi(), REDUCTIONS[how][0])
            return c.Ireduce(_mpi().IN_PLACE, wide, op, root) if mine else c.Ireduce(wide, None, op, root)

        return self._begin(
            "reduce", array, start, lambda: rounded(_averaged(wide, how, self.size)) if mine else None, how, f"to {root}"
        )

    def broadcast(self, array: np.ndarray, root: int) -> Pending:
        """The array of the process at place `root`; the others' say shape and dtype."""
        found = np.array(array, order="C")
        return self._begin("broadcast", array, lambda c: c.Ibcast(_bytes(found), root), lambda: found, f"from {root}")

    def all_gather(self, array: np.ndarray, shapes: Sequence[Sequence[int]] | None = None) -> Pending:
        """The arrays of all, in a list. shapes: theirs, where they are not all like this one."""
        given = np.ascontiguousarray(array)
        places = _Places(given.dtype, [array.shape] * self.size if shapes is None else shapes)
        return self._begin(
            "all_gather", None if shapes is not None else array,
            lambda c: c.Iallgatherv(_bytes(given), places.spec()), lambda: places.parts(own=given),
        )  # fmt: skip

    def gather(self, array: np.ndarray, root: int) -> Pending:
        """The arrays of all, in a list, for the process at place `root`; the others get None."""
        given, mine = np.ascontiguousarray(array), self.rank == root
        places = _Places(given.dtype, [array.shape] * (self.size if mine else 0))
        return self._begin(
            "gather", array, lambda c: c.Igatherv(_bytes(given), places.spec() if mine else None, root),
            lambda: places.parts(own=given) if mine else None, f"to {root}",
        )  # fmt: skip

    def scatter(self, arrays: Sequence[np.ndarray] | None, like: np.ndarray, root: int) -> Pending:
        """One of the arrays of the process at place `root`, which are all like `like`."""
        found = np.empty(like.shape, like.dtype)
        mine = self.rank == root
        places = _Places(like.dtype, [like.shape] * (self.size if mine else 0))
        if mine:
            if arrays is None or len(arrays) != self.size:
                raise ValueError(f"scatter: {0 if arrays is None else len(arrays)} arrays for {self.size} processes")
            places.fill(arrays)

        def finish() -> np.ndarray:
            return places.parts()[0] if self.size == 1 else found

        return self._begin(
            "scatter", like, lambda c: c.Iscatterv(places.spec() if mine else None, _bytes(found), root), finish, f"from {root}"
        )

    def reduce_scatter(self, arrays: Sequence[np.ndarray], how: str = "sum") -> Pending:
        """The lists of all combined element by element, and of the result the entry with this process's place."""
        if len(arrays) != self.size:
            raise ValueError(f"reduce_scatter: {len(arrays)} arrays for {self.size} processes")
        counts = [a.size for a in arrays]
        flat = np.concatenate([np.ravel(a) for a in arrays])
        wide, rounded = _widened(flat, how)
        found = np.empty(counts[self.rank], wide.dtype)
        shape = arrays[self.rank].shape

        def finish() -> np.ndarray:
            result = wide if self.size == 1 else found
            return rounded(_averaged(result, how, self.size)).reshape(shape)

        return self._begin(
            "reduce_scatter", flat,
            lambda c: c.Ireduce_scatter(wide, found, counts, getattr(_mpi(), REDUCTIONS[how][0])), finish, how,
        )  # fmt: skip

    def all_to_all(self, arrays: Sequence[np.ndarray], shapes: Sequence[Sequence[int]]) -> Pending:
        """The entry of each process's list that has this process's place. shapes: of what comes."""
        dtype = arrays[0].dtype
        given, found = _Places(dtype, [a.shape for a in arrays]), _Places(dtype, shapes)
        given.fill(arrays)
        return self._begin(
            "all_to_all", None, lambda c: c.Ialltoallv(given.spec(), found.spec()),
            lambda: (given if self.size == 1 else found).parts(), str(dtype),
        )  # fmt: skip

    # ---------------------------------------------------------------------------------------- objects

    def all_gather_objects(self, x: Any) -> list[Any]:
        """The objects of all, pickled on the way."""
        data = np.frombuffer(pickle.dumps(x), np.uint8)
        sizes = self.all_gather(np.array([len(data)])).wait()
        return [pickle.loads(a.tobytes()) for a in self.all_gather(data, [tuple(n) for n in sizes]).wait()]  # noqa: S301

    def broadcast_object(self, x: Any, root: int) -> Any:
        """The object of the process at place `root`."""
        data = np.frombuffer(pickle.dumps(x if self.rank == root else None), np.uint8)
        size = self.broadcast(np.array([len(data)]), root).wait()
        mine = data if self.rank == root else np.empty(int(size[0]), np.uint8)
        return pickle.loads(self.broadcast(mine, root).wait().tobytes())  # noqa: S301 - from a process of this program

    # ---------------------------------------------------------------------------------------- between two

    def send(self, array: np.ndarray, to: int, tag: int = 0) -> Pending:
        """Send an array to the process at place `to`."""
        self._two("send", to)
        given = np.array(array, order="C")
        return Pending(self, "send", [self._comm.Isend(_bytes(given), to, tag)], lambda: given is None)

    def receive(self, like: np.ndarray, source: int | None = None, tag: int = 0) -> Pending:
        """An array like `like` from the process at place `source`, or from any: the array, and the place of who sent it."""
        if source is not None or self.size == 1:
            self._two("recv", source or 0)
        found, status = np.empty(like.shape, like.dtype), _mpi().Status()
        request = self._comm.Irecv(_bytes(found), _mpi().ANY_SOURCE if source is None else source, tag)
        return Pending(self, "recv", [_Received(request, status)], lambda: (found, status.Get_source()))

    def _two(self, name: str, other: int) -> None:
        if other == self.rank:
            raise ValueError(f"{name}: process {self.ranks[other]} is this one; name another process")
        if not 0 <= other < self.size:
            raise ValueError(f"{name}: there is no process {other} in a group of {self.size}")


class _Received:
    """A request that leaves where its message came from in a status."""

    def __init__(self, request: Any, status: Any) -> None:
        self._request, self._status = request, status

    def Test(self) -> bool:
        return bool(self._request.Test(self._status))


class _Places:
    """Arrays of one dtype one behind the other, as MPI is told of them."""

    def __init__(self, dtype: np.dtype, shapes: Sequence[Sequence[int]]) -> None:
        self.shapes = [tuple(s) for s in shapes]
        self.counts = [math.prod(s) for s in self.shapes]
        self.flat = np.empty(sum(self.counts), dtype)

    def spec(self) -> list[Any]:
        size = self.flat.dtype.itemsize
        return [_bytes(self.flat), [n * size for n in self.counts]]

    def fill(self, arrays: Sequence[np.ndarray]) -> None:
        for place, a in zip(np.split(self.flat, np.cumsum(self.counts)[:-1]), arrays):
            place[...] = np.ravel(a)

    def parts(self, own: np.ndarray | None = None) -> list[np.ndarray]:
        if own is not None and len(self.shapes) == 1:  # a group of one, in which nothing was sent
            return [own.copy()]
        return [p.reshape(s) for p, s in zip(np.split(self.flat, np.cumsum(self.counts)[:-1]), self.shapes)]


def combinable(array: np.ndarray) -> bool:
    """Whether an array is combined with others where it lies: without gaps, and of a dtype that MPI combines."""
    dtype = array.dtype
    return array.flags.carray and (dtype.kind in "iu" or (dtype.kind in "fc" and dtype.itemsize > 2))


def _bytes(array: np.ndarray) -> np.ndarray:
    """An array that lies without gaps as bytes: what is only moved may have any dtype."""
    return array.reshape(-1).view(np.uint8)


def _combined_dtype(array: np.ndarray, how: str) -> np.dtype:
    """The dtype of an array whose elements are combined; raises where they cannot be."""
    dtype = array.dtype
    if how not in REDUCTIONS:
        raise ValueError(f"a reduction: {how!r} is none of {', '.join(REDUCTIONS)}")
    if how in ("and", "or", "xor") and dtype.kind not in "biu":
        raise TypeError(f"a reduction: bits are combined of integers, not of {dtype}")
    if how in ("min", "max") and dtype.kind == "c":
        raise ValueError(f"a reduction: complex numbers have no {how}; combine their parts")
    return dtype


def _widened(array: np.ndarray, how: str) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """A copy of an array in a dtype that MPI combines, and how its result becomes one of the array's dtype."""
    dtype = _combined_dtype(array, how)
    if dtype.kind == "b":
        wide = np.uint8
    elif (dtype.kind in "iufc" and dtype.itemsize > 2) or dtype.kind in "iu":
        wide = dtype.type
    else:
        wide = np.float32  # type: ignore[assignment]
    made = np.array(array, dtype=wide, order="C")
    return made, lambda found: found if found.dtype == dtype else found.astype(dtype)


def _averaged(array: np.ndarray, how: str, size: int) -> np.ndarray:
    divide(array, size if how == "mean" else 1)
    return array


# -------------------------------------------------------------------------------------------- all processes

_WORLD: Group | None = None


def started_rank() -> int:
    """The number of this process among all that were started together."""
    return int(_mpi().COMM_WORLD.rank) if "mpi4py.MPI" in sys.modules else started()[0]


def world(timeout: float = TIMEOUT) -> Group:
    """All processes that were started together. MPI is begun where there are several, and an exception that nobody catches ends
    all of them, with the number of the process in front of its traceback.

    Raises UnsupportedError where there is no MPI, and RuntimeError where it knows nothing of what has started the processes.
    """
    global _WORLD
    if _WORLD is None:
        rank, count = started()
        if count == 1:
            _WORLD = Group(None, (0,), timeout)
        else:
            every = _mpi().COMM_WORLD
            if every.size != count:
                raise RuntimeError(
                    f"this process was started as {rank} of {count}, and its MPI ({_mpi().Get_library_version().split(',')[0]}) "
                    f"says that it is {every.rank} of {every.size}: the launcher belongs to another MPI, or has not told this "
                    "one. srun tells Open MPI with --mpi=pmix and MPICH with --mpi=pmi2; in a batch job mpiexec, or "
                    "`retrograde run --processes N`, needs nothing of Slurm"
                )
            comm = every.Dup()
            _WORLD = Group(comm, range(comm.size), timeout, open_staging(comm, _mpi()))
            _end_together()
    _WORLD.timeout = timeout
    return _WORLD


def group(ranks: Sequence[int], timeout: float = TIMEOUT) -> Group:
    """A group of some of all processes, made by each of them; by those that are not in it as well, at the same place."""
    every = world()
    if every._comm is None:
        return Group(None, ranks, timeout)
    if every.rank not in ranks:
        return Group(None, ranks, timeout)
    chosen = every._comm.Get_group().Incl(list(ranks))
    comm = every._comm.Create_group(chosen, hash(tuple(ranks)) % 30000)
    return Group(comm, ranks, timeout, open_staging(comm, _mpi()))


def _end_together() -> None:
    """Let an exception that nobody catches end all processes."""
    before = sys.excepthook

    def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        said = io.StringIO()  # and written at once, among what other processes write
        with contextlib.suppress(Exception), contextlib.redirect_stderr(said):
            before(kind, error, trace)
        which = f"process {started_rank()} of {_mpi().COMM_WORLD.size}"
        sys.stderr.write(f"{which} ends with an exception, and the others with it:\n{said.getvalue()}")
        end_all(1)

    sys.excepthook = report


def end_all(status: int) -> None:
    """End all processes that were started together, this one included, where MPI has begun."""
    sys.stdout.flush()
    sys.stderr.flush()
    if "mpi4py.MPI" in sys.modules:
        _mpi().COMM_WORLD.Abort(status)
