"""`mindspore.common.initializer`: distributions, names, refusals; bounds and deviations as in MindSpore 2.10."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor
from retrograde.dialects.mindspore.common import initializer as init


def drawn(filler: Any, shape: Any = (400, 500)) -> np.ndarray:
    return init.initializer(filler, shape, ms.float32).init_data().asnumpy()


@pytest.mark.parametrize("filler, deviation, bound", [
    (init.Normal(), 0.01, None), ("normal", 0.01, None), (init.Uniform(0.5), 0.2886, 0.5),
    (init.XavierUniform(), 0.04714, 0.08165), (init.XavierUniform(2), 0.09428, 0.1633), (init.XavierNormal(), 0.04714, None),
    (init.HeUniform(), 0.06325, 0.10954), (init.HeUniform(2, "fan_out", "relu"), 0.07071, 0.12247),
    (init.HeNormal(), 0.06325, None), (init.HeNormal(5**0.5), 0.02582, None), (init.TruncatedNormal(1.0, 0.5, -1, 1), 0.529, 1.0),
    (init.VarianceScaling(2.0, "fan_avg", "uniform"), 0.06667, 0.11547), (init.VarianceScaling(), 0.04472, None),
    (init.VarianceScaling(2.0, "fan_out", "untruncated_normal"), 0.07071, None), ("he_uniform", 0.06325, 0.10954),
])  # fmt: skip
def test_distributions(filler: Any, deviation: float, bound: float | None) -> None:
    ms.set_seed(0)
    values = drawn(filler)
    assert values.dtype == np.float32
    assert values.std() == pytest.approx(deviation, rel=0.02)
    if bound is not None:
        assert np.abs(values).max() == pytest.approx(bound, rel=0.01)


def test_fixed_values() -> None:
    assert drawn("zeros", [2]).tolist() == [0, 0]
    assert drawn("one", 2).tolist() == [1, 1]
    assert drawn(0.5, [2]).tolist() == [0.5, 0.5]
    assert drawn(init.Identity(), [2, 3]).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert drawn(init.Dirac(), [2, 3, 3])[1].tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    q = drawn(init.Orthogonal(2.0), [3, 5])
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-5)
    assert (drawn(init.Sparse(0.5), [10, 4]) == 0).sum() == 20
    assert init.initializer(3, [2], ms.int32).init_data().dtype is ms.int32
    assert init.initializer(Tensor([1.0, 2.0]), [2]).asnumpy().tolist() == [1, 2]


def test_values_are_made_when_they_are_needed() -> None:
    lazy = init.initializer("ones", [2, 2])
    assert lazy.has_init
    p = Parameter(lazy, name="p")
    assert p.asnumpy().tolist() == [[1, 1], [1, 1]]
    assert not p.has_init
    assert Tensor(shape=(2,), dtype=ms.float32, init="ones").init_data().asnumpy().tolist() == [1, 1]


def test_an_initializer_of_ones_own() -> None:
    class Ramp(init.Initializer):
        def _initialize(self, arr: np.ndarray) -> None:
            arr[...] = np.arange(arr.size).reshape(arr.shape)

    assert drawn(Ramp(), [2, 2]).tolist() == [[0, 1], [2, 3]]


def test_the_seed_repeats_the_numbers() -> None:
    ms.set_seed(5)
    first = drawn("normal", [4])
    assert not np.array_equal(first, drawn("normal", [4]))
    ms.set_seed(5)
    assert np.array_equal(first, drawn("normal", [4]))


@pytest.mark.parametrize("kind, call", [
    (ValueError, lambda: init.initializer("foo", [2])), (TypeError, lambda: init.initializer(None, [2])),
    (ValueError, lambda: drawn("xavier_uniform", [2])), (ValueError, lambda: init.initializer("zeros", [-1, 2])),
    (ValueError, lambda: init.initializer("zeros", [2.0])), (TypeError, lambda: init.initializer("zeros", [2], "float32")),
    (ValueError, lambda: drawn("orthogonal", [2])), (ValueError, lambda: init.VarianceScaling(-1.0)),
    (ValueError, lambda: init.initializer(Tensor([1.0, 2.0]), [3])), (ValueError, lambda: drawn("dirac", [2, 2])),
])  # fmt: skip
def test_refusals(kind: type[Exception], call: Any) -> None:
    with pytest.raises(kind):
        call()


def test_deviations_are_not_negative() -> None:
    with pytest.raises(ValueError, match="sigma"):
        init.initializer(init.Normal(-1.0), [2]).init_data()
