"""First, second and third derivatives of every differentiable function of the paddle dialect against numerical ones.

PaddlePaddle has no second derivative for tan, asin, erf, expm1, log1p, lgamma, gelu, softmax, cross_entropy, cumsum, prod,
det and many more, and none of third order for sin and pow; here all hold.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import pytest
from dialects.derivatives import Dialect, check
from dialects.paddle import derivative_cases, layer_derivative_cases, variant_cases
from dialects.paddle.derivative_cases import PLAIN

from retrograde.dialects import paddle
from retrograde.dialects.paddle import Tensor, fft, geometric, incubate, linalg, signal
from retrograde.dialects.paddle._api import FUNCTIONS, METHODS
from retrograde.dialects.paddle.nn import functional

CASES = {**derivative_cases.CASES, **layer_derivative_cases.CASES}
NOT_DIFFERENTIABLE = derivative_cases.NOT_DIFFERENTIABLE | layer_derivative_cases.NOT_DIFFERENTIABLE


def tensors(y: Any) -> Iterator[Any]:
    if isinstance(y, (list, tuple)):
        for part in y:
            yield from tensors(part)
    elif isinstance(y, Tensor) and y.dtype.category >= 2:
        yield paddle.as_real(y) if y.dtype.category == 3 else y


def gradients(f: Any, xs: Any) -> list[Any]:
    for x in xs:
        if x.stop_gradient:
            x.stop_gradient = False
    y = f(*xs)
    found = [None] * len(xs) if y.stop_gradient else paddle.grad(y, list(xs), create_graph=True, allow_unused=True)
    return [paddle.zeros_like(x) if g is None else g for x, g in zip(xs, found)]


PADDLE = Dialect(
    tensor=paddle.to_tensor, grad=gradients, real=tensors, dot=lambda y, w: (y * paddle.to_tensor(w)).sum(), number=float
)


@pytest.mark.parametrize("name", sorted(CASES))
def test_derivatives(name: str) -> None:
    f, inputs = CASES[name]
    check(PADDLE, f, inputs)


@pytest.mark.parametrize("name", sorted(variant_cases.CASES))
def test_variants(name: str) -> None:
    f, inputs = variant_cases.CASES[name]
    check(PADDLE, f, inputs)


@pytest.mark.parametrize("name", sorted(name for name in PLAIN if name + "_" in METHODS and name != "pow"))
def test_in_place_forms(name: str) -> None:
    form = METHODS[name + "_"]
    check(PADDLE, lambda x, *others: form(x * 1, *others), CASES[name][1], orders=2)


def test_pow_in_place_takes_a_number() -> None:
    check(PADDLE, lambda x: (x * 1).pow_(3), CASES["pow"][1][:1], orders=2)


PACKAGES = {"linalg.": linalg, "fft.": fft, "signal.": signal, "geometric.": geometric, "incubate.": incubate,
            "F.": functional}  # fmt: skip


def offered() -> Iterator[str]:
    """Every function of the namespaces, and every method that is no function."""
    yield from FUNCTIONS
    for name in METHODS:
        if not name.startswith("_") and name not in FUNCTIONS and name not in linalg.__all__ + signal.__all__:
            yield name
    for prefix, package in PACKAGES.items():
        names = getattr(package, "__all__", None) or [n for n in dir(package) if not n.startswith("_")]
        yield from (prefix + n for n in names if isinstance(getattr(package, n), types.FunctionType))


def test_every_function_is_in_the_table() -> None:
    known = set(CASES) | NOT_DIFFERENTIABLE
    in_place = {name for name in offered() if name.endswith("_") and name[:-1] in known}
    assert sorted(name for name in offered() if name not in known and name not in in_place) == []
