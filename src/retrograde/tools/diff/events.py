"""What a program did, one class for each kind of event; parameters are values, written out once somebody asks for the text.

Needs NumPy, and nothing of retrograde: the side on an installed framework (real.py) loads this file by its path. A record on
disk has an event as a row (`row`, `of_row`), so that who reads it need not know the class by the writer's name for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any

import numpy as np

ABSENT = NOWHERE = -1
"""The number of an operand that is not there; where a gradient goes that nobody wants."""

Edge = tuple[int, int]
"""Where a gradient goes: the operation that made the value, and which of its results; for a leaf, a number of its own below
NOWHERE, and 0."""


@dataclass(slots=True)
class Event:
    """One thing that a program did: what it is called, the numbers of the values that it reads and makes, and the user's line."""

    name: str
    ins: Sequence[int]
    outs: Sequence[int]
    file: int
    line: int
    caller: Sequence[int]
    """File and line from which the function with that line was called, where that is the user's; else empty."""

    @property
    def text(self) -> str:
        """Its parameters, as text that is the same in every process."""
        return ""

    @property
    def deed(self) -> tuple[type[Event], str, str]:
        """What is done, whatever it is done to."""
        return type(self), self.name, self.text


@dataclass(slots=True)
class WithParameters(Event):
    """An event that has parameters."""

    params: Mapping[str, Any] | str
    """As values; the text where they cannot go to another process, as a function made on the way cannot."""
    _text: str | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """Its parameters, as text that is the same in every process."""
        if self._text is None:
            self._text = self._written()
        return self._text

    def _written(self) -> str:
        return self.params if isinstance(self.params, str) else shown(self.params)

    @property
    def given(self) -> Mapping[str, Any] | None:
        """Its parameters as values; None where only the text is known."""
        return None if isinstance(self.params, str) else self.params


@dataclass(slots=True)
class Operation(WithParameters):
    """An operation."""

    carries: Sequence[bool] = ()
    """Of each operand, whether it carries a gradient."""
    edges: Sequence[Edge] | None = None
    """Where the gradient of each operand goes; None where the tape has not recorded the operation."""

    @property
    def recorded(self) -> bool:
        """Whether the tape has recorded it."""
        return self.edges is not None


@dataclass(slots=True)
class Update(WithParameters):
    """An optimiser's rule on one parameter: that, its gradient and its state come in, parameter and state go out."""

    rule: str = ""

    def _written(self) -> str:
        return self.params if isinstance(self.params, str) else shown(normalised(self.params))


@dataclass(slots=True)
class Source(Event):
    """A value that no operation made."""

    made: str = ""
    """"filled" with one number, or a "range", where the program has asked for that; else "": a value from outside."""
    entered: bool = False
    """Whether its line is where it was made of data, as by `torch.tensor`; otherwise where it is read first."""


@dataclass(slots=True)
class Write(Event):
    """Memory got new content in place: `ins` is what it held, and what was written, where that is known."""


@dataclass(slots=True)
class Reread(Event):
    """Memory is read that was written through another array."""


@dataclass(slots=True)
class Detach(Event):
    """History is cut off."""


@dataclass(slots=True)
class Clear(Event):
    """The user has set `.grad`."""

    leaf: int


@dataclass(slots=True)
class InPass(Event):
    """Something in a backward pass."""

    run: int
    """The number that the engine gives the pass."""


@dataclass(slots=True)
class Pass(InPass):
    """A backward pass begins, with the gradients `outs`."""

    again: bool
    """Whether its gradients are differentiated again."""
    roots: Sequence[Edge] = ()
    """For each gradient that it begins with, where that goes; NOWHERE for leaves and what was not recorded."""


@dataclass(slots=True)
class Passed(InPass):
    """It has ended."""


@dataclass(slots=True)
class Cotangent(InPass):
    """A gradient arrives at an operation."""

    operation: int
    output: int


@dataclass(slots=True)
class Gave(InPass):
    """What a derivative of the user's own gave for an operation's operands."""

    operation: int


@dataclass(slots=True)
class Gradient(InPass):
    """A gradient of a leaf is known."""

    leaf: int
    """-1 for what is no leaf."""
    edge: Edge | None
    """Where it arrives, as the edges of operations have it; None where nobody knows."""


@dataclass(slots=True)
class Accumulate(Gradient):
    """A gradient (`ins`) is added to `.grad` (`outs`)."""

    had: bool
    """Whether there was one already."""
    before: int
    """That one."""


@dataclass(slots=True)
class Returned(Gradient):
    """A gradient is returned."""

    position: int


KINDS: tuple[type[Event], ...] = (
    Operation, Update, Source, Write, Reread, Detach, Clear, Pass, Passed, Cotangent, Gave, Accumulate, Returned,
)  # fmt: skip
MAKERS = (Operation, Source, Write, Reread, Update, Gradient)
"""The events whose results are values of the program (gradients on their way are not)."""

_ROWS: dict[type[Event], tuple[int, Callable[[Any], tuple[Any, ...]]]] = {
    kind: (code, attrgetter(*(one.name for one in fields(kind) if one.init))) for code, kind in enumerate(KINDS)
}


def row(e: Event) -> tuple[Any, ...]:
    """An event as what `pickle` writes quickly."""
    code, values = _ROWS[type(e)]
    return code, *values(e)


def of_row(entry: tuple[Any, ...]) -> Event:
    """The event of a row."""
    return KINDS[entry[0]](*entry[1:])


# ------------------------------------------------------------------------------------------ parameters as text

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shown(params: Mapping[str, Any]) -> str:
    """Parameters as text that is the same in every process."""
    parts = []
    for key, value in params.items():
        if key == "index" and isinstance(value, tuple) and all(type(i) in _BASIC for i in value):
            parts.append(f"[{_subscript(value)}]")
            continue
        text = (
            value.name
            if isinstance(value, np.dtype)
            else repr(value.item() if isinstance(value, np.generic) else value)
        )
        if len(text) > 200:
            text = text[:160] + "..." + text[-37:]
        parts.append(f"{key}={_ADDRESS.sub('', text) if ' at 0x' in text else text}")
    return ", ".join(parts)


def normalised(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an optimiser's rule, sorted, the same whichever dialect gives them: without those that are off,
    and numbers as they are in float32."""
    return {
        key: tuple(map(_plain, x)) if isinstance(x, tuple) else _plain(x)
        for key, x in sorted(options.items())
        if x is not None and not (isinstance(x, (bool, int, float, np.number)) and not x)
    }


def _plain(x: Any) -> Any:
    return float(f"{float(x):.7g}") if isinstance(x, (int, float, np.number)) and not isinstance(x, bool) else x


_BASIC = (int, slice, type(None), type(...))


def _subscript(index: tuple[Any, ...]) -> str:
    """An index as one writes it, without an ellipsis at the end."""
    while index and index[-1] is Ellipsis:
        index = index[:-1]
    parts = []
    for i in index:
        if isinstance(i, slice):
            ends = ["" if end is None else str(end) for end in (i.start, i.stop, i.step)]
            parts.append(":".join(ends if ends[2] else ends[:2]))
        else:
            parts.append("..." if i is Ellipsis else str(i))
    return ", ".join(parts) or "..."
