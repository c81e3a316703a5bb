"""What a comparison answers: plain data, which report.py prints and `--json` writes."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

SAME, ROUNDING, DIFFERENT = "same", "same up to rounding", "different"


@dataclass
class Place:
    """A line of the user's program."""

    file: str
    line: int
    text: str = ""


@dataclass
class Shown:
    """A value: its shape and dtype, the elements around the largest difference, where it comes from."""

    shape: tuple[int, ...]
    dtype: str
    text: str
    origin: Place | None = None
    made_by: str = ""
    same: bool = True
    """Whether the other program has this value."""


@dataclass
class Step:
    """One side of the first difference: what is done where, with what result, and what feeds it."""

    place: Place
    what: str
    value: Shown | None = None
    feeds: list[Shown] = field(default_factory=list)
    seen_at: Place | None = None
    """Where the difference becomes visible, if that is later."""
    called_from: Place | None = None
    """Where the function was called in which it is done."""


@dataclass
class Difference:
    """The first thing that differs."""

    reason: str
    a: Step | None
    b: Step | None
    relative: float = math.inf
    absolute: float = math.inf
    index: tuple[int, ...] = ()
    shows_in: str = ""
    """The first result that is not the same: a loss, a gradient, a parameter."""
    found_by: list[str] = field(default_factory=list)
    """The rules that have found it, the most general first."""
    contributes_to: str = ""
    """The result that differs most, where there is more than one difference; the next two are about it."""
    alone: float | None = None
    """The relative difference that it makes there by itself, all others being mended."""
    factor: float | None = None
    """How many times as much differs there with it than without it; None where nothing differs without it."""
    times: int = 1
    """At how many places of the run it was met."""
    also: list[list[Place | None]] = field(default_factory=list)
    """Other lines of A and B at which it is the same, as where a module is called a second time."""


@dataclass
class Stretch:
    """Operations of both programs that differ and lead to the same value."""

    a: list[str]
    b: list[str]
    a_lines: tuple[Place, Place]
    b_lines: tuple[Place, Place]
    relative: float
    rule: str
    """How it was found that the value is the same."""
    times: int = 1


@dataclass
class Gradient:
    """The gradients of one parameter, side by side."""

    name_a: str
    name_b: str
    shape_a: tuple[int, ...] | None
    shape_b: tuple[int, ...] | None
    norm_a: float | None
    norm_b: float | None
    relative: float
    layout: str
    same: bool


@dataclass
class Precision:
    """What becomes of a difference when both programs are run again in double precision."""

    rounding: bool
    """Whether it shrinks with the precision."""
    single: float
    double: float
    """The relative difference in each."""
    shows_in: str
    factor: float | None = None
    """How many times smaller it is in double precision; None where nothing is left of it."""


@dataclass
class Lemma:
    """Two values that were proven to be the same: where they are made, and what both are, element by element."""

    a: Place
    b: Place
    a_what: str
    b_what: str
    formula: str


@dataclass
class Proof:
    """Why two programs are the same for all inputs of these shapes, or what of that could not be proven."""

    proven: bool
    unproven: list[str] = field(default_factory=list)
    """The results that were not."""
    operations: list[str] = field(default_factory=list)
    """Operations that are not looked into, and may be why."""
    reason: str = ""
    lemmas: list[Lemma] = field(default_factory=list)
    rules: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Rules that were applied -> what each says, for which numbers, on which conditions, and how often it was applied."""


@dataclass
class Answer:
    """What `retrograde diff` says."""

    verdict: str
    file_a: str
    file_b: str
    operations_a: int | None
    operations_b: int | None
    """None for a program that ran on the installed framework."""
    largest: float = 0.0
    """The largest relative difference among losses, gradients, parameters and results."""
    largest_in: str = ""
    difference: Difference | None = None
    """The first difference."""
    differences: list[Difference] = field(default_factory=list)
    """All that were found, the one that contributes most to the largest difference first."""
    stretches: list[Stretch] = field(default_factory=list)
    matched_by: dict[str, int] = field(default_factory=dict)
    """Rules by which values of B were found in A, and how many each has found."""
    gradients: list[Gradient] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rtol: str = ""
    proven: bool = False
    """Whether the programs are the same for all inputs of these shapes, in real numbers, without rounding."""
    proof: Proof | None = None
    """None where none was looked for: the programs differ, or were not run on retrograde."""
    precision: Precision | None = None
    """None where no second run was needed, or none was possible."""

    def as_json(self) -> dict[str, Any]:
        """The answer as what `json` writes; numbers that are not finite become strings."""
        found: dict[str, Any] = plain(asdict(self))
        return found


def plain(x: Any) -> Any:
    """What `json` can write: lists, dicts, numbers and text; numbers that are not finite, and complex ones, as text."""
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(value) for value in x]
    if isinstance(x, complex) or (isinstance(x, float) and not math.isfinite(x)):
        return repr(x)
    return x
