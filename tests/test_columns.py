"""Softmax along an axis behind which others lie as generated code: against more digits, for every shape, and by any number of
threads."""

import numpy as np
import pytest

from retrograde.backend.jit import columns, operands
from retrograde.ops import softmax as softmax_ops

from .same_bits import same_bits

rng = np.random.default_rng(5)
pytestmark = pytest.mark.skipif(
    columns.along("softmax", 0, np.zeros((operands.LEAST, 16), np.float32)) is None,
    reason="needs llvmlite and a processor that code is generated for",
)
SHAPES = [((100, 100), 0), ((600, 16), 0), ((1, 9000), 0), ((3, 21, 33, 17), 1), ((2, 5, 4099), 1), ((7, 3, 65, 19), 2)]


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_softmax_and_its_logarithm(shape, axis, dtype):
    x, g = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    exact, wide = softmax(x.astype(np.longdouble), axis), g.astype(np.longdouble)
    close = {"rtol": 20 * np.finfo(dtype).eps, "atol": 20 * np.finfo(dtype).eps}
    out, logs = columns.along("softmax", axis, x), columns.along("log_softmax", axis, x)
    np.testing.assert_allclose(out, exact, **close)
    np.testing.assert_allclose(logs, np.log(exact), **close)
    inner = (wide * exact).sum(axis, keepdims=True)
    np.testing.assert_allclose(columns.along("softmax_pull", axis, g, out), (wide - inner) * exact, **close)
    pulled, terms = columns.along("log_softmax_pull", axis, g, logs), wide.sum(axis, keepdims=True) * exact
    np.testing.assert_allclose(pulled, wide - terms, rtol=0, atol=20 * np.finfo(dtype).eps * (1 + abs(terms).max()))


def test_unusual_columns_are_numpys():
    inf, nan = np.inf, np.nan
    few = np.array([[1, 2, inf], [-inf, 0, 1], [-inf] * 3, [nan, 0, 1], [0, 1, nan], [-90, -100, 0], [3e38, -3e38, 0]])
    x = np.resize(few, (4200, 3)).T.astype(np.float32).copy()
    with np.errstate(invalid="ignore", over="ignore"):
        for name, op in (("softmax", softmax_ops.softmax), ("log_softmax", softmax_ops.log_softmax)):
            found = columns.along(name, 0, x)[:, :7]
            np.testing.assert_allclose(found, op(x[:, :7].copy(), axis=0), rtol=1e-6, atol=1e-44)


@pytest.mark.parametrize("axis", [0, 1])
def test_operations_take_it_whatever_the_number_of_threads(axis):
    x, g = (rng.normal(size=(40, 30, 50)).astype(np.float32) for _ in range(2))

    def found():
        out, logs = (op(x, axis=axis) for op in (softmax_ops.softmax, softmax_ops.log_softmax))
        return (
            out, logs, softmax_ops.softmax_pullback(g, out, axis=axis), softmax_ops.log_softmax_pullback(g, logs, axis=axis)
        )  # fmt: skip

    same_bits(found)
    np.testing.assert_array_equal(found()[0], columns.along("softmax", axis, x))


def test_what_is_left_to_numpy():
    x = np.ones((1000, 100), np.float32)
    assert columns.along("softmax", 0, x[:, :8].copy()) is None  # no vector is filled
    assert columns.along("softmax", 0, x[:20]) is None
    assert columns.along("softmax", 0, x.astype(np.int64)) is None
    assert columns.along("softmax_pull", 0, x.T.copy().T, x) is None
