"""What the tests of the namespace share: the same call on array_api_strict and on retrograde, results compared.

array_api_strict is the standard's reference implementation on NumPy. A call that it refuses is outside the standard,
and nothing is asked of us. The public suite (array-api-tests) covers the same ground; see README.md here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st

import retrograde as rg

strict.set_array_api_strict_flags(api_version="2024.12")

BOOL = ["bool"]
SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
REALS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
FLOATS = REALS + COMPLEX
NUMERIC = INTEGERS + FLOATS
ALL = BOOL + NUMERIC

few = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
many = settings(parent=few, max_examples=40)

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


def elements(dtype: str, *, moderate: bool = False) -> st.SearchStrategy[Any]:
    """Elements of a dtype; `moderate` ones are finite, small, and sums of a few of them are exact enough."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return st.booleans()
    if d.kind in "iu":
        info = np.iinfo(d)
        low, high = (max(info.min, -9), min(info.max, 9)) if moderate else (info.min, info.max)
        return st.integers(low, high)
    width = d.itemsize * 8 if d.kind == "f" else d.itemsize * 4
    bounds: dict[str, Any] = {"width": width, "allow_subnormal": False}
    if moderate:
        bounds |= {"min_value": -8, "max_value": 8, "allow_nan": False, "allow_infinity": False}
    reals = st.floats(**bounds)
    if moderate:
        reals = reals.map(lambda x: 0.0 if abs(x) < 1e-3 else x)
    return reals if d.kind == "f" else st.builds(complex, reals, reals)


def arrays(
    dtypes: list[str], shape: Any = SHAPES, *, moderate: bool = False, unique: bool = False
) -> st.SearchStrategy[np.ndarray]:
    """NumPy arrays of one of the dtypes."""
    return st.sampled_from(dtypes).flatmap(
        lambda d: hnp.arrays(np.dtype(d), shape, elements=elements(d, moderate=moderate), unique=unique)
    )


def same(ours: Any, theirs: Any, *, rtol: float | None = None, where: str = "") -> None:
    """Assert that two results have the same structure, dtypes, shapes and (nearly) elements."""
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs), where
        if hasattr(theirs, "_fields"):
            assert ours._fields == theirs._fields
        for x, y in zip(ours, theirs):
            same(x, y, rtol=rtol, where=where)
        return
    if not isinstance(theirs, strict._array_object.Array):
        assert ours == theirs, where
        return
    assert isinstance(ours, rg.Tensor), f"{where}: {type(ours)}"
    expected = np.asarray(theirs._array)
    assert ours.dtype == expected.dtype, f"{where}: {ours.dtype}, expected {expected.dtype}"
    assert ours.shape == expected.shape, f"{where}: {ours.shape}, expected {expected.shape}"
    if rtol is None:
        rtol = 1e-4 if expected.dtype.name in ("float32", "complex64") else 1e-9
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(ours.numpy(), expected, rtol=rtol, atol=rtol * 10, equal_nan=True, err_msg=where)
    else:
        np.testing.assert_array_equal(ours.numpy(), expected, err_msg=where)


def on(xp: Any, x: Any) -> Any:
    """An argument on a namespace: arrays and dtypes become its own."""
    if isinstance(x, np.ndarray):
        return xp.asarray(x.copy())
    if isinstance(x, np.dtype):
        return getattr(xp, x.name)
    if isinstance(x, (tuple, list)):
        return type(x)(on(xp, y) for y in x)
    return x


def compare(call: Callable[..., Any], *args: Any, rtol: float | None = None) -> None:
    """`call(xp, *args)` on both namespaces; where the strict one refuses, nothing is compared."""
    with np.errstate(all="ignore"):
        try:
            theirs = call(strict, *(on(strict, x) for x in args))
        except (TypeError, ValueError, IndexError, OverflowError, RuntimeError, np.linalg.LinAlgError):
            assume(False)
        ours = call(rg, *(on(rg, x) for x in args))
        same(ours, theirs, rtol=rtol, where=repr(args))
