"""CONTRIBUTING names files that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_files_that_tasks_touch_exist() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Which files a task touches")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:src|tests)/[^`]*)`", table)
    assert len(named) > 20
    missing = [name for name in named if "NAME" not in name and not (ROOT / name).exists()]
    assert not missing
