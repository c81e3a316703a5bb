"""Draws the pictures of docs/how-it-works.md: `python docs/pictures/draw.py` writes the .svg files beside this one.

The graphs are what `retrograde graph` makes of the programs on the page (for which it needs retrograde[pictures]); the other two
are boxes, which stand below.
"""

import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "how-it-works.md"

INK, PALE, LINE = "#22262e", "#e7edf8", "#8d99ab"
FONT = "font-family=\"system-ui, 'DejaVu Sans', sans-serif\""


def picture(width: int, height: int, title: str, parts: list[str]) -> str:
    """An .svg of parts on white."""
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0,0L8,4L0,8z" fill="{LINE}" /></marker></defs>'
    )
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT} font-size="12">'
    return "\n".join(
        [
            head,
            f"<title>{escape(title)}</title>",
            '<rect width="100%" height="100%" fill="#ffffff" />',
            arrow,
            *parts,
            "</svg>\n",
        ]
    )


def box(x: int, y: int, width: int, height: int, lines: list[str], fill: str = PALE) -> str:
    """A box with lines of text, the first in bold, at its top."""
    texts = []
    for i, line in enumerate(lines):
        weight = "" if i else ' font-weight="600"'
        where = f'x="{x + width / 2:g}" y="{y + 20 + 16 * i}" text-anchor="middle" fill="{INK}"{weight}'
        texts.append(f"<text {where}>{escape(line)}</text>")
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{fill}" stroke="{LINE}" />' + "".join(
        texts
    )


def arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    """An arrow between two points."""
    return f'<path d="M{x1},{y1}L{x2},{y2}" stroke="{LINE}" fill="none" marker-end="url(#arrow)" />'


def parts_of_the_package() -> str:
    """Who talks to whom, from a program down to arrays."""
    rows = [
        (12, ["torch dialect", "names, promotion", "errors, printing"], 12),
        (12, ["paddle dialect", "the same for", "PaddlePaddle"], 176),
        (12, ["mindspore dialect", "the same for", "MindSpore"], 340),
        (12, ["native API", "array API, grad,", "vmap, jit"], 504),
    ]
    parts = [box(x, y, 148, 70, lines) for y, lines, x in rows]
    parts += [arrow(x + 74, 82, x + 74, 118) for _, _, x in rows]
    parts += [
        box(
            12,
            120,
            640,
            54,
            ["the engine", "bind: evaluate and record; the backward pass; levels of transforms"],
            "#fbe9d7",
        ),
        arrow(332, 174, 332, 208),
        box(12, 210, 640, 54, ["primitives", "one record each: kernel, derivatives, batching, shapes"], "#e3f3e6"),
        arrow(332, 264, 332, 298),
        box(
            12,
            300,
            640,
            54,
            ["arrays", "NumPy, with generated code; Dask, PyTorch, CuPy, any of the array API standard"],
            "#f1f1f4",
        ),
    ]
    return picture(664, 366, "The parts: dialects over one engine over one table of primitives over arrays", parts)


def levels() -> str:
    """How one multiplication inside vmap(grad(f)) goes down."""
    steps = [
        (["x * x inside vmap(grad(f))", "the operands are values of the level of grad"], PALE),
        (["the level of grad: a tape", "records the multiplication, hands its operands down"], "#fbe9d7"),
        (["the level of vmap: a batch", "applies the batching rule: where is the mapped axis?"], "#e3f3e6"),
        (["NumPy", "multiplies two arrays"], "#f1f1f4"),
    ]
    parts = [box(12, 12 + 86 * i, 380, 52, lines, fill) for i, (lines, fill) in enumerate(steps)]
    parts += [arrow(202, 64 + 86 * i, 202, 96 + 86 * i) for i in range(len(steps) - 1)]
    return picture(404, 334, "One multiplication inside vmap(grad(f)), level by level", parts)


def graphs() -> dict[str, str]:
    """The graph of each program on the page, by the name of its file."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in re.findall(
            r"^```python\n# (\w+)\.py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M
        ):
            Path(folder, f"{name}.py").write_text(f"# {name}.py\n{text}", encoding="utf-8")
            command = [sys.executable, "-m", "retrograde", "graph", f"{name}.py", "-o", f"{name}.svg"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            found[name] = Path(folder, f"{name}.svg").read_text(encoding="utf-8")
    return found


def drawn() -> dict[str, str]:
    """The pictures that are boxes."""
    return {"parts": parts_of_the_package(), "levels": levels()}


if __name__ == "__main__":
    for name, text in {**drawn(), **graphs()}.items():
        (HERE / f"{name}.svg").write_text(text, encoding="utf-8")
