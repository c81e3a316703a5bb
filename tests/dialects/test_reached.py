"""Calls of functions that no other test enters, against what the frameworks give for them (reached/calls.py)."""

from __future__ import annotations

import importlib
import re

import pytest
from dialects.reached.calls import Framework, calls

STATEMENTS = [(name, line) for name in ("torch", "paddle", "mindspore", "mint") for line in calls(name)]
_NUMBER = re.compile(r"(-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan))")


def same(wanted: str, got: str) -> bool:
    """Whether two results are equal, numbers within the last of four digits."""
    ours, theirs = _NUMBER.split(got), _NUMBER.split(wanted)
    if ours[::2] != theirs[::2]:
        return False
    return all(a == b or abs(float(a) - float(b)) <= 2e-3 * abs(float(b)) for a, b in zip(ours[1::2], theirs[1::2]))


@pytest.mark.parametrize("name, line", STATEMENTS)
def test_a_call(name: str, line: str) -> None:
    dialect = "mindspore" if name == "mint" else name
    found = Framework(dialect, importlib.import_module(f"retrograde.dialects.{dialect}")).evaluate(line)
    assert same(calls(name)[line], found), f"the framework gives {calls(name)[line]}, here it is {found}"
