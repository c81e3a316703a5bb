"""Functions that are made of rows are functions like those that are written by hand."""

from __future__ import annotations

import inspect
import traceback
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects import paddle
from retrograde.dialects._shared.functions import AXES, Functions, axis, operand, option, same

OFFERED: dict[str, Any] = {}


def api(*names: str, **options: Any) -> Any:
    def register(f: Any) -> Any:
        OFFERED.update(dict.fromkeys(names, (f, options)))
        return f

    return register


def tensor(op: str, x: Any, name: str) -> Any:
    if not isinstance(x, np.ndarray):
        raise TypeError(f"{op}: {name} must be an array, got {type(x).__name__}")
    return x


def checked(op: str, i: Any, ndim: int, name: str = "axis") -> Any:
    if i is not None and not -ndim <= i < ndim:
        raise ValueError(f"{op}: {name} {i} is out of range for {ndim} axes")
    return i


def alike(op: str, first: Any, x: Any, name: str) -> Any:
    if tensor(op, x, name).dtype != first.dtype:
        raise TypeError(f"{op}: {name} has another dtype")
    return x


def whole(op: str, name: str, value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{op}: {name} must be an int")
    return value


TYPES = {
    "Tensor": operand(tensor), "Same": same(alike), "Axis": axis(checked), "NewAxis": axis(checked, more=1),
    "Axes": axis(checked, AXES), "Keep": option(whole, "keepdims"), "Int": option(whole, says="int"),
}  # fmt: skip
function = Functions(api, TYPES)


def test_a_row_is_the_function_that_it_says() -> None:
    total = function("total summed", "x: Tensor, dim: Axes = None, *, keep: Keep = 0", np.sum, "The sum.", method=False)
    assert OFFERED["total"] == OFFERED["summed"] == (total, {"method": False})
    assert (total.__name__, total.__doc__, total.__module__) == ("total", "The sum.", __name__)
    assert str(inspect.signature(total)) == "(x: 'Any', dim: 'int | Sequence[int] | None' = None, *, keep: 'bool' = 0) -> 'Any'"
    x = np.arange(6.0).reshape(2, 3)
    assert total(x, dim=1, keep=1).tolist() == [[3.0], [12.0]]
    assert total(x) == 15


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f: f([1]), "moved: a must be an array, got list"),
        (lambda f: f(np.zeros(2), np.zeros(2, int), 0, 1), "moved: b has another dtype"),
        (lambda f: f(np.zeros(2), np.zeros(2), 2, 1), "moved: to 2 is out of range for 2 axes"),
        (lambda f: f(np.zeros(2), np.zeros(2), 1, 1.5), "moved: times must be an int"),
    ],
)
def test_each_type_says_what_is_wrong(call: Any, message: str) -> None:
    moved = function("moved", "a: Tensor, b: Same = None, to: NewAxis = 0, times: Int = 1", lambda *a, **k: (a, k), "Moved.")
    with pytest.raises((TypeError, ValueError), match=message):
        call(moved)


def test_the_implementation_has_names_of_its_own() -> None:
    f = function("f", "x: Tensor, i: Axis, n: Int, rate: float = 1, more = None", lambda *a, **k: k, "f", called={"n": "k"})
    assert f(np.zeros((2, 2)), -1, 3, 2) == {"axis": -1, "k": 3, "rate": 2.0, "more": None}


def test_what_follows_goes_with_every_function() -> None:
    named = Functions(api, TYPES, also="name: Any = None")("named", "x: Tensor", np.negative, "The negative.")
    assert named(np.ones(1), name="this").tolist() == [-1]
    assert list(inspect.signature(named).parameters) == ["x", "name"]


def test_tracebacks_show_the_text_of_a_row() -> None:
    with pytest.raises(ValueError, match="logsumexp: axis 2 is out of range") as raised:
        paddle.logsumexp(paddle.ones([2, 2]), 2)
    shown = [frame.line for frame in traceback.extract_tb(raised.tb)]
    assert any(line.startswith("return _compute(x, axis=_Axes('logsumexp', axis") for line in shown)


def test_one_implementation_has_the_errors_of_each_dialect() -> None:
    with pytest.raises(TypeError, match="logsumexp: keepdim must be True or False, got int"):
        ms.ops.logsumexp(ms.ops.ones((2, 2)), 0, 1)
    assert paddle.logsumexp(paddle.ones([2, 2]), 0, 1).shape == [1, 2]
