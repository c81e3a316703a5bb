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


def test_powers_of_the_betas_of_a_group() -> None:
    """As PaddlePaddle 3.3 keeps them: those that a group gives are its parameters', in the state as in the step."""
    params = [paddle.create_parameter([2], "float32") for _ in range(2)]
    groups = [{"params": params[:1], "beta1": 0.7, "beta2": 0.8}, {"params": params[1:]}]
    optimizer = paddle.optimizer.Adam(0.1, parameters=groups)
    for _ in range(2):
        (params[0].sum() + params[1].sum()).backward()
        optimizer.step()
        optimizer.clear_grad()
    state = optimizer.state_dict()
    for i, (beta1, beta2) in enumerate([(0.7, 0.8), (0.9, 0.999)]):
        for kind, beta in (("beta1", beta1), ("beta2", beta2)):
            assert float(state[f"{params[i].name}_{kind}_pow_acc_0"]) == pytest.approx(beta**3, rel=1e-6)
    optimizer.set_state_dict(state)
    (params[0].sum() + params[1].sum()).backward()
    optimizer.step()
    assert float(optimizer.state_dict()[f"{params[0].name}_beta1_pow_acc_0"]) == pytest.approx(0.7**4, rel=1e-6)
