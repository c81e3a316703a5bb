"""What is switched on in this thread: grad mode, saved-tensor hooks, anomaly mode, open levels.

Everything that `bind` has to ask per operation is folded into one integer, `mode`, so that the everyday
path reads one attribute. Whoever changes a switch restores it in `finally` (or through `Switched`).

All state of the process that is written after import, in this file, `backend`, `core`, `tape`, `tensor` and `transform`, and
who writes it (a test finds what is missing here). Of one thread: `state`, and everything else is the process's own.

    _state.py state: who switches something, within a `with` block: `observe`, `grad_mode`, levels, a backward pass, dialects
    _state.py SWITCHED: `set_mode` and `settle`, as `state.mode` goes
    _state.py OPENED: levels that are opened and closed
    _state.py LOOKED_AT: `observe`; inference mode of the torch dialect
    _state.py OBSERVERS: `observe`
    _state.py SAVE_CHECKS: inference mode of the torch dialect, when it is first used
    backend/lookup.py _BY_TYPE: `register_backend`; `backend_of`, which keeps what it finds for a type
    backend/devices.py CROSSED: `moved` of ops/devices.py, when it first records a way to the CPU
    backend/devices.py FOUND: `accelerator`, when it first finds devices of a kind
    backend/standard.py _BACKENDS: `register`, one entry per namespace
    backend/dtypes.py _OURS: `register_dtypes`, one entry per dtype of another library
    backend/processes.py _WORLD: `world`, when processes are connected
    backend/staging.py RUNNING: who begins a reduction, until it is complete
    backend/blas.py _asking: whoever wants one thread of BLAS, while it does
    backend/blas.py _before: the same
    backend/jit/cache.py _more: whoever writes an entry, what it adds
    backend/jit/llvm.py MADE: `_translated` and `kept`, as modules are translated or read from disk
    backend/jit/llvm.py _kept: what was compiled, by name and source
    backend/jit/llvm.py _methods: what the interpreter was told of each function
    backend/jit/llvm.py _spent: `pays`, what slower ways have taken as long as llvmlite is not loaded
    backend/jit/pointwise.py _FUNCTIONS: the loop of each expression that was asked for
    backend/jit/threads.py _count: `count`, when it is first asked, and `set_count`
    backend/jit/threads.py _pool: `_started`, with the first job, and a child of fork
    backend/jit/threads.py _workers: the same
    backend/jit/threads.py _kept: `_made` and `_thread`, the memory of pools
    backend/jit/windows.py _calls: what code for windows is given for shapes and tables that come again and again
    backend/jit/products.py _generated: the compiled product of each dtype that was asked for
    backend/jit/products.py _plans: the way of multiplying for each shape, as a memory
    core/record.py PRIMITIVES: `primitive`; operations may be registered at any time
    core/specialise.py SWAPS: `_follow`, for each function that has a kernel in it
    core/bind.py annotate: tape/hooks.py, once
    core/value.py core_class: tensor/core.py, once
    core/level.py _names: a level that is opened, for messages
    core/level.py _open_in: levels that are opened and closed, for messages
    tape/mutation.py MUTATED: whoever writes memory in place, through `note`
    tape/mutation.py latest: the same
    tape/mutation.py PLACES: `note`, under anomaly mode, until the memory is gone
    tape/mutation.py MIRRORS: `mirror`, until the image is gone
    tape/mutation.py ADDRESSED: `address_of`, until the memory is gone
    tape/mutation.py AWAITED: `when_written`, until the memory is written or gone
    tape/profiling.py RUNNING: `Profiler.start` and `stop`
    transform/selective.py _here: what stands in front of the kernels of one thread
    transform/selective.py _users: while a selective checkpoint computes
    transform/selective.py _kernels: the same
    tensor/numpy_protocol.py _ADAPTERS: `implements`, while the three files with NumPy's functions are imported
    tensor/numpy_protocol.py _BY_NAME: the same
    tensor/operators.py _BINARY: `binary`, at import

Beside these there are counters (`tick` in core/node.py, the numbers of levels and of hooks), which count up only, and
memories of pure functions (`functools.cache`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

OFF, ON, WATCHED = 0, 1, 2


class State(threading.local):
    """The switches of one thread; a new thread starts with gradients on and nothing else."""

    mode: int = ON
    """Of the everyday tape. OFF: nothing is recorded. ON: recorded. WATCHED: recorded, and each node is shown to
    `annotate`."""
    mark: Callable[[Any], None] | None = None
    """What is done with each value that is made without history, if anything."""
    anomaly: bool = False
    check_nan: bool = True
    saved_hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()
    saved_hooks_disabled: str | None = None
    levels: tuple[Any, ...] = ()
    tapes: dict[int, Any] = {}
    """The open levels that are tapes, by number; never changed, always put anew."""
    tape: Any = None
    """The innermost open level that is a tape; its mode is what no_grad() switches inside it."""
    forward: bool = True
    """Whether forward mode follows tangents; where it does not, results have none."""
    run: Any = None
    """The backward pass that this thread is in."""
    observed: int = 0
    """How many observers watch this thread."""


    def __init__(self) -> None:
        self.entered: list[int] = []
        """The ids of the `Switched` that this thread is in, outermost first."""


state = State()


class Switched:
    """What is switched at the beginning of a with statement and back at its end: base of such context managers.

    An interrupt may come where `__exit__` begins, before anything is switched back, or where `__enter__` ends. Then the
    object goes without having been left, and is left by that.
    """

    __slots__ = ()

    def entering(self) -> None:
        """Called by `__enter__` before it switches anything."""
        state.entered.append(id(self))

    def left(self) -> None:
        """Called by `__exit__` when all is as it was; what was entered inside has been left by that, too."""
        entered, own = state.entered, id(self)
        while own in entered and entered.pop() != own:
            pass

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how it is left")

    def __del__(self) -> None:
        if state is not None and id(self) in state.entered:  # None: this module has been cleared, at the end of the process
            self.__exit__()

LOOKED_AT: list[int] = []
"""Non-empty while somebody looks at results without history (`state.mark` of some thread, an observer): what `bind` asks
before it asks its own thread."""

OBSERVERS: list[Any] = []
"""Who is shown what is computed (see `observe`), each what its own thread does; usually nobody, and then nothing is spent
on it."""


SAVE_CHECKS: list[Callable[[Any, Any, Any], None]] = []
"""Who is asked, with the operation and its operands, whether a node may save what it saves."""

SWITCHED: list[int] = []
"""Non-empty while the everyday tape of some thread is not simply ON: what `bind` asks before it asks its own thread."""

OPENED: list[int] = []
"""Non-empty while a level is open in some thread: what is asked before `state.tape`, which takes 40 ns to read."""


def set_mode(tape: Any, mode: int) -> None:
    """Set the mode of a tape (`state` is the everyday one).

    SWITCHED is never empty while the mode is not ON, wherever an interrupt comes in between: at worst it stays too full,
    which costs time only.
    """
    if tape is not state:
        tape.mode = mode
        return
    before = state.mode
    if mode != ON and before == ON:
        SWITCHED.append(1)
    state.mode = mode
    if mode == ON and before != ON:
        SWITCHED.pop()


def settle(before: int, mode: int) -> None:
    """Let SWITCHED follow, after the mode of the everyday tape was set back from `before` to `mode` directly."""
    if (before == ON) != (mode == ON):
        if mode == ON:
            SWITCHED.pop()
        else:
            SWITCHED.append(1)


def recording(enabled: bool) -> int:
    """The mode in which operations are (or are not) recorded, given the other switches."""
    return (WATCHED if state.anomaly or state.saved_hooks or state.observed else ON) if enabled else OFF


def set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off, on the innermost tape: the everyday one, or that of the transform that is running."""
    set_mode(state if state.tape is None else state.tape, recording(enabled))


def grad_mode_now() -> int:
    """The mode of the innermost tape."""
    return (state if state.tape is None else state.tape).mode


def is_grad_enabled() -> bool:
    """Whether operations on the innermost tape are recorded in this thread.

    Examples
    --------
    >>> import retrograde as rg
    >>> with rg.no_grad():
    ...     rg.is_grad_enabled()
    False
    """
    return grad_mode_now() != OFF


def open_tapes() -> list[Any]:
    """What holds the grad mode of each open tape."""
    return [state, *(level for level in state.levels if level.tape)]


def refresh() -> None:
    """Recompute the modes after anomaly mode or the saved-tensor hooks have changed."""
    for tape in open_tapes():
        if tape.mode != OFF:
            set_mode(tape, recording(True))


class Observer:
    """What an observer that only looks at some of it derives from (see `observe`): the rest passes by."""

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None: ...
    def created(self, x: Any) -> None: ...
    def assigning(self, target: Any, new: Any) -> None: ...
    def reading(self, array: Any) -> None: ...
    def writing(self, array: Any) -> None: ...
    def changed(self, array: Any) -> None: ...
    def moved(self, old: Any, new: Any) -> None: ...
    def copied(self, old: Any, new: Any) -> None: ...
    def updating(self, rule: str, columns: Any, options: Any) -> None: ...
    def updated(self) -> None: ...
    def detached(self, x: Any) -> None: ...
    def cleared(self, x: Any) -> None: ...
    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None: ...
    def pulled(self, run: Any, node: Any, g: Any) -> None: ...
    def gave(self, run: Any, node: Any, needs: Any, results: Any) -> None: ...
    def arriving(self, run: Any, target: Any, g: Any) -> None: ...
    def arrived(self, run: Any, target: Any) -> None: ...
    def pass_ends(self, run: Any, inputs: Any) -> None: ...


class _InThread:
    """An observer that is told only what the thread does in which it began to observe."""

    def __init__(self, observer: Any) -> None:
        self._observer, self._thread = observer, threading.get_ident()

    def __getattr__(self, name: str) -> Any:
        told, thread = getattr(self._observer, name), self._thread

        def method(*what: Any) -> None:
            if threading.get_ident() == thread:
                told(*what)

        setattr(self, name, method)
        return method


class observe:
    """Context manager: `observer` is shown what this thread computes (with `everywhere`, what others do to the same graphs
    and memory, too), through these methods.

    `operation(prim, operands, params, results, node)` after an operation (`node` is None where nothing was recorded),
    `created(x)` for a dialect's tensor that was made of data,
    `assigning(target, new)` before an array is written into another, `reading(array)` before one is changed by what it
    holds without an operation, `writing(array)` before some of one is written, `changed(array)` when memory is written,
    `moved(old, new)` when a value's elements go to another array, `copied(old, new)` when what a derivative needs is copied from
    memory that is about to be written, `updating(rule, columns, options)` and `updated()`
    around an optimiser's rule, `detached(x)` and `cleared(x)` for a value whose history is cut off and one whose gradient
    is taken away; and of the backward pass `pass_begins(run, roots, gradients, inputs)`, `pulled(run, node, g)`,
    `gave(run, node, needs, results)` with what the rule of an operation gave for each of the edges in `needs`,
    `arriving(run, target, g)`, `arrived(run, target)` and `pass_ends(run, inputs)`.
    """

    __slots__ = ("_observer",)

    def __init__(self, observer: Any, *, everywhere: bool = False) -> None:
        self._observer = observer if everywhere else _InThread(observer)

    def __enter__(self) -> None:
        OBSERVERS.append(self._observer)
        LOOKED_AT.append(1)
        state.observed += 1
        refresh()

    def __exit__(self, *exception: object) -> None:
        OBSERVERS.remove(self._observer)
        LOOKED_AT.pop()
        state.observed -= 1
        refresh()


class grad_mode(Switched):
    """Context manager that sets grad mode and restores the previous one: `with grad_mode(False): ...`."""

    __slots__ = ("_enabled", "_before")

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        self.entering()
        set_grad_enabled(self._enabled)

    def __exit__(self, *exception: object) -> None:
        set_grad_enabled(self._before)
        self.left()
