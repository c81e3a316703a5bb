"""The examples in docstrings do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import retrograde

# Importing these needs an optional library, or runs the command line.
LEFT_OUT = {"retrograde.__main__", "retrograde.backend.cupy", "retrograde.backend.dask", "retrograde.backend.torch"}
MODULES = ["retrograde"] + sorted(
    info.name for info in pkgutil.walk_packages(retrograde.__path__, "retrograde.") if info.name not in LEFT_OUT
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(module, optionflags=flags)
    assert failed == 0
