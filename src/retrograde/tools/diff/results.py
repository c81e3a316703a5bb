"""What programs are judged by: their losses, gradients, updated parameters and buffers, and what they end with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .events import ABSENT, Accumulate, Cotangent, Operation, Reread, WithParameters, Write
from .events import Returned as ReturnedEvent
from .side import Side
from .values import Distance

if TYPE_CHECKING:
    from .align import Alignment

LOSS, GRADIENT, RETURNED, PARAMETER, BUFFER, END = (
    "the loss", "the gradient", "the returned gradient", "the parameter", "the buffer", "the result",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """A value of A and the one of B that should be the same; None where one program has none. All pairs are of A and B."""

    kind: str
    name: str
    values: tuple[int | None, int | None]
    events: tuple[int, int]
    leaf: tuple[int, int] = (-1, -1)
    places: tuple[int, int] = (-1, -1)
    """Which backward passes, for losses and gradients."""
    distance: Distance | None = None

    @property
    def title(self) -> str:
        """The result for a sentence."""
        return f"{self.kind} {self.name}".strip()

    @property
    def known(self) -> tuple[int, int] | None:
        """Its values, where both programs have one."""
        a, b = self.values
        return None if a is None or b is None else (a, b)


def paired_results(alignment: Alignment, gradients_only: bool = False) -> tuple[list[Result], list[str]]:
    """The results of both programs, in the order in which A has them, and what could not be paired."""
    notes: list[str] = []
    results = _losses(alignment, notes) + _gradients(alignment, notes) + _returned(alignment) + list(alignment.packed)
    if gradients_only:
        results = [r for r in results if r.kind in (GRADIENT, RETURNED)]
    else:
        results += _memory(alignment, notes) + _kept(alignment)
        # What is computed and never used is judged where nothing else is, or where both programs end alike.
        results += _ends(alignment, notes)
    results.sort(key=lambda r: r.events[0])
    return results, notes


def leaf_name(side: Side, leaf: int) -> str:
    """What a leaf is called: its name, or its number."""
    return side.record.leaves[leaf].name or f"#{leaf + 1}"


def _valued(alignment: Alignment, kind: str, name: str, values: Sequence[int], leaf: tuple[int, int] = (-1, -1)) -> Result:
    """The result of two values of the programs, at the events that make them."""
    va, vb = values
    return Result(kind, name, (va, vb), (alignment.a.producer[va], alignment.b.producer[vb]), leaf)


def _losses(alignment: Alignment, notes: list[str]) -> list[Result]:
    a, b = alignment.sides
    if len(a.passes) != len(b.passes):
        notes.append(f"A runs {len(a.passes)} backward passes, B {len(b.passes)}")
    name = "" if len(alignment.passes) == 1 else "of backward pass {}"
    return [
        Result(LOSS, name.format(n), pair, (a.passes[p], b.passes[q]), places=(p, q))
        for n, (p, q) in enumerate(alignment.passes if alignment.all_passes else (), 1)
        for pair in zip(a.roots(p), b.roots(q)) if None not in pair
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------ gradients


def _gradients(alignment: Alignment, notes: list[str]) -> list[Result]:
    dtypes = {
        tuple(side.values.kept(side.record.leaves[leaf].value).dtype for side, leaf in zip(alignment.sides, pair))
        for pair in alignment.leaves.pairs
    }
    notes += [f"A computes in {p}, B in {q}" for p, q in sorted(dtypes) if p != q]
    of = [side.gradients() for side in alignment.sides]
    changed = [side.changes[0] for side in alignment.sides]
    found = []
    for leaf in alignment.leaves.pairs:
        pairs = _facing(alignment, leaf, of, any(n in those for n, those in zip(leaf, changed)), notes)
        for n, events in enumerate(pairs):
            number = f" (number {n + 1})" if len(pairs) > 1 else ""
            found.append(_gradient(alignment, events, leaf, f"of {leaf_name(alignment.a, leaf[0])}{number}"))
    for side, leaves, gradients, those in zip(alignment.sides, alignment.leaves.only, of, changed):
        for n in leaves:
            name = leaf_name(side, n)
            alone = [e for e in gradients.get(n, []) if not _on_the_way(side, e)][:1]
            if alone and those and n not in those:  # an input
                notes.append(f"only {side.name} asks for a gradient of {name}, which it does not change")
            else:
                found += [_gradient(alignment, side.both(e, -1), side.both(n, -1), f"of {name}") for e in alone]
    return found


def _facing(
    alignment: Alignment, leaf: tuple[int, int], of: Sequence[dict[int, list[int]]], changed: bool, notes: list[str]
) -> list[tuple[int, int]]:
    """The events at which gradients of two leaves are known that belong together; -1 for a program that has none."""
    left, right = (gradients.get(n, []) for n, gradients in zip(leaf, of))
    pairs = alignment.facing_gradients(left, right, leaf)
    if left and right and (len(left) != len(right) or any(-1 in pair for pair in pairs)) and (
        not alignment.before_steps(left, right, leaf)
    ):  # fmt: skip
        if not alignment.all_passes:
            if alignment.agree(alignment.a.made(left[-1]), alignment.b.made(right[-1])):
                pairs = [(left[-1], right[-1])]
            else:  # those that both have, and one more
                n = min(len(left), len(right))
                pairs = [*zip(left[:n], right[:n]), *((x, -1) for x in left[n : n + 1]), *((-1, y) for y in right[n : n + 1])]
        elif not changed:  # an input: what is not asked for is no mistake
            if any(-1 in pair for pair in pairs):
                notes.append(f"not every pass gives a gradient of {leaf_name(alignment.a, leaf[0])} in both programs")
            pairs = [pair for pair in pairs if -1 not in pair]
    return [pair for pair in pairs if not any(
        side.of(pair) >= 0 > side.other.of(pair)
        and (_on_the_way(side, side.of(pair)) or _not_wanted(alignment, side, side.of(pair), leaf))
        for side in alignment.sides
    )]  # fmt: skip


def _not_wanted(alignment: Alignment, side: Side, number: int, leaf: tuple[int, int]) -> bool:
    """Whether a gradient is cleared before anything reads it, and the other program has frozen the parameter in that pass."""
    if number not in side.unread:
        return False
    place = next((side.other.of(pair) for pair in alignment.passes if side.of(pair) == side.place(number)), -1)
    return place >= 0 and side.other.is_frozen(side.other.of(leaf), place)


def _on_the_way(side: Side, number: int) -> bool:
    """Whether a gradient is returned to be computed with and differentiated again: what that leads to is judged."""
    e, place = side.events[number], side.place(number)
    recorded = place >= 0 and side.begins(side.passes[place]).again
    used = e.outs[0] in side.consumers or not side.operations  # on the installed framework nobody knows
    return isinstance(e, ReturnedEvent) and recorded and used


def _gradient(alignment: Alignment, events: tuple[int, int], leaf: tuple[int, int], name: str) -> Result:
    """The result of two events at which a gradient is known; -1 for a program that has none."""
    (a, b), (ea, eb) = alignment.sides, events
    p, q = a.place(ea) if ea >= 0 else -1, b.place(eb) if eb >= 0 else -1
    if ea < 0:  # at the end of the pass in which it should be
        p = next((x for x, y in alignment.passes if y == q), -1)
        at = a.passes[p + 1] - 1 if 0 <= p < len(a.passes) - 1 else len(a.events)
    else:
        at = ea
        if eb < 0:
            q = next((y for x, y in alignment.passes if x == p), -1)
    values = a.made(ea) if ea >= 0 else None, b.made(eb) if eb >= 0 else None
    return Result(GRADIENT, name, values, (at, eb), leaf, (p, q))


def _returned(alignment: Alignment) -> list[Result]:
    left, right = map(_returned_at, alignment.sides)
    if list(left) != list(right) and len(left) == len(right):
        right = dict(zip(left, right.values()))
    return [
        Result(RETURNED, f"for input {key[1]} of pass {key[0] + 1}", (alignment.a.made(n), alignment.b.made(right[key])),
               (n, right[key]), places=(key[0], alignment.b.place(right[key])))
        for key, n in left.items() if key in right
    ]  # fmt: skip


def _returned_at(side: Side) -> dict[tuple[int, int], int]:
    """(place of the pass, position) -> the event, for gradients with respect to what is no leaf."""
    return {
        (side.pass_of.get(e.run, -1), e.position): n
        for n, e in enumerate(side.events) if isinstance(e, ReturnedEvent) and e.leaf < 0
    }  # fmt: skip


# ------------------------------------------------------------------------------------------ in parts


def in_parts(alignment: Alignment) -> tuple[list[Result], tuple[set[int], set[int]]]:
    """The gradients of parameters that hold several of the other program, and what these parameters become, in parts; and the
    values of A and B that the other has so."""
    found: list[Result] = []
    covered: tuple[set[int], set[int]] = (set(), set())
    for in_a, whole, parts in alignment.leaves.packed:
        side = alignment.a if in_a else alignment.b
        side.of(covered).add(side.record.leaves[whole].value)
        apart: set[int] = set()
        """Versions of the whole of which a part is not the same."""
        for other, start, rows in parts:
            side.other.of(covered).add(side.other.record.leaves[other].value)
            versions = [_versions(alignment, side.both(whole, other), kind) for kind in (GRADIENT, PARAMETER)]
            name = leaf_name(side.other, other)
            cut = [r for of in versions for one in of if (r := _cut(one, side, start, rows, name, len(of) > 1)) is not None]
            noise = versions[0] and all(
                r.known is not None and alignment.only_rounding(r.events, *r.known) for r in cut if r.kind == GRADIENT
            )
            if noise:
                continue
            found += cut
            for r in cut:
                assert r.known is not None
                if alignment.agree_in_part(*r.known, r.events[1]):
                    side.other.of(covered).add(side.other.of(r.known))
                else:
                    apart.add(side.of(r.events))
        changed = side.changes[0].get(whole, []) + [side.made(n) for n in side.gradients().get(whole, [])]
        side.of(covered).update(v for v in changed if side.producer[v] not in apart)
    return found, covered


def _versions(alignment: Alignment, leaf: tuple[int, int], kind: str) -> list[Result]:
    """The gradients of two leaves in order, or what they hold after each change."""
    if kind == PARAMETER:
        values = [side.changes[0].get(n, []) for side, n in zip(alignment.sides, leaf)]
        return [_valued(alignment, kind, str(n), pair, leaf) for n, pair in enumerate(zip(*values), 1)]
    events = zip(*(side.gradients().get(n, []) for side, n in zip(alignment.sides, leaf)))
    return [_gradient(alignment, (ea, eb), leaf, str(n)) for n, (ea, eb) in enumerate(events, 1)]


def _cut(result: Result, side: Side, start: int, rows: int, name: str, several: bool) -> Result | None:
    """A result of some rows of the whole; None where its values were not kept."""
    whole = side.of(result.values)
    part = None if whole is None else side.values.rows(whole, start, rows)
    if part is None:
        return None
    if result.kind == GRADIENT:
        title = f"of {name} (number {result.name})" if several else f"of {name}"
    else:
        title = f"{name} after change {result.name}" if several else f"{name} after its change"
    return replace(result, name=title, values=side.both(part, side.other.of(result.values)))


# ------------------------------------------------------------------------------------------ memory, and ends


def _memory(alignment: Alignment, notes: list[str]) -> list[Result]:
    """What parameters and buffers hold after each change in place."""
    (leaves_a, buffers_a), (leaves_b, buffers_b) = (side.changes for side in alignment.sides)
    found = []
    for i, j in alignment.leaves.pairs:
        left, right = leaves_a.get(i, []), leaves_b.get(j, [])
        name = leaf_name(alignment.a, i)
        if len(left) != len(right) and left and right:
            notes.append(f"A changes {name} {len(left)} times, B {len(right)} times")
            left, right = left[-1:], right[-1:]
        found += _changes(alignment, PARAMETER, name, left, right, (i, j))
    for left, right in _facing_buffers(alignment, buffers_a, buffers_b):
        n = min(len(left), len(right))  # one program may fill its buffers by a change in place
        shape = list(alignment.a.values.shape(left[0]))
        found += _changes(alignment, BUFFER, f"of shape {shape}", left[-n:], right[-n:], (-1, -1))
    return found


def _facing_buffers(
    alignment: Alignment, buffers_a: list[list[int]], buffers_b: list[list[int]]
) -> list[tuple[list[int], list[int]]]:  # fmt: skip
    """The buffers of one size that belong together: those that are first changed by something that both programs have, by how
    near to the change that is; then in order."""
    of_a, of_b = ([_behind(side, chain) for chain in chains] for side, chains in zip(alignment.sides, (buffers_a, buffers_b)))
    sizes_a, sizes_b = ([side.values.size(chain[0]) for chain in chains]
                        for side, chains in zip(alignment.sides, (buffers_a, buffers_b)))  # fmt: skip
    near = sorted(
        (min(p[c] + q[c] for c in p.keys() & q.keys()), i, j)
        for i, p in enumerate(of_a) for j, q in enumerate(of_b) if sizes_a[i] == sizes_b[j] and not p.keys().isdisjoint(q)
    )  # fmt: skip
    in_order = ((0, i, j) for i, n in enumerate(sizes_a) for j, m in enumerate(sizes_b) if n == m)
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, i, j in itertools.chain(near, in_order):
        if i not in pairs and j not in taken:
            pairs[i] = j
            taken.add(j)
    return [(buffers_a[i], buffers_b[j]) for i, j in sorted(pairs.items())]


def _behind(side: Side, chain: Sequence[int], far: int = 4) -> dict[int, int]:
    """What a buffer is first changed by: the classes of telling values, with how many operations lie between."""
    found: dict[int, int] = {}
    values = list(side.events[side.producer[chain[0]]].ins[1:])
    for distance in range(far):
        for v in values:
            if v in side.classes and side.values.size(v) > 1 and side.values.telling(v):
                found.setdefault(side.classes[v], distance)
        makers = [side.maker(v) for v in values]
        values = [v for e in makers if isinstance(e, Operation) for v in e.ins if v != ABSENT]
    return found


def _changes(
    alignment: Alignment, kind: str, name: str, left: list[int], right: list[int], leaf: tuple[int, int]
) -> list[Result]:
    title = f"{name} after change {{}}" if len(left) > 1 else f"{name} after its change"
    return [_valued(alignment, kind, title.format(n).strip(), pair, leaf) for n, pair in enumerate(zip(left, right), 1)]


def _kept(alignment: Alignment) -> list[Result]:
    """What one program keeps in memory (an average of the weights, say) and the other makes anew each time."""
    found = []
    for side in alignment.sides:
        if side.other.changes[1]:
            continue
        ends = [v for v in _unused(side.other) if side.other.values.size(v) > 1 and not side.other.matched(v)]
        for *_, kept in side.changes[1]:
            value = next((v for v in ends if side.other.values.shape(v) == side.values.shape(kept)), None)
            if not side.matched(kept) and value is not None:
                ends.remove(value)
                found.append(_valued(alignment, END, "", side.both(kept, value)))
    return found


def _ends(alignment: Alignment, notes: list[str]) -> list[Result]:
    """Values that nothing uses, in both programs: what A has left unmatched beside what B has."""
    a, b = alignment.sides
    right = _unused(b)
    ends_b = set(right)
    has_passes = bool(a.passes or b.passes)
    unmatched_b = [v for v in right if not b.matched(v)]
    found, alone = [], 0
    for va in _unused(a):
        if a.matched(va):
            same = [v for v in a.there(va) if v in ends_b]
            if same:
                found.append(_valued(alignment, END, "", (va, same[0])))
            continue
        size, name = a.values.size(va), a.events[a.producer[va]].name
        # Beside gradients, only what was made alike is held against each other: what is printed on the way may differ.
        alike = [v for v in unmatched_b if b.events[b.producer[v]].name == name]
        vb = next(iter(alike), None if has_passes else next(
            (v for v in unmatched_b if b.values.size(v) == size), next(iter(unmatched_b), None)))  # fmt: skip
        if vb is not None:
            unmatched_b.remove(vb)
            found.append(_valued(alignment, END, "", (va, vb)))
        else:
            alone += 1
    if not has_passes:
        counts = ("A", alone), ("B", len(unmatched_b))
        notes += [f"{who} has {n} results that the other program has not" for who, n in counts if n]
    return found


def _unused(side: Side) -> list[int]:
    """The results of operations of which nothing was used, not even as the root of a backward pass."""
    used = {n for number in side.passes for n, _ in side.begins(number).roots}
    for e in side.events:
        if isinstance(e, (WithParameters, Write, Reread, Accumulate)):
            used.update(side.producer.get(v, -1) for v in e.ins)
        elif isinstance(e, Cotangent):
            used.add(e.operation)
    return [
        e.outs[0] for n, e in enumerate(side.events) if isinstance(e, Operation) and n not in used and n not in side.within
    ]  # fmt: skip
