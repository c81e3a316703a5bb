"""What programs are judged by: their losses, gradients, updated parameters and buffers, and what they end with."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from .align import Alignment
from .kinds import ACCUMULATE, COTANGENT, OP, REREAD, RESULT, UPDATE, WRITE
from .memory import changes
from .record import ABSENT
from .side import Side
from .values import Distance

LOSS, GRADIENT, RETURNED, PARAMETER, BUFFER, END = (
    "the loss", "the gradient", "the returned gradient", "the parameter", "the buffer", "the result",
)  # fmt: skip


@dataclass
class Result:
    """A value of A and the one of B that should be the same; None where one program has none."""

    kind: str
    name: str
    a: int | None
    b: int | None
    event_a: int
    event_b: int
    leaf: tuple[int, int] = (-1, -1)
    places: tuple[int, int] = (-1, -1)
    """Which backward passes, for losses and gradients."""
    distance: Distance | None = None

    @property
    def title(self) -> str:
        """The result for a sentence."""
        return f"{self.kind} {self.name}".strip()


def paired_results(alignment: Alignment, gradients_only: bool = False) -> tuple[list[Result], list[str]]:
    """The results of both programs, in the order in which A has them, and what could not be paired."""
    notes: list[str] = []
    results = _losses(alignment, notes) + _gradients(alignment, notes) + _returned(alignment) + _packed(alignment)
    if gradients_only:
        results = [r for r in results if r.kind in (GRADIENT, RETURNED)]
    else:
        results += _memory(alignment, notes) + _kept(alignment)
        # What is computed and never used is judged where nothing else is, or where both programs end alike.
        results += _ends(alignment, notes)
    results.sort(key=lambda r: r.event_a)
    return results, notes


def _losses(alignment: Alignment, notes: list[str]) -> list[Result]:
    a, b = alignment.a, alignment.b
    if len(a.passes) != len(b.passes):
        notes.append(f"A runs {len(a.passes)} backward passes, B {len(b.passes)}")
    found = []
    for place, (p, q) in enumerate(alignment.passes if alignment.all_passes else ()):
        for va, vb in zip(a.roots(a.passes[p]), b.roots(b.passes[q])):
            if va is not None and vb is not None:
                name = "" if len(alignment.passes) == 1 else f"of backward pass {place + 1}"
                found.append(Result(LOSS, name, va, vb, a.passes[p], b.passes[q], places=(p, q)))
    return found


def leaf_name(side: Side, leaf: int) -> str:
    """What a leaf is called: its name, or its number."""
    return side.record.leaves[leaf].name or f"#{leaf + 1}"


def _gradients(alignment: Alignment, notes: list[str]) -> list[Result]:
    a, b = alignment.a, alignment.b
    of_a, of_b = a.gradients(), b.gradients()
    dtypes = {
        tuple(side.values.kept(side.record.leaves[leaf].value).dtype for side, leaf in zip((a, b), pair))
        for pair in alignment.leaves.pairs
    }
    notes += [f"A computes in {p}, B in {q}" for p, q in sorted(dtypes) if p != q]
    changed_a, changed_b = changes(a)[0], changes(b)[0]
    found = []
    for i, j in alignment.leaves.pairs:
        left, right = of_a.get(i, []), of_b.get(j, [])
        pairs = alignment.facing_gradients(left, right)
        if left and right and (len(left) != len(right) or any(-1 in pair for pair in pairs)):
            if not alignment.all_passes:
                if alignment.agree(a.events[left[-1]].outs[0], b.events[right[-1]].outs[0]):
                    pairs = [(left[-1], right[-1])]
                else:  # those that both have, and one more
                    n = min(len(left), len(right))
                    pairs = [*zip(left[:n], right[:n]), *((x, -1) for x in left[n : n + 1]),
                             *((-1, y) for y in right[n : n + 1])]  # fmt: skip
            elif i not in changed_a and j not in changed_b:  # an input: what is not asked for is no mistake
                if any(-1 in pair for pair in pairs):
                    notes.append(f"not every pass gives a gradient of {leaf_name(a, i)} in both programs")
                pairs = [pair for pair in pairs if -1 not in pair]
        pairs = [(x, y) for x, y in pairs if not (x < 0 and _on_the_way(b, y)) and not (y < 0 and _on_the_way(a, x))]
        for n, (ea, eb) in enumerate(pairs):
            number = f" (number {n + 1})" if len(pairs) > 1 else ""
            found.append(_gradient(alignment, ea, eb, (i, j), f"of {leaf_name(a, i)}{number}"))
    for side, who, leaves, gradients, changed in (
        (a, "A", alignment.leaves.only_a, of_a, changed_a), (b, "B", alignment.leaves.only_b, of_b, changed_b),
    ):  # fmt: skip
        for leaf in leaves:
            name = leaf_name(side, leaf)
            alone = [e for e in gradients.get(leaf, []) if not _on_the_way(side, e)][:1]
            if alone and changed and leaf not in changed:  # an input
                notes.append(f"only {who} asks for a gradient of {name}, which it does not change")
            elif side is a:
                found += [_gradient(alignment, e, -1, (leaf, -1), f"of {name}") for e in alone]
            else:
                found += [_gradient(alignment, -1, e, (-1, leaf), f"of {name}") for e in alone]
    return found


def _on_the_way(side: Side, number: int) -> bool:
    """Whether a gradient is returned to be computed with and differentiated again: what that leads to is judged."""
    e = side.events[number]
    place = side.place(number)
    recorded = place >= 0 and bool(side.events[side.passes[place]].detail[1])
    used = e.outs[0] in side.consumers or not side.operations  # on the installed framework nobody knows
    return e.kind == RESULT and recorded and used


def _gradient(alignment: Alignment, ea: int, eb: int, leaf: tuple[int, int], name: str) -> Result:
    """The result of two events at which a gradient is known; -1 for a program that has none."""
    a, b = alignment.a, alignment.b
    p, q = a.place(ea) if ea >= 0 else -1, b.place(eb) if eb >= 0 else -1
    if ea < 0:  # at the end of the pass in which it should be
        p = next((x for x, y in alignment.passes if y == q), -1)
        at = a.passes[p + 1] - 1 if 0 <= p < len(a.passes) - 1 else len(a.events)
    else:
        at = ea
        if eb < 0:
            q = next((y for x, y in alignment.passes if x == p), -1)
    va, vb = a.events[ea].outs[0] if ea >= 0 else None, b.events[eb].outs[0] if eb >= 0 else None
    return Result(GRADIENT, name, va, vb, at, eb, leaf, (p, q))


def _packed(alignment: Alignment) -> list[Result]:
    """The gradients of parameters that hold several of the other program, and what these parameters become, in parts."""
    found: list[Result] = []
    a, b = alignment.a, alignment.b
    for in_a, whole, parts in alignment.leaves.packed:
        side, covered = (a, alignment.covered_a) if in_a else (b, alignment.covered_b)
        covered.add(side.record.leaves[whole].value)
        apart: set[int] = set()
        """Versions of the whole of which a part is not the same."""
        for other, start, rows in parts:
            name = leaf_name(b if in_a else a, other)
            leaf = (whole, other) if in_a else (other, whole)
            (alignment.covered_b if in_a else alignment.covered_a).add((b if in_a else a).record.leaves[other].value)
            gradients, changed = (_versions(alignment, leaf, of) for of in (GRADIENT, PARAMETER))
            cut = [
                r for n, r in enumerate(gradients + changed)
                if _cut(r, side, in_a, start, rows, name, len(gradients if n < len(gradients) else changed) > 1)
            ]  # fmt: skip
            noise = bool(gradients) and all(
                r.a is not None and r.b is not None and alignment.only_rounding(r.event_a, r.a, r.event_b, r.b)
                for r in cut if r.kind == GRADIENT
            )  # fmt: skip
            if noise:
                continue
            found += cut
            for r in cut:
                if not alignment.agree_in_part(r.a or 0, r.b or 0, r.event_b):
                    apart.add(r.event_a if in_a else r.event_b)
                elif in_a:
                    alignment.covered_b.add(r.b or 0)
                else:
                    alignment.covered_a.add(r.a or 0)
        versions = changes(side)[0].get(whole, []) + [side.events[n].outs[0] for n in side.gradients().get(whole, [])]
        covered.update(v for v in versions if side.producer[v] not in apart)
    return found


def _versions(alignment: Alignment, leaf: tuple[int, int], kind: str) -> list[Result]:
    """The gradients of two leaves in order, or what they hold after each change."""
    values = []
    for side, n in zip((alignment.a, alignment.b), leaf):
        if kind == GRADIENT:
            values.append([(e, side.events[e].outs[0]) for e in side.gradients().get(n, [])])
        else:
            values.append([(side.producer[v], v) for v in changes(side)[0].get(n, [])])
    return [
        Result(kind, str(n + 1), va, vb, ea, eb, leaf,
               (alignment.a.place(ea), alignment.b.place(eb)) if kind == GRADIENT else (-1, -1))
        for n, ((ea, va), (eb, vb)) in enumerate(zip(*values))
    ]  # fmt: skip


def _cut(result: Result, side: Side, in_a: bool, start: int, rows: int, name: str, several: bool) -> bool:
    """Let a result be that of some rows of the whole; False where its values were not kept."""
    whole = result.a if in_a else result.b
    part = None if whole is None else side.values.rows(whole, start, rows)
    if in_a:
        result.a = part
    else:
        result.b = part
    if result.kind == GRADIENT:
        result.name = f"of {name} (number {result.name})" if several else f"of {name}"
    else:
        result.name = f"{name} after change {result.name}" if several else f"{name} after its change"
    return part is not None


def _returned(alignment: Alignment) -> list[Result]:
    a, b = alignment.a, alignment.b
    left, right = _returned_at(a), _returned_at(b)
    if list(left) != list(right) and len(left) == len(right):
        right = dict(zip(left, right.values()))
    return [
        Result(RETURNED, f"for input {key[1]} of pass {key[0] + 1}", a.events[n].outs[0], b.events[right[key]].outs[0],
               n, right[key], places=(key[0], b.place(right[key])))
        for key, n in left.items() if key in right
    ]  # fmt: skip


def _returned_at(side: Side) -> dict[tuple[int, int], int]:
    """(place of the pass, position) -> the event, for gradients with respect to what is no leaf."""
    return {
        (side.pass_of.get(e.detail[0], -1), e.detail[2]): n
        for n, e in enumerate(side.events) if e.kind == RESULT and e.detail[1] < 0
    }  # fmt: skip


def _memory(alignment: Alignment, notes: list[str]) -> list[Result]:
    """What parameters and buffers hold after each change in place."""
    (leaves_a, buffers_a), (leaves_b, buffers_b) = changes(alignment.a), changes(alignment.b)
    found = []
    for i, j in alignment.leaves.pairs:
        left, right = leaves_a.get(i, []), leaves_b.get(j, [])
        name = leaf_name(alignment.a, i)
        if len(left) != len(right) and left and right:
            notes.append(f"A changes {name} {len(left)} times, B {len(right)} times")
            left, right = left[-1:], right[-1:]
        found += _changes(alignment, PARAMETER, name, left, right, (i, j))
    for left, right in _facing(alignment, buffers_a, buffers_b):
        n = min(len(left), len(right))  # one program may fill its buffers by a change in place
        shape = list(alignment.a.values.shape(left[0]))
        found += _changes(alignment, BUFFER, f"of shape {shape}", left[-n:], right[-n:], (-1, -1))
    return found


def _facing(
    alignment: Alignment, buffers_a: list[list[int]], buffers_b: list[list[int]]
) -> list[tuple[list[int], list[int]]]:  # fmt: skip
    """The buffers of one size that belong together: those that are first changed by something that both programs have, by how
    near to the change that is; then in order."""
    of_a = [_behind(alignment.a, chain, alignment.classes_a) for chain in buffers_a]
    of_b = [_behind(alignment.b, chain, alignment.classes_b) for chain in buffers_b]
    sizes = [[side.values.size(chain[0]) for chain in chains]
             for side, chains in ((alignment.a, buffers_a), (alignment.b, buffers_b))]  # fmt: skip
    near = sorted(
        (min(p[c] + q[c] for c in p.keys() & q.keys()), i, j)
        for i, p in enumerate(of_a) for j, q in enumerate(of_b) if sizes[0][i] == sizes[1][j] and not p.keys().isdisjoint(q)
    )  # fmt: skip
    in_order = ((0, i, j) for i in range(len(of_a)) for j in range(len(of_b)) if sizes[0][i] == sizes[1][j])
    pairs: dict[int, int] = {}
    for _, i, j in itertools.chain(near, in_order):
        if i not in pairs and j not in pairs.values():
            pairs[i] = j
    return [(buffers_a[i], buffers_b[j]) for i, j in sorted(pairs.items())]


def _behind(side: Side, chain: Sequence[int], classes: dict[int, int], far: int = 4) -> dict[int, int]:
    """What a buffer is first changed by: the classes of telling values, with how many operations lie between."""
    found: dict[int, int] = {}
    values = list(side.events[side.producer[chain[0]]].ins[1:])
    for distance in range(far):
        for v in values:
            if v in classes and side.values.size(v) > 1 and side.values.telling(v):
                found.setdefault(classes[v], distance)
        makers = [side.maker(v) for v in values]
        values = [v for e in makers if e is not None and e.kind == OP for v in e.ins if v != ABSENT]
    return found


def _kept(alignment: Alignment) -> list[Result]:
    """What one program keeps in memory (an average of the weights, say) and the other makes anew each time."""
    found = []
    for in_a in (True, False):
        side, across = (alignment.a, alignment.b) if in_a else (alignment.b, alignment.a)
        matched, there = alignment.matched_a, alignment.matched_b
        if not in_a:
            matched, there = there, matched
        if changes(across)[1]:
            continue
        ends = [v for v in _unused(across) if across.values.size(v) > 1 and not there(v)]
        for *_, kept in changes(side)[1]:
            value = next((v for v in ends if across.values.shape(v) == side.values.shape(kept)), None)
            if matched(kept) or value is None:
                continue
            ends.remove(value)
            va, vb = (kept, value) if in_a else (value, kept)
            found.append(Result(END, "", va, vb, alignment.a.producer[va], alignment.b.producer[vb]))
    return found


def _changes(
    alignment: Alignment, kind: str, name: str, left: list[int], right: list[int], leaf: tuple[int, int]
) -> list[Result]:
    a, b = alignment.a, alignment.b
    title = f"{name} after change {{}}" if len(left) > 1 else f"{name} after its change"
    return [
        Result(kind, title.format(n + 1).strip(), va, vb, a.producer[va], b.producer[vb], leaf)
        for n, (va, vb) in enumerate(zip(left, right))
    ]


def _ends(alignment: Alignment, notes: list[str]) -> list[Result]:
    """Values that nothing uses, in both programs: what A has left unmatched beside what B has."""
    left, right = _unused(alignment.a), _unused(alignment.b)
    ends_b = set(right)
    has_passes = bool(alignment.a.passes or alignment.b.passes)
    unmatched_b = [v for v in right if not alignment.matched_b(v)]
    found, alone = [], 0
    for va in left:
        if alignment.matched_a(va):
            same = [v for v in alignment.found[alignment.classes_a[va]] if v in ends_b]
            if same:
                found.append(Result(END, "", va, same[0], alignment.a.producer[va], alignment.b.producer[same[0]]))
            continue
        size = alignment.a.values.size(va)
        name = alignment.a.events[alignment.a.producer[va]].name
        # Beside gradients, only what was made alike is held against each other: what is printed on the way may differ.
        alike = [v for v in unmatched_b if alignment.b.events[alignment.b.producer[v]].name == name]
        vb = next(iter(alike), None if has_passes else next(
            (v for v in unmatched_b if alignment.b.values.size(v) == size), next(iter(unmatched_b), None)))  # fmt: skip
        if vb is not None:
            unmatched_b.remove(vb)
            found.append(Result(END, "", va, vb, alignment.a.producer[va], alignment.b.producer[vb]))
        else:
            alone += 1
    if not has_passes:
        for who, n in (("A", alone), ("B", len(unmatched_b))):
            if n:
                notes.append(f"{who} has {n} results that the other program has not")
    return found


def _unused(side: Side) -> list[int]:
    """The results of operations of which nothing was used, not even as the root of a backward pass."""
    used: set[int] = set()
    for number in side.passes:
        used.update(e for e in side.events[number].detail[2::2] if e >= 0)
    for e in side.events:
        if e.kind in (OP, UPDATE, WRITE, REREAD, ACCUMULATE):
            used.update(side.producer.get(v, -1) for v in e.ins)
        elif e.kind == COTANGENT:
            used.add(e.detail[1])
    return [
        e.outs[0] for n, e in enumerate(side.events) if e.kind == OP and n not in used and n not in side.within
    ]  # fmt: skip
