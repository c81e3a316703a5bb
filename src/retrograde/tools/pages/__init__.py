"""Pages as one file: templates with their scripts, styles and data put in.

The files beside this one are HTML, CSS and JavaScript; `{{NAME}}` in a template is where the file NAME goes, `{{data}}` where the
data goes, as JSON in which nothing can end the element that it stands in. What pages show they make with `textContent`.
dagre.min.js is @dagrejs/dagre 3.1.3 as it is published, without the reference to its source map; dagre.LICENSE is its licence.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent


@cache
def part(name: str) -> str:
    """The text of a file of this folder."""
    return (_HERE / name).read_text(encoding="utf-8")


def page(template: str, data: Any) -> str:
    """A template with everything in it."""

    def put(found: re.Match[str]) -> str:
        name = found[1]
        return written(data) if name == "data" else part(name)

    return re.sub(r"\{\{([\w.]+)\}\}", put, part(template))


def written(data: Any) -> str:
    """Data as JSON that may stand in a script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return (
        text.replace("<", "\\u003c").replace(">", "\\u003e").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    )


def framed(page: str) -> str:
    """A page as an element of another one, which it cannot reach into, as notebooks show it."""
    return part("frame.html").replace("{{page}}", html.escape(page))
