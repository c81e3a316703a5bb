"""`mindspore.dataset.transforms`: functions on the values of a column, for `map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._shared.checks import check
from .._api import attributes
from .._dtype import as_dtype
from ._dataset import as_array
from .config import generator


def _functions(op: str, given: Any) -> list[Callable[..., Any]]:
    """A list of functions as it is; raises TypeError for another thing, ValueError for an empty one."""
    if not isinstance(given, list) or not all(map(callable, given)):
        raise TypeError(f"{op}: transforms must be a list of functions, got {given!r}")
    if not given:
        raise ValueError(f"{op}: transforms is empty")
    return given


def _element(op: str, name: str, value: Any) -> Any:
    """A number or a text as it is; raises TypeError for another thing."""
    if not isinstance(value, (bytes, float, int, str)):
        raise TypeError(f"{op}: {name} must be a number or a text, got {type(value).__name__}")
    return value


def _fitting(op: str, a: np.ndarray, value: Any) -> np.ndarray:
    """A number in the dtype of an array, a text beside texts; raises RuntimeError for a text beside numbers or the reverse."""
    if (a.dtype.kind in "SU") is not isinstance(value, (bytes, str)):
        raise RuntimeError(f"{op}: {value!r} does not go into an array of {a.dtype}")
    return np.asarray(value) if isinstance(value, (bytes, str)) else np.asarray(value).astype(a.dtype)


class TypeCast:
    """To another dtype."""

    def __init__(self, output_type: Any) -> None:
        self._dtype = as_dtype(output_type, "TypeCast").np

    def __call__(self, x: Any) -> np.ndarray:
        a = as_array(x)
        if (a.dtype.kind in "SU") is not (self._dtype.kind in "SU"):
            raise RuntimeError(f"TypeCast: {a.dtype} cannot become {self._dtype}")
        return a.astype(self._dtype)


class OneHot:
    """A class number as a row of zeros with a one; with `smoothing_rate`, parts of the one spread over the classes."""

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        check("OneHot", "num_classes: int > 0; smoothing_rate: number in [0, 1]", locals())
        self._classes, self._smoothing = num_classes, smoothing_rate

    def __call__(self, x: Any) -> np.ndarray:
        label = as_array(x)
        if label.dtype.kind not in "iu":
            raise RuntimeError(f"OneHot: a label must be a whole number, got {label.dtype}")
        if label.size and (label.min() < 0 or label.max() >= self._classes):
            raise RuntimeError(f"OneHot: the label {label} is not one of {self._classes} classes")
        label = label.reshape(() if label.size == 1 else label.shape[: 1 if label.shape[1:] == (1,) else None])
        row = np.eye(self._classes, dtype=label.dtype)[label]
        if self._smoothing:
            return row * (1.0 - self._smoothing) + self._smoothing / self._classes
        return row


class Compose:
    """Several functions, one after the other."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _functions("Compose", transforms)

    def __call__(self, *values: Any) -> Any:
        for f in self.transforms:
            values = f(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values[0] if len(values) == 1 else values


class Fill:
    """All elements the same."""

    def __init__(self, fill_value: Any) -> None:
        self._value = _element("Fill", "fill_value", fill_value)

    def __call__(self, x: Any) -> np.ndarray:
        a = as_array(x)
        return np.full(a.shape, _fitting("Fill", a, self._value))


class Duplicate:
    """A value twice, for two columns."""

    def __call__(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        return as_array(x), as_array(x).copy()


class Concatenate:
    """Several columns joined, with arrays before and after them."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        check("Concatenate", "axis: int in [-1, 0]", locals())
        for name, end in (("prepend", prepend), ("append", append)):
            if end is not None and not isinstance(end, np.ndarray):
                raise TypeError(f"Concatenate: {name} must be an array, got {type(end).__name__}")
            if end is not None and end.ndim != 1:
                raise ValueError(f"Concatenate: {name} must have one axis, got shape {end.shape}")
        self._axis, self._before, self._after = axis, prepend, append

    def __call__(self, *values: Any) -> np.ndarray:
        ends = [[] if end is None else [end] for end in (self._before, self._after)]
        parts = [*ends[0], *(as_array(x) for x in values), *ends[1]]
        if any(a.ndim != 1 for a in parts) or len({a.dtype if a.dtype.kind not in "SU" else a.dtype.kind for a in parts}) > 1:
            raise RuntimeError(
                f"Concatenate: wanted columns of one axis and one dtype, got {', '.join(f'{a.dtype}{a.shape}' for a in parts)}"
            )
        return np.concatenate(parts, axis=self._axis)


class PadEnd:
    """Padded, or cut, to a shape; a None size stays."""

    def __init__(self, pad_shape: Sequence[int | None], pad_value: Any = None) -> None:
        if not isinstance(pad_shape, list):
            raise TypeError(f"PadEnd: pad_shape must be a list, got {type(pad_shape).__name__}")
        check("PadEnd", "pad_shape > 0", locals())
        self._shape = pad_shape
        self._value = None if pad_value is None else _element("PadEnd", "pad_value", pad_value)

    def __call__(self, x: Any) -> np.ndarray:
        a = as_array(x)
        if a.ndim != len(self._shape):
            raise RuntimeError(f"PadEnd: the shape {self._shape} is of another number of axes than {a.shape}")
        wanted = [n if s is None else s for n, s in zip(a.shape, self._shape)]
        cut = a[tuple(slice(n) for n in wanted)]
        value = _fitting("PadEnd", a, ("" if a.dtype.kind in "SU" else 0) if self._value is None else self._value)
        out = np.full(wanted, value, np.promote_types(a.dtype, value.dtype))
        out[tuple(map(slice, cut.shape))] = cut
        return out


class RandomApply:
    """Functions, one after the other, with a probability; else the value as it is."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], prob: float = 0.5) -> None:
        check("RandomApply", "prob: number in [0, 1]", locals())
        self._all, self._probability, self._draw = Compose(_functions("RandomApply", transforms)), prob, generator()

    def __call__(self, *values: Any) -> Any:
        if self._draw.random_sample() < self._probability:
            return self._all(*values)
        return values[0] if len(values) == 1 else values


class RandomChoice:
    """One of several functions."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self._transforms, self._draw = _functions("RandomChoice", transforms), generator()

    def __call__(self, *values: Any) -> Any:
        return self._transforms[self._draw.randint(len(self._transforms))](*values)


class RandomOrder:
    """Functions, one after the other, in an order drawn for each value."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self._transforms, self._draw = _functions("RandomOrder", transforms), generator()

    def __call__(self, *values: Any) -> Any:
        return Compose([self._transforms[k] for k in self._draw.permutation(len(self._transforms))])(*values)


__getattr__ = attributes(globals())
