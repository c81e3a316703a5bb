"""A graph as a still picture: what the page shows at first, laid out by the page's own script."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from ..._errors import UnsupportedError
from ..pages import part

_SCRIPTS = ("dagre.min.js", "layout.js", "picture.js")
_INK, _SOFT, _LINE, _LIGHT = "#22262e", "#566072", "#8d99ab", "#ffffff"


def laid_out(model: dict[str, Any], colour: str) -> dict[str, Any]:
    """Boxes and edges with their places and colours; raises UnsupportedError where no JavaScript can be run."""
    try:
        from py_mini_racer import MiniRacer
    except ImportError as problem:
        raise UnsupportedError(
            "graph: an .svg is laid out by the script of the page, and mini-racer, which runs it, is not installed: "
            "pip install 'retrograde[pictures]', or write an .html or a .dot"
        ) from problem
    engine = MiniRacer()
    engine.eval("\n".join(part(name) for name in _SCRIPTS))
    found: dict[str, Any] = json.loads(engine.call("picture", json.dumps(model), colour))
    return found


def drawn(model: dict[str, Any], colour: str = "kind") -> str:
    """The graph as the text of an SVG file."""
    picture = laid_out(model, colour)
    legend = picture["legend"]
    width, height = round(picture["w"]), round(picture["h"]) + (24 if legend else 0)
    top = Element("svg", {
        "xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {width} {height}", "width": str(width), "height": str(height),
        "font-family": "system-ui, 'DejaVu Sans', sans-serif", "font-size": "11",
    })  # fmt: skip
    SubElement(top, "title").text = model["title"]
    SubElement(top, "rect", {"width": "100%", "height": "100%", "fill": _LIGHT})
    arrow = SubElement(SubElement(top, "defs"), "marker", {
        "id": "arrow", "viewBox": "0 0 8 8", "refX": "7", "refY": "4", "markerWidth": "6", "markerHeight": "6", "orient": "auto",
    })  # fmt: skip
    SubElement(arrow, "path", {"d": "M0,0L8,4L0,8z", "fill": _LINE})
    for box in picture["boxes"]:
        if box["open"]:
            _frame(top, box, picture["plain"])
    for edge in picture["edges"]:
        line = {"d": edge["path"], "fill": "none", "stroke": _LINE, "stroke-width": "1.8" if edge["many"] else "1"}
        SubElement(top, "path", {**line, "marker-end": "url(#arrow)"} if edge["arrow"] else line)
    for box in picture["boxes"]:
        if not box["open"]:
            _box(top, box)
    if legend:
        _legend(top, legend, height - 14)
    return tostring(top, encoding="unicode") + "\n"


def _rectangle(box: dict[str, Any], **more: str) -> dict[str, str]:
    return {
        "x": f"{box['x']:.1f}",
        "y": f"{box['y']:.1f}",
        "width": f"{box['w']:.1f}",
        "height": f"{box['h']:.1f}",
        **more,
    }


def _frame(top: Element, box: dict[str, Any], plain: bool) -> None:
    inside = {"fill": box["fill"] if plain else _LIGHT, "fill-opacity": "0.45"}
    SubElement(top, "rect", _rectangle(box, rx="7", stroke="#b4bdca", **inside))
    SubElement(top, "rect", _rectangle({**box, "h": 22}, rx="7", fill=box["fill"]))
    title = {"x": f"{box['x'] + 10:.1f}", "y": f"{box['y'] + 15:.1f}", "font-weight": "600"}
    SubElement(top, "text", {**title, "fill": _LIGHT if box["dark"] else _INK}).text = box["title"]


def _legend(top: Element, legend: dict[str, Any], y: int) -> None:
    """What the colours say: their name, and the shades between the least and the largest."""
    SubElement(top, "text", {"x": "12", "y": str(y + 9), "fill": _INK}).text = f"{legend['label']} {legend['low']}"
    x = 24 + round(6.3 * len(f"{legend['label']} {legend['low']}"))
    for i, shade in enumerate(legend["shades"]):
        SubElement(top, "rect", {"x": str(x + 12 * i), "y": str(y), "width": "12", "height": "10", "fill": shade})
    SubElement(top, "text", {"x": str(x + 104), "y": str(y + 9), "fill": _INK}).text = legend["high"]


def _box(top: Element, box: dict[str, Any]) -> None:
    leaf = box["kind"] == "leaf"
    radius = f"{box['h'] / 2:.1f}" if leaf else "5"
    if box["kind"] not in ("op", "leaf"):
        below = {**box, "x": box["x"] + 4, "y": box["y"] + 4}
        SubElement(top, "rect", _rectangle(below, rx="5", fill=box["fill"], stroke=_LINE, **{"fill-opacity": "0.6"}))
    SubElement(top, "rect", _rectangle(box, rx=radius, fill=box["fill"], stroke="#7ba67b" if leaf else _LINE))
    for i, line in enumerate(box["lines"]):
        place = {"x": f"{box['x'] + box['w'] / 2:.1f}", "y": f"{box['y'] + 15 + 14 * i:.1f}", "text-anchor": "middle"}
        look = {"font-size": "10", "fill": _SOFT} if i else {"font-weight": "600", "fill": _INK}
        SubElement(top, "text", {**place, **look, **({"fill": _LIGHT} if box["dark"] else {})}).text = line
