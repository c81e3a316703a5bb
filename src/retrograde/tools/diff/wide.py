"""The same run in more digits: beside every float32 that a program computes, what float64 would have made of it.

The program itself runs as it is, with its own draws and its own branches. `Twins` keeps a second memory, in float64, behind
every array of float32; each operation, derivative and optimiser's rule is evaluated there once more. `WideRecorder` writes
these values down in place of the program's own: a record that is compared as any other is, with float64's idea of rounding.
What cannot be followed (memory that NumPy has written) is written down as it is, in the dtype that it has.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ... import learn
from ...core.node import Accumulate, Slot
from ...core.record import NOT_DIFFERENTIABLE, Primitive
from ...core.value import Value
from ...dialects._shared.elementwise import number_behind
from ...tape.engine import fit
from ..arrays import inside, owner_of
from . import places
from .policy import POLICY
from .record import Recorder

_ndarray = np.ndarray
FAILURES = (ValueError, TypeError, IndexError, NotImplementedError, AttributeError, KeyError, np.linalg.LinAlgError)
"""What a kernel or a derivative raises that is given something that it does not know."""

_WIDER = {
    **{np.dtype(x): np.dtype(x) for x in (np.float16, ml_dtypes.bfloat16, np.float64, np.complex128)},
    np.dtype(np.float32): np.dtype(np.float64), np.dtype(np.complex64): np.dtype(np.complex128),
}  # fmt: skip
"""The dtypes of arrays that have a twin, and the dtype of that: what is rounded to halves on the way is so there, too."""


def wider(dtype: Any) -> np.dtype:
    """The dtype in which a twin is kept: double precision for single, any other as it is."""
    return _WIDER.get(dtype, dtype)


class _Twin:
    """The memory behind one array's."""

    __slots__ = ("owner", "memory", "exact")

    def __init__(self, owner: weakref.ref[Any], memory: np.ndarray, exact: bool) -> None:
        self.owner, self.memory, self.exact = owner, memory, exact
        """exact: whether it has more digits than the program's own, and not the program's as they are."""


class Twins:
    """float64 memory behind the memory of a program's float32 arrays, by whoever owns that; views share it as theirs do."""

    def __init__(self) -> None:
        self._kept: dict[int, _Twin] = {}

    def _twin(self, a: np.ndarray) -> _Twin | None:
        owner = owner_of(a)
        twin = self._kept.get(id(owner))
        return twin if twin is not None and twin.owner() is owner else None

    def exact(self, a: np.ndarray) -> bool:
        """Whether an array has a twin with digits of its own."""
        twin = self._twin(a)
        return twin is not None and twin.exact and a.dtype in _WIDER

    def of(self, a: np.ndarray) -> np.ndarray:
        """The twin of an array, a view of the same elements as the array is; itself where it is not of single precision."""
        if a.dtype not in _WIDER:
            return a
        owner = owner_of(a)
        numbers = owner if owner.dtype in _WIDER or owner.itemsize != a.itemsize else owner.view(a.dtype)  # made bit by bit
        if numbers.dtype not in _WIDER or not _in_a_row(owner).flags.c_contiguous:
            return a.astype(wider(a.dtype))
        twin = self._twin(a) or self._made(owner, numbers)
        return _seen_as(a, owner, twin.memory)

    def _made(self, owner: np.ndarray, numbers: np.ndarray) -> _Twin:
        key = id(owner)
        number = _number(numbers) if numbers.ndim == 0 else None
        memory = numbers.astype(wider(numbers.dtype)) if number is None else np.array(number, wider(numbers.dtype))

        def forget(_: Any) -> None:
            self._kept.pop(key, None)

        twin = self._kept[key] = _Twin(weakref.ref(owner, forget), memory, number is not None)
        return twin

    def put(self, a: np.ndarray, wide: np.ndarray | None) -> None:
        """Let the twin of an array be these numbers; what the array holds itself, if None."""
        if a.dtype not in _WIDER or (wide is None and a.ndim and self._twin(a) is None):
            return  # a twin is made of what the array holds once somebody asks for it
        target = self.of(a)
        twin = self._twin(a)
        if twin is None:
            return
        if not target.flags.writeable:  # a broadcast of fewer elements
            target = np.lib.stride_tricks.as_strided(target, writeable=True)
        target[...] = a if wide is None else wide
        twin.exact = wide is not None


def _in_a_row(a: np.ndarray) -> np.ndarray:
    """An array with its axes in the order in which they lie in memory."""
    return a if a.flags.c_contiguous else a.transpose(sorted(range(a.ndim), key=lambda i: -a.strides[i]))


def _seen_as(a: np.ndarray, owner: np.ndarray, memory: np.ndarray) -> np.ndarray:
    """The view of a twin's memory that shows what a view shows of its owner's."""
    if a is owner:
        return memory
    dtype = wider(a.dtype)
    if a.size == 0:
        return np.empty(a.shape, dtype)
    flat = _in_a_row(memory).reshape(-1).view(dtype)
    start = (a.__array_interface__["data"][0] - owner.__array_interface__["data"][0]) // a.itemsize
    strides = tuple(s // a.itemsize * dtype.itemsize for s in a.strides)
    return np.lib.stride_tricks.as_strided(flat[start:], a.shape, strides)


def _number(a: np.ndarray) -> complex | float | None:
    """The number of which somebody made a constant; None where that cannot be known: it was computed in single precision."""
    known = number_behind(a)
    if known is not None:
        return known
    text = str(a[()])
    return float(text) if a.dtype == np.float32 and len(_digits(text)) <= POLICY.digits else None


def _digits(text: str) -> str:
    return text.partition("e")[0].replace(".", "").strip("-0")


TABLE = 2**16
"""Arrays with more elements that are made before anything is differentiated are not followed where parameters are given: they are
what those begin with, and not tables of sines or the like."""


class Seen(NamedTuple):
    """What rules ask of an edge: the shape and dtype of what is on the other side."""

    shape: Any
    dtype: Any


class SeenNode:
    """A node as its rule sees it: results are given by shape and dtype."""

    def __init__(self, prim: Primitive, params: dict[str, Any], edges: Iterable[Seen | None], outs: Sequence[Any]) -> None:
        self.prim, self.params, self.edges, self.outs = prim, params, tuple(edges), tuple(outs)
        self.shape, self.dtype = self.outs[0]


def _wide_node(node: Any) -> SeenNode:
    outs = node.outs if node.prim.multi else ((node.shape, node.dtype),)
    return SeenNode(node.prim, wide_params(node.params), _shapes(node.edges), [(shape, wider(dtype)) for shape, dtype in outs])


def _shapes(edges: Any) -> tuple[Seen | None, ...]:
    return tuple(None if e is None else Seen(e.shape, wider(e.dtype)) for e in edges)


def wide_params(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _wide_param(x) for key, x in params.items()}


def _wide_param(x: Any) -> Any:
    if isinstance(x, np.dtype):
        return wider(x)
    if type(x) is np.float32:
        return _written(x)
    return np.dtype(np.float64) if x is np.float32 else x


def _written(x: Any) -> float:
    """The number that somebody wrote who got this float32."""
    return float(f"{float(x):.{POLICY.digits}g}")


class WideRecorder(Recorder):
    """Records a run with the twins' values in place of the program's own."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._twins = Twins()
        self._sums: dict[tuple[int, Any, int], np.ndarray] = {}
        """(pass, node or leaf, output) -> the gradient that has arrived there so far."""
        self._writing: dict[int, np.ndarray] = {}
        """id(array) -> the twin of what is about to be written into it."""
        self._made: list[np.ndarray] = []
        """The results of the last operation: what is written next, by ways that do not say what they write."""
        self._added: np.ndarray | None = None
        self._received: Any = None
        """The twins of the gradients that have arrived at the operation whose rule runs."""
        self._stale: list[np.ndarray] = []
        """What a rule is changing that cannot be followed."""
        self.turned: list[tuple[str, int, str]] = []
        """Where a truth or a whole number comes out otherwise in double precision: file, line, operation."""
        self.unfollowed: dict[str, int] = {}
        """Operations of which no twin could be computed, and how often."""

    def _content_of(self, a: np.ndarray) -> np.ndarray:
        if a.ndim == 0 and a.dtype in _WIDER:
            self._twins.of(a)  # a number that somebody wrote has all its digits
        return self._twins.of(a) if self._twins.exact(a) else a

    def _start(self, a: np.ndarray) -> bool:
        given = super()._start(a)
        if given:  # it has the digits that it has, not those of what was there
            self._twins.put(a, None)
        return given

    def remarks(self) -> list[str]:
        """What has to be said of the second run."""
        found = [f"in double precision, {name} at line {line} comes out otherwise; the branch of single precision is followed"
                 for _, line, name in dict.fromkeys(self.turned)]  # fmt: skip
        if self.unfollowed:
            found.append(f"not followed in double precision: {', '.join(sorted(self.unfollowed))}")
        return found

    # ------------------------------------------------------------------------------------------ forward

    def _evaluated(self, prim: Any, operands: Any, params: dict[str, Any], arrays: Sequence[np.ndarray]) -> None:
        owners = {id(owner_of(x)) for x in map(_array_of, operands) if x is not None}
        fresh = [a for a in arrays if a.dtype in _WIDER and id(owner_of(a)) not in owners]
        self._made = list(arrays)
        whole = [a for a in arrays if a.dtype.kind in "biu"]
        if (not fresh and not whole) or (self._given and self._preparing and max(a.size for a in arrays) > TABLE):
            return
        found = self._outcome(prim, operands, params, arrays)
        for i, a in enumerate(arrays):
            if found is None or np.shape(found[i]) != a.shape:
                if any(a is b for b in fresh):
                    self._twins.put(a, None)
            elif a.dtype.kind in "biu":
                if not np.array_equal(a, found[i]):
                    self.turned.append((*places.user_line(3), prim.name))
            elif any(a is b for b in fresh):
                self._twins.put(a, found[i])

    def _outcome(self, prim: Any, operands: Any, params: dict[str, Any], arrays: Sequence[np.ndarray]) -> Any:
        if not isinstance(prim, Primitive):  # a user's function: what it has computed inside has been followed
            return [self._twins.of(a) if self._twins.exact(a) else None for a in arrays]
        if prim.name == "cast" and (x := _array_of(operands[0])) is not None and x.dtype == np.float64 and (
            not self._twins.exact(x)
        ):  # fmt: skip
            return None  # data of double precision enter rounded
        given = []
        for x in operands:
            a = _array_of(x)
            if x is not None and a is None:
                self._unfollowed(prim.name)
                return None
            given.append(None if a is None else self._twins.of(a))
        if all(a is None or a.dtype not in _WIDER for a in (*given, *arrays)):  # of whole numbers only
            return None
        return self._computed(prim.name, lambda: prim.numpy_kernel(*given, **wide_params(params)))

    def _computed(self, name: str, compute: Callable[[], Any]) -> Any:
        try:
            with np.errstate(all="ignore"):
                out = compute()
        except FAILURES:
            self._unfollowed(name)
            return None
        return out if type(out) is tuple else (out,)

    def _unfollowed(self, name: str) -> None:
        self.unfollowed[name] = self.unfollowed.get(name, 0) + 1

    # ------------------------------------------------------------------------------------------ memory

    def assigning(self, target: Any, new: Any) -> None:
        super().assigning(target, new)
        if type(new) is _ndarray and type(target) is _ndarray and new.dtype in _WIDER and self._twins.exact(new):
            self._writing[id(target)] = self._twins.of(new).copy()

    def _wrote(self, a: np.ndarray, place: tuple[str, int]) -> None:
        wide = self._writing.pop(id(a), None)
        if a.dtype in _WIDER:
            if wide is None:
                wide = next((self._twins.of(y) for y in self._made if y.shape == a.shape and y.dtype == a.dtype and (
                    self._twins.exact(y) and np.array_equal(y, a))), None)  # fmt: skip
            try:
                self._twins.put(a, wide)
            except ValueError:  # not in the shape in which it was given
                self._twins.put(a, None)
        super()._wrote(a, place)

    def moved(self, old: Any, new: Any) -> None:
        if type(old) is _ndarray and type(new) is _ndarray and self._twins.exact(old) and old.shape == new.shape:
            self._twins.put(new, self._twins.of(old))
        super().moved(old, new)

    def copied(self, old: Any, new: Any) -> None:
        if self._twins.exact(old):
            self._twins.put(new, self._twins.of(old))

    def updating(self, rule: str, columns: list[Any], options: dict[str, Any]) -> None:
        super().updating(rule, columns, options)
        f = rules().get(rule)
        wide: list[Any] = [None if c is None else [None if a is None else self._twins.of(a) for a in c] for c in columns]
        given = {key: wide_option(x) for key, x in options.items()}
        if f is not None and f.step.prim.vjps is NOT_DIFFERENTIABLE:  # of one parameter at a time
            wide = [None if column is None else column[0] for column in wide]
        if f is None or self._computed(rule, lambda: f(*wide, **given)) is None:
            self._stale = [a for column in (columns[0], *columns[2:]) for a in column or () if a is not None]
            return
        self._stale = []
        for column in (columns[0], *columns[2:]):
            for a in column or ():
                if a is not None and a.dtype in _WIDER and (twin := self._twins._twin(a)) is not None:
                    twin.exact = True

    def updated(self) -> None:
        for a in self._stale:
            self._twins.put(a, None)
        super().updated()

    # ------------------------------------------------------------------------------------------ backward passes

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        for i, part in enumerate(g if type(g) is list else (g,)):
            wide = self._sums.pop((run.number, node, i), None)
            if part is None or wide is None:
                continue
            a, _ = inside(part)
            if not (run.wrap or node.hooks is not None) or not self._twins.exact(a):
                self._arrives(a, wide)
        parts = [None if part is None else self._twins.of(inside(part)[0]) for part in (g if type(g) is list else (g,))]
        self._received = tuple(parts) if type(g) is list else parts[0]
        super().pulled(run, node, g)

    def _arrives(self, a: np.ndarray, wide: np.ndarray) -> None:
        if wide.shape == a.shape:
            self._twins.put(a, wide)

    def gave(self, run: Any, node: Any, needs: Any, results: Any) -> None:
        super().gave(run, node, needs, results)
        wide = None
        if isinstance(node.prim, Primitive) and not run.wrap and node.packed is None:
            saved = self._saved(node.saved or ())
            known = self._received
            wide = self._computed(node.prim.name, lambda: node.prim.pull(_wide_node(node), saved, known, _shapes(needs)))
        for i, (edge, r) in enumerate(zip(needs, results)):
            if edge is None or r is None:
                continue
            a, _ = inside(r)
            w = self._twins.of(a) if wide is None or wide[i] is None else inside(wide[i])[0]
            w = fit(w, Seen(edge.shape, wider(edge.dtype)))
            key = (run.number, edge.node, edge.index) if type(edge) is Slot else (run.number, edge, 0)
            before = self._sums.get(key)
            self._sums[key] = np.array(w) if before is None else before + w

    def _saved(self, x: Any) -> Any:
        if type(x) in (tuple, list):
            return type(x)(map(self._saved, x))
        return self._twins.of(x) if type(x) is _ndarray else x

    def arriving(self, run: Any, target: Value, g: Any) -> None:
        a, _ = inside(g)
        wide = self._sums.pop((run.number, target._node, 0), None)
        if wide is not None and not run.wrap and getattr(target._node, "hooks", None) is None:
            self._arrives(a, wide)
        before = target._grad
        held = None if before is None else self._twins.of(inside(before)[0])
        added = self._twins.of(a)
        self._added = added.copy() if held is None or held.shape != added.shape else held + added
        super().arriving(run, target, g)

    def arrived(self, run: Any, target: Value) -> None:
        if self._added is not None:
            self._arrives(inside(target._grad)[0], self._added)
        super().arrived(run, target)

    def pass_ends(self, run: Any, inputs: Any) -> None:
        for edge in inputs or ():
            g = run.captured.get(edge)
            wide = self._sums.pop((run.number, edge, 0), None) if type(edge) is Accumulate else None
            if g is not None and wide is not None and not run.wrap:
                self._arrives(inside(g)[0], wide)
        super().pass_ends(run, inputs)
        for key in [key for key in self._sums if key[0] == run.number]:
            del self._sums[key]


def _array_of(x: Any) -> np.ndarray | None:
    """The array of an operand; None for what is none, such as a batch."""
    a = x._a if isinstance(x, Value) else x
    if isinstance(a, (bool, int, float, complex, np.generic)):
        return np.asarray(a)
    return a if type(a) is _ndarray else None


def wide_option(x: Any) -> Any:
    if type(x) is np.float32 or (type(x) is _ndarray and x.dtype == np.float32 and x.ndim == 0):
        return _written(x)
    return tuple(map(wide_option, x)) if isinstance(x, tuple) else x


@functools.cache
def rules() -> dict[str, Any]:
    """The update rules of `learn`, by name."""
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules([str(Path(learn.__file__).parent)]):
        loaded = importlib.import_module(f"{learn.__name__}.{module.name}")
        found.update((name, f) for name, f in vars(loaded).items() if hasattr(f, "step") and callable(f))
    return found
