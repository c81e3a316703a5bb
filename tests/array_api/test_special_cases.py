"""Special values: what the standard says of zeros, infinities and nan, function by function.

xfails.txt lists the cases that differ, with the reason.
"""

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograde as rg

inf, nan, pi = math.inf, math.nan, math.pi
ZEROS, FINITE = (0.0, -0.0), (1.0, -1.0, 2.5, -2.5)
POSITIVE, NEGATIVE = (1.0, 2.5), (-1.0, -2.5)

XFAILS = {
    line.partition(" # ")[0].strip(): line.partition(" # ")[2].strip()
    for line in (Path(__file__).parent / "xfails.txt").read_text().splitlines()
    if line.strip() and not line.startswith("#")
}

# Function -> (argument, result).
UNARY: dict[str, list[tuple[float, float]]] = {
    "abs": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "acos": [(1.5, nan), (-1.5, nan), (1.0, 0.0), (nan, nan)],
    "acosh": [(0.5, nan), (1.0, 0.0), (inf, inf), (nan, nan)],
    "asin": [(1.5, nan), (0.0, 0.0), (-0.0, -0.0), (nan, nan)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (nan, nan)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (inf, pi / 2), (-inf, -pi / 2), (nan, nan)],
    "atanh": [(1.5, nan), (-1.5, nan), (1.0, inf), (-1.0, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan)],
    "ceil": [(2.0, 2.0), (inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan), (nan, nan)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf), (nan, nan)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (nan, nan)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0), (nan, nan)],
    "floor": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan)],
    "log": [(-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf), (nan, nan)],
    "log1p": [(-2.0, nan), (-1.0, -inf), (-0.0, -0.0), (0.0, 0.0), (inf, inf), (nan, nan)],
    "log2": [(-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf), (nan, nan)],
    "log10": [(-1.0, nan), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf), (nan, nan)],
    "negative": [(0.0, -0.0), (-0.0, 0.0), (inf, -inf), (nan, nan)],
    "reciprocal": [(0.0, inf), (-0.0, -inf), (inf, 0.0), (-inf, -0.0), (nan, nan)],
    "round": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (0.5, 0.0), (1.5, 2.0), (-0.5, -0.0)],
    "sign": [(-2.5, -1.0), (0.0, 0.0), (-0.0, 0.0), (2.5, 1.0), (nan, nan), (inf, 1.0)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan), (nan, nan)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (nan, nan)],
    "sqrt": [(-1.0, nan), (0.0, 0.0), (-0.0, -0.0), (inf, inf), (nan, nan)],
    "square": [(-0.0, 0.0), (-inf, inf), (nan, nan)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan), (nan, nan)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (nan, nan)],
    "trunc": [(inf, inf), (-inf, -inf), (0.0, 0.0), (-0.0, -0.0), (nan, nan), (-0.5, -0.0)],
}


def of_add() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (inf, -inf, nan), (-inf, inf, nan), (inf, inf, inf), (-inf, -inf, -inf)]
    yield from [(x, s, s) for x in (*FINITE, *ZEROS) for s in (inf, -inf)]
    yield from [(-0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (0.0, -0.0, 0.0), (0.0, 0.0, 0.0), (1.0, -1.0, 0.0)]
    yield from [(z, x, x) for z in ZEROS for x in FINITE]


def of_multiply() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (inf, 0.0, nan), (-0.0, inf, nan), (inf, -inf, -inf), (-inf, -inf, inf)]
    yield from [(inf, x, math.copysign(inf, x)) for x in FINITE]
    yield from [(z, x, math.copysign(0.0, z) * math.copysign(1.0, x)) for z in ZEROS for x in FINITE]


def of_divide() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (inf, inf, nan), (inf, -inf, nan), (0.0, -0.0, nan), (0.0, 0.0, nan)]
    yield from [(z, x, math.copysign(0.0, z) * math.copysign(1.0, x)) for z in ZEROS for x in FINITE]
    yield from [(x, z, math.copysign(inf, x) * math.copysign(1.0, z)) for x in FINITE for z in ZEROS]
    yield from [(s, x, math.copysign(inf, s * x)) for s in (inf, -inf) for x in FINITE]
    yield from [(x, s, math.copysign(0.0, s * x)) for s in (inf, -inf) for x in FINITE]


def of_floor_divide() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (inf, inf, nan), (inf, -inf, nan), (0.0, -0.0, nan), (0.0, 0.0, nan)]
    yield from [(z, x, math.copysign(0.0, z) * math.copysign(1.0, x)) for z in ZEROS for x in FINITE]
    yield from [(x, z, math.copysign(inf, x) * math.copysign(1.0, z)) for x in FINITE for z in ZEROS]
    yield from [(s, x, math.copysign(inf, s * x)) for s in (inf, -inf) for x in FINITE]
    yield from [(x, inf, 0.0) for x in POSITIVE] + [(x, -inf, -1.0) for x in POSITIVE]
    yield from [(x, inf, -1.0) for x in NEGATIVE] + [(x, -inf, 0.0) for x in NEGATIVE]


def of_remainder() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (inf, 2.0, nan), (-inf, inf, nan), (1.0, 0.0, nan), (1.0, -0.0, nan), (0.0, 0.0, nan)]
    yield from [(z, x, 0.0) for z in ZEROS for x in POSITIVE] + [(z, x, -0.0) for z in ZEROS for x in NEGATIVE]
    yield from [(x, inf, x) for x in POSITIVE] + [(x, -inf, -inf) for x in POSITIVE]
    yield from [(x, inf, inf) for x in NEGATIVE] + [(x, -inf, x) for x in NEGATIVE]


def of_pow() -> Iterator[tuple[float, float, float]]:
    yield from [(x, 1.0, x) for x in (nan, inf, -inf, *FINITE)] + [(x, z, 1.0) for x in (nan, inf, 2.5) for z in ZEROS]
    yield from [(1.0, y, 1.0) for y in (nan, inf, 5.0)] + [(2.5, nan, nan), (nan, 2.0, nan)]
    yield from [(2.5, inf, inf), (2.5, -inf, 0.0), (1.0, inf, 1.0), (1.0, -inf, 1.0), (0.5, inf, 0.0), (0.5, -inf, inf)]
    yield from [
        (inf, 2.0, inf),
        (inf, -2.0, 0.0),
        (-inf, 3.0, -inf),
        (-inf, 2.0, inf),
        (-inf, -3.0, -0.0),
        (-inf, -2.0, 0.0),
    ]
    yield from [
        (0.0, 2.0, 0.0),
        (0.0, -2.0, inf),
        (-0.0, 3.0, -0.0),
        (-0.0, 2.0, 0.0),
        (-0.0, -3.0, -inf),
        (-0.0, -2.0, inf),
    ]
    yield from [(-2.5, 0.5, nan), (-1.0, inf, 1.0), (-1.0, -inf, 1.0)]


def of_atan2() -> Iterator[tuple[float, float, float]]:
    yield from [(nan, 1.0, nan), (1.0, nan, nan), (1.0, 0.0, pi / 2), (1.0, -0.0, pi / 2), (-1.0, 0.0, -pi / 2)]
    yield from [
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, -0.0, pi),
        (0.0, -1.0, pi),
        (-0.0, 1.0, -0.0),
        (-0.0, 0.0, -0.0),
    ]
    yield from [(-0.0, -0.0, -pi), (-0.0, -1.0, -pi), (1.0, inf, 0.0), (1.0, -inf, pi), (-1.0, inf, -0.0)]
    yield from [
        (-1.0, -inf, -pi),
        (inf, 1.0, pi / 2),
        (-inf, 1.0, -pi / 2),
        (inf, inf, pi / 4),
        (inf, -inf, 3 * pi / 4),
    ]
    yield from [(-inf, inf, -pi / 4), (-inf, -inf, -3 * pi / 4)]


BINARY: dict[str, list[tuple[float, float, float]]] = {
    "add": list(of_add()),
    "multiply": list(of_multiply()),
    "divide": list(of_divide()),
    "floor_divide": list(of_floor_divide()),
    "remainder": list(of_remainder()),
    "pow": list(of_pow()),
    "atan2": list(of_atan2()),
    "copysign": [(1.0, -0.0, -1.0), (-1.0, 0.0, 1.0), (nan, 1.0, nan), (2.0, -nan, -2.0), (0.0, -1.0, -0.0)],
    "hypot": [(inf, nan, inf), (nan, -inf, inf), (nan, 1.0, nan), (1.0, 0.0, 1.0), (-0.0, -2.5, 2.5)],
    "logaddexp": [(nan, 1.0, nan), (inf, 1.0, inf), (-inf, -inf, -inf), (1.0, inf, inf), (-inf, 2.0, 2.0)],
    "maximum": [(nan, 1.0, nan), (1.0, nan, nan), (inf, 1.0, inf), (-inf, 1.0, 1.0)],
    "minimum": [(nan, 1.0, nan), (1.0, nan, nan), (inf, 1.0, 1.0), (-inf, 1.0, -inf)],
    "nextafter": [(nan, 1.0, nan), (1.0, nan, nan), (0.0, -0.0, -0.0), (-0.0, 0.0, 0.0), (inf, inf, inf)],
    "equal": [(nan, nan, False), (0.0, -0.0, True), (inf, inf, True)],
    "less": [(nan, 1.0, False), (-inf, inf, True), (-0.0, 0.0, False)],
}  # fmt: skip
OPERATORS = {
    "add": "__add__", "multiply": "__mul__", "divide": "__truediv__", "floor_divide": "__floordiv__",
    "remainder": "__mod__", "pow": "__pow__",
}  # fmt: skip


def identical(x: Any, y: float) -> bool:
    """Equal numbers (to rounding), with the sign of a zero; nan is nan."""
    if isinstance(y, bool):
        return bool(x) is y
    if math.isnan(y):
        return math.isnan(x)
    if y == 0 or math.isinf(y):
        return x == y and math.copysign(1, x) == math.copysign(1, y)
    return math.isclose(x, y, rel_tol=1e-6)


def unary_cases() -> Iterator[Any]:
    for name, cases in UNARY.items():
        for x, y in cases:
            yield case(f"{name}({x})", name, (x,), y)


def binary_cases() -> Iterator[Any]:
    for name, cases in BINARY.items():
        for x1, x2, y in cases:
            yield case(f"{name}({x1}, {x2})", name, (x1, x2), y)


def case(title: str, name: str, arguments: tuple[float, ...], y: float) -> Any:
    marks = [pytest.mark.xfail(reason=XFAILS[title], strict=True)] if title in XFAILS else []
    return pytest.param(name, arguments, y, id=title, marks=marks)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "arguments", "y"), [*unary_cases(), *binary_cases()])
def test_special_case(name: str, arguments: tuple[float, ...], y: float, dtype: str) -> None:
    xs = [rg.asarray(np.array([x], dtype)) for x in arguments]
    found = getattr(rg, name)(*xs)
    assert identical(found.item(), y), found
    if name in OPERATORS:
        assert identical(getattr(xs[0], OPERATORS[name])(xs[1]).item(), y)


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "signbit"])
def test_questions(name: str) -> None:
    for x in (0.0, -0.0, 1.0, -1.0, inf, -inf, nan):
        expected = {"isfinite": math.isfinite(x), "isinf": math.isinf(x), "isnan": math.isnan(x),
                    "signbit": math.copysign(1, x) < 0}[name]  # fmt: skip
        assert getattr(rg, name)(rg.asarray(x)).item() is expected


# Sums and other reductions of nothing, and with nan and infinities.
@pytest.mark.parametrize(
    ("name", "elements", "y"),
    [
        ("sum", [], 0.0), ("prod", [], 1.0), ("mean", [], nan), ("var", [], nan), ("std", [], nan),
        ("sum", [inf, -inf], nan),
        ("sum", [nan, 1.0], nan), ("mean", [nan], nan), ("max", [nan, 1.0], nan), ("min", [1.0, nan], nan),
        ("prod", [inf, 0.0], nan), ("mean", [inf, 1.0], inf), ("all", [], True), ("any", [], False),
        ("all", [nan], True),
        ("any", [nan], True), ("any", [0.0, -0.0], False),
    ],
)  # fmt: skip
def test_reductions(name: str, elements: list[float], y: float) -> None:
    assert identical(getattr(rg, name)(rg.asarray(elements, dtype=rg.float64)).item(), y)


COMPLEX: dict[str, list[tuple[complex, complex]]] = {
    "exp": [(0j, 1 + 0j), (complex(-0.0, 0.0), 1 + 0j), (complex(inf, 0.0), complex(inf, 0.0))],
    "sqrt": [(0j, 0j), (complex(-0.0, 0.0), 0j), (complex(1.0, inf), complex(inf, inf)), (-4 + 0j, 2j)],
    "log": [(complex(-0.0, 0.0), complex(-inf, pi)), (0j, complex(-inf, 0.0)), (-1 + 0j, complex(0.0, pi))],
    "sign": [(0j, 0j), (3 + 4j, 0.6 + 0.8j)],
    "abs": [(3 + 4j, 5.0), (complex(inf, nan), inf), (complex(nan, -inf), inf)],
    "acosh": [(-2 + 0j, complex(math.acosh(2), pi))],
    "round": [(1.5 + 2.5j, 2 + 2j)],
    "square": [(2j, -4 + 0j)],
}


@pytest.mark.parametrize(
    ("name", "x", "y"), [pytest.param(n, x, y, id=f"{n}({x})") for n, cases in COMPLEX.items() for x, y in cases]
)
def test_complex(name: str, x: complex, y: complex) -> None:
    found = getattr(rg, name)(rg.asarray(x)).item()
    assert identical(complex(found).real, complex(y).real)
    assert identical(complex(found).imag, complex(y).imag)


def test_listed_cases_exist() -> None:
    titles = {p.id for p in itertools.chain(unary_cases(), binary_cases())}
    assert set(XFAILS) <= titles, set(XFAILS) - titles
