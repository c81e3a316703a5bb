"""What the options of optimisers and schedules have to be, said in text: `check(op, "betas in [0, 1); eps: float > 0", ...)`.

Clauses with `;` between them: the name of an option, after `:` its types, then `> 0`, `>= 0`, `<= 0` and their like, `in [0, 1)`
(brackets as in mathematics) or `in {min, max}` (texts or whole numbers); `given` refuses None only, `around 1` wants a pair
with 1 between its entries, `rising` a list. Of another tuple or list every entry that is there is compared.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .guard import kind_of

_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "bool": ("a bool", lambda x: isinstance(x, bool)),
    "float": ("a float", lambda x: isinstance(x, float)),
    "floats": ("a tuple of floats", lambda x: isinstance(x, tuple) and all(isinstance(part, float) for part in x)),
    "function": ("a function", callable),
    "int": ("an int", lambda x: isinstance(x, int) and not isinstance(x, bool)),
    "list": ("a list or tuple", lambda x: isinstance(x, (list, tuple))),
    "None": ("None", lambda x: x is None),
    "number": ("a number", lambda x: isinstance(x, (float, int)) and not isinstance(x, bool)),
    "object": ("an object", lambda x: True),
    "str": ("a string", lambda x: isinstance(x, str)),
    "pair": ("a pair", lambda x: isinstance(x, (list, tuple)) and len(x) >= 2),
}
"""What types are called in clauses and in messages, and whether a value is of one."""
_WORDS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


class Clause(NamedTuple):
    """What one option has to be."""

    name: str
    types: tuple[str, ...]
    wanted: str
    fits: Callable[[Any], Any] | None
    condition: str = ""
    """As it stands in the text."""

    def doubtful(self) -> str:
        """An expression of the option that is false where it is a float as it has to be: who asks it first checks seldom."""
        how, _, what = self.condition.partition(" ")
        if how in _COMPARE:
            return f"type({self.name}) is not float or not {self.name} {how} {what}"
        if how == "in" and what[0] in "[(":
            low, high = what[1:-1].split(", ")
            below, above = ("<=" if end in "[]" else "<" for end in (what[0], what[-1]))
            return f"type({self.name}) is not float or not {low} {below} {self.name} {above} {high}"
        return "True"

    def check(self, op: str, value: Any, error: type[Exception] = ValueError) -> None:
        """Raise for a value of another type, or out of range (see `check`)."""
        types, fits = self.types, self.fits
        if types and not any(_TYPES[t][1](value) for t in types):
            wrong = AssertionError if error is AssertionError else TypeError
            raise wrong(f"{op}: {self.name} must be {' or '.join(_TYPES[t][0] for t in types)}, got {kind_of(value)}")
        if fits is None or (value is None and "None" in types):
            return
        several = isinstance(value, (tuple, list)) and not self.wanted.startswith(("0 <", "rising"))
        for i, part in enumerate(value) if several else ((0, value),):
            try:
                fine = (several and part is None) or fits(part)
            except TypeError:
                raise TypeError(f"{op}: {self._label(several, i)} must be a number, got {kind_of(part)}") from None
            if not fine:
                raise error(f"{op}: {self._label(several, i)} is {part!r}; wanted {self.wanted}")

    def __str__(self) -> str:
        """The clause as a docstring says it: `eps is a float above 0`."""
        kinds = " or ".join(_TYPES[t][0] for t in self.types)
        return f"{self.name} is {' '.join(filter(None, (kinds, self.wanted)))}"

    def _label(self, several: bool, i: int) -> str:
        return f"{self.name}[{i}]" if several else self.name


def check(op: str, text: str, options: Mapping[str, Any], error: type[Exception] = ValueError) -> None:
    """Check the options that have a clause in the text, in the order of the text.

    Raises TypeError for one of another type (AssertionError where that is `error`), `error` for one out of range.

    >>> check("Adam", "betas in [0, 1); eps: float > 0", {"betas": (0.9, 1.0), "eps": 1e-8})
    Traceback (most recent call last):
    ValueError: Adam: betas[1] is 1.0; wanted in [0, 1)
    """
    for clause in clauses(text):
        if clause.name in options:
            clause.check(op, options[clause.name], error)


@functools.cache
def clauses(text: str) -> list[Clause]:
    """The clauses of a text."""
    found = []
    for clause in filter(None, text.split("; ")):
        name, types, condition = re.fullmatch(r"(\w+)(?:: (\w+(?: \| \w+)*))?(?: (\S.*))?", clause).groups()  # type: ignore[union-attr]
        found.append(Clause(name, tuple(types.split(" | ")) if types else (), *_condition(condition), condition or ""))
    return found


def _condition(text: str | None) -> tuple[str, Callable[[Any], Any] | None]:
    """What a condition is called in a message, and the function that says whether it holds."""
    if text is None:
        return "", None
    if text == "given":
        return "a value", lambda x: x is not None
    if text == "rising":
        return "rising values", lambda x: all(a < b for a, b in itertools.pairwise(x))
    how, _, what = text.partition(" ")
    if how == "around":
        return f"0 < first < {what} < second", lambda pair: 0 < pair[0] < float(what) < pair[1]
    if how != "in":
        bound, compare = float(what), _COMPARE[how]
        return f"{_WORDS[how]} {what}", lambda x: compare(x, bound)
    if what[0] == "{":
        known = [int(k) if k.isdigit() else k for k in what[1:-1].split(", ")]
        return " or ".join(map(repr, known)), lambda x: x in known
    low, high = map(float, what[1:-1].split(", "))
    above, below = _COMPARE[">=" if what[0] == "[" else ">"], _COMPARE["<=" if what[-1] == "]" else "<"]
    return text, lambda x: above(x, low) and below(x, high)


def check_nesterov(op: str, nesterov: Any, momentum: Any, dampening: Any) -> None:
    """Raise ValueError where Nesterov's momentum is asked for without momentum, or with dampening."""
    if nesterov and (momentum <= 0 or dampening != 0):
        raise ValueError(f"{op}: nesterov goes with a momentum above 0 and no dampening, got {momentum} and {dampening}")
