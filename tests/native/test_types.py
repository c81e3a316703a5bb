"""What type checkers and editors know about the native Tensor: its methods, operators and the namespace's functions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.py")
WANTED = {
    number: line.partition("#")[2].strip()
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
    if line.startswith("reveal_type(")
}


def test_mypy_knows_the_tensor(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--allow-redefinition", f"--cache-dir={tmp_path}", PROGRAM.name]
    found = subprocess.run(command, cwd=PROGRAM.parent, capture_output=True, text=True, check=False)
    seen = {}
    for line in found.stdout.splitlines():
        revealed = re.match(r'[^:]*:(\d+): note: Revealed type is "(.*)"$', line)
        if revealed:
            seen[int(revealed[1])] = re.sub(r"[a-z_.]+\.(?=\w)", "", revealed[2])
    assert seen == WANTED, found.stdout + found.stderr
    assert found.returncode == 0, found.stdout


def test_the_program_runs() -> None:
    assert subprocess.run([sys.executable, PROGRAM], check=False).returncode == 0
