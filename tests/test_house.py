"""The rules of the house that no other tool checks: subjects of files, floors, leftovers, packaging."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import retrograde

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Of names like these a reader learns nothing, and anything could go into such a file.
NO_SUBJECTS = frozenset(
    (
        "misc", "miscellaneous", "various", "lesser", "rare", "rarer", "minor", "names", "other", "others", "rest", "more",
        "extra", "extras", "stuff", "helper", "helpers",
    )
)
# In pure Python or already needed by the others; each more is an install that somebody has to wait for.
DEPENDENCIES = {"numpy", "ml-dtypes", "array-api-compat", "scipy", "safetensors", "rich", "llvmlite", "threadpoolctl"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_a_file_says_its_subject() -> None:
    """The first line of a file says what it owns, in a sentence."""
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if not re.match(r"\w|`", ast.get_docstring(ast.parse(path.read_text())) or "")
    ]
    assert not silent, f"no docstring that states the subject: {silent}"


def test_a_file_is_named_by_its_subject() -> None:
    """What is left over has a subject as well; it goes to the file of that."""
    leftovers = [
        str(path.relative_to(ROOT)) for path in SOURCES if NO_SUBJECTS.intersection(path.stem.lower().split("_"))
    ]
    assert not leftovers, f"named after no subject: {leftovers}"


def test_nothing_is_left_to_do() -> None:
    left = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"\b(TODO|FIXME|XXX)\b|NotImplementedError\(\)", line)
    ]
    assert not left, "\n".join(left)


def test_floors() -> None:
    """A lower floor never imports a higher one, and the dialects do not import each other."""
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--config", "pyproject.toml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_typed() -> None:
    assert (Path(retrograde.__file__).parent / "py.typed").exists()


def test_version_is_the_installed_one() -> None:
    try:
        installed = metadata.version("retrograde")
    except metadata.PackageNotFoundError:
        pytest.skip("retrograde is on the path, not installed")
    assert retrograde.__version__ == installed


def test_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {normal(re.split(r"[^A-Za-z0-9_.-]", requirement)[0]) for requirement in project["dependencies"]}
    assert names == DEPENDENCIES


def imported(file: Path) -> set[str]:
    """The packages outside this one and the standard library that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").partition(".")[0])
    return names - set(sys.stdlib_module_names) - {"retrograde"}


def test_only_dependencies_are_imported() -> None:
    """After a plain `pip install retrograde` everything runs but what extras are for: array libraries, processes, pictures."""
    of_extras = {ROOT / f"src/retrograde/backend/{library}.py": {library} for library in ("cupy", "dask", "torch")}
    of_extras[ROOT / "src/retrograde/backend/processes.py"] = {"mpi4py"}
    of_extras[ROOT / "src/retrograde/tools/graph/svg.py"] = {"py_mini_racer"}
    over_dask = ("backend/dask_pieces", "backend/dask_ways", "tensor/deferred")
    of_extras.update({ROOT / f"src/retrograde/{file}.py": {"dask"} for file in over_dask})
    others = {
        str(path.relative_to(ROOT)): missing
        for path in SOURCES
        if (missing := {n for n in imported(path) if normal(n) not in DEPENDENCIES} - of_extras.get(path, set()))
    }
    assert not others, f"imported, but no dependency in pyproject.toml: {others}"


def test_import_brings_in_little() -> None:
    """`import retrograde` loads neither SciPy nor a dialect: they are loaded when they are used."""
    heavy = ("scipy", "matplotlib", "multiprocessing", "retrograde.dialects", "retrograde.tools", "safetensors")
    program = f"import retrograde, sys\nprint([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
