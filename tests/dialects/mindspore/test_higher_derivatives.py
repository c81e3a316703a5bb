"""First, second and third derivatives of every differentiable function of `mindspore.ops` against numerical ones.

MindSpore's own second derivatives through sum, mean, matmul and cat are silently zero in PyNative mode, and many functions
have none; here all hold.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from dialects.derivatives import Dialect, check
from dialects.mindspore.derivative_cases import FUNCTIONS, GRADIENTS, NOT_DIFFERENTIABLE, PRIMITIVES, Case

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Tensor, ops
from retrograde.dialects.mindspore._api import FUNCTIONS as OFFERED
from retrograde.dialects.mindspore.ops._arrays import _REFUSED as REFUSED
from retrograde.dialects.mindspore.ops._between import ROWS as BETWEEN
from retrograde.dialects.mindspore.ops._grads import ROWS as DERIVATIVES
from retrograde.dialects.mindspore.ops._table import ROWS
from retrograde.dialects.mindspore.ops._updates import ROWS as UPDATES


def _real(y: Any) -> Iterable[Any]:
    if isinstance(y, (tuple, list)):
        for part in y:
            yield from _real(part)
    elif isinstance(y, Tensor):
        if y.dtype.category == 3:
            yield ops.view_as_real(y)
        elif y.dtype.category == 2:
            yield y


def _grad(f: Any, xs: Any) -> Any:
    found = ms.grad(f, tuple(range(len(xs))))(*xs)
    return found if isinstance(found, tuple) else (found,)


DIALECT = Dialect(
    tensor=Tensor, grad=_grad, real=_real, dot=lambda y, w: ops.sum(y * Tensor(w)), number=lambda y: float(y.asnumpy())
)

_PLAIN = {name: run.__name__ for name, (signature, run) in ROWS.items() if not signature}
CLASSES: dict[str, Case] = dict(PRIMITIVES)
"""The Primitive classes: those without static arguments with the case of their function, where it is called as it is."""
for _name, _function in _PLAIN.items():
    if _name not in CLASSES and _function in FUNCTIONS and FUNCTIONS[_function][0] is getattr(ops, _function, None):
        CLASSES[_name] = (getattr(ops, _name)(), FUNCTIONS[_function][1])


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions(name: str) -> None:
    check(DIALECT, *FUNCTIONS[name])


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_primitive_classes(name: str) -> None:
    check(DIALECT, *CLASSES[name])


def test_every_function_is_in_the_table() -> None:
    known = set(FUNCTIONS) | NOT_DIFFERENTIABLE | GRADIENTS
    same = {id(inspect.unwrap(OFFERED[name])) for name in known if name in OFFERED}  # a function under another name is known too
    assert sorted(name for name, f in OFFERED.items() if name not in known and id(inspect.unwrap(f)) not in same) == []
    refused = " ".join(REFUSED.values()).split()
    classes = {*CLASSES, *NOT_DIFFERENTIABLE, *DERIVATIVES, *UPDATES, *refused, *BETWEEN}  # between processes: tests/processes
    missing = {name for name in ROWS if name not in classes}
    # What is left calls a function whose own case is above, with arguments that only that case spells out.
    assert sorted(name for name in missing if _PLAIN.get(name) not in known) == []


@pytest.mark.parametrize("f", [
    lambda x: ops.sum(x * x * x), lambda x: ops.mean(x * x * x), lambda x: ops.matmul(x, x.T).sum(),
    lambda x: ops.cat((x, x * x)).sum(),
], ids=["sum", "mean", "matmul", "cat"])  # fmt: skip
def test_second_derivatives_that_mindspore_has_as_zero(f: Any) -> None:
    x = np.array([[0.5, -1.0], [2.0, 0.3]])
    second = ms.grad(lambda t: ms.grad(f)(t).sum())(Tensor(x)).asnumpy()
    step = 1e-5
    first = [ms.grad(f)(Tensor(x + d)).asnumpy().sum() for d in (step, -step)]
    assert np.abs(second).max() > 0.1
    np.testing.assert_allclose(second.sum(), (first[0] - first[1]) / (2 * step), rtol=1e-6)
