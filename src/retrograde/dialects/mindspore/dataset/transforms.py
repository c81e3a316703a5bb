"""`mindspore.dataset.transforms`: functions on the values of a column, for `map`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._api import attributes
from .._dtype import as_dtype
from ._dataset import as_array
from .config import generator


class TypeCast:
    """To another dtype."""

    def __init__(self, output_type: Any) -> None:
        self._dtype = as_dtype(output_type, "TypeCast").np

    def __call__(self, x: Any) -> np.ndarray:
        return as_array(x).astype(self._dtype)


class OneHot:
    """A class number as a row of zeros with a one; with `smoothing_rate`, parts of the one spread over the classes."""

    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        if num_classes < 1 or not 0 <= smoothing_rate <= 1:
            raise ValueError(f"OneHot: wanted 1 class at least and a rate in [0, 1], got {num_classes} and {smoothing_rate}")
        self._classes, self._smoothing = num_classes, smoothing_rate

    def __call__(self, x: Any) -> np.ndarray:
        label = as_array(x)
        if label.size and (label.min() < 0 or label.max() >= self._classes):
            raise RuntimeError(f"OneHot: the label {label} is not one of {self._classes} classes")
        row = np.eye(self._classes, dtype=label.dtype)[label.reshape(()) if label.size == 1 else label]
        if self._smoothing:
            return row.astype(np.float64) * (1 - self._smoothing) + self._smoothing / self._classes
        return row


def _several(op: str, transforms: Any) -> list[Callable[..., Any]]:
    """Functions in a list; raises TypeError for something else, ValueError for none."""
    if not isinstance(transforms, (list, tuple)):
        raise TypeError(f"{op}: transforms must be a list of functions, got {type(transforms).__name__}")
    if not transforms:
        raise ValueError(f"{op}: the list of transforms is empty")
    return list(transforms)


class Compose:
    """Several functions, one after the other."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self.transforms = _several("Compose", transforms)

    def __call__(self, *values: Any) -> Any:
        for f in self.transforms:
            values = f(*values)
            values = values if isinstance(values, tuple) else (values,)
        return values[0] if len(values) == 1 else values


class Fill:
    """All elements the same."""

    def __init__(self, fill_value: Any) -> None:
        if not isinstance(fill_value, (int, float, bool, str, bytes)):
            raise TypeError(f"Fill: fill_value must be a number or a text, got {type(fill_value).__name__}")
        self._value = fill_value

    def __call__(self, x: Any) -> np.ndarray:
        return np.full_like(as_array(x), self._value)


class Duplicate:
    """A value twice, for two columns."""

    def __call__(self, x: Any) -> tuple[np.ndarray, np.ndarray]:
        return as_array(x), as_array(x).copy()


class Concatenate:
    """Several columns joined, with arrays before and after them."""

    def __init__(self, axis: int = 0, prepend: Any = None, append: Any = None) -> None:
        if axis not in (0, -1):
            raise ValueError(f"Concatenate: axis must be 0 or -1, since only vectors are joined, got {axis!r}")
        self._axis, self._before, self._after = axis, prepend, append

    def __call__(self, *values: Any) -> np.ndarray:
        ends = [[] if end is None else [as_array(end)] for end in (self._before, self._after)]
        return np.concatenate([*ends[0], *(as_array(x) for x in values), *ends[1]], axis=self._axis)


class PadEnd:
    """Padded, or cut, to a shape; a None size stays."""

    def __init__(self, pad_shape: Sequence[int | None], pad_value: Any = 0) -> None:
        if not isinstance(pad_shape, (list, tuple)):
            raise TypeError(f"PadEnd: pad_shape must be a list of sizes, got {type(pad_shape).__name__}")
        self._shape, self._value = tuple(pad_shape), 0 if pad_value is None else pad_value

    def __call__(self, x: Any) -> np.ndarray:
        a = as_array(x)
        wanted = [n if s is None else s for n, s in zip(a.shape, self._shape)]
        cut = a[tuple(slice(n) for n in wanted)]
        return np.pad(cut, [(0, n - m) for n, m in zip(wanted, cut.shape)], constant_values=self._value)


class RandomApply:
    """Functions, one after the other, with a probability; else the value as it is."""

    def __init__(self, transforms: Sequence[Callable[..., Any]], prob: float = 0.5) -> None:
        if not 0 <= prob <= 1:
            raise ValueError(f"RandomApply: prob must lie in [0, 1], got {prob}")
        self._all = Compose(_several("RandomApply", transforms))
        self._probability, self._draw = prob, generator()

    def __call__(self, *values: Any) -> Any:
        if self._draw.random_sample() < self._probability:
            return self._all(*values)
        return values[0] if len(values) == 1 else values


class RandomChoice:
    """One of several functions."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self._transforms, self._draw = _several("RandomChoice", transforms), generator()

    def __call__(self, *values: Any) -> Any:
        return self._transforms[self._draw.randint(len(self._transforms))](*values)


class RandomOrder:
    """Functions, one after the other, in an order drawn for each value."""

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        self._transforms, self._draw = _several("RandomOrder", transforms), generator()

    def __call__(self, *values: Any) -> Any:
        return Compose([self._transforms[k] for k in self._draw.permutation(len(self._transforms))])(*values)


__getattr__ = attributes(globals())
