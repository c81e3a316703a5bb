"""What a kernel refuses for the shapes of its operands, the shape rule refuses, over the table of primitives."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import retrograde.ops
from retrograde.core.aval import aval_of
from retrograde.core.primitive import PRIMITIVES

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)

# Refusals that depend on values: a position that does not lie in the operand any more.
BY_VALUE = re.compile("out of (bounds|range)|class number|index can't contain|do not lie in")

# Whose shape rules take more than their kernels.
UNCHECKED: set[str] = set()
NAMES = [name for name, prim in sorted(PRIMITIVES.items()) if prim.kind != "data_dependent" and name not in UNCHECKED]


def changed(x: np.ndarray) -> Iterator[np.ndarray]:
    """An operand in other shapes: an axis shorter, one more, one less."""
    for axis in range(x.ndim):
        if x.shape[axis] > 1:
            yield x.take(range(x.shape[axis] - 1), axis)
    yield x[None]
    if x.ndim and len(x):
        yield x[0]


def outcome(f: Any, *args: Any, **params: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return f(*args, **params)
    except Exception as error:
        return error


@pytest.mark.parametrize("name", NAMES)
def test_shapes_that_the_kernel_refuses(name):
    prim = PRIMITIVES[name]
    for operands, params in itertools.islice(prim.samples(), 3):
        for j, x in enumerate(operands):
            for other in changed(x) if x is not None else ():
                given = [*operands[:j], np.ascontiguousarray(other), *operands[j + 1 :]]
                found = outcome(prim.op, *given, **params)
                told = outcome(prim.infer, [None if a is None else aval_of(a) for a in given], params)
                shapes = [None if a is None else a.shape for a in given]
                if isinstance(told, Exception):
                    assert isinstance(told, (ValueError, TypeError)), (shapes, told)
                elif isinstance(found, Exception):
                    assert BY_VALUE.search(str(found)), f"refused by the kernel, and not by the rule: {shapes}, {found}"
                else:
                    pairs = zip(told, found, strict=True) if prim.multi else [(told, found)]
                    assert all((tuple(a.shape), a.dtype) == (y.shape, y.dtype) for a, y in pairs), shapes


@pytest.mark.parametrize("pivots", [[0, 5], [-1, 1], [0]])
def test_pivots_outside_of_the_matrix_are_refused(pivots):
    """LAPACK would exchange rows of other memory."""
    factors, b = np.eye(2), np.ones((2, 1))
    with pytest.raises(ValueError, match="2 pivots from 0 to 1 are wanted"):
        PRIMITIVES["lu_solve"].op(factors, np.array(pivots), b, left=True, adjoint=False)
