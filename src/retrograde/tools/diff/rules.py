"""Ordered lists of small named rules: each says what it knows, and the first that knows something decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Rule(Generic[F]):
    """A rule: its name, what it says in a sentence, and the function that applies it, which gives None where it does not hold."""

    name: str
    says: str
    apply: F


class Rules(list[Rule[F]]):
    """Rules in the order in which they are asked; as a decorator, adds one that is called as its function is."""

    def __call__(self, function: F) -> F:
        says = (function.__doc__ or "").partition("\n\n")[0]
        self.append(Rule(function.__name__.strip("_").replace("_", " "), " ".join(says.split()), function))
        return function

    def first(self, *arguments: Any) -> tuple[str, Any] | None:
        """The name of the first rule that holds, and what it gives."""
        for rule in self:
            found = rule.apply(*arguments)
            if found is not None:
                return rule.name, found
        return None
