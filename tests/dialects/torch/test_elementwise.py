"""Elementwise functions against what PyTorch gave (data/elementwise.json, written by record_elementwise.py)."""

import json
import math
from pathlib import Path


import numpy as np
import pytest
from dialects.torch import elementwise_cases

from retrograde.dialects import torch
from retrograde.ops import kernels

RECORD = json.loads((Path(__file__).parent / "data" / "elementwise.json").read_text())
STAGES = ("value", "node", "gradient", "second derivative")

# What we keep different, by call and stage; the reason stands beside.
DELIBERATE = {
}


@pytest.fixture(scope="module")
def edges():
    with np.errstate(all="ignore"):
        return elementwise_cases.edges(torch)


@pytest.fixture(scope="module")
def dtypes():
    with np.errstate(all="ignore"):
        return elementwise_cases.dtypes(torch)


def flat(x):
    if isinstance(x, list):
        return [v for y in x for v in flat(y)]
    return [x]


def same(got, wanted):
    if got == wanted or got is None or wanted is None:
        return got == wanted
    x, y = float(got), float(wanted)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return x == y == 0 or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("name", RECORD["edges"])
def test_edges(name, edges):
    for stage, got, wanted in zip(STAGES, edges[name], RECORD["edges"][name], strict=False):
        if (name, stage) in DELIBERATE:
            continue
        if stage == "node":
            assert got == wanted
            continue
        pairs = list(zip(flat(got), flat(wanted), strict=True))
        assert all(same(x, y) for x, y in pairs), (stage, [p for p in pairs if not same(*p)])


@pytest.mark.parametrize("call", RECORD["dtypes"])
def test_dtypes(call, dtypes):
    assert dtypes[call] == RECORD["dtypes"][call]
