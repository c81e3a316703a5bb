"""The answer on one screen, with rich."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .align import MATCHERS
from .answer import DIFFERENT, SAME, Answer, Difference, Gradient, Place, Precision, Proof, Shown, Step, Stretch
from .compare import short_file
from .explain import ONWARDS, RESULTS
from .forward import PARTINGS, REASONS

STRETCHES, GRADIENTS, FEEDS, LEMMAS = 5, 12, 4, 40
"""How many of each are shown; the others are counted."""


def show(answer: Answer, console: Console, explain: bool = False) -> None:
    """Print an answer; explain: with the proof that the programs are the same, where there is one."""
    parts: list[RenderableType] = [_verdict(answer)]
    if answer.difference is not None:
        parts.append(_difference((answer.differences or [answer.difference])[0], answer))
    if len(answer.differences) > 1:
        parts.append(_differences(answer.differences, answer))
    if answer.stretches:
        parts.append(_stretches(answer.stretches))
    if answer.gradients:
        parts.append(_gradients(answer.gradients))
    if explain:
        parts.append(_rules(answer))
        if answer.proven and answer.proof is not None:
            parts.append(_proof(answer.proof, answer))
    parts += [Text(f"note: {note}", style="dim") for note in dict.fromkeys(answer.notes)]
    console.print(Group(*parts))


def _verdict(answer: Answer) -> RenderableType:
    colour = "red" if answer.verdict == DIFFERENT else "green"
    what = "loss, gradient and parameter" if answer.gradients else "result"
    words = {SAME: f"The same: every {what} agrees to the last bit.", DIFFERENT: "Different."}.get(
        answer.verdict, "The same up to rounding."
    )
    if answer.operations_a == answer.operations_b == 0:
        words, colour = "Nothing to compare: neither program computes anything that is differentiated.", "yellow"
    text = Text.assemble((words, f"bold {colour}"))
    if answer.largest:
        text.append(f"  Largest difference {_relative(answer.largest)} of the largest element, in {answer.largest_in}.")
    if answer.precision is not None and (answer.precision.rounding or answer.difference is not None):
        text.append(f"\n{_in_double(answer.precision)}", style=colour)
    if answer.proof is not None:
        text.append(f"\n{_in_general(answer.proof)}", style="green" if answer.proven else "dim")
    text.append(
        f"\nA {short_file(answer.file_a)} ({_count(answer.operations_a)})   "
        f"B {short_file(answer.file_b)} ({_count(answer.operations_b)})   rounding: {answer.rtol}", style="dim",
    )  # fmt: skip
    return text


def _in_general(proof: Proof) -> str:
    """Whether two programs are the same for other inputs, too, in words."""
    if proof.proven:
        n = sum(rule["times"] for rule in proof.rules.values())
        return f"The same for all inputs of these shapes: proven by {n:,} applications of {len(proof.rules)} rules (--explain)."
    what = ", ".join(proof.unproven[:3]) + (f" and {len(proof.unproven) - 3} more" if len(proof.unproven) > 3 else "")
    why = f" ({proof.reason})" if proof.reason else ""
    if proof.operations and not why:
        why = f" (not looked into: {', '.join(proof.operations[:6])})"
    return f"The same here; for other inputs that is not proven{f' of {what}' if what else ''}{why}."


def _table(*folded: str, kept: Sequence[str]) -> Table:
    """A table whose last columns are folded, and have the room that is left; the first one most of it."""
    table = Table(box=None, pad_edge=False, expand=True)
    for name in kept:
        table.add_column(name, no_wrap=True)
    for n, name in enumerate(folded):
        table.add_column(name, overflow="fold", ratio=None if n else 1)
    return table


def _proof(proof: Proof, answer: Answer) -> RenderableType:
    """The steps of a proof that the programs are the same."""
    table = _table("what both are", kept=("A", "B"))
    for one in proof.lemmas[:LEMMAS]:
        table.add_row(*(escape(f"{_where(place, file)} {what.partition('(')[0]}") for place, file, what in (
            (one.a, answer.file_a, one.a_what), (one.b, answer.file_b, one.b_what))), escape(one.formula))  # fmt: skip
    if len(proof.lemmas) > LEMMAS:
        table.add_row(f"and {len(proof.lemmas) - LEMMAS} more", "", "")
    rules = _table("what it says", "where", kept=("rule", "times"))
    for name, rule in proof.rules.items():
        on = "" if rule["condition"] == "none" else f"; {rule['condition']}"
        rules.add_row(name, str(rule["times"]), escape(rule["statement"]), escape(f"{rule['domain']}{on}"))
    title = "Proof: values that are one function of the inputs (t: tensors, i: indices, j: indices that are summed over)"
    return Group(Text(title, style="bold"), table, rules)


def _rules(answer: Answer) -> RenderableType:
    """By which rules values were matched, and differences found."""
    table = _table("what it says", kept=("rule", "values"))
    for rule in MATCHERS:
        if rule.name in answer.matched_by:
            table.add_row(rule.name, f"{answer.matched_by[rule.name]:,}", rule.says)
    for name, says in [(rule.name, rule.says) for rules in (RESULTS, ONWARDS, PARTINGS, REASONS) for rule in rules]:
        if any(name in one.found_by for one in answer.differences):
            table.add_row(name, "", says)
    return Group(Text("Rules by which values were found in the other program, and differences in both", style="bold"), table)


def _in_double(precision: Precision) -> str:
    """What a second run in double precision says of a difference, in words."""
    both = f"{_relative(precision.single)} in single precision, {_relative(precision.double)} in double"
    if not precision.rounding:
        return f"It stays in double precision, so it is no rounding: {precision.shows_in} differs by {both}."
    times = "nothing is left of it" if precision.factor is None else f"{precision.factor:.0e} times less"
    return f"It shrinks with the precision, so it is rounding: {both} ({times})."


def _count(operations: int | None) -> str:
    return "on the installed framework" if operations is None else f"{operations:,} operations"


def _relative(x: float) -> str:
    return f"{x:.1e}" if math.isfinite(x) else "without bounds"


def _line(place: Place, file: str) -> str:
    return f"[bold]{escape(_where(place, file))}[/]  {escape(place.text)}"


def _where(place: Place, file: str) -> str:
    """A line of a program, with the file where that is another."""
    own = bool(place.file) and os.path.realpath(place.file) == os.path.realpath(file)
    return f"line {place.line}" if own else (
        f"{short_file(place.file)}:{place.line}" if place.file else "unknown line")  # fmt: skip


def _difference(difference: Difference, answer: Answer) -> RenderableType:
    table = Table(box=None, expand=True, pad_edge=False, show_header=True)
    table.add_column("A", ratio=1, overflow="fold")
    table.add_column("B", ratio=1, overflow="fold")
    left, right = _step(difference.a, answer.file_a), _step(difference.b, answer.file_b)
    if bool(difference.a and difference.a.called_from) != bool(difference.b and difference.b.called_from):
        (right if difference.a and difference.a.called_from else left).insert(1, "")
    for i in range(max(len(left), len(right))):
        table.add_row(left[i] if i < len(left) else "", right[i] if i < len(right) else "")
    at = f" at {list(difference.index)}" if difference.index else ""
    foot = f"It shows first in {difference.shows_in}"
    if math.isfinite(difference.absolute) and difference.absolute:
        foot += f"; the largest difference here is {difference.absolute:.3g}{at}"
    reason = difference.reason[:1].upper() + difference.reason[1:]
    body = Group(Text(f"{reason}.", style="bold"), table, Text(f"{foot}.", style="dim"))
    several = len(answer.differences)
    title = "First difference" if several < 2 else f"Largest of {several} differences"
    return Panel(body, title=title, title_align="left", border_style="red")


def _differences(differences: Sequence[Difference], answer: Answer) -> RenderableType:
    """All differences, the one that contributes most first."""
    table = _table("what", kept=("", "A", "B"))
    table.add_column("alone", justify="right", no_wrap=True)
    for one in differences:
        factor = "" if one.factor is None or one.factor < 1.05 else f"×{one.factor:.{'2g' if one.factor < 100 else '0e'}}"
        lines = [_where(step.place, file) if step is not None else "nothing"
                 for step, file in ((one.a, answer.file_a), (one.b, answer.file_b))]  # fmt: skip
        what = " / ".join(dict.fromkeys(step.what for step in (one.a, one.b) if step is not None))
        times = f" ({one.times} times)" if one.times > 1 else ""
        alone = "" if one.alone is None else _relative(one.alone)
        files = answer.file_a, answer.file_b
        also = [" / ".join(_where(at, file) for at, file in zip(places, files) if at is not None) for places in one.also]
        more = f"; the same at {', '.join(also)}" if also else ""
        table.add_row(factor, *map(escape, lines), escape(f"{one.reason}: {what}{times}{more}"), alone)
    shown = next((one.contributes_to for one in differences if one.contributes_to), "")
    title = "All differences, each after the ones before it were mended"
    about = f"×: how many times as much {shown} differs with it than without it; alone: by how much with all others mended"
    return Group(Text(title, style="bold"), table, *([Text(about, style="dim")] if shown else []))


def _step(step: Step | None, file: str) -> list[str]:
    if step is None:
        return ["[dim]nothing that corresponds[/]"]
    lines = [_line(step.place, file), f"[cyan]{escape(step.what)}[/]"]
    if step.called_from is not None:
        lines.insert(1, f"[dim]called from[/] {_line(step.called_from, file)}")
    if step.seen_at is not None:
        lines.append(f"seen at {_line(step.seen_at, file)}")
    if step.value is not None:
        lines.append(f"= {_value(step.value)}")
    for feed in step.feeds[:FEEDS]:
        made = f"from {feed.made_by}" if feed.made_by else "given"
        origin = f" {made} at line {feed.origin.line}" if feed.origin and feed.origin.line else ""
        only = "" if feed.same else " [yellow](only here)[/]"
        lines.append(f"[dim]fed by[/] {_value(feed)}[dim]{escape(origin)}[/]{only}")
    if len(step.feeds) > FEEDS:
        lines.append(f"[dim]and {len(step.feeds) - FEEDS} more[/]")
    return lines


def _value(value: Shown) -> str:
    return f"{escape(value.dtype)}{escape(str(list(value.shape)))} {escape(value.text)}"


def _operations(names: Sequence[str]) -> str:
    text = ", ".join(names[:6])
    return text if len(names) <= 6 else f"{text} ... ({len(names)} operations)"


def _span(lines: tuple[Place, Place]) -> str:
    first, last = lines
    return f"{first.line}" if first.line == last.line else f"{first.line}-{last.line}"


def _stretches(stretches: Sequence[Stretch]) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for name in ("A line", "operations", "B line", "operations", "difference"):
        table.add_column(name, overflow="fold")
    for s in sorted(stretches, key=lambda s: -s.relative)[:STRETCHES]:
        times = f" ({s.times} times)" if s.times > 1 else ""
        table.add_row(_span(s.a_lines), escape(_operations(s.a)), _span(s.b_lines), escape(_operations(s.b)),
                      f"{s.relative:.1e}{times}" if s.relative else f"none{times}")  # fmt: skip
    if len(stretches) > STRETCHES:
        table.add_row("", f"and {len(stretches) - STRETCHES} more", "", "", "")
    return Group(Text("Written differently, with the same value at the end", style="bold"), table)


def _gradients(gradients: Sequence[Gradient]) -> RenderableType:
    table = Table(title="Gradients", title_justify="left", title_style="bold", box=None, pad_edge=False,
                  collapse_padding=True)  # fmt: skip
    longest = [max(len(name) for name in names) for names in ([g.name_a for g in gradients], [g.name_b for g in gradients])]
    for name, n in zip("AB", longest):
        table.add_column(name, overflow="fold", min_width=min(max(n, 8), 12))
    table.add_column("shape")
    for name in ("norm A", "norm B", "difference"):
        table.add_column(name, justify="right")
    marks = [f"{'same' if g.same else 'different'}{f' ({g.layout})' if g.layout else ''}" for g in gradients]
    table.add_column("", no_wrap=True, min_width=max(map(len, marks)))
    order = sorted(range(len(gradients)), key=lambda i: (gradients[i].same, -gradients[i].relative))[:GRADIENTS]
    for i in sorted(order):
        g = gradients[i]
        shapes = [str(list(s)) if s is not None else "none" for s in (g.shape_a, g.shape_b)]
        table.add_row(
            escape(g.name_a), escape(g.name_b if g.name_b != g.name_a else "the same"),
            escape(shapes[0] if shapes[0] == shapes[1] or g.layout else " / ".join(shapes)), _norm(g.norm_a), _norm(g.norm_b),
            f"{g.relative:.1e}" if math.isfinite(g.relative) and g.relative else "none" if not g.relative else "",
            f"[{'green' if g.same else 'red'}]{escape(marks[i])}[/]",
        )  # fmt: skip
    if len(gradients) > GRADIENTS:
        rest = len(gradients) - GRADIENTS
        table.add_row(f"and {rest} more", "", "", "", "", "", "")
    return table


def _norm(x: float | None) -> str:
    return "" if x is None else f"{x:.4g}"
