"""What editors know: pyright (pylance's core) of the native API and of programs with stubs, and what jedi completes.

    make editors        installs both, and runs this
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
HERE = Path(__file__).parent
PROGRAMS = [HERE.parent / "native" / "typed_program.py", *sorted((HERE / "typed_programs").glob("*.py"))]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs, and the stubs where pyright looks for them."""
    folder = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "retrograde", "stubs", str(folder / "typings")], check=True, capture_output=True)
    for program in PROGRAMS:
        shutil.copy(program, folder)
    return folder


def plain(kind: str) -> str:
    """A type without the modules that its names stand in, which checkers show or leave out."""
    return re.sub(r"[a-z_.]+\.(?=\w)", "", kind)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_pyright_follows_a_program(project: Path, program: Path) -> None:
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, program.name]
    found = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    said = json.loads(found.stdout)["generalDiagnostics"]
    revealed = {
        d["range"]["start"]["line"]: plain(d["message"].rpartition(' is "')[2].rstrip('"'))
        for d in said
        if d["severity"] == "information"
    }
    wanted = {
        number: plain(line.partition("#")[2].strip())
        for number, line in enumerate(program.read_text(encoding="utf-8").splitlines())
        if line.startswith("reveal_type(")
    }
    assert revealed == wanted
    assert [d["message"] for d in said if d["severity"] == "error"] == []


@pytest.mark.parametrize(
    "source, name",
    [
        ("import retrograde as rg\nrg.asar", "asarray"),
        ("import retrograde as rg\nx = rg.asarray([1.0])\nx.backw", "backward"),
        ("import retrograde as rg\ny = rg.sin(rg.asarray([1.0])) * 2\ny.su", "sum"),
        ("import retrograde as rg\nrg.random.norm", "normal"),
        ("import torch\ntorch.topk", "topk"),
        ("import torch\nx = torch.rand(3)\n(x * 2).sum().backw", "backward"),
        ("from torch import nn\nnn.Line", "Linear"),
        ("from torch import nn\nnet = nn.Linear(2, 3)\nnet.in_f", "in_features"),
        ("import torch.nn.functional as F\nF.cross_e", "cross_entropy"),
        ("import paddle\npaddle.to_t", "to_tensor"),
        ("import mindspore as ms\nms.value_and", "value_and_grad"),
    ],
)
def test_jedi_completes(project: Path, source: str, name: str) -> None:
    jedi = pytest.importorskip("jedi")
    script = jedi.Script(
        source, path=project / "edited.py", environment=jedi.create_environment(sys.prefix, safe=False),
        project=jedi.Project(project, added_sys_path=[str(project / "typings")]),
    )  # fmt: skip
    assert name in [x.name for x in script.complete()]


def test_jedi_goes_to_the_stub_of_a_framework(project: Path) -> None:
    jedi = pytest.importorskip("jedi")
    script = jedi.Script(
        "import torch\ntorch.sum(", path=project / "edited.py",
        project=jedi.Project(project, added_sys_path=[str(project / "typings")]),
    )  # fmt: skip
    (signature,) = script.get_signatures()
    assert signature.to_string().startswith("sum(input: typing.Any, dim: typing.Any=None, keepdim: builtins.bool=False")
    assert [found.module_path for found in script.goto(2, 8)] == [project / "typings" / "torch" / "__init__.pyi"]
