"""The reference of the native API: every public name is on one page, has a documentation and an example; the site builds."""

import importlib.util
import inspect
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import retrograde
from retrograde.tensor import creation, elementwise, fft, linalg, reductions, searching

ROOT = Path(__file__).parents[1]

_SPEC = importlib.util.spec_from_file_location("names", ROOT / "docs" / "extensions" / "names.py")
assert _SPEC is not None
assert _SPEC.loader is not None
names = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(names)

# `empty` and `empty_like` give whatever is there.
WITHOUT_EXAMPLE = {"empty", "empty_like"}


def test_every_public_name_is_on_one_page() -> None:
    on_pages = Counter(name for _, name in names.on_pages())
    assert set(on_pages) == set(names.public())
    assert not [name for name, count in on_pages.items() if count > 1]


def test_every_public_function_has_an_example() -> None:
    """Which the test of docstrings runs."""
    silent = [
        name
        for name, x in names.public().items()
        if callable(x) and ">>>" not in (x.__doc__ or "") and not (isinstance(x, type) and issubclass(x, Exception))
    ]
    assert set(silent) <= WITHOUT_EXAMPLE
    undocumented = [
        n for n in dir(retrograde.Tensor) if n[0] != "_" and not inspect.getdoc(getattr(retrograde.Tensor, n))
    ]
    assert not undocumented


@pytest.mark.parametrize("module", [creation, elementwise, fft, linalg, reductions, searching])
def test_examples_are_of_functions_that_are_there(module) -> None:
    """A row that no function takes up would be dead."""
    unused = [
        name
        for name, example in module._EXAMPLES.items()
        if example.split(" -> ")[0] not in getattr(module, name).__doc__
    ]
    assert not unused


def test_a_docstring_as_sphinx_reads_it() -> None:
    lines = ["`sin` and `x_`, |x| * y_", "", "Examples", "--------", ">>> f(*x_)", "`*`", "", "after `a`"]
    first = r":py:obj:`sin <retrograde.sin>` and ``x_``, \|x\| \* y\_"
    rest = ["", ".. rubric:: Examples", "", ">>> f(*x_)", "`*`", "", "after ``a``"]
    assert names.as_rst(lines, {"sin": "retrograde.sin"}) == [first, *rest]
    assert names.first_sentence("One, e.g. two.\nThree.") == "One, e.g. two."


@pytest.mark.parametrize(
    ("dialect", "least", "there"),
    [
        (
            "torch",
            2200,
            {"torch.nn": "Linear", "torch.nn.functional": "relu", "torch.Tensor": "backward", "torch.linalg": "norm"},
        ),
        (
            "paddle",
            1800,
            {"paddle": "grad", "paddle.nn": "Linear", "paddle.nn.functional": "relu", "paddle.Tensor": "backward"},
        ),
        ("mindspore", 2400, {"mindspore": "grad", "mindspore.nn": "Dense", "mindspore.ops": "GradOperation"}),
    ],
)
def test_names_of_a_dialect(dialect: str, least: int, there: dict[str, str]) -> None:
    """What the tables of the site are written from: module, and of each name arguments and first sentence."""
    command = [sys.executable, str(ROOT / "docs" / "extensions" / "dialects.py"), dialect]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sum(map(len, found.values())) >= least
    for module, name in there.items():
        ((_, arguments, said),) = [row for row in found[module] if row[0] == name]
        assert said.endswith((".", ":"))
        assert arguments.startswith("(")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_site_builds(tmp_path: Path) -> None:
    """`make docs` without a warning: references resolve, every page is in the navigation."""
    for package in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(package, reason=f"{package} is not installed: make docs installs it")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        "-d",
        str(tmp_path / "doctrees"),
    ]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path / "html")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "reference" / "elementwise.html").read_text(encoding="utf-8")
    assert 'id="retrograde.sin"' in page
    assert re.search(
        r"torch\.nn\.functional", (tmp_path / "html" / "reference" / "torch.html").read_text(encoding="utf-8")
    )
