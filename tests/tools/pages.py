"""Pages that retrograde writes, for tests: the data in them, and programs run to make them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "seen_programs"


def data_of(page: str) -> dict[str, Any]:
    """What a page holds."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def retrograde(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command line."""
    command = [sys.executable, "-m", "retrograde", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
