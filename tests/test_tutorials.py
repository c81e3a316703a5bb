"""Pages of docs/ that are programs (start page, tutorials, guides): run from top to bottom, they print what they say."""

import importlib.util

import documents
import pytest

DOCS = documents.ROOT / "docs"
PAGES = [
    "index.md",
    "how-it-works.md",
    *sorted(f"{p.parent.name}/{p.name}" for f in ("tutorials", "guides") for p in (DOCS / f).glob("*.md")),
]


@pytest.mark.parametrize(
    "name", [name for name in PAGES if any(b.kind in ("python", "console") for b in documents.blocks(DOCS / name))]
)
def test_a_page_prints_what_it_says(name, tmp_path):
    differing = documents.run(DOCS / name, tmp_path)
    assert not differing, "\n".join(f"{name}:{line}\nsays\n{said}\nprints\n{came}" for line, said, came in differing)


def test_pictures_are_what_is_drawn():
    """docs/pictures/*.svg are what docs/pictures/draw.py makes of the programs on docs/how-it-works.md."""
    folder = DOCS / "pictures"
    spec = importlib.util.spec_from_file_location("draw", folder / "draw.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    made = draw.drawn()
    if importlib.util.find_spec("py_mini_racer"):
        made |= draw.graphs()
        assert {p.stem for p in folder.glob("*.svg")} == set(made)
    assert {
        name: text for name, text in made.items() if (folder / f"{name}.svg").read_text(encoding="utf-8") != text
    } == {}


def test_a_page_that_is_wrong_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 2\nprint(x)\n```\n\n```output\n3\n```\n\n```python\nprint('more')\n```\n\n```python\n1 / 0\n```\n"
    )
    (first, second, third) = documents.run(page, tmp_path)
    assert first == (7, "3\n", "2\n")
    assert second == (11, "", "more\n")
    assert "ZeroDivisionError" in third[2]
