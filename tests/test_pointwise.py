"""Functions of single numbers as generated code: as accurate as they say, in every length and layout, and optional."""

import numpy as np
import pytest
from scipy import special

import retrograde as rg
from retrograde.backend.jit import llvm, pointwise
from retrograde.backend.jit.operands import LEAST
from retrograde.ops import activation
from retrograde.ops import special as special_ops

rng = np.random.default_rng(5)
pytestmark = pytest.mark.skipif(
    pointwise.erf(np.zeros(LEAST, np.float32)) is None, reason="needs llvmlite and a processor that code is generated for"
)


def units(found, exact):
    """The largest error in units in the last place."""
    return float(np.max(np.abs(found - exact) / np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)))


def test_the_error_function_is_off_by_less_than_a_unit():
    x = np.concatenate([np.linspace(-4.5, 4.5, 1_000_001), np.logspace(-37, 0, 10_000)]).astype(np.float32)
    first, last = np.array([0.87, 1], np.float32).view(np.int32)  # all numbers about the place where one formula ends
    x = np.concatenate([x, np.arange(first, last, dtype=np.int32).view(np.float32)])
    assert units(pointwise.erf(x), special.erf(x.astype(np.float64))) < (1 if llvm.processor().fused else 1.5)


@pytest.mark.parametrize("function", [pointwise.gelu, pointwise.gelu_slope])
def test_gelu_and_its_derivative_are_off_by_a_few_units_of_one(function):
    x = np.linspace(-14, 14, 1_000_001).astype(np.float32)
    z = x.astype(np.float64)
    exact = z * special.ndtr(z) if function is pointwise.gelu else special.ndtr(z) + z * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    assert np.max(np.abs(function(x) - exact) / np.maximum(1, np.abs(exact))) < 3e-7


@pytest.mark.parametrize("name", ["erf", "gelu", "gelu_slope"])
def test_the_edges_are_scipys(name):
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38, 1e30, -1e30, -12.8, 5.0], np.float32)
    op = getattr(activation if name != "erf" else special_ops, name)
    with np.errstate(all="ignore"):
        few = op(edges)
        many = op(np.resize(edges, LEAST // 12 * 12 + 12))
    assert np.allclose(np.resize(few, many.shape), many, rtol=3e-7, atol=1e-36, equal_nan=True)
    assert np.array_equal(np.signbit(few), np.signbit(many[:12]))


@pytest.mark.parametrize("n", [LEAST, LEAST + 1, LEAST + 15, LEAST + 16, LEAST + 17])
def test_every_element_is_computed_and_none_beyond(n):
    memory = np.full(n + 64, 7, np.float32)
    x = memory[:n]
    x[:] = rng.normal(size=n)
    assert np.allclose(pointwise.erf(x), special.erf(x), rtol=2e-7)
    assert (memory[n:] == 7).all()


def test_layouts():
    x = rng.normal(size=(128, 96)).astype(np.float32)
    assert np.array_equal(pointwise.erf(x.T), pointwise.erf(x).T)
    assert pointwise.erf(x.T).strides == x.T.strides
    assert pointwise.erf(x[:, ::2]) is None  # with gaps it is SciPy's affair
    assert pointwise.erf(x.astype(np.float64)) is None
    assert pointwise.erf(x[:4, :4]) is None


def test_switched_off_scipy_computes(monkeypatch):
    monkeypatch.setenv("RETROGRADE_JIT", "0")
    pointwise._generated.cache_clear()
    try:
        x = rng.normal(size=LEAST).astype(np.float32)
        assert pointwise.erf(x) is None
        assert np.array_equal(special_ops.erf(x), special.erf(x))
    finally:
        pointwise._generated.cache_clear()


def test_higher_derivatives_of_large_arrays():
    x = rg.asarray(rng.normal(size=LEAST).astype(np.float32), requires_grad=True)
    z = x.detach().numpy().astype(np.float64)
    (first,) = rg.autograd.grad(activation.gelu(x).sum(), [x], create_graph=True)
    (second,) = rg.autograd.grad(first.sum(), [x])
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    assert np.allclose(first.detach().numpy(), special.ndtr(z) + z * density, atol=3e-7)
    assert np.allclose(second.numpy(), (2 - z * z) * density, atol=1e-6)
