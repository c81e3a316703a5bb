"""Keyword arguments under the names that MindSpore 2.10 gives them, where two functions of one kind differ in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, mint, ops
from retrograde.dialects.mindspore import numpy as mnp

M = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
V = M[0]
ONES = Tensor(np.ones((1, 2, 3), np.float32))

CALLS: list[tuple[Callable[[], Any], Any]] = [
    (lambda: ops.floor_div(x=V, y=V + 1), [0.0, 0.0, 0.0, 0.0]),
    (lambda: ops.floor_mod(x=V, y=V + 1), [0.0, 1.0, 2.0, 3.0]),
    (lambda: ops.true_divide(dividend=V, divisor=V + 1), [0.0, 1 / 2, 2 / 3, 3 / 4]),
    (lambda: ops.gather_d(x=M, dim=1, index=Tensor([[0, 1]])), [[0.0, 1.0]]),
    (lambda: ops.slice(input_x=M, begin=(0, 0), size=(1, 2)), [[0.0, 1.0]]),
    (lambda: ops.vstack(inputs=[V, V]), [[0.0, 1.0, 2.0, 3.0]] * 2),
    (lambda: V.float_power(other=2), [0.0, 1.0, 4.0, 9.0]),
    (lambda: V.heaviside(values=V + 5), [5.0, 1.0, 1.0, 1.0]),
    (lambda: V.copy().normal_(mean=2.0, std=0.0), [2.0] * 4),
    (lambda: V.copy().uniform_(from_=3.0, to=3.0), [3.0] * 4),
    (lambda: V.copy().bernoulli_(p=1.0), [1.0] * 4),
    (lambda: mint.sqrt(input=V * V), [0.0, 1.0, 2.0, 3.0]),
    (lambda: mint.frac(input=V + 0.5), [0.5] * 4),
    (lambda: mint.bmm(input=ONES, mat2=ONES.swapaxes(1, 2)), [[[3.0, 3.0], [3.0, 3.0]]]),
    (lambda: mint.mv(input=M, vec=V), [14.0, 38.0]),
    (lambda: mint.count_nonzero(input=M, dim=1), [3, 4]),
    (lambda: mint.cummax(M, dim=1)[0], [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]),
    (lambda: mint.diff(input=M, dim=1), [[1.0] * 3] * 2),
    (lambda: mint.max(input=M, dim=1)[1], [3, 3]),
    (lambda: mint.isnan(tensor=V), [False] * 4),
    (lambda: mint.permute(input=M, dims=(1, 0))[0], [0.0, 4.0]),
    (lambda: mint.ones(size=(2,)), [1.0, 1.0]),
    (lambda: mint.linspace(0, 1, 3, dtype=ms.float64), [0.0, 0.5, 1.0]),
    (lambda: mnp.zeros(shape=(2,)), [0.0, 0.0]),
    (lambda: mnp.negative(a=V), [0.0, -1.0, -2.0, -3.0]),
    (lambda: mnp.logical_not(a=V > 1), [True, True, False, False]),
    (lambda: mnp.arccos(input=V * 0 + 1), [0.0] * 4),
]


@pytest.mark.parametrize(("call", "wanted"), CALLS)
def test_names_of_arguments(call: Callable[[], Any], wanted: Any) -> None:
    np.testing.assert_allclose(call().asnumpy(), np.asarray(wanted), rtol=1e-6)


def test_allclose_and_triangular_solve() -> None:
    assert mint.allclose(input=M, other=M) is True
    x, a = mint.triangular_solve(b=M[:, :2], A=Tensor([[2.0, 0.0], [0.0, 2.0]]))
    assert (x.asnumpy().tolist(), a.shape) == ([[0.0, 0.5], [2.0, 2.5]], (2, 2))
    with pytest.raises(TypeError, match="give one"):
        mnp.negative(V, a=V, x=V)
