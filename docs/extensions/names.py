"""The public names of the native API by page of the reference, and a docstring as the reference shows it; no Sphinx needed."""

import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import retrograde

PAGES = Path(__file__).parent.parent / "reference"
ROOMS = ("autograd", "fft", "linalg", "random")
"""The modules within the native API whose names are documented as `retrograde.linalg.inv`."""

_DIRECTIVE = re.compile(r"^```\{native\}[^\n]*\n(.*?)^```", re.S | re.M)
_CODE = re.compile(r"``[^`]+``|`[^`]+`")


def public() -> dict[str, Any]:
    """Every public name, dotted (`sin`, `linalg.inv`), and what it stands for."""
    found = {name: getattr(retrograde, name) for name in retrograde.__all__ if name not in ROOMS}
    for room in ROOMS:
        module = getattr(retrograde, room)
        for name in getattr(module, "__all__", None) or _defined(module):
            x = getattr(module, name)
            if getattr(retrograde, name, None) is not x:  # `linalg.matmul` is `matmul`
                found[f"{room}.{name}"] = x
    return found


def _defined(module: Any) -> list[str]:
    return [
        n for n, x in vars(module).items() if not n.startswith("_") and getattr(x, "__module__", "") == module.__name__
    ]


def selected(lines: list[str]) -> list[str]:
    """The public names that the lines of a directive ask for: names themselves, and files (`tensor/creation.py`) for all
    that are defined there, in the order of the file."""
    names = public()
    found: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if line.endswith(".py"):
            module = importlib.import_module("retrograde." + line.removesuffix(".py").replace("/", "."))
            mine = {n: x for n, x in names.items() if getattr(x, "__module__", None) == module.__name__}
            order = {id(x): i for i, x in reversed(list(enumerate(vars(module).values())))}
            found += sorted(mine, key=lambda n: order.get(id(mine[n]), 0))
        elif line in names:
            found.append(line)
        else:
            raise LookupError(f"retrograde has no public name {line}")
    return found


def on_pages() -> Iterator[tuple[Path, str]]:
    """Each page of the reference with each name that is on it."""
    for page in sorted(PAGES.glob("*.md")):
        for lines in _DIRECTIVE.findall(page.read_text(encoding="utf-8")):
            for name in selected([line for line in lines.splitlines() if not line.startswith(":")]):
                yield page, name


def first_sentence(doc: str | None) -> str:
    """The first sentence of a docstring, or its first clause up to a colon or semicolon, on one line."""
    text = " ".join((doc or "").strip().split("\n\n")[0].split())
    return re.split(r"(?<=[^.]\.)\s+(?=[A-Z`])", text)[0]


def as_rst(lines: list[str], linked: dict[str, str]) -> list[str]:
    """A docstring in the form that Sphinx reads: code in backticks, formulas as they are, examples as a section.

    `linked` gives the full names of what can be linked to.
    """
    text = textwrap.dedent("\n".join(lines)).splitlines()
    out: list[str] = []
    example = False
    for i, line in enumerate(text):
        if re.fullmatch(r"-{3,}\s*", line) and i:
            out[-1:] = [f".. rubric:: {text[i - 1]}", ""]
            continue
        example = line.lstrip().startswith((">>>", "...")) or (example and bool(line.strip()))
        out.append(line if example else _line(line, linked))
    return out


def _line(line: str, linked: dict[str, str]) -> str:
    parts, end = [], 0
    for code in _CODE.finditer(line):
        parts += [_text(line[end : code.start()], linked), _code(code[0].strip("`"), linked)]
        end = code.end()
    return "".join([*parts, _text(line[end:], linked)])


def _text(text: str, linked: dict[str, str]) -> str:
    """Text without code, in which exceptions of this package are links."""
    words = re.split(r"(?<![\w.])(\w+Error)\b", text)
    return "".join(_code(w, linked) if i % 2 and w in linked else _escaped(w) for i, w in enumerate(words))


def _escaped(text: str) -> str:
    return re.sub(r"([*|\\])|(?<=\w)_(?!\w)", lambda m: f"\\{m[0]}", text)


def _code(code: str, linked: dict[str, str]) -> str:
    name = code.removeprefix("rg.").removesuffix("()")
    return f":py:obj:`{code} <{linked[name]}>`" if name in linked else f"``{code}``"


def takes(x: Any) -> str:
    """The signature of a callable without annotations, or nothing where it has none."""
    try:
        signature = inspect.signature(x)
    except (TypeError, ValueError):
        return ""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))
