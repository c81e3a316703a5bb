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


def test_torch_autograd_grad() -> None:
    printed = run(EXAMPLES / "torch_autograd_grad.py")
    assert load_runner().same((EXAMPLES / "torch_autograd_grad.out").read_text(), printed), printed


def test_torch_half_of_mindspore_versus_torch(tmp_path: Path) -> None:
    source = (EXAMPLES / "mindspore_versus_torch.py").read_text()
    half = source[source.index("import torch") :]
    recorded = (EXAMPLES / "mindspore_versus_torch.out").read_text()
    program = tmp_path / "torch_half.py"
    program.write_text(half)
    printed = run(program)
    lines = recorded.splitlines()[-half.count("print(") :]
    assert load_runner().same("\n".join(lines), printed), printed
