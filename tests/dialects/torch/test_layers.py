"""Every layer, with seeded weights and inputs, against what PyTorch computed (data/layers.json)."""

import math

import pytest
from dialects.torch import layer_cases

from retrograde.dialects import torch

RECORD = layer_cases.load()
CASES = list(layer_cases.cases())


def same(found, wanted, scale=1.0):
    """Whether two results agree; the sums within rounding of float32."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        scale = max([1.0, *(abs(x) for x in wanted if isinstance(x, float))])
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted, [scale] * len(found)))
    if isinstance(wanted, float):
        return isinstance(found, float) and (found == wanted or abs(found - wanted) <= 3e-5 * scale or (
            math.isnan(found) and math.isnan(wanted)))  # fmt: skip
    return found == wanted


@pytest.mark.parametrize("key,expression,inputs,options", CASES, ids=[c[0] for c in CASES])
def test_computes_what_pytorch_computes(key, expression, inputs, options):
    found = layer_cases.run(torch, expression, inputs, options)
    assert same(found, RECORD[key]), f"{found}\n{RECORD[key]}"
