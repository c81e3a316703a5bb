"""Applies the worked examples of CONTRIBUTING.md to a copy of the package: the blocks that name a file are added to its end."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def check(first: str, last: str, blocks: int, use: str, folder: Path) -> None:
    """Write the blocks from the heading `first` up to `last` into a copy in a folder, and run a program that uses it."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    start = text.index(f"## {first}")
    found = re.findall(r"```python\n# (src/\S+)\n(.*?)```", text[start : text.index(f"\n## {last}", start)], re.DOTALL)
    assert len(found) == blocks
    shutil.copytree(ROOT / "src", folder / "src")
    for path, lines in found:
        with (folder / path).open("a") as file:
            file.write("\n\n" + lines)
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    run = subprocess.run([sys.executable, "-c", use], check=False, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
