"""`torch.testing`: assert_close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ._size import check_device
from ._tensor import Tensor

# Relative and absolute tolerance by dtype; the looser of two dtypes counts.
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: Any = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless two tensors (numbers, or containers of them) are close, with what differs and where.

    |actual - expected| <= atol + rtol |expected|; the tolerances follow the dtype unless both are given. Raises
    ValueError when only one of them is.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: give both rtol and atol, or neither")
    _compare(actual, expected, "", rtol, atol, equal_nan, check_device, check_dtype, check_stride, msg)


def _fail(text: str, where: str, msg: Any) -> None:
    full = f"{text}{' at ' + where if where else ''}"
    raise AssertionError(msg(full) if callable(msg) else msg if msg is not None else full)


def _compare(
    a: Any, b: Any, where: str, rtol: Any, atol: Any, equal_nan: bool, check_device: bool, check_dtype: bool,
    check_stride: bool, msg: Any,
) -> None:  # fmt: skip
    rest = (rtol, atol, equal_nan, check_device, check_dtype, check_stride, msg)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            _fail(f"assert_close: the keys differ: {sorted(map(str, set(a) ^ set(b)))}", where, msg)
        for key in a:
            _compare(a[key], b[key], f"{where}[{key!r}]", *rest)
        return
    if isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str):
        if len(a) != len(b):
            _fail(f"assert_close: the lengths differ: {len(a)} and {len(b)}", where, msg)
        for i, (x, y) in enumerate(zip(a, b)):
            _compare(x, y, f"{where}[{i}]", *rest)
        return
    numbers = (bool, int, float, complex, np.number, np.bool_)
    if isinstance(a, numbers) and isinstance(b, numbers):
        _numbers(np.asarray(a), np.asarray(b), "float64", "float64", where, rtol, atol, equal_nan, msg)
        return
    if not isinstance(a, (Tensor, np.ndarray)) or not isinstance(b, (Tensor, np.ndarray)):
        if a is None and b is None:
            return
        raise TypeError(f"assert_close: cannot compare {type(a).__name__} with {type(b).__name__}")
    if check_device and isinstance(a, Tensor) and isinstance(b, Tensor) and a.device != b.device:
        _fail(f"assert_close: the devices differ: {a.device} and {b.device}", where, msg)
    x, y = (concrete("assert_close", t) if isinstance(t, Tensor) else t for t in (a, b))
    if x.shape != y.shape:
        _fail(f"assert_close: the shapes differ: {tuple(x.shape)} and {tuple(y.shape)}", where, msg)
    if check_dtype and x.dtype != y.dtype:
        _fail(f"assert_close: the dtypes differ: {x.dtype} and {y.dtype}", where, msg)
    if check_stride and x.strides != y.strides:
        _fail(f"assert_close: the strides differ: {x.strides} and {y.strides} bytes", where, msg)
    _numbers(x, y, x.dtype.name, y.dtype.name, where, rtol, atol, equal_nan, msg)


def _numbers(
    x: np.ndarray, y: np.ndarray, x_dtype: str, y_dtype: str, where: str, rtol: Any, atol: Any, equal_nan: bool, msg:
    Any,
) -> None:  # fmt: skip
    if rtol is None:
        pairs = [_TOLERANCES.get(d, (0.0, 0.0)) for d in (x_dtype, y_dtype)]
        if x.dtype.kind in "iub" and y.dtype.kind in "iub":
            pairs = [(0.0, 0.0)]
        rtol, atol = max(p[0] for p in pairs), max(p[1] for p in pairs)
    wide = np.complex128 if "c" in (x.dtype.kind, y.dtype.kind) else np.float64
    exact = x.dtype.kind in "iub" and y.dtype.kind in "iub"
    u, v = (x, y) if exact else (x.astype(wide), y.astype(wide))
    with np.errstate(all="ignore"):
        close = u == v if exact and rtol == atol == 0 else np.isclose(u, v, rtol=rtol, atol=atol, equal_nan=equal_nan)
        if np.all(close):
            return
        difference = np.abs(u.astype(wide) - v.astype(wide))
        worst = np.unravel_index(int(np.argmax(np.where(close, -1.0, np.nan_to_num(difference, nan=np.inf)))), u.shape)
        count = int(close.size - np.count_nonzero(close))
        size = np.abs(v[worst])
    _fail(
        f"assert_close: {count} of {close.size} elements differ; the largest difference is {difference[worst]:.6g} "
        f"(relative {difference[worst] / size if size else float('inf'):.6g}) at index {tuple(map(int, worst))}; "
        "allowed are "
        f"atol={atol} and rtol={rtol}",
        where, msg,
    )  # fmt: skip


def assert_allclose(actual: Any, expected: Any, rtol: Any = None, atol: Any = None, equal_nan: bool = True,
                    msg: Any = "") -> None:  # fmt: skip
    """The old form of `assert_close`, without the check of dtypes."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def make_tensor(
    *shape: Any, dtype: Any, device: Any = "cpu", low: Any = None, high: Any = None, requires_grad: bool = False,
    noncontiguous: bool = False, exclude_zero: bool = False, memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor of random numbers in [low, high), by default within [-9, 9] as the dtype allows."""
    from ._data import sizes
    from .random import randint, uniform_values

    check_device("make_tensor", device)
    size = sizes("make_tensor", shape)
    if dtype.name == "bool":
        return randint(0, 2, size, device=device).to(dtype)
    if dtype.category == 1:
        most = np.iinfo(dtype.np)
        begin = max(int(low) if low is not None else -9, int(most.min))
        end = min(int(high) if high is not None else 10, int(most.max))
        return randint(begin, end, size, dtype=dtype, device=device)
    x = uniform_values(size, float(-9 if low is None else low), float(9 if high is None else high), dtype).to(device)
    return x.requires_grad_() if requires_grad else x


__all__ = ["assert_allclose", "assert_close", "make_tensor"]
