"""Derivative rules go shorter ways on NumPy's arrays than on values, where the derivative is to be differentiated again: both
give the same, also at ties and zeros, for nan and infinity, for operands that lie otherwise and for no elements."""

import numpy as np
import pytest

import retrograde.dialects.torch as torch

F = torch.nn.functional
rng = np.random.default_rng(3)

ODD = [[1.0, 2.0, 2.0], [0.0, -0.5, 0.0], [np.nan, 1.0, 2.0], [np.inf, 1.0, np.inf], [0.0, 0.0, 0.0]]
"""Rows with ties, zeros, nan, infinities, and nothing but zeros."""

REDUCTIONS = {
    "sum": lambda x: x.sum(-1), "sum of all": lambda x: x.sum(), "sum first": lambda x: x.sum(0, keepdim=True),
    "mean": lambda x: x.mean(-1), "mean of all": lambda x: x.mean(), "var": lambda x: x.var(-1),
    "var of all": lambda x: x.var(correction=0), "std": lambda x: x.std(-1), "std of all": lambda x: x.std(),
    "norm": lambda x: x.norm(dim=-1), "norm of all": lambda x: x.norm(), "amax": lambda x: x.amax(-1),
    "amax of all": lambda x: x.amax(), "amin": lambda x: x.amin(0), "max": lambda x: x.max(), "min": lambda x: x.min(),
    "max along": lambda x: x.max(-1)[0], "min along": lambda x: x.min(0, keepdim=True)[0],
    "prod": lambda x: x.prod(-1), "prod first": lambda x: x.prod(0), "logsumexp": lambda x: x.logsumexp(-1),
    "logsumexp first": lambda x: x.logsumexp(0),
}  # fmt: skip
ALONG = {
    "softmax": lambda x: x.softmax(-1), "softmax first": lambda x: x.softmax(0), "log_softmax": lambda x: x.log_softmax(-1),
    "cumsum": lambda x: x.cumsum(-1), "cumsum first": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(-1),
    "cumprod first": lambda x: x.cumprod(0), "normalize": lambda x: F.normalize(x, dim=-1),
}  # fmt: skip
ELEMENTS = {
    "maximum": lambda x: torch.maximum(x, x.detach().flip(-1)), "minimum": lambda x: torch.minimum(x.detach().flip(-1), x),
    "clamp": lambda x: x.clamp(0.0, 1.5), "abs": lambda x: x.abs(), "softplus": lambda x: F.softplus(x, 1.0, 20.0),
    "atan2": lambda x: torch.atan2(x, x.detach().flip(-1)), "smooth_l1": lambda x: F.smooth_l1_loss(x, x.detach() * 3),
    "mse": lambda x: F.mse_loss(x, x.detach() + 1), "spread": lambda x: x[..., :1] * torch.ones(2, *x.shape, dtype=x.dtype),
    "half": lambda x: x.half().float() * 2,
}  # fmt: skip
ALL = {**REDUCTIONS, **ALONG, **ELEMENTS}


def both(f, x, seed=None):
    """The derivative on arrays, and on values."""
    found = []
    for again in (False, True):
        leaf = x.detach().requires_grad_(True)
        y = f(leaf)
        weights = torch.ones_like(y) if seed is None else seed(y)
        (g,) = torch.autograd.grad(y, leaf, weights, create_graph=again)
        found.append(g.detach().numpy())
    return found


def alike(found):
    short, long = found
    assert short.dtype == long.dtype
    assert short.shape == long.shape
    tolerance = 1e-5 if short.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(short, long, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ordinary_and_odd_numbers(name, dtype):
    f = ALL[name]
    ordinary = rng.normal(size=(4, 3)).astype(dtype)
    for array in (ordinary, np.array(ODD, dtype), np.array(ODD[:2], dtype), ordinary[0], ordinary[:, :1]):
        alike(both(f, torch.tensor(array)))
    whole = torch.tensor(rng.normal(size=(6, 4)).astype(dtype))
    for x in (whole[::2], whole.t()):
        alike(both(f, x))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*REDUCTIONS, "cumprod", "maximum", "abs"])
def test_cotangents_that_are_infinite_or_none(name):
    """An infinite cotangent reaches those elements that have a part in the result, and no others."""
    x = torch.tensor([[1.0, 3.0, 2.0], [2.0, 0.5, 1.5]])
    for value in (float("inf"), float("nan"), 0.0):

        def seed(y, value=value):
            weights = torch.ones_like(y)
            weights.reshape(-1)[0] = value
            return weights

        alike(both(ALL[name], x, seed))


@pytest.mark.parametrize("name", ["sum", "sum first", "cumsum", "softmax", "maximum", "abs", "clamp"])
def test_no_elements(name):
    for shape in ((0, 3), (2, 0)):
        alike(both(ALL[name], torch.zeros(*shape)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["amax", "max", "max along", "norm", "abs", "half", "softplus", "smooth_l1", "std", "clamp"])
def test_large_arrays(name):
    """From 8,192 elements on kernels and rules are generated code."""
    x = torch.tensor(rng.integers(-9, 9, size=(130, 97)).astype(np.float32) / 4)
    alike(both(ALL[name], x))
