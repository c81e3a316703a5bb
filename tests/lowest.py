"""The lowest versions that pyproject.toml allows, as pip's constraints: `python tests/lowest.py pyproject.toml`."""

import re
import sys
import tomllib
from pathlib import Path


def lowest(text: str) -> list[str]:
    """`name==version` for each requirement with a lower bound, of the dependencies and of all extras but CuPy's."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(r for name, rs in extras.items() if name != "cuda" for r in rs)]
    found = (re.match(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)", requirement) for requirement in requirements)
    return [f"{bound[1]}=={bound[2]}" for bound in found if bound]


if __name__ == "__main__":
    print("\n".join(lowest(Path(sys.argv[1]).read_text())))
