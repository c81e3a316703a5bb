"""The one pool of threads that generated code shares its work out to, and how many threads there are.

A kernel is written for the units of its work from `%first` to `%last` (rows, images, blocks of numbers: `llvm.shared`); this
file's own generated code hands tiles of units to whoever is free. The workers wait inside generated code, without the
interpreter's lock: for some hundred microseconds they look for the next job again and again, then they sleep. Several Python
threads may call at once: each has a job of its own, in which the workers take part. A call whose job finds no place among
`JOBS` is done by its own thread.

What a unit computes depends on the unit and the shapes alone, never on who computes it or on which units go together, so
that results have the same bits whatever the number of threads.

How many threads there are: RETROGRADE_NUM_THREADS, else OMP_NUM_THREADS, else the processors that the process may use
(affinity, and the quota of a container); `set_count` changes it. Workers are the system's threads (POSIX), started with the
first job that is worth it; elsewhere, and in a child of `fork` until its first job, the caller does everything.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import signal
import time

from . import llvm
from .processor import NEON

JOBS = 8
"""Calls that are shared out at the same time."""

WORTH = 1 << 15
"""Fewer steps of work (float32 numbers moved, or multiplications) are done by the caller: about 5 µs, where handing
over and collecting takes 1.7."""

TILE = 1 << 14
"""Steps of work that are handed out together at least."""
_TILES = 4
"""Tiles for each thread at most: one that is held up is waited for as long as one of them takes."""

_WATCH = 250_000
"""Nanoseconds that a worker looks for a job before it sleeps. Between two jobs lie 2 to 10 µs where nothing but the
interpreter is between them, some 100 where the caller computes something alone; being woken takes 50 and costs the caller a
call of the system. By the clock, since a processor's pause takes 10 to 60 ns: 2,048 of them were 26 µs on one, and the sum of
10^6 numbers with its gradient, two jobs, took 360 µs in place of 205."""

_LOOKS = 64
"""How often it looks between two readings of the clock."""

_STACK = 1 << 20
"""Bytes of a worker's stack: kernels keep up to 450 KiB there, and some systems give no more than 128 by themselves."""

# Bytes from the pool's begin. What is written by many threads has a line of the cache to itself.
_EPOCH, _SLEEPERS, _THREADS, _CALLS, _MUTEX, _SIGNAL, _SLOTS = 0, 64, 128, 192, 256, 384, 512
_RUN, _LOCK, _UNLOCK, _WAIT, _WAKE, _WAKE_ALL, _YIELD, _CLOCK = (_CALLS + 8 * k for k in range(8))
_STATE, _TILE, _OPERANDS, _UNITS, _GRAIN, _NEXT, _USERS, _SLOT = 0, 8, 16, 24, 32, 64, 128, 192
_FREE, _OPEN, _CLOSED = 0, 1, 2

RUN = _RUN
"""Where in the pool the address of `run(pool, tile, operands, units, grain)` stands, for the kernels' own code."""

# ------------------------------------------------------------------------------------------ how many

_count: int | None = None  # None: not asked yet
_pool = 0  # the address of the running pool; 0: none yet
_workers = 0
_kept: list[ctypes.Array[ctypes.c_char]] = []  # its memory, and that of a parent's


def count() -> int:
    """How many threads take part in a job."""
    global _count
    if _count is None:
        _count = asked_for("RETROGRADE_NUM_THREADS", "OMP_NUM_THREADS") or _allowed()
    return _count


def set_count(n: int) -> None:
    """From now on n threads take part in a job; raises ValueError below 1."""
    global _count
    if n < 1:
        raise ValueError(f"set_count: wanted at least 1 thread, got {n}")
    _count = n
    if _pool:
        _word(_pool + _THREADS).value = n


def asked_for(*names: str) -> int | None:
    """The number that the first of some environment variables says; None where none does."""
    for name in names:
        first = os.environ.get(name, "").split(",")[0].strip()  # OMP_NUM_THREADS=4,2: the first is the outermost level's
        if first.isdecimal() and int(first):
            return int(first)
    return None


def processors() -> int:
    """How many processors the process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _allowed() -> int:
    return max(1, math.ceil(min(processors(), _quota())))


def _quota() -> float:
    """How many processors' time the container of this process may use; infinity without a limit."""
    for limit, period in (("/sys/fs/cgroup/cpu.max", None), ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "cpu.cfs_period_us")):
        try:
            with open(limit) as file:
                given = file.read().split()
            if period is not None:
                with open(os.path.join(os.path.dirname(limit), period)) as file:
                    given += file.read().split()
            quota, of = float(given[0]), float(given[1])
        except (OSError, ValueError, IndexError):  # no such limit; "max"
            continue
        if quota > 0 and of > 0:
            return quota / of
    return math.inf


# ------------------------------------------------------------------------------------------ the pool


def pool(work: int) -> int:
    """The pool's address, to be given to a kernel with so many steps of work; 0 where the caller does it alone."""
    if work < WORTH or _count == 1:
        return 0
    return _pool if _pool and _workers + 1 >= count() else _started()


def tiles(units: int, work: int) -> tuple[int, int, int]:
    """What a kernel of `llvm.shared` is given first, for so many units with so many steps of work in all: the pool, the
    units, and how many of them go together."""
    address = pool(work)
    if not address:
        return 0, units, units
    least = TILE * units // work + 1
    return address, units, max(least, units // (_TILES * count()))


def _started() -> int:
    """The pool with as many workers as `count` says; 0 where there can be none."""
    global _pool, _workers
    wanted = count()
    if wanted == 1 or not hasattr(signal, "pthread_sigmask"):
        return 0
    with llvm.lock:  # held while the process forks, too
        code = _code()
        if code is None:
            return 0
        run, work = code
        if not _pool:
            _pool = _made(run)
        _word(_pool + _THREADS).value = wanted
        # A signal is for Python's own threads: one that interrupts a worker would not end the main thread's waiting.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            while _workers + 1 < wanted:
                if not _thread(_pool, work, _workers + 1):
                    break
                _workers += 1
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if _workers + 1 < wanted:
            set_count(_workers + 1)  # the system gives no more
    return _pool if _workers else 0


def _made(run: int) -> int:
    """The address of new memory for a pool: no jobs, no workers."""
    memory = ctypes.create_string_buffer(_SLOTS + _SLOT * JOBS + 64)
    _kept.append(memory)
    address = -(-ctypes.addressof(memory) // 64) * 64
    system = _system()
    names = ("mutex_lock", "mutex_unlock", "cond_wait", "cond_signal", "cond_broadcast")
    functions = [getattr(system, f"pthread_{name}") for name in names] + [system.sched_yield, system.clock_gettime]
    calls = [run, *(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions)]
    for k, call in enumerate(calls):
        _word(address + _CALLS + 8 * k).value = call
    system.pthread_mutex_init(ctypes.c_void_p(address + _MUTEX), None)
    system.pthread_cond_init(ctypes.c_void_p(address + _SIGNAL), None)
    return address


def _thread(address: int, work: int, number: int) -> bool:
    """Start worker `number` (from 1 on); whether the system did."""
    given = ctypes.create_string_buffer(16)  # the pool and the number, which the worker reads when it begins
    _kept.append(given)
    _word(ctypes.addressof(given)).value, _word(ctypes.addressof(given) + 8).value = address, number
    system, handle, attributes = _system(), ctypes.c_void_p(), ctypes.create_string_buffer(256)
    system.pthread_attr_init(attributes)
    system.pthread_attr_setstacksize(attributes, ctypes.c_size_t(_STACK))
    failed = system.pthread_create(ctypes.byref(handle), attributes, ctypes.c_void_p(work), given)
    system.pthread_attr_destroy(attributes)
    if failed:
        return False
    system.pthread_detach(handle)
    return True


def _word(address: int) -> ctypes.c_int64:
    return ctypes.c_int64.from_address(address)


@functools.cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@functools.cache
def _code() -> tuple[int, int] | None:
    """The addresses of `run` and of a worker's code; None without generated code."""
    found = [llvm.address(name, text) for name, text in (("run", _run), ("work", _work))]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]


def _forget() -> None:
    """In a child of `fork`: its parent's workers are not there."""
    global _pool, _workers
    _pool = _workers = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

# ------------------------------------------------------------------------------------------ its code


def _at(code: llvm.Code, base: str, offset: int | str) -> str:
    return code.at("i8", base, offset)


def _load(code: llvm.Code, base: str, offset: int, order: str = "") -> str:
    at = _at(code, base, offset)
    return code.value(f"load atomic i64, ptr {at} {order}, align 8" if order else f"load i64, ptr {at}")


def _pointer(code: llvm.Code, base: str, offset: int) -> str:
    return code.value(f"load ptr, ptr {_at(code, base, offset)}")


def _add(code: llvm.Code, base: str, offset: int, x: str | int) -> str:
    """Add to a word that others write, too; what it was."""
    return code.value(f"atomicrmw add ptr {_at(code, base, offset)}, i64 {x} seq_cst, align 8")


def _store(code: llvm.Code, base: str, offset: int, x: str | int) -> None:
    code.do(f"store atomic i64 {x}, ptr {_at(code, base, offset)} seq_cst, align 8")


def _call(code: llvm.Code, function: int, *operands: str) -> None:
    """A function of the system's whose address stands in the pool; what it returns is not looked at."""
    given = ", ".join(f"ptr {x}" for x in operands)
    code.value(f"call i32 {_pointer(code, '%pool', function)}({given})")


def _pause(code: llvm.Code) -> None:
    """Say to the processor that this is a loop that waits."""
    if llvm.processor() is NEON:
        code.declare("declare void @llvm.aarch64.hint(i32)")
        code.do("call void @llvm.aarch64.hint(i32 1)")
    else:
        code.declare("declare void @llvm.x86.sse2.pause()")
        code.do("call void @llvm.x86.sse2.pause()")


def _tiles(code: llvm.Code, slot: str) -> None:
    """Take tiles of the job in a slot until none is left."""
    tile, operands = _pointer(code, slot, _TILE), _pointer(code, slot, _OPERANDS)
    units, grain = _load(code, slot, _UNITS), _load(code, slot, _GRAIN)
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def one() -> str:
        first = _add(code, slot, _NEXT, grain)
        going = code.value(f"icmp slt i64 {first}, {units}")

        def some() -> None:
            last = code.least(code.add(first, grain), units)
            code.do(f"call void {tile}(ptr {operands}, i64 {first}, i64 {last})")

        code.when(going, some)
        return going

    code.repeat(one)


def _run(code: llvm.Code) -> str:
    """run(pool, tile, operands, units, grain): tile(operands, first, last) for all units, by all threads."""
    found = code.value("alloca i64")
    code.do(f"store i64 {JOBS}, ptr {found}")

    def look(k: str) -> None:
        none = code.value(f"icmp eq i64 {code.value(f'load i64, ptr {found}')}, {JOBS}")

        def claim() -> None:
            state = _at(code, "%pool", code.add(code.mul(k, _SLOT), _SLOTS + _STATE))
            pair = code.value(f"cmpxchg ptr {state}, i64 {_FREE}, i64 {_CLOSED} seq_cst seq_cst")
            code.when(code.value(f"extractvalue {{ i64, i1 }} {pair}, 1"), lambda: code.do(f"store i64 {k}, ptr {found}"))

        code.when(none, claim)

    code.loop(0, JOBS, 1, look)
    place = code.value(f"load i64, ptr {found}")
    full = code.value(f"icmp eq i64 {place}, {JOBS}")
    code.when(full, lambda: code.do("call void %tile(ptr %operands, i64 0, i64 %units)"))

    def share() -> None:
        slot = _at(code, "%pool", code.add(code.mul(place, _SLOT), _SLOTS))
        for offset, value in ((_TILE, "ptr %tile"), (_OPERANDS, "ptr %operands"), (_UNITS, "i64 %units"), (_GRAIN, "i64 %grain")):
            code.do(f"store {value}, ptr {_at(code, slot, offset)}")
        _store(code, slot, _NEXT, 0)
        _store(code, slot, _STATE, _OPEN)
        _add(code, "%pool", _EPOCH, 1)
        asleep = _load(code, "%pool", _SLEEPERS, "seq_cst")
        code.when(code.value(f"icmp sgt i64 {asleep}, 0"), lambda: wake(asleep))
        _tiles(code, slot)
        _store(code, slot, _STATE, _CLOSED)  # who is in it stays until its tile is done, nobody enters

        def wait() -> str:
            for _ in range(64):
                _pause(code)
            busy = code.value(f"icmp ne i64 {_load(code, slot, _USERS, 'seq_cst')}, 0")
            code.when(busy, lambda: _call(code, _YIELD))
            return code.value(f"icmp ne i64 {_load(code, slot, _USERS, 'seq_cst')}, 0")

        busy = code.value(f"icmp ne i64 {_load(code, slot, _USERS, 'seq_cst')}, 0")
        code.when(busy, lambda: code.repeat(wait))
        _store(code, slot, _STATE, _FREE)

    def wake(asleep: str) -> None:
        """As many sleepers as there are tiles beside the caller's own."""
        tiles = code.value(f"sdiv i64 {code.add('%units', code.add('%grain', -1))}, %grain")
        more = code.add(tiles, -1)
        _call(code, _LOCK, _at(code, "%pool", _MUTEX))
        every = code.value(f"icmp sge i64 {more}, {asleep}")
        code.when(every, lambda: _call(code, _WAKE_ALL, _at(code, "%pool", _SIGNAL)))
        some = code.value(f"select i1 {every}, i64 0, i64 {more}")
        code.loop(0, some, 1, lambda _: _call(code, _WAKE, _at(code, "%pool", _SIGNAL)))
        _call(code, _UNLOCK, _at(code, "%pool", _MUTEX))

    code.when(code.value(f"xor i1 {full}, true"), share)
    return code.module("define void @run(ptr %pool, ptr %tile, ptr %operands, i64 %units, i64 %grain)")


def _work(code: llvm.Code) -> str:
    """What a worker does, without end: its operand is the address of the pool's address and its own number."""
    pool = code.value("load ptr, ptr %given", "%pool")
    number = code.value(f"load i64, ptr {code.at('i64', '%given', 1)}")
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def enter(k: str) -> None:
        slot = _at(code, pool, code.add(code.mul(k, _SLOT), _SLOTS))

        def is_open() -> str:
            return code.value(f"icmp eq i64 {_load(code, slot, _STATE, 'seq_cst')}, {_OPEN}")

        def take_part() -> None:
            _add(code, slot, _USERS, 1)
            code.when(is_open(), lambda: _tiles(code, slot))
            _add(code, slot, _USERS, -1)

        code.when(is_open(), take_part)

    def look() -> None:
        code.loop(0, JOBS, 1, enter)

    left, clock = code.value("alloca i64"), code.value("alloca [2 x i64]")  # looks; seconds and nanoseconds

    def now() -> str:
        code.value(f"call i32 {_pointer(code, pool, _CLOCK)}(i32 {time.CLOCK_MONOTONIC}, ptr {clock})")
        seconds, rest = (code.value(f"load i64, ptr {code.at('i64', clock, k)}") for k in range(2))
        return code.add(code.mul(seconds, 1_000_000_000), rest)

    def round_() -> str:
        seen = _load(code, pool, _EPOCH, "seq_cst")
        taking_part = code.value(f"icmp slt i64 {number}, {_load(code, pool, _THREADS, 'monotonic')}")
        code.when(taking_part, look)

        def unchanged() -> str:
            return code.value(f"icmp eq i64 {_load(code, pool, _EPOCH, 'seq_cst')}, {seen}")

        until = code.add(now(), _WATCH)

        def look_again() -> str:
            _pause(code)
            less = code.add(code.value(f"load i64, ptr {left}"), -1)
            code.do(f"store i64 {less}, ptr {left}")
            return code.value(f"and i1 {unchanged()}, {code.value(f'icmp sgt i64 {less}, 0')}")

        def watch() -> str:
            code.do(f"store i64 {_LOOKS}, ptr {left}")
            code.repeat(look_again)
            _call(code, _YIELD)  # to BLAS's threads, and to other programs
            return code.value(f"and i1 {unchanged()}, {code.value(f'icmp slt i64 {now()}, {until}')}")

        code.repeat(watch)

        def sleep() -> None:
            mutex, condition = _at(code, pool, _MUTEX), _at(code, pool, _SIGNAL)
            _call(code, _LOCK, mutex)
            _add(code, pool, _SLEEPERS, 1)

            def doze() -> str:
                still = unchanged()
                code.when(still, lambda: _call(code, _WAIT, condition, mutex))
                return still

            code.repeat(doze)
            _add(code, pool, _SLEEPERS, -1)
            _call(code, _UNLOCK, mutex)

        code.when(unchanged(), sleep)
        return "true"

    code.repeat(round_)
    return code.module("define void @work(ptr %given)")
