"""Functions, layers, optimisers and schedules against what PaddlePaddle computed (data/nn.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from dialects.paddle import nn_cases

from retrograde.dialects import paddle

RECORD = json.loads(nn_cases.RECORD.read_text())
CASES = list(nn_cases.cases())


def same(found: Any, wanted: Any, scale: float = 1.0) -> bool:
    """Whether two results agree; numbers within rounding of float32 at the scale of their neighbours."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        scale = max([1.0, *(abs(x) for x in wanted if isinstance(x, float) and math.isfinite(x))])
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(map(same, found, wanted, [scale] * len(found)))
        )
    if isinstance(wanted, float):
        return found == wanted or abs(found - wanted) <= 2e-5 * max(scale, abs(wanted)) or (
            math.isnan(found) and math.isnan(wanted))  # fmt: skip
    return bool(found == wanted)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f,key,args", CASES, ids=[key for _, key, _ in CASES])
def test_computes_what_paddle_computes(f: Callable[..., Any], key: str, args: tuple[str, ...]) -> None:
    found = json.loads(json.dumps(f(paddle, *args)))
    assert same(found, RECORD[key]), f"{found}\n{RECORD[key]}"
