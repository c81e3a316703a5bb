"""docs/backends: each page's program runs, where its library is installed."""

from __future__ import annotations

import subprocess
import sys

import documents
import pytest

PAGES = documents.ROOT / "docs" / "backends"
LIBRARIES = {"numpy": "numpy", "dask": "dask", "torch": "torch", "cupy": "cupy", "array-api": "array_api_strict"}


@pytest.mark.parametrize("page", LIBRARIES)
def test_the_page_s_program(page: str) -> None:
    (program,) = documents.programs(PAGES / f"{page}.md")
    tried = f"import {LIBRARIES[page]}"
    if subprocess.run([sys.executable, "-c", tried], capture_output=True, check=False).returncode:
        pytest.skip(f"{LIBRARIES[page]} is not installed")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_table() -> None:
    said = (PAGES / "README.md").read_text(encoding="utf-8")
    assert all(f"({path.name})" in said for path in PAGES.glob("*.md") if path.name != "README.md")
