"""Data-parallel training: the gradients that several processes have of the same parameters, averaged while backward still runs.

Parameters are put into buckets, in the opposite order, since that is about the order in which their gradients are complete. A
bucket's reduction begins as soon as its last gradient is there, and the pass waits for all of them at its end.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..backend.processes import Group, Pending, combinable
from ..core.node import Accumulate
from ..core.value import Value, make
from ..tape import hooks, mutation
from ..tape.engine import current_run, discover

BUCKET = 25 << 20
"""Bytes of a bucket at most, unless a parameter alone has more."""
FIRST = 1 << 20
"""Bytes of the bucket that is complete first, so that there is something to send early."""

Reduction = Callable[["Bucket"], Callable[[], Any]]
"""What begins the reduction of `Bucket.flat`, and gives what waits for its result, elements like those."""


class Bucket:
    """Parameters whose gradients are reduced together. index: the place among the buckets."""

    def __init__(self, index: int, parameters: Sequence[Value], last: bool) -> None:
        self.index, self.parameters, self.last = index, list(parameters), last
        sizes = [p._a.size for p in parameters]
        ends = np.cumsum(sizes)
        self.places = [slice(int(end) - n, int(end)) for n, end in zip(sizes, ends)]
        self.dtype = parameters[0]._a.dtype
        self.missing: set[int] = set()
        """The places of the parameters whose gradients are not there yet."""
        self.result: Callable[[], Sequence[np.ndarray]] | None = None
        """What waits for the gradients of all processes, and gives those of each parameter."""

    @functools.cached_property
    def flat(self) -> np.ndarray:
        """The elements, one gradient behind the other: for those who want them so."""
        return np.zeros(self.places[-1].stop, self.dtype)

    def gather(self, gradients: Sequence[np.ndarray | None]) -> None:
        """Copy gradients into `flat`, and zeros where there is none."""
        for g, place in zip(gradients, self.places):
            self.flat[place] = 0 if g is None else g.reshape(-1)


def _dense(grad: Any) -> np.ndarray | None:
    if grad is None:
        return None
    a = grad._a
    return a if isinstance(a, np.ndarray) else a.dense()


def buckets(parameters: Sequence[Value], most: int = BUCKET, first: int = FIRST) -> list[Bucket]:
    """The parameters in buckets of one dtype each, the last parameters first."""
    groups: list[list[Value]] = []
    open_: dict[np.dtype, tuple[list[Value], int]] = {}
    for p in reversed(parameters):
        group, size = open_.get(p._a.dtype, ([], 0))
        limit = min(first, most) if not groups or groups[0] is group else most
        if not group or size + p._a.nbytes > limit:
            group, size = [], 0
            groups.append(group)
        group.append(p)
        open_[p._a.dtype] = group, size + p._a.nbytes
    return [Bucket(k, g, k == len(groups) - 1) for k, g in enumerate(groups)]


class Reducer:
    """What averages gradients over a group of processes in each backward pass that is announced by `expect`.

    unused: whether parameters may take no part in a pass: then the processes tell each other which did, and those in which none
    took part keep the gradient they have. reduction: what is done with the elements of a bucket, if it is not the mean.
    """

    def __init__(self, parameters: Sequence[Value], group: Group, *, most: int = BUCKET, unused: bool = False) -> None:
        self.group, self.unused = group, unused
        self.parameters = list(parameters)
        self.buckets = buckets(self.parameters, most)
        self.reduction: Reduction | None = None
        self.divisor = group.size
        self.running = False
        """Whether a pass was announced in which gradients are to be reduced."""
        self._begun = False  # whether a gradient has come in it
        self._used = np.zeros(len(self.parameters), np.int32)
        self._number = {id(p): i for i, p in enumerate(self.parameters)}
        self._next = 0  # the bucket that is reduced next: in one order in all processes
        self._pending: list[Pending] = []  # reductions that have begun, in their order
        self._handles = [
            hooks.add_post_accumulate_hook(p, partial(self._arrived, b, i, self._number[id(p)]))
            for b in self.buckets for i, p in enumerate(b.parameters)
        ]  # fmt: skip

    def expect(self, outputs: Sequence[Value]) -> None:
        """Announce a backward pass from some of these values, in which gradients are reduced."""
        self.running, self._begun, self._next, self._pending = True, False, 0, []
        self._used[:] = 0
        for b in self.buckets:
            b.missing, b.result = set(range(len(b.parameters))), None
        if self.unused:
            edges = [y._node for y in outputs if y._node is not None]
            reached = {*discover([e for e in edges if type(e) is not Accumulate], frozenset())[1], *edges}
            for b in self.buckets:
                b.missing = {i for i in b.missing if b.parameters[i]._node in reached}

    def unfinished(self) -> list[int]:
        """The numbers of the parameters without which the pass before has not come to an end; none where it has."""
        if not (self.running and self._begun):
            return []
        return [self._number[id(b.parameters[i])] for b in self.buckets for i in sorted(b.missing)]

    def check(self, owner: str, names: Callable[[], Sequence[str]]) -> None:
        """Raise RuntimeError, with the names of those concerned, where parameters had no part in the pass before."""
        left = self.unfinished()
        if left:
            found = ", ".join(names()[i] for i in left)
            raise RuntimeError(
                f"{owner}: in the pass before, these parameters got no gradient, so that the others were not shared: "
                f"{found}; find_unused_parameters=True lets parameters take no part in a pass"
            )

    def _arrived(self, bucket: Bucket, i: int, number: int, _: Any) -> None:
        if not self.running:
            return
        if not self._begun:
            self._begun = True
            current_run().at_end.append(self._end)
            self._start_complete()  # buckets of which no parameter takes part
        if self._pending and self._pending[0].done():  # nothing else lets it go on before the end of the pass
            self._pending.pop(0)
        self._used[number] = 1
        bucket.missing.discard(i)
        if not bucket.missing:
            self._start_complete()

    def _start_complete(self) -> None:
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            bucket = self.buckets[self._next]
            bucket.result = self._reduced(bucket, [_dense(p._grad) for p in bucket.parameters])
            self._next += 1

    def _reduced(self, bucket: Bucket, gradients: Sequence[np.ndarray | None]) -> Callable[[], Sequence[np.ndarray]]:
        if self.reduction is None and bucket.dtype.itemsize > 2:
            return self._mean_in_place(bucket, gradients)
        bucket.gather(gradients)
        waiting = (self.reduction or self._mean)(bucket)

        def result() -> Sequence[np.ndarray]:
            found = waiting()
            return [found[place] for place in bucket.places]

        return result

    def _mean_in_place(self, bucket: Bucket, gradients: Sequence[np.ndarray | None]) -> Callable[[], Sequence[np.ndarray]]:
        """The mean, but of half precision: in the gradients themselves, without further copies."""
        arrays: list[np.ndarray] = []
        for p, g in zip(bucket.parameters, gradients):
            if g is None:
                g = np.zeros(p._a.shape, bucket.dtype)
            elif (
                (self.unused and not self._used[self._number[id(p)]])  # it is to stay, if it takes no part anywhere
                or g.dtype is not bucket.dtype or not combinable(g)
            ):  # fmt: skip
                g = np.array(g, bucket.dtype, order="C")
            arrays.append(g)
        pending = self.group.all_reduce_in_place(arrays, divisor=self.divisor)
        self._pending.append(pending)

        def result() -> Sequence[np.ndarray]:
            pending.wait()
            return arrays

        return result

    def _mean(self, bucket: Bucket) -> Callable[[], Any]:
        """The mean of half precision, which is added up in another one and rounded once."""
        pending = self.group.all_reduce(bucket.flat)

        def result() -> np.ndarray:
            found: np.ndarray = pending.wait()
            found /= self.divisor
            return found

        return result

    def _end(self) -> None:
        if self._next < len(self.buckets):
            return  # parameters are missing: the next announcement says so
        self.running = False
        used = self.group.all_reduce(self._used, "max").wait() if self.unused else None
        changed: list[np.ndarray] = []
        for b in self.buckets:
            assert b.result is not None
            for p, found in zip(b.parameters, b.result()):
                if used is None or used[self._number[id(p)]]:
                    changed += _give(p, found)
            b.result = None
        self._pending = []
        mutation.note_all(changed)

    def shadow(self) -> None:
        """Take part in the reductions of a pass of the other processes, with zeros."""
        for result in [self._reduced(b, [None] * len(b.parameters)) for b in self.buckets]:
            result()
        if self.unused:
            self.group.all_reduce(np.zeros_like(self._used), "max").wait()

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()


@contextlib.contextmanager
def without(owner: Any, switch: str) -> Iterator[None]:
    """A block in which an attribute is False: what `no_sync` of the dialects switches off."""
    before = getattr(owner, switch)
    setattr(owner, switch, False)
    try:
        yield
    finally:
        setattr(owner, switch, before)


def _give(p: Value, found: np.ndarray) -> list[np.ndarray]:
    """Let the gradient of a parameter be an array, which nobody else has where it is no view; the memory that was written."""
    grad = p._grad
    if grad is None or not isinstance(grad._a, np.ndarray) or not grad._a.flags.writeable:
        p._grad = make(type(p)._gradient, found.reshape(p._a.shape).copy() if found.base is not None else found)
        return []
    if found is not grad._a:
        np.copyto(grad._a, found.reshape(p._a.shape))
    return [grad._a]
