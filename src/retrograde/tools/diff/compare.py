"""From two records to the answer. Called by the command, and by tests with records made in their own process."""

from __future__ import annotations

import contextlib
import linecache
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from .align import MATCHERS, Alignment, align
from .answer import (
    DIFFERENT,
    ROUNDING,
    SAME,
    Answer,
    Difference,
    Gradient,
    Lemma,
    Place,
    Precision,
    Proof,
    Shown,
    Step,
    Stretch,
)
from .chance import Chance
from .events import ABSENT, Accumulate, Clear, Detach, Event, Operation, Source, Update, WithParameters, Write
from .forward import Finding
from .judge import Judgement, agrees, where
from .leaves import LeafPairs
from .onward import Onward
from .places import packaged
from .policy import Policy
from .proof.check import check
from .proof.prove import Prover
from .proof.rules import RULES
from .record import Record
from .results import GRADIENT, PARAMETER, RETURNED, Result, leaf_name
from .side import LAYOUT_ONLY, Side
from .starts import offer
from .values import FAR, Distance

ZERO = "rounding"
"""What is said of gradients that differ only because they are nothing but rounding."""


def compare(
    a: Record, b: Record, *, file_a: str, file_b: str, rtol: float | None = None,
    mapping: Sequence[tuple[str, str]] = (), gradients_only: bool = False, progress: Callable[[int, int], None] | None = None,
    widened: Callable[[], tuple[Record, Record]] | None = None, first_only: bool = False,
) -> Answer:  # fmt: skip
    """Whether two programs compute the same, and where they part.

    rtol: the relative difference that counts as rounding; what the dtypes suggest if None.
    widened: gives the records of both programs in double precision (wide.py). Called where they differ by little, to see
        whether that is rounding; without it, that is judged by how little.
    gradients_only: one of the records has nothing else. How rounding grows from step to step cannot be followed then,
        so 50 times as much counts as rounding.
    first_only: do not go on after the first difference.

    Raises ValueError where the mapping names a parameter that the program does not have.
    """
    second = None if widened is None or rtol is not None or gradients_only else _Second(a, b, mapping, widened)
    leaves = LeafPairs(a, b, mapping)
    if leaves.unknown:
        raise ValueError(f"--map: {'; '.join(leaves.unknown)}")
    policy = Policy(rtol, slack=Policy.alone if gradients_only else 1.0)
    compared = _Comparison(align(a, b, leaves, policy, progress=progress), file_a, file_b, gradients_only)
    chance = None if second is None else Chance(second.records)
    if chance is not None and compared.bad is not None and (found := chance.among(compared.alignment)):
        compared = _Comparison(align(a, b, leaves, policy, progress=progress, chance=found), file_a, file_b, gradients_only)
    answer, told = compared.answer, compared
    if second is not None and compared.is_close:
        records = second.records()
        if records is not None:
            again = align(*records, progress=progress, originals=(a, b))
            double = _Comparison(again, file_a, file_b, False)
            answer, told = _decided(compared, double)
    if answer.difference is not None:
        answer.differences = [answer.difference]
        if not first_only and not gradients_only and told.bad is not None:
            onward = Onward(a, b, told.judged, shown_difference, second.records if second is not None else None, chance)
            onward.search()
            answer.differences = [one.difference for one in onward.found] or answer.differences
            answer.notes += onward.notes
    elif not gradients_only and told.judged.results:
        answer.proof = _proof(compared.alignment, compared.judged.results)
        answer.proven = answer.proof.proven
    if second is not None:
        answer.notes += second.notes
    return answer


def _proof(alignment: Alignment, results: Sequence[Result]) -> Proof:
    """What can be proven of two programs that are the same on their own inputs."""
    found = Prover(alignment).prove(results)
    if not found.proven:
        names = list(dict.fromkeys(r.title for r in found.unproven))
        return Proof(False, names, sorted(found.operations), found.reason)
    wrong = check(found, alignment, results)
    if wrong:
        return Proof(False, [], [], f"the proof does not hold: {wrong}")
    lemmas = []
    for lemma in found.lemmas:
        x, y = alignment.a.maker(lemma.a), alignment.b.maker(lemma.b)
        if x is not None and y is not None:
            lemmas.append(Lemma(place_of(alignment.a, x), place_of(alignment.b, y), what_of(x), what_of(y),
                                found.algebra.text(lemma.term)))  # fmt: skip
    times = Counter(step.rule for step in found.algebra.steps.values())
    rules = {name: {**RULES[name]._asdict(), "times": n} for name, n in times.items()}
    return Proof(True, lemmas=lemmas, rules=rules)


class _Second:
    """The records of both programs in double precision, made once they are asked for."""

    def __init__(
        self, a: Record, b: Record, mapping: Sequence[tuple[str, str]], widened: Callable[[], tuple[Record, Record]]
    ) -> None:
        self._records, self._mapping, self._widened = (a, b), mapping, widened
        self._lengths = [(len(record.events), len(record.values)) for record in (a, b)]
        self._found: tuple[Record, Record, LeafPairs] | None = None
        self._asked = False
        self.notes: list[str] = []
        """Why they cannot be had."""

    def records(self) -> tuple[Record, Record, LeafPairs] | None:
        """The records, with the pairs of their leaves; None where they cannot be had."""
        if self._asked:
            return self._found
        self._asked = True
        own = {record.values[leaf.value].dtype for record in self._records for leaf in record.leaves} - {"float32", "complex64"}
        if own:
            self.notes.append(f"parameters of {', '.join(sorted(own))} are not widened: rounding is judged by its size")
            return None
        wide = self._widened()
        if [(len(record.events), len(record.values)) for record in wide] != self._lengths:
            self.notes.append("a program does not do the same when it is run again: rounding is judged by its size")
            return None
        self._found = (*wide, LeafPairs(*wide, self._mapping))
        return self._found


class _Comparison:
    """The answer for two records, and the result that decides it."""

    def __init__(self, alignment: Alignment, file_a: str, file_b: str, gradients_only: bool) -> None:
        self.alignment = alignment
        self.answer, self.judged = _judged(alignment, file_a, file_b, gradients_only)
        self.bad = self.judged.bad

    @property
    def is_close(self) -> bool:
        """Whether the programs differ, and by so little that it may be rounding."""
        if self.bad is None:
            return self.answer.verdict == ROUNDING
        distance = self.bad.distance
        return distance is not None and distance.relative < self.alignment.policy.close


def _decided(single: _Comparison, double: _Comparison) -> tuple[Answer, _Comparison]:
    """The answer after both programs were compared in double precision, too, and the comparison that it is taken from."""
    first, second, policy = single.answer, double.answer, single.alignment.policy
    if second.verdict == DIFFERENT:
        bad = double.bad
        if bad is None or bad.distance is None or bad.known is None:
            return second, double
        rows = any(v not in side.producer for side, v in zip(double.alignment.sides, bad.known))  # known there only
        before = first.largest if rows else single.alignment.distance(*bad.known).relative
        # Where the difference is large, single precision has matched more by content, and names the line.
        told = single if single.bad is not None and before > policy.large else double
        told.answer.precision = _precision(False, before, bad.distance.relative, bad.title)
        return told.answer, told
    shrinks = second.largest <= max(first.largest / policy.shrinks, policy.double)
    first.precision = _precision(shrinks, first.largest, second.largest, first.largest_in)
    if not shrinks:
        first.notes.append(
            "part of it stays in double precision: it comes of numbers that a program or its framework has rounded to single "
            "precision itself, and is judged by its size"
        )
    first.verdict, first.difference = ROUNDING, None
    same = {(g.name_a, g.name_b): g for g in second.gradients}
    for g in first.gradients:
        known = same.get((g.name_a, g.name_b))
        g.same = g.same or known is None or known.same
    return first, single


def _precision(rounding: bool, single: float, double: float, shows_in: str) -> Precision:
    return Precision(rounding, single, double, shows_in, single / double if double > 0 else None)


def _judged(
    alignment: Alignment, file_a: str, file_b: str, gradients_only: bool
) -> tuple[Answer, Judgement]:  # fmt: skip
    """What two records say."""
    policy, a, b = alignment.policy, alignment.a.record, alignment.b.record
    judged = Judgement(alignment, gradients_only)
    results, notes, bad = judged.results, judged.notes, judged.bad
    if gradients_only:
        notes.append("only gradients are compared")
        halves = {kept.dtype for record in (a, b) for kept in record.values} & {"float16", "bfloat16"}
        if halves and policy.rtol is None:
            notes.append(f"some values are {' and '.join(sorted(halves))}: --rtol sets how much rounding that may make")
    if not alignment.a.passes and not alignment.b.passes and not gradients_only:
        notes.append("neither program computes a gradient" + ("; what they end with is compared" if results else ""))
    answer = Answer(
        SAME, file_a, file_b, _counted(alignment.a, gradients_only), _counted(alignment.b, gradients_only), notes=notes,
        rtol="by dtype" if policy.rtol is None else f"{policy.rtol:g}",
    )  # fmt: skip
    answer.largest, answer.largest_in = judged.largest, judged.largest_in
    if alignment.astray > policy.astray:
        noise = [(r.kind, r.name) for r in results if r.values[1] in alignment.noise]
        whole = dict.fromkeys(name.partition(" (")[0] for kind, name in noise if kind == GRADIENT)
        partly = dict.fromkeys(f"of {name.partition(' after ')[0]}" for kind, name in noise if kind == PARAMETER)
        for names, what in ((whole, "the gradients"), ([n for n in partly if n not in whole], "some elements of the gradients")):
            if names:
                notes.append(f"{what} {', '.join(names)} are nothing but rounding: what becomes of them is not compared")
    apart = None if bad else judged.nothing_in_common()
    answer.gradients = _table(alignment, results)
    answer.stretches = _stretches(alignment)
    times = Counter(match.rule for match in alignment.partner.values())
    answer.matched_by = {rule.name: times[rule.name] for rule in MATCHERS if times[rule.name]}
    if bad is not None:
        if not gradients_only and not alignment.widened and (offered := offer(alignment, file_b)):
            answer.notes.append(offered)
        answer.verdict = DIFFERENT
        answer.difference = shown_difference(alignment, judged.finding(), bad.title)
        distance = bad.distance
        if distance is not None and distance.relative > answer.largest:
            answer.largest, answer.largest_in = distance.relative, where(bad, distance)
    elif apart is not None:
        answer.verdict, answer.difference = DIFFERENT, shown_difference(alignment, apart, "everything")
    elif answer.largest > 0:
        answer.verdict = ROUNDING
        if answer.largest > policy.large:
            notes.append("rounding has grown on the way: every step agrees, given what the steps before made of it")
    return answer, judged


def _counted(side: Side, gradients_only: bool) -> int | None:
    return None if gradients_only and not side.operations else side.operations


# ------------------------------------------------------------------------------------------ gradients


def _table(alignment: Alignment, results: Sequence[Result]) -> list[Gradient]:
    """The last gradient of each parameter; the first that differs, if one does."""
    rows: dict[tuple[int, int, str], Result] = {}
    for result in results:
        if result.kind not in (GRADIENT, RETURNED):
            continue
        key = (*result.leaf, result.name if result.leaf == (-1, -1) else result.kind)
        shown = rows.get(key)
        if shown is None or agrees(alignment, shown):
            rows[key] = result
    table = []
    for result in rows.values():
        distance = alignment.distance(*result.known) if result.known is not None else None
        same = agrees(alignment, result)
        layout = "" if distance is None or not same else distance.layout
        if same and distance is not None and distance.relative > alignment.policy.grown:
            layout = ZERO
        (a, b), (i, j), (va, vb) = alignment.sides, result.leaf, result.values
        table.append(Gradient(
            leaf_name(a, i) if i >= 0 else "" if va is None else result.name,
            leaf_name(b, j) if j >= 0 else "" if vb is None else result.name,
            None if va is None else a.values.shape(va), None if vb is None else b.values.shape(vb),
            None if va is None else a.values.norm(va), None if vb is None else b.values.norm(vb),
            math.inf if distance is None else distance.relative, layout, same,
        ))  # fmt: skip
    return table


# ------------------------------------------------------------------------------------------ the difference


def shown_difference(alignment: Alignment, finding: Finding, title: str) -> Difference:
    """A finding as the answer has it; title: the result in which it shows."""
    va, vb = alignment.each(lambda side, v, n: v if v != ABSENT else side.made(n), finding.values, finding.events)
    distance = FAR if ABSENT in (va, vb) else alignment.distance(va, vb)
    steps = alignment.each(lambda side, v: _step(side, finding, v, distance), (va, vb))
    return Difference(finding.reason, *steps, distance.relative, distance.absolute, distance.at, title, list(finding.rules))


def _step(side: Side, finding: Finding, value: int, distance: Distance) -> Step | None:
    number = side.of(finding.events)
    if number < 0:
        return None
    e, at = side.events[number], side.events[side.of(finding.named())]
    feeds = [_shown(side, v, ()) for v in e.ins if v != ABSENT] if not isinstance(e, Accumulate) else []
    return Step(
        place_of(side, at), what_of(at),
        _shown(side, value, distance.at) if value != ABSENT else None,
        feeds, place_of(side, e) if at is not e and at.line != e.line else None,
        _place(side, *at.caller) if at.caller else None,
    )  # fmt: skip


def place_of(side: Side, e: Event) -> Place:
    """The user's line of an event, with its text."""
    return _place(side, e.file, e.line)


def _place(side: Side, file: int, line: int) -> Place:
    name = side.record.files[file] if file < len(side.record.files) else ""
    return Place(name, line, linecache.getline(name, line).strip() if name else "")


_WHATS = {Write: "change in place", Accumulate: "adding to .grad", Clear: "clearing .grad", Detach: "detaching",
          Source: "a value that is given"}  # fmt: skip


def _what(e: Event) -> str:
    return f"{e.name} step" if isinstance(e, Update) else what_of(e)


def what_of(e: Event) -> str:
    """What an event does, for a line of text."""
    if isinstance(e, WithParameters):
        name = f"{e.name} step" if isinstance(e, Update) else e.name.removesuffix("Backward")  # of a user's function
        return f"{name}({e.text})" if e.text else name
    return _WHATS.get(type(e), e.name)


def _shown(side: Side, value: int, index: tuple[int, ...]) -> Shown:
    kept = (side.original if value in side.producer else side.values).kept(value)
    maker = side.maker(value)
    made_by = "" if maker is None or isinstance(maker, Source) else maker.name if isinstance(maker, Operation) else _what(maker)
    origin = None if maker is None else place_of(side, maker)
    return Shown(tuple(kept.shape), kept.dtype, elements(side, value, index), origin, made_by, side.matched(value))


def elements(side: Side, value: int, index: tuple[int, ...] = ()) -> str:
    """A few elements of a value: those around an index, else the first ones."""
    array = side.values.array(value)
    if array is None:
        figures = side.values.kept(value).digest
        return f"between {figures[3]:.6g} and {figures[4]:.6g}"
    flat = array.reshape(-1)
    at = 0
    if index and len(index) == array.ndim and array.size > 6:
        shape_fits = all(i < n for i, n in zip(index, array.shape))
        at = int(np.ravel_multi_index(index, array.shape)) if shape_fits else 0
    start = max(0, min(at - 1, flat.size - 4)) if flat.size > 6 else 0
    shown = [_number(x, 7 if side.original is side.values else 13) for x in (flat[start : start + 4] if flat.size > 6 else flat)]
    text = ", ".join(shown)
    return f"{'... ' if start else ''}{text}{' ...' if flat.size > 6 and start + 4 < flat.size else ''}"


def _number(x: np.generic, digits: int) -> str:
    if x.dtype.kind in "fc" or x.dtype.name == "bfloat16":
        return f"{x.item():.{digits}g}" if x.dtype.kind != "c" else f"{x.item():.5g}"
    return str(x.item())


# ------------------------------------------------------------------------------------------ stretches


LINEAR = frozenset(("affine", "add_matmul", "project", "matmul"))
"""Operations that are the same but for the layout of a weight, and whether there is a bias."""


def _stretches(alignment: Alignment) -> list[Stretch]:
    """Where both programs come to the same value by different operations."""
    found: dict[tuple[object, ...], Stretch] = {}
    for vb, match in alignment.partner.items():
        if match.alike:
            continue
        ways = alignment.each(lambda side, v: _way(side, side.producer[v]), (match.value, vb))
        left, right = ([e.name for e in way if e.name not in LAYOUT_ONLY] for way in ways)
        if not left or not right or left == right or (len(left) == len(right) == 1 and LINEAR.issuperset(left + right)):
            continue
        lines = alignment.each(_lines, ways)
        key = (tuple(left), tuple(right), *(place.line for pair in lines for place in pair))
        stretch = found.get(key)
        if stretch is None:
            found[key] = Stretch(left, right, *lines, match.distance.relative, match.rule)
        else:
            stretch.times += 1
            stretch.relative = max(stretch.relative, match.distance.relative)
    return list(found.values())


def _way(side: Side, end: int) -> list[Event]:
    """The operations that make an operation's result out of what both programs have; none of another event."""
    if side.operation(end) is None:
        return []
    region = {end}
    stack = list(side.events[end].ins)
    while stack and len(region) < 200:
        v = stack.pop()
        if v == ABSENT or side.matched(v):
            continue
        number = side.producer.get(v, -1)
        if number not in region and side.operation(number) is not None:
            region.add(number)
            stack += side.events[number].ins
    return [side.events[n] for n in sorted(region)]


def _lines(side: Side, way: Sequence[Event]) -> tuple[Place, Place]:
    places = sorted((place_of(side, e) for e in way), key=lambda place: (place.file, place.line))
    return places[0], places[-1]


def short_file(path: str) -> str:
    """A file's name for a narrow column: relative to where one is, or within its package, if that is shorter."""
    names = [path]
    with contextlib.suppress(ValueError):  # another drive
        names.append(os.path.relpath(path))
    if within := packaged(path):
        names.append(within)
    return min(names, key=len)
