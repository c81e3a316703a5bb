"""Values, dtypes, shapes, gradients and exception types of paddle's functions, as recorded from PaddlePaddle 3.3.1."""

from __future__ import annotations

import numpy as np
import pytest
from dialects.paddle.operation_cases import Expressions, cases

from retrograde.dialects import paddle

CASES = list(cases())
EXPRESSIONS = Expressions(paddle)
PART = 100
BEYOND = {
    "lerp", "bmm", "mv", "addmm", "baddbmm", "multi_dot", "dist", "cdist", "isclose", "allclose", "equal_all", "std", "var",
    "diag_embed", "repeat_interleave", "split", "chunk", "put_along_axis", "take_along_axis", "scatter", "index_add",
    "cholesky", "svdvals", "cov", "corrcoef", "crop",
}  # fmt: skip
"""Functions that are computed here for integers or complex numbers, though PaddlePaddle has no kernels for them."""


def same(recorded: str, got: str) -> bool:
    """Whether what was recorded is what is shown here, or something is computed here that PaddlePaddle refuses."""
    if recorded == got:
        return True
    theirs, ours = (dict(part.rsplit(":", 1) for part in text.strip("'").split() if ":" in part) for text in (recorded, got))
    return list(theirs) == list(ours) != [] and all(
        x == y or (name in BEYOND and x == "RuntimeError" and not y.endswith("Error"))
        for (name, x), y in zip(theirs.items(), ours.values())
    )


@pytest.mark.parametrize("start", range(0, len(CASES), PART))
def test_operations(start: int) -> None:
    wrong = []
    with np.errstate(all="ignore"):
        for expression, recorded in CASES[start : start + PART]:
            got = EXPRESSIONS.evaluate(expression)
            if not same(recorded, got):
                wrong.append(f"{expression}\n    PaddlePaddle: {recorded}\n    here:         {got}")
    assert not wrong, "\n".join(wrong)
