"""What tells calls of a function apart that need other code, and how two such calls differ, in words."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from ..trace.numbers import PLAIN


class Signature(NamedTuple):
    """tree: the containers of the arguments. kinds: of each array class, shape, dtype, whether it wants a gradient, whether it
    has one, and what else matters of it. rest: the other leaves of the arguments, with their types. mode: that of gradients.
    alike: which arrays are one and the same. ambient: what else a version depends on. transformed: whether transforms run."""

    tree: Any
    kinds: tuple[tuple[Any, ...], ...]
    rest: tuple[tuple[type, Any], ...]
    mode: int
    alike: Any
    ambient: Hashable = ()
    transformed: bool = False


def difference(before: Signature, now: Signature) -> list[str]:
    """What the second of two signatures has that the first has not, in words."""
    return list(_differences(before, now)) or ["what the arguments are has changed"]


def _differences(before: Signature, now: Signature) -> Iterator[str]:
    if before.tree != now.tree or len(before.kinds) != len(now.kinds) or len(before.rest) != len(now.rest):
        yield f"the arguments are {now.tree} of {len(now.kinds)} arrays and were {before.tree} of {len(before.kinds)}"
        return
    for i, (x, y) in enumerate(zip(before.kinds, now.kinds)):
        if x[:3] != y[:3]:
            yield f"array {i} of the arguments was {_array(x)} and is {_array(y)}"
        elif x != y:
            yield f"array {i} of the arguments ({_array(y)}) {_other(x, y)}"
    for i, ((old, was), (new, value)) in enumerate(zip(before.rest, now.rest)):
        if old is not new or was != value:
            shown = [cls.__name__ if cls in PLAIN else _short(x) for cls, x in ((old, was), (new, value))]
            yield f"what is no array among the arguments (number {i}) was {shown[0]} and is {shown[1]}"
    if before.mode != now.mode:
        yield "gradients are recorded" if now.mode else "gradients are not recorded"
    if before.alike != now.alike:
        yield "other arguments are one and the same array"
    if before.ambient != now.ambient:
        yield "a setting outside (default dtype, autocast, inference mode and the like) is another one"
    if before.transformed != now.transformed:
        yield "transforms are running" if now.transformed else "no transforms are running"


def _array(kind: tuple[Any, ...]) -> str:
    return f"{kind[0].__name__} {kind[2]}{list(kind[1])}"


def _other(x: tuple[Any, ...], y: tuple[Any, ...]) -> str:
    if x[3] != y[3]:
        return "takes part in gradients in another way"
    if x[4] != y[4]:
        return "has no .grad" if y[4] else "has a .grad"
    return "lies in memory in another way"


def _short(x: Any) -> str:
    shown = repr(x) if type(x) in (int, float, complex, bool, str, bytes, type(None)) else f"another {type(x).__name__}"
    return shown if len(shown) < 60 else f"{shown[:57]}..."
