"""Values, dtypes, shapes, gradients and exception types of paddle's functions, as recorded from PaddlePaddle 3.3.1."""

from __future__ import annotations

import numpy as np
import pytest
from dialects.paddle.operation_cases import Expressions, cases

from retrograde.dialects import paddle

CASES = list(cases())
EXPRESSIONS = Expressions(paddle)
PART = 100


@pytest.mark.parametrize("start", range(0, len(CASES), PART))
def test_operations(start: int) -> None:
    wrong = []
    with np.errstate(all="ignore"):
        for expression, recorded in CASES[start : start + PART]:
            got = EXPRESSIONS.evaluate(expression)
            if got != recorded:
                wrong.append(f"{expression}\n    PaddlePaddle: {recorded}\n    here:         {got}")
    assert not wrong, "\n".join(wrong)
