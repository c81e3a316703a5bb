"""The programs of the reference documents print what the documents say.

They belong to the documents and are not part of this project: the test runs them where the folder lies beside it.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from corpora import load_runner

EXAMPLES = Path(__file__).parents[2] / "shared" / "reference" / "examples"

pytestmark = pytest.mark.skipif(
    not EXAMPLES.is_dir(), reason="the reference documents' programs are not at ../shared/reference/examples"
)


def run(program: Path) -> str:
    command = [sys.executable, "-m", "retrograde", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=program.parent)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "name",
    ["torch_autograd_grad", "paddle_grad", "paddle_fluid_dygraph_grad", "mindspore_ops_GradOperation", "mindspore_versus_torch"],
)
def test_document(name: str) -> None:
    printed = run(EXAMPLES / f"{name}.py")
    assert load_runner().same((EXAMPLES / f"{name}.out").read_text(), printed), printed
