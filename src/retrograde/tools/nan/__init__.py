"""Where a nan comes from: `retrograde run --nan SCRIPT`, and `explain_nan(tensor)` for a graph that is there.

watch.py follows a program while it runs, graph.py computes a recorded graph again; both give a `Made` (made.py), of which
`Report` says what the user wants to know, with a remedy where one is known (remedies.py).
"""

from __future__ import annotations

import linecache
import os
from dataclasses import dataclass, field
from typing import Any

from ...core.notation import name_of
from .made import Made, Place
from .remedies import remedy

STEPS = 6
"""How many steps of the way are shown."""


@dataclass
class Report:
    """What is said of a value that is not finite; `found` is False where there is none."""

    found: bool
    place: str = ""
    """FILE:LINE of the first operation that made something not finite of what was finite."""
    text: str = ""
    """That line."""
    phase: str = ""
    operation: str = ""
    made: str = ""
    """"nan" or "inf"."""
    operands: list[dict[str, Any]] = field(default_factory=list)
    way: list[str] = field(default_factory=list)
    """The operations from there to what it has reached, each with its place."""
    reached: str = ""
    remedy: str = ""
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The report as what `json` writes; numbers that are not finite become strings."""
        from ..diff.answer import plain

        shown: dict[str, Any] = plain(dict(vars(self)))
        return shown

    def __str__(self) -> str:
        if not self.found:
            return self.note or "every value that counts is finite"
        lines = [f"{self.made} begins at {self.place or 'a line that is not known'}" + (f"   {self.text}" if self.text else "")]
        what = "came in from outside" if not self.operation else f"{name_of(self.operation)}, {_PHASES[self.phase]}"
        lines.append(f"  operation  {what}")
        for i, x in enumerate(self.operands):
            lines.append(f"  operand {i}  {_described(x)}")
        lines += [f"  then       {step}" for step in self.way]
        lines.append(f"  reached    {self.reached}")
        lines += [f"  remedy     {self.remedy}"] if self.remedy else []
        lines += [f"  note       {self.note}"] if self.note else []
        return "\n".join(lines)

    __repr__ = __str__


_PHASES = {"forward": "computing forward", "backward": "its derivative in a backward pass", "update": "an optimiser's step"}


def _described(x: dict[str, Any]) -> str:
    parts = [f"{x['dtype']}{list(x['shape'])}"]
    if x["there"] is not None:
        parts.append(f"{x['there']!r} there")
    if x["least"] is not None:
        parts.append(f"from {x['least']:.6g} to {x['most']:.6g}")
    parts += [f"{x[key]} {word}" for key, word in (("zeros", "zeros"), ("infinities", "infinite"), ("nans", "nan")) if x[key]]
    return ", ".join(parts)


def said(place: Place) -> str:
    """A place as FILE:LINE, the file as seen from here if it lies below."""
    file, line = place
    if not file:
        return ""
    near = os.path.relpath(file)
    return f"{file if near.startswith(os.pardir) else near}:{line}"


def report_of(found: tuple[Made, str, Place] | None) -> Report:
    """What to say of a value that is not finite and what it has reached."""
    if found is None:
        return Report(False)
    made, reached, where = found
    way = made.origin()
    begun = way[-1]
    steps = [
        f"{name_of(m.operation)} ({_PHASES[m.phase]}), {said(m.place)}" if m.operation else said(m.place) for m in way[-2::-1]
    ]
    if len(steps) > STEPS:
        steps[STEPS // 2 : len(steps) - STEPS // 2] = [f"... {len(steps) - STEPS} more"]
    file, line = begun.place
    seen_at = f" at {said(where)}" if said(where) else ""
    return Report(
        True, said(begun.place), linecache.getline(file, line).strip() if file else "", begun.phase, begun.operation,
        "nan" if begun.nan else "inf", [vars(x) for x in begun.operands], steps, reached + seen_at, remedy(begun),
    )  # fmt: skip


def explain_nan(value: Any) -> Report:
    """Where a nan or an infinity in a tensor, or in the gradient that a backward pass from it would give, begins.

    The graph behind the tensor is computed again, operation by operation, from its leaves and from what it has kept; if all of
    that is finite, so are the derivatives, without adding to any `.grad`. Lines are known of what was recorded within
    `autograd.detect_anomaly()`; `retrograde run --nan SCRIPT` knows them always.

    value: a tensor, usually a loss.

    Returns a report to print, with `found`, `place`, `phase`, `operation`, `operands`, `way`, `reached` and `remedy`.

    Raises TypeError where `value` is no tensor, and FreedGraphError where a backward pass has freed its graph.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([4.0, 0.0], requires_grad=True)
    >>> report = rg.explain_nan(rg.sum(rg.where(x > 0, rg.sqrt(x), 0.0)))
    >>> report.operation, report.phase, report.made
    ('sqrt', 'backward', 'nan')
    """
    from .graph import explained

    return explained(value)


__all__ = ["Report", "explain_nan", "report_of"]
