"""What functions give whose annotations say `Any`: recorded while the tests run (`tests/stub_results.py`), a line each."""

from __future__ import annotations

from importlib.resources import files


def recorded(dialect: str) -> dict[str, str]:
    """The types of results by the function's dotted name below the dialect ("nn.functional.relu", "Tensor.max")."""
    path = files(__package__).joinpath("results", f"{dialect}.txt")
    if not path.is_file():
        return {}
    return dict(line.split(None, 1) for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#")
