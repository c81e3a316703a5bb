"""Why groups of equations end where they do, in words: for those who read the log."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from ..graph import Equation, Graph, Variable
from .batches import PRODUCTS
from .fuse import MOST, WIDEST, Group, Partition, joins, reduced
from .tiles import TILES


def explained(graph: Graph, parts: Partition, expressible: Callable[[Equation], bool]) -> str:
    """The steps of a partition, and of each why it does not belong to one before it."""
    names = graph.names()
    lines = []
    for k, step in enumerate(parts.steps):
        if isinstance(step, Group):
            shape = f"{step.rows} rows of {step.width}" if step.width else f"{step.size} elements"
            lines.append(f"group {k}: {len(step.equations)} operations on {shape}")
            lines.append(f"    {', '.join(f'{names[e.outputs[0]]} = {e.prim.name}' for e in step.equations)}")
            lines += [f"    {reason}" for reason in _begun(step, k, parts, names)]
            continue
        gives = ", ".join(names[v] for v in step.outputs)
        if step.prim is TILES:
            tiles = step.params["tiles"]
            inside = ", ".join(e.prim.name for e in tiles.graph.equations)
            lines.append(f"tiles {k}: {gives} = {tiles.count} tiles, one after the other, of {inside}")
        elif step.prim is PRODUCTS:
            lines.append(f"products {k}: {gives} = {math.prod(step.params['batch'].lead)} products")
        elif joins(step):
            lines.append(f"join {k}: {gives} = {step.prim.name} of {len(step.inputs)} arrays, with the groups around it, if any")
        else:
            lines.append(f"call {k}: {gives} = {step.prim.name}, since {alone(step, expressible)}")
    return "\n".join(lines)


def alone(e: Equation, expressible: Callable[[Equation], bool]) -> str:
    """Why an equation is part of no group."""
    if any(0 in v.shape for v in (*e.inputs, *e.outputs) if v is not None):
        return "arrays without elements take no loop"
    if e.prim.kind == "control":
        return "a loop or a choice has code of its own"
    if e.prim.kind not in ("elementwise", "reduction"):
        return f"no code is made for operations of this kind ({e.prim.kind})"
    if not expressible(e):
        dtypes = sorted({v.dtype.name for v in (*e.inputs, *e.outputs) if v is not None})
        return f"there is no code for it on numbers of type {' and '.join(dtypes)}"
    if e.prim.kind == "reduction" and reduced(e) is None:
        return "no loop goes over such axes, or reduces in this way"
    return "an operand goes with no rows that a loop could take"


def _begun(g: Group, k: int, parts: Partition, names: Mapping[Variable, str]) -> Iterator[str]:
    """Why a group is not part of those before it."""
    before = [s for s in parts.steps[:k] if isinstance(s, Group)]
    if not before:
        return
    alike = [s for s in before if s.size == g.size]
    if not alike:
        sizes = ", ".join(str(s.size) for s in before[-3:])
        yield f"begins here: no group before it is over {g.size} elements (the last ones are over {sizes})"
        return
    said = False
    for base in dict.fromkeys(parts.accesses[v].base for e in g.equations for v in e.inputs if v is not None):
        at = parts.home.get(base)
        home = None if at is None else parts.steps[at]
        if isinstance(home, Equation):
            yield f"begins here: takes {names[base]}, which {home.prim.name} gives (step {at})"
            said = True
        elif isinstance(home, Group) and home is not g and home.made[base] == "end":
            over = next((r for e, r in home.reductions.items() if e.outputs[0] is base), None)
            wide = over is not None and over.over == "rows"
            what = f"rows of more than {WIDEST}" if wide else "columns" if over and over.over == "columns" else "all elements"
            yield f"begins here: takes a reduction of {what}, which is known when group {at} has ended ({names[base]})"
            said = True
    if not said:
        last = alike[-1]
        if len(last.equations) >= MOST:
            yield f"begins here: the group before has {MOST} operations, as many as one may"
        elif g.width is not None and last.width is not None and g.width != last.width:
            yield f"begins here: goes over rows of {g.width}, and the group before over rows of {last.width}"
        else:
            yield "begins here: an operand goes not with the rows of the groups before"
