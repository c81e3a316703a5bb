"""`mindspore.dataset.vision`: functions on images (height, width, channels), for `map`.

Here are scaling, flips, crops, padding and resizing by the nearest or linearly; _images has the others, as functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from ....core.value import Value
from ....ops import resample as rs
from .._api import missing
from .config import generator


class Inter(IntEnum):
    """How `Resize` finds values between the elements."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


def _image(op: str, x: Any, ranks: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """An image as an array; raises TypeError for anything else, RuntimeError for another number of axes."""
    if not isinstance(x, (np.ndarray, Value)):
        raise TypeError(f"{op}: wanted an image as a NumPy array, got {type(x).__name__}")
    a = np.asarray(x)
    if a.ndim not in ranks:
        raise RuntimeError(f"{op}: an image has {' or '.join(map(str, ranks))} axes, got shape {a.shape}")
    return a


def _sizes(op: str, name: str, value: Any, least: int = 1) -> tuple[int, int]:
    """A height and a width, from an int for both or a pair; raises TypeError or ValueError."""
    given = (value, value) if isinstance(value, int) else value
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not all(isinstance(n, int) for n in given):
        raise TypeError(f"{op}: {name} must be an int or two of them, got {value!r}")
    if min(given) < least:
        raise ValueError(f"{op}: {name} must be {least} or more, got {value!r}")
    return given[0], given[1]


def _number(op: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{op}: {name} must be a number, got {type(value).__name__}")
    return float(value)


class Rescale:
    """Times a factor, plus a shift, in float32."""

    def __init__(self, rescale: float, shift: float) -> None:
        self._rescale, self._shift = _number("Rescale", "rescale", rescale), _number("Rescale", "shift", shift)

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("Rescale", x).astype(np.float32)
        return a * np.float32(self._rescale) + np.float32(self._shift)


class Normalize:
    """Each channel less its mean, divided by its deviation, in float32; raises ValueError for other numbers of them."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> None:
        if len(mean) != len(std):
            raise ValueError(f"Normalize: mean and std must be as many, got {len(mean)} and {len(std)}")
        if any(s <= 0 for s in std):
            raise ValueError(f"Normalize: std must be above 0, got {std}")
        self._mean, self._std, self._last = np.array(mean, np.float32), np.array(std, np.float32), is_hwc

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("Normalize", x).astype(np.float32)
        shape = (-1,) if self._last else (-1, 1, 1)
        return (a - self._mean.reshape(shape)) / self._std.reshape(shape)


class HWC2CHW:
    """The channels first."""

    def __call__(self, x: Any) -> np.ndarray:
        return np.ascontiguousarray(_image("HWC2CHW", x, (3,)).transpose(2, 0, 1))


class ToTensor:
    """The channels first, and 0 to 255 as 0 to 1, in a dtype."""

    def __init__(self, output_type: Any = np.float32) -> None:
        self._dtype = np.dtype(getattr(output_type, "np", output_type))

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("ToTensor", x)
        a = a[:, :, None] if a.ndim == 2 else a
        scaled = a.astype(np.float32) / np.float32(255) if a.dtype == np.uint8 else a
        return np.ascontiguousarray(scaled.transpose(2, 0, 1)).astype(self._dtype)


class HorizontalFlip:
    """Left and right exchanged."""

    def __call__(self, x: Any) -> np.ndarray:
        return _image(type(self).__name__, x)[:, ::-1].copy()


class VerticalFlip:
    """Top and bottom exchanged."""

    def __call__(self, x: Any) -> np.ndarray:
        return _image(type(self).__name__, x)[::-1].copy()


class _Sometimes:
    _always: Any = None

    def __init__(self, prob: float = 0.5) -> None:
        name = type(self).__name__
        if not 0 <= _number(name, "prob", prob) <= 1:
            raise ValueError(f"{name}: prob must lie in [0, 1], got {prob}")
        self._probability, self._draw = prob, generator()

    def __call__(self, x: Any) -> np.ndarray:
        a = _image(type(self).__name__, x)
        return self._always()(a) if self._draw.random_sample() < self._probability else a  # type: ignore[no-any-return]


class RandomHorizontalFlip(_Sometimes):
    """Left and right exchanged with a probability."""

    _always = HorizontalFlip


class RandomVerticalFlip(_Sometimes):
    """Top and bottom exchanged with a probability."""

    _always = VerticalFlip


def _padded(a: np.ndarray, left: int, top: int, right: int, bottom: int, fill: Any) -> np.ndarray:
    channels = a.shape[2:]
    out = np.empty((a.shape[0] + top + bottom, a.shape[1] + left + right, *channels), a.dtype)
    out[...] = fill
    out[top : top + a.shape[0], left : left + a.shape[1]] = a
    return out


class Pad:
    """Elements of one value added at the borders: an int, a pair (left and right, top and bottom) or all four."""

    def __init__(self, padding: Any, fill_value: Any = 0, padding_mode: Any = "constant") -> None:
        given = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,)
        if len(given) not in (1, 2, 4) or not all(isinstance(n, int) and n >= 0 for n in given):
            raise ValueError(f"Pad: padding must be one, two or four ints, none negative, got {padding!r}")
        if padding_mode != "constant":
            raise NotImplementedError(f"Pad: padding_mode {padding_mode!r} is not supported; there is 'constant'")
        self._padding = given if len(given) == 4 else (given * 4 if len(given) == 1 else given * 2)
        self._fill = fill_value

    def __call__(self, x: Any) -> np.ndarray:
        left, top, right, bottom = self._padding
        return _padded(_image("Pad", x), left, top, right, bottom, self._fill)


class Crop:
    """The part of a size that begins at (top, left); raises RuntimeError where the image ends before."""

    def __init__(self, coordinates: Sequence[int], size: Any) -> None:
        self._top, self._left = _sizes("Crop", "coordinates", tuple(coordinates), 0)
        self._height, self._width = _sizes("Crop", "size", size)

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("Crop", x)
        if self._top + self._height > a.shape[0] or self._left + self._width > a.shape[1]:
            raise RuntimeError(f"Crop: an image of shape {a.shape} has no such part")
        return a[self._top : self._top + self._height, self._left : self._left + self._width].copy()


class CenterCrop:
    """The middle part of a size, with zeros around it where the image is smaller."""

    def __init__(self, size: Any) -> None:
        self._height, self._width = _sizes("CenterCrop", "size", size)

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("CenterCrop", x)
        down, across = max(self._height - a.shape[0], 0), max(self._width - a.shape[1], 0)
        a = _padded(a, across // 2, down // 2, across - across // 2, down - down // 2, 0)
        top, left = (a.shape[0] - self._height) // 2, (a.shape[1] - self._width) // 2
        return a[top : top + self._height, left : left + self._width].copy()


class RandomCrop:
    """A part of a size at a random place, of the image padded at its borders; raises RuntimeError where it is smaller."""

    def __init__(self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill_value: Any = 0) -> None:
        self._height, self._width = _sizes("RandomCrop", "size", size)
        self._pad = None if padding is None else Pad(padding, fill_value)
        self._needed, self._fill, self._draw = pad_if_needed, fill_value, generator()

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("RandomCrop", x)
        a = a if self._pad is None else self._pad(a)
        if self._needed:
            down, across = max(self._height - a.shape[0], 0), max(self._width - a.shape[1], 0)
            a = _padded(a, across, down, across, down, self._fill)
        if self._height > a.shape[0] or self._width > a.shape[1]:
            raise RuntimeError(f"RandomCrop: an image of shape {a.shape} has no part of {self._height} by {self._width}")
        top = self._draw.randint(a.shape[0] - self._height + 1)
        left = self._draw.randint(a.shape[1] - self._width + 1)
        return a[top : top + self._height, left : left + self._width].copy()


class Resize:
    """Resampled to a size (height, width), or so that the shorter side has a length, linearly or by the nearest.

    Raises NotImplementedError for other interpolations.
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.LINEAR) -> None:
        self._shorter = size if isinstance(size, int) else None
        self._height, self._width = _sizes("Resize", "size", size)
        if interpolation not in (Inter.LINEAR, Inter.NEAREST):
            raise NotImplementedError(f"Resize: {interpolation!r} is not supported; there are Inter.LINEAR and Inter.NEAREST")
        self._kind = rs.LINEAR if interpolation == Inter.LINEAR else rs.NEAREST

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("Resize", x)
        height, width = self._height, self._width
        if self._shorter is not None and a.shape[0] != a.shape[1]:
            least = min(a.shape[:2])
            height, width = (int(n * self._shorter / least) for n in a.shape[:2])
        maps = (rs.Map(self._kind, a.shape[0], height), rs.Map(self._kind, a.shape[1], width))
        planes = a.reshape(*a.shape[:2], -1).transpose(2, 0, 1)
        found = np.asarray(rs.resample(planes.astype(np.float64), maps=maps))
        if a.dtype.kind in "iu":
            found = np.floor(found + 0.5)
        return np.ascontiguousarray(found.transpose(1, 2, 0)).astype(a.dtype).reshape(height, width, *a.shape[2:])


class Invert:
    """255 less each element."""

    def __call__(self, x: Any) -> np.ndarray:
        a = _image("Invert", x)
        return (255 - a).astype(a.dtype)


def __getattr__(name: str) -> Any:
    from . import _images  # stands on the classes above

    if name in _images.STEPS:
        return _images.STEPS[name]
    if name in ("ConvertMode", "SliceMode", "ToNumpy"):
        return getattr(_images, name)
    raise missing("mindspore.dataset.vision", name, globals())
