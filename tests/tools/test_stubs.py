"""`retrograde stubs`: what the stubs say of the dialects is what these are, and a type checker follows a program with them."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DIALECTS = ("torch", "paddle", "mindspore")
PROGRAMS = Path(__file__).with_name("typed_programs")


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stubs")
    subprocess.run([sys.executable, "-m", "retrograde", "stubs", str(folder)], check=True, capture_output=True)
    return folder


COMPARE = """
import ast, importlib, inspect, sys
from pathlib import Path
import retrograde
dialect, folder = sys.argv[1:]
retrograde.activate(dialect)

def shape(parameters):
    return [(p.name, p.kind, p.default is not p.empty) for p in parameters]

def said(f):
    a = f.args
    K = inspect.Parameter
    positional = [*a.posonlyargs, *a.args]
    first = len(positional) - len(a.defaults)
    found = [(x.arg, K.POSITIONAL_ONLY if i < len(a.posonlyargs) else K.POSITIONAL_OR_KEYWORD, i >= first)
             for i, x in enumerate(positional)]
    found += [(a.vararg.arg, K.VAR_POSITIONAL, False)] if a.vararg else []
    found += [(x.arg, K.KEYWORD_ONLY, d is not None) for x, d in zip(a.kwonlyargs, a.kw_defaults)]
    return found + ([(a.kwarg.arg, K.VAR_KEYWORD, False)] if a.kwarg else [])

compared, wrong = 0, []
for path in sorted(Path(folder, dialect).rglob("*.pyi")):
    name = ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    for node in ast.parse(path.read_text()).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else module
        for f in inside:
            if not isinstance(f, ast.FunctionDef) or f.decorator_list:
                continue
            x = getattr(owner, f.name, None)
            try:
                real = shape(inspect.signature(x).parameters.values())
            except (TypeError, ValueError):
                continue
            want = said(f)
            if want[:1] == [("self", inspect.Parameter.POSITIONAL_ONLY, False)] != real[:1]:
                want = want[1:]  # which the function takes with the others
            if f.name == "__new__":
                continue
            compared += 1
            if [p[:2] for p in want[:1]] != [p[:2] for p in real[:1]] or want[1:] != real[1:]:
                wrong.append((name, getattr(node, "name", ""), f.name, want, real))
print(compared)
print(*wrong[:20], sep="\\n")
sys.exit(bool(wrong))
"""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_signatures_are_those_of_the_dialect(stubs: Path, dialect: str) -> None:
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", COMPARE, dialect, str(stubs)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
    assert int(found.stdout.split()[0]) > 1_000


@pytest.mark.parametrize("dialect", ["torch", *(pytest.param(name, marks=pytest.mark.long) for name in DIALECTS[1:])])
def test_a_checker_follows_a_program(stubs: Path, dialect: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = PROGRAMS / f"{dialect}_program.py"
    wanted = {
        number: line.partition("#")[2].strip()
        for number, line in enumerate(program.read_text().splitlines(), 1)
        if line.startswith("reveal_type(")
    }
    found = subprocess.run(
        [sys.executable, "-m", "mypy", f"--cache-dir={tmp_path}", program.name], cwd=PROGRAMS, capture_output=True, text=True,
        check=False, env={**os.environ, "MYPYPATH": str(stubs)},
    )  # fmt: skip
    seen: dict[int, Any] = {}
    for line in found.stdout.splitlines():
        revealed = re.match(r'[^:]*:(\d+): note: Revealed type is "(.*)"$', line)
        if revealed:
            seen[int(revealed[1])] = revealed[2]
    assert seen == wanted, found.stdout + found.stderr
    assert found.returncode == 0, found.stdout


def test_each_is_python_and_says_what_functions_are(stubs: Path) -> None:
    text = (stubs / "torch" / "nn" / "modules" / "conv.pyi").read_text()
    conv = next(n for n in ast.parse(text).body if isinstance(n, ast.ClassDef) and n.name == "Conv2d")
    assert inspect.cleandoc(ast.get_docstring(conv) or "")
    assert "in_channels: builtins.int" in text
