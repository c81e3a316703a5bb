"""A run as plain data: what the page shows."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from typing import Any

from ..graph.fold import said
from ..graph.model import Places, number
from ..seeing.calls import Place
from ..seeing.watch import Row
from .watch import Reporting

SIZE = 3_500_000
"""How many characters all series may take together."""
ROWS = 200
"""How many rows of time and memory are shown."""
MOST_PARAMETERS = 2000


def modelled(watch: Reporting, title: str) -> dict[str, Any]:
    """The run as what `json` writes."""
    places = Places()
    parameters = list(watch.parameters.values())[:MOST_PARAMETERS]
    lasting = [x for x in watch.losses.values() if x.steps] or list(watch.losses.values())
    most = max(40, min(500, SIZE // (24 * (2 * len(parameters) + len(lasting) + len(watch.units) + 1))))
    steps = watch.steps()
    return {
        "title": title, "steps": steps, "seconds": number(watch.seconds),
        "losses": [{"at": places.of(x.place), **x.values.as_json(most)} for x in lasting],
        "parameters": [
            {"n": p.name, "shape": list(p.shape), "weight": number(p.weight), "g": p.gradient.as_json(most),
             "r": p.ratio.as_json(most), "last": number(p.gradient.last), "most": number(p.gradient.most),
             "ratio": number(p.ratio.mean)}
            for p in parameters
        ],
        "left": len(watch.parameters) - len(parameters),
        "units": _units(watch, places, most, steps), "window": _window(steps),
        "rows": _rows(watch, places), "operations": _operations(watch),
        "rest": number(watch.seconds - sum(r.forward + r.backward for r in watch.rows.values())),
        "peak": watch.alive.peak,
        "at_peak": [[places.of(place), name, size] for (place, name), size in _largest(watch.alive.at_peak())],
        "compiled": _compiled(),
        "files": places.files, "lines": places.lines,
    }  # fmt: skip


def _window(steps: int) -> int:
    """Of how many steps at the end it is said which units were 0 in all."""
    return max(1, math.ceil(steps / 10))


def _units(watch: Reporting, places: Places, most: int, steps: int) -> list[dict[str, Any]]:
    late = steps - _window(steps)
    return [
        {"name": units.name or said(units.place), "at": places.of(units.place), "units": len(units.alive),
         "dead": int((units.alive < late).sum()), "never": int((units.alive < 0).sum()), **units.share.as_json(most)}
        for units in watch.units.values()
    ]  # fmt: skip


def _rows(watch: Reporting, places: Places) -> list[list[Any]]:
    lines: dict[Place, list[Row]] = defaultdict(list)
    for row in watch.rows.values():
        lines[row.place].append(row)
    found = []
    for place, rows in lines.items():
        names = sorted(rows, key=lambda r: -(r.forward + r.backward))
        told = ", ".join(r.name for r in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        found.append([places.of(place), told, sum(r.calls for r in rows), *_sums(rows)])
    return sorted(found, key=lambda r: -(r[3] + r[4]))[:ROWS]


def _operations(watch: Reporting) -> list[list[Any]]:
    names: dict[str, list[Row]] = defaultdict(list)
    for row in watch.rows.values():
        names[row.name].append(row)
    found = [[name, sum(r.calls for r in rows), *_sums(rows)] for name, rows in names.items()]
    return sorted(found, key=lambda r: -(r[2] + r[3]))[:ROWS]


def _sums(rows: list[Row]) -> list[Any]:
    return [number(sum(r.forward for r in rows)), number(sum(r.backward for r in rows)), sum(r.made for r in rows)]


def _largest(sizes: dict[Any, int]) -> list[tuple[Any, int]]:
    return sorted(sizes.items(), key=lambda entry: -entry[1])[:ROWS]


def _compiled() -> list[dict[str, Any]]:
    """The functions that were to be compiled, and what became of them."""
    compiled = sys.modules.get("retrograde.compile.compiled")
    if compiled is None:
        return []
    return [
        {"n": row.name, "l": f"{said((row.file, row.line))}", "counts": dict(row.counts), "why": list(row.why())}
        for row in compiled.report().rows
    ]
