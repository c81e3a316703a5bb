"""Transforms of images (height, width, channels) as functions: the first parameter is the image, the others the constructor's.

Bytes come out as MindSpore's to one step, since it computes in fixed point (AdjustHue: to six). Images are resized by the nearest
or linearly.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import io
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from ....core.value import Value
from ....ops import resample as rs
from .config import generator

STEPS: dict[str, type] = {}
"""The classes by name."""


class Inter(IntEnum):
    """How `Resize` finds values between the elements."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class SliceMode(IntEnum):
    """What becomes of the rest when an image is sliced: PAD fills it up, DROP leaves it out."""

    PAD = 0
    DROP = 1


_MODES = {
    name: number for number, names in enumerate((
        "BGR2BGRA RGB2RGBA", "BGRA2BGR RGBA2RGB", "BGR2RGBA RGB2BGRA", "RGBA2BGR BGRA2RGB", "BGR2RGB RGB2BGR",
        "BGRA2RGBA RGBA2BGRA", "BGR2GRAY", "RGB2GRAY", "GRAY2BGR GRAY2RGB", "GRAY2BGRA GRAY2RGBA", "BGRA2GRAY", "RGBA2GRAY",
    )) for name in names.split()
}  # fmt: skip
ConvertMode = IntEnum("ConvertMode", {f"COLOR_{name}": number for name, number in _MODES.items()})  # type: ignore[misc]


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


def _step(f: Callable[..., Any], check: Callable[..., Any] | None = None, ranks: tuple[int, ...] = (2, 3)) -> Callable[..., Any]:
    """Make the class that keeps the options of `f` and calls it, with a generator where it takes `draw`."""
    name, (_, *options) = f.__name__, inspect.signature(f).parameters.values()
    draws = bool(options) and options[0].name == "draw"
    signature = inspect.Signature(options[draws:])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}; it takes {signature}") from None
        bound.apply_defaults()
        if check is not None:
            check(**bound.arguments)
        self._options = {**({"draw": generator()} if draws else {}), **bound.arguments}

    def __call__(self: Any, x: Any) -> Any:
        return f(_image(name, x, ranks), **self._options)

    body = {"__init__": __init__, "__call__": __call__, "__doc__": f.__doc__, "__module__": f"{__package__}.vision",
            "__signature__": signature, "__qualname__": name}  # fmt: skip
    STEPS[name] = type(name, (), body)
    return f


def _checked(check: Callable[..., Any], ranks: tuple[int, ...] = (2, 3)) -> Callable[..., Any]:
    return lambda f: _step(f, check, ranks)


def _at_least(name: str, value: Any, least: float, most: float = float("inf")) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must lie in [{least}, {most}], got {value}")


def _factor(**options: Any) -> None:
    for name, value in options.items():
        _at_least(name, value, 0)


def _probability(prob: Any, **others: Any) -> None:
    _at_least("prob", prob, 0, 1)


def _range(name: str, value: Any, least: float, most: float) -> None:
    if not isinstance(value, (tuple, list)) or len(value) != 2 or value[0] > value[1]:
        raise ValueError(f"{name} must be a smaller and a larger number, got {value!r}")
    for end in value:
        _at_least(name, end, least, most)


def _as(x: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Numbers in the dtype of an image, rounded and bounded if those are bytes."""
    if like.dtype.kind in "iu":
        info = np.iinfo(like.dtype)
        x = np.clip(np.rint(x), info.min, info.max)
    return x.astype(like.dtype)


def _gray(image: np.ndarray) -> np.ndarray:
    r, g, b = (image[..., k] for k in range(3))
    if image.dtype == np.uint8:
        return ((r.astype(np.int64) * 4899 + g.astype(np.int64) * 9617 + b.astype(np.int64) * 1868 + 8192) >> 14).astype(np.uint8)
    return (0.299 * r + 0.587 * g + 0.114 * b).astype(image.dtype)  # type: ignore[no-any-return]


def _padded(a: np.ndarray, around: Sequence[int], fill: Any) -> np.ndarray:
    """An image with elements of one value added left, above, right and below."""
    left, top, right, bottom = around
    out = np.empty((a.shape[0] + top + bottom, a.shape[1] + left + right, *a.shape[2:]), a.dtype)
    out[...] = fill
    out[top : top + a.shape[0], left : left + a.shape[1]] = a
    return out


def _blended(image: np.ndarray, other: Any, factor: float) -> np.ndarray:
    return _as(image * float(factor) + other * (1 - float(factor)), image)


def _of_bytes(image: np.ndarray, table: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Each channel through a table of 256 that its histogram makes."""
    if image.dtype != np.uint8:
        raise RuntimeError(f"wanted an image of bytes, got {image.dtype}")
    channels = image.reshape(*image.shape[:2], -1)
    found = [table(np.bincount(c.ravel(), minlength=256))[c] for c in np.moveaxis(channels, -1, 0)]
    return np.stack(found, -1).astype(np.uint8).reshape(image.shape)


# ------------------------------------------------------------------------------------------ scaling, flips


@_checked(lambda rescale, shift: (_number("Rescale", "rescale", rescale), _number("Rescale", "shift", shift)))
def Rescale(image: np.ndarray, rescale: float, shift: float) -> np.ndarray:
    """Times a factor, plus a shift, in float32."""
    return image.astype(np.float32) * np.float32(rescale) + np.float32(shift)


def _moments(mean: Any, std: Any, is_hwc: Any) -> None:
    if len(mean) != len(std):
        raise ValueError(f"Normalize: mean and std must be as many, got {len(mean)} and {len(std)}")
    if any(s <= 0 for s in std):
        raise ValueError(f"Normalize: std must be above 0, got {std}")


@_checked(_moments)
def Normalize(image: np.ndarray, mean: Sequence[float], std: Sequence[float], is_hwc: bool = True) -> np.ndarray:
    """Each channel less its mean, divided by its deviation, in float32; raises ValueError for other numbers of them."""
    middle, spread = (np.array(x, np.float32).reshape((-1,) if is_hwc else (-1, 1, 1)) for x in (mean, std))
    return (image.astype(np.float32) - middle) / spread  # type: ignore[no-any-return]


@_checked(lambda: None, (3,))
def HWC2CHW(image: np.ndarray) -> np.ndarray:
    """The channels first."""
    return np.ascontiguousarray(image.transpose(2, 0, 1))


@_checked(lambda output_type: np.dtype(getattr(output_type, "np", output_type)))
def ToTensor(image: np.ndarray, output_type: Any = np.float32) -> np.ndarray:
    """The channels first, and 0 to 255 as 0 to 1, in a dtype."""
    a = image[:, :, None] if image.ndim == 2 else image
    scaled = a.astype(np.float32) / np.float32(255) if a.dtype == np.uint8 else a
    return np.ascontiguousarray(scaled.transpose(2, 0, 1)).astype(getattr(output_type, "np", output_type))


@_step
def HorizontalFlip(image: np.ndarray) -> np.ndarray:
    """Left and right exchanged."""
    return image[:, ::-1].copy()


@_step
def VerticalFlip(image: np.ndarray) -> np.ndarray:
    """Top and bottom exchanged."""
    return image[::-1].copy()


@_step
def Invert(image: np.ndarray) -> np.ndarray:
    """255 less each element."""
    return (255 - image).astype(image.dtype)


# ------------------------------------------------------------------------------------------ colours


@_checked(_factor)
def AdjustBrightness(image: np.ndarray, brightness_factor: float) -> np.ndarray:
    """Every element times a factor."""
    return _blended(image, 0, brightness_factor)


@_checked(_factor, (3,))
def AdjustContrast(image: np.ndarray, contrast_factor: float) -> np.ndarray:
    """The distance from the mean grey times a factor."""
    mean = _gray(image).mean()
    return _blended(image, int(mean + 0.5) if image.dtype == np.uint8 else mean, contrast_factor)


@_checked(_factor, (3,))
def AdjustSaturation(image: np.ndarray, saturation_factor: float) -> np.ndarray:
    """The distance from the own grey times a factor."""
    return _blended(image, _gray(image)[..., None].astype(np.float64), saturation_factor)


@_checked(_factor)
def AdjustSharpness(image: np.ndarray, sharpness_factor: float) -> np.ndarray:
    """The distance from a smoothed image times a factor; the border stays."""
    smooth = image.astype(np.float64)
    inner = 4 * smooth[1:-1, 1:-1]
    for down in range(3):
        for right in range(3):
            inner = inner + image[down : image.shape[0] - 2 + down, right : image.shape[1] - 2 + right]
    smooth[1:-1, 1:-1] = _as(inner / 13, image)
    return _blended(image, smooth, sharpness_factor)


@_checked(lambda gamma, gain: _factor(gamma=gamma))
def AdjustGamma(image: np.ndarray, gamma: float, gain: float = 1) -> np.ndarray:
    """`gain * x ** gamma` of numbers from 0 to 1, or of bytes as such."""
    if image.dtype.kind == "f":
        return np.clip(image**gamma * gain, 0, 1).astype(image.dtype)
    return np.clip((image / 255.0) ** gamma * gain * 255, 0, 255).astype(image.dtype)


@_checked(lambda hue_factor: _at_least("hue_factor", hue_factor, -0.5, 0.5), (3,))
def AdjustHue(image: np.ndarray, hue_factor: float) -> np.ndarray:
    """The hue moved around its circle by a part of it."""
    if image.dtype != np.uint8:
        raise RuntimeError(f"AdjustHue: wanted an image of bytes, got {image.dtype}")
    h, s, v = np.moveaxis(_hsv(image / 255.0), -1, 0)
    h = (np.rint(h * 255) + int(hue_factor * 255)) % 255 / 255
    return _as(_rgb(np.stack([h, np.rint(s * 255) / 255, v], -1)) * 255, image)


@_checked(lambda cutoff, ignore: _at_least("cutoff", cutoff, 0, 50))
def AutoContrast(image: np.ndarray, cutoff: float = 0.0, ignore: Any = None) -> np.ndarray:
    """Each channel stretched to all bytes; cutoff: the percentage at either end that does not count, `ignore`: which bytes."""
    without = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)

    def table(counts: np.ndarray) -> np.ndarray:
        counts = counts.copy()
        counts[without] = 0
        cut = int(counts.sum() * cutoff // 100)
        for side in (counts, counts[::-1]):
            gone = np.minimum(np.cumsum(side), cut)
            side -= np.diff(gone, prepend=0)
        there = np.flatnonzero(counts)
        if len(there) < 2:
            return np.arange(256)
        scale = 255.0 / (there[-1] - there[0])
        return np.clip((np.arange(256) * scale - there[0] * scale).astype(int), 0, 255)

    return _of_bytes(image, table)


@_step
def Equalize(image: np.ndarray) -> np.ndarray:
    """Each channel with all bytes about as frequent."""

    def table(counts: np.ndarray) -> np.ndarray:
        there = np.flatnonzero(counts)
        if len(there) < 2:
            return np.arange(256)
        rest = np.cumsum(counts) - counts[there[0]]
        return np.clip(np.rint(rest * (255.0 / rest[-1])), 0, 255)

    return _of_bytes(image, table)


@_checked(lambda bits: _at_least("bits", bits, 0, 8))
def Posterize(image: np.ndarray, bits: int) -> np.ndarray:
    """The leading bits of each byte."""
    return image & np.uint8(256 - (1 << (8 - bits)) if bits else 0)


@_step
def Solarize(image: np.ndarray, threshold: Any) -> np.ndarray:
    """Bytes from a threshold on, or between two, inverted."""
    low, high = (threshold, 255) if isinstance(threshold, (int, float)) else threshold
    return np.where((image >= low) & (image <= high), 255 - image, image).astype(image.dtype)


def _hsv(x: np.ndarray) -> np.ndarray:
    """Hue, saturation, value of numbers from 0 to 1 (..., 3)."""
    high, low = x.max(-1), x.min(-1)
    wide = high - low
    safe = np.where(wide == 0, 1, wide)
    r, g, b = np.moveaxis(x, -1, 0)
    hue = np.where(high == r, (g - b) / safe, np.where(high == g, 2 + (b - r) / safe, 4 + (r - g) / safe))
    return np.stack([np.where(wide == 0, 0, hue / 6 % 1), np.where(high == 0, 0, wide / np.where(high == 0, 1, high)), high], -1)


def _rgb(x: np.ndarray) -> np.ndarray:
    """The way back."""
    h, s, v = np.moveaxis(x, -1, 0)
    part = np.stack([(n + h * 6) % 6 for n in (5, 3, 1)], -1)
    return v[..., None] - (v * s)[..., None] * np.clip(np.minimum(part, 4 - part), 0, 1)  # type: ignore[no-any-return]


def _with_channels_last(f: Callable[[np.ndarray], np.ndarray], image: np.ndarray, is_hwc: bool) -> np.ndarray:
    return f(image) if is_hwc else np.moveaxis(f(np.moveaxis(image, 0, -1)), -1, 0)


@_checked(lambda is_hwc: None, (3,))
def RgbToHsv(image: np.ndarray, is_hwc: bool = False) -> np.ndarray:
    """Hue, saturation and value of numbers from 0 to 1, channels first unless `is_hwc`."""
    return _with_channels_last(_hsv, image.astype(np.float64), is_hwc)


@_checked(lambda is_hwc: None, (3,))
def HsvToRgb(image: np.ndarray, is_hwc: bool = False) -> np.ndarray:
    """Red, green and blue again."""
    return _with_channels_last(_rgb, image.astype(np.float64), is_hwc)


@_step
def ConvertColor(image: np.ndarray, convert_mode: Any) -> np.ndarray:
    """The channels in another order, more or less of them, or their grey."""
    source, target = ConvertMode(convert_mode).name.removeprefix("COLOR_").split("2")
    if (1 if image.ndim == 2 else image.shape[2]) != (1 if source == "GRAY" else len(source)):
        raise RuntimeError(f"ConvertColor: an image of shape {image.shape} is not {source}")
    if source == "GRAY":
        planes = dict.fromkeys("RGB", image.reshape(image.shape[:2]))
    else:
        planes = {c: image[..., k] for k, c in enumerate(source)}
    if target == "GRAY":
        return _gray(np.stack([planes[c] for c in "RGB"], -1))
    opaque = np.full(image.shape[:2], 255 if image.dtype.kind in "iu" else 1, image.dtype)
    return np.stack([planes.get(c, opaque) for c in target], -1)


# ------------------------------------------------------------------------------------------ parts and sizes


def _four(padding: Any, fill_value: Any = 0, padding_mode: Any = "constant", **_: Any) -> tuple[int, ...]:
    """How much is added left, above, right and below."""
    given = tuple(padding) if isinstance(padding, (tuple, list)) else (padding,)
    if len(given) not in (1, 2, 4) or not all(isinstance(n, int) and n >= 0 for n in given):
        raise ValueError(f"Pad: padding must be one, two or four ints, none negative, got {padding!r}")
    if padding_mode != "constant":
        raise NotImplementedError(f"Pad: padding_mode {padding_mode!r} is not supported; there is 'constant'")
    return given * (4 // len(given))


@_checked(_four)
def Pad(image: np.ndarray, padding: Any, fill_value: Any = 0, padding_mode: Any = "constant") -> np.ndarray:
    """Elements of one value added at the borders: an int, a pair (left and right, top and bottom) or all four."""
    return _padded(image, _four(padding), fill_value)


def _part(op: str, image: np.ndarray, place: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """A part of an image; raises RuntimeError where it does not lie within."""
    (top, left), (height, width) = place, size
    if min(top, left) < 0 or top + height > image.shape[0] or left + width > image.shape[1]:
        raise RuntimeError(f"{op}: an image of shape {image.shape} has no {height} by {width} from ({top}, {left}) on")
    return image[top : top + height, left : left + width].copy()


@_checked(lambda coordinates, size: (_sizes("Crop", "coordinates", tuple(coordinates), 0), _sizes("Crop", "size", size)))
def Crop(image: np.ndarray, coordinates: Sequence[int], size: Any) -> np.ndarray:
    """The part of a size that begins at (top, left); raises RuntimeError where the image ends before."""
    return _part("Crop", image, coordinates, _sizes("Crop", "size", size))


def _room(image: np.ndarray, height: int, width: int) -> tuple[int, int]:
    """How many rows and columns an image lacks to a size."""
    return max(height - image.shape[0], 0), max(width - image.shape[1], 0)


@_checked(lambda size: _sizes("CenterCrop", "size", size))
def CenterCrop(image: np.ndarray, size: Any) -> np.ndarray:
    """The middle part of a size, with zeros around it where the image is smaller."""
    height, width = _sizes("CenterCrop", "size", size)
    down, across = _room(image, height, width)
    a = _padded(image, (across // 2, down // 2, across - across // 2, down - down // 2), 0)
    return _part("CenterCrop", a, ((a.shape[0] - height) // 2, (a.shape[1] - width) // 2), (height, width))


def _cropping(size: Any, padding: Any, **_: Any) -> None:
    _sizes("RandomCrop", "size", size)
    if padding is not None:
        _four(padding)


@_checked(_cropping)
def RandomCrop(
    image: np.ndarray, draw: Any, size: Any, padding: Any = None, pad_if_needed: bool = False, fill_value: Any = 0
) -> np.ndarray:
    """A part of a size at a random place, of the image padded at its borders; raises RuntimeError where it is smaller."""
    height, width = _sizes("RandomCrop", "size", size)
    a = image if padding is None else _padded(image, _four(padding), fill_value)
    if pad_if_needed:
        down, across = _room(a, height, width)
        a = _padded(a, (across, down) * 2, fill_value)
    places = [range(n - m + 1) for n, m in zip(a.shape, (height, width))]
    return _part("RandomCrop", a, [draw.randint(len(p)) if p else 0 for p in places], (height, width))


def _resampling(size: Any, interpolation: Any) -> None:
    _sizes("Resize", "size", size)
    if interpolation not in (Inter.LINEAR, Inter.NEAREST):
        raise NotImplementedError(f"Resize: {interpolation!r} is not supported; there are Inter.LINEAR and Inter.NEAREST")


@_checked(_resampling)
def Resize(image: np.ndarray, size: Any, interpolation: Inter = Inter.LINEAR) -> np.ndarray:
    """Resampled to a size (height, width), or so that the shorter side has a length, linearly or by the nearest.

    Raises NotImplementedError for other interpolations.
    """
    _resampling(size, interpolation)
    height, width = _sizes("Resize", "size", size)
    if isinstance(size, int):
        height, width = (int(n * size / min(image.shape[:2])) for n in image.shape[:2])
    kind = rs.LINEAR if interpolation == Inter.LINEAR else rs.NEAREST
    planes = image.reshape(*image.shape[:2], -1).transpose(2, 0, 1).astype(np.float64)
    maps = rs.Map(kind, image.shape[0], height), rs.Map(kind, image.shape[1], width)
    found = np.asarray(rs.resample(planes, maps=maps))
    if image.dtype.kind in "iu":
        found = np.floor(found + 0.5)
    return np.ascontiguousarray(found.transpose(1, 2, 0)).astype(image.dtype).reshape(height, width, *image.shape[2:])


@_step
def Erase(image: np.ndarray, top: int, left: int, height: int, width: int, value: Any = 0, inplace: bool = False) -> np.ndarray:
    """A rectangle of one value, or of one for each channel; raises RuntimeError where it does not lie within."""
    _part("Erase", image, (top, left), (height, width))
    out = image if inplace else image.copy()
    out[top : top + height, left : left + width] = value
    return out


def _odd(kernel_size: Any, sigma: Any) -> None:
    for n in kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,):
        if not isinstance(n, int) or n < 1 or not n % 2:
            raise ValueError(f"GaussianBlur: kernel_size must be odd, got {kernel_size!r}")


@_checked(_odd)
def GaussianBlur(image: np.ndarray, kernel_size: Any, sigma: Any = None) -> np.ndarray:
    """Means with a Gauss curve's weights, over a width and a height; the image is reflected at its border.

    Without `sigma` the width says how wide the curve is, in both directions.
    """
    sizes = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size, kernel_size)
    spreads = (None, None) if sigma is None else sigma if isinstance(sigma, (tuple, list)) else (sigma, sigma)
    out = image.astype(np.float64)
    for axis, n, spread in zip((1, 0), sizes, spreads):
        s = spread or 0.3 * ((sizes[0] - 1) * 0.5 - 1) + 0.8
        weights = np.exp(-((np.arange(n) - n // 2) ** 2) / (2 * s * s))
        padded = np.pad(out, [(n // 2, n // 2) if a == axis else (0, 0) for a in range(image.ndim)], "reflect")
        length = image.shape[axis]
        out = np.zeros(image.shape)
        for k, weight in enumerate(weights / weights.sum()):
            out += weight * padded.take(range(k, k + length), axis)
    return _as(out, image)


def _square(transformation_matrix: Any, mean_vector: Any) -> None:
    for name, a in (("transformation_matrix", transformation_matrix), ("mean_vector", mean_vector)):
        if not isinstance(a, np.ndarray):
            raise TypeError(f"LinearTransformation: {name} must be a NumPy array, got {type(a).__name__}")
    shape = transformation_matrix.shape
    if len(shape) != 2 or shape[0] != shape[1] or len(mean_vector) != shape[0]:
        raise ValueError(f"LinearTransformation: wanted a square matrix and as many means, got {shape} and {mean_vector.shape}")


@_checked(_square)
def LinearTransformation(image: np.ndarray, transformation_matrix: np.ndarray, mean_vector: np.ndarray) -> np.ndarray:
    """All elements less means, times a matrix."""
    matrix, mean = transformation_matrix, mean_vector
    if matrix.shape != (image.size, image.size) or mean.size != image.size:
        raise ValueError(f"LinearTransformation: {image.size} elements need a matrix of that size and as many means")
    return ((image.reshape(1, -1) - mean.reshape(1, -1)) @ matrix).reshape(image.shape)  # type: ignore[no-any-return]


@_checked(lambda **_: None, (3,))
def NormalizePad(
    image: np.ndarray, mean: Sequence[float], std: Sequence[float], dtype: str = "float32", is_hwc: bool = True
) -> np.ndarray:
    """Each channel less its mean over its deviation, and a channel of zeros."""
    found = Normalize(image, mean, std, is_hwc)
    return np.pad(found, [(0, int(axis == (2 if is_hwc else 0))) for axis in range(3)]).astype(dtype)


@_step
def PadToSize(
    image: np.ndarray, size: Any, offset: Any = None, fill_value: Any = 0, padding_mode: Any = "constant"
) -> np.ndarray:
    """Padded to a height and a width, in the middle or from an offset on; raises RuntimeError where it does not fit."""
    height, width = _sizes("PadToSize", "size", size)
    down, across = height - image.shape[0], width - image.shape[1]
    top, left = (down // 2, across // 2) if offset is None else (offset, offset) if isinstance(offset, int) else offset
    if min(top, left) < 0 or down < top or across < left:
        raise RuntimeError(f"PadToSize: {image.shape[:2]} from ({top}, {left}) does not fit into {(height, width)}")
    if getattr(padding_mode, "value", padding_mode) != "constant":
        raise NotImplementedError(f"PadToSize: padding_mode {padding_mode!r} is not supported; there is 'constant'")
    return _padded(image, (left, top, across - left, down - top), fill_value)


@_step
def ResizedCrop(
    image: np.ndarray, top: int, left: int, height: int, width: int, size: Any, interpolation: Any = Inter.BILINEAR
) -> np.ndarray:
    """A rectangle, resampled to a size."""
    part = _part("ResizedCrop", image, (top, left), (height, width))
    return Resize(part, _sizes("ResizedCrop", "size", size), interpolation)


@_step
def SlicePatches(
    image: np.ndarray, num_height: int = 1, num_width: int = 1, slice_mode: Any = SliceMode.PAD, fill_value: int = 0
) -> tuple[np.ndarray, ...]:
    """Patches of one size, row by row."""
    parts = num_height, num_width
    if slice_mode == SliceMode.PAD:
        image = _padded(image, (0, 0, -image.shape[1] % num_width, -image.shape[0] % num_height), fill_value)
    h, w = (n // k for n, k in zip(image.shape, parts))
    return tuple(image[i * h : i * h + h, j * w : j * w + w].copy() for i in range(num_height) for j in range(num_width))


@_step
def ToType(image: np.ndarray, data_type: Any) -> np.ndarray:
    """In another dtype."""
    return image.astype(getattr(data_type, "np", data_type))


# ------------------------------------------------------------------------------------------ at random


@_checked(_probability)
def RandomHorizontalFlip(image: np.ndarray, draw: Any, prob: float = 0.5) -> np.ndarray:
    """Left and right exchanged with a probability."""
    return HorizontalFlip(image) if draw.random_sample() < prob else image


@_checked(_probability)
def RandomVerticalFlip(image: np.ndarray, draw: Any, prob: float = 0.5) -> np.ndarray:
    """Top and bottom exchanged with a probability."""
    return VerticalFlip(image) if draw.random_sample() < prob else image


@_checked(_probability)
def RandomInvert(image: np.ndarray, draw: Any, prob: float = 0.5) -> np.ndarray:
    """Inverted with a probability."""
    return Invert(image) if draw.random_sample() < prob else image


@_checked(_probability)
def RandomEqualize(image: np.ndarray, draw: Any, prob: float = 0.5) -> np.ndarray:
    """`Equalize` with a probability."""
    return Equalize(image) if draw.random_sample() < prob else image


@_checked(_probability)
def RandomAutoContrast(image: np.ndarray, draw: Any, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> np.ndarray:
    """`AutoContrast` with a probability."""
    return AutoContrast(image, cutoff, ignore) if draw.random_sample() < prob else image


@_checked(_probability)
def RandomAdjustSharpness(image: np.ndarray, draw: Any, degree: float, prob: float = 0.5) -> np.ndarray:
    """`AdjustSharpness` with a probability."""
    return AdjustSharpness(image, degree) if draw.random_sample() < prob else image


@_checked(lambda bits: _range("bits", bits, 1, 8))
def RandomPosterize(image: np.ndarray, draw: Any, bits: Any = (8, 8)) -> np.ndarray:
    """`Posterize` to a number of bits from a range."""
    return Posterize(image, int(draw.randint(bits[0], bits[1] + 1)))


@_checked(lambda threshold: _range("threshold", threshold, 0, 255))
def RandomSolarize(image: np.ndarray, draw: Any, threshold: Any = (0, 255)) -> np.ndarray:
    """`Solarize` between two bytes from a range (from one, where the range is that)."""
    ends = sorted(int(draw.randint(threshold[0], threshold[1] + 1)) for _ in range(2))
    return Solarize(image, ends if ends[0] < ends[1] else ends[0])


@_checked(lambda degrees: _range("degrees", degrees, 0, float("inf")))
def RandomColor(image: np.ndarray, draw: Any, degrees: Any = (0.1, 1.9)) -> np.ndarray:
    """`AdjustSaturation` by a factor from a range."""
    return AdjustSaturation(image, draw.uniform(*degrees))


@_step
def RandomColorAdjust(
    image: np.ndarray, draw: Any, brightness: Any = (1, 1), contrast: Any = (1, 1), saturation: Any = (1, 1), hue: Any = (0, 0)
) -> np.ndarray:
    """Brightness, contrast, saturation and hue by factors from ranges, or from 1 less to 1 more, in any order."""
    wanted = [
        functools.partial(f, image_range=r) for f, r in (
            (AdjustBrightness, brightness), (AdjustContrast, contrast), (AdjustSaturation, saturation), (AdjustHue, hue)
        )
    ]  # fmt: skip
    for k in draw.permutation(4):
        f, given, middle = wanted[k].func, wanted[k].keywords["image_range"], float(k < 3)
        low, high = given if isinstance(given, (tuple, list)) else (max(middle - given, 0) if k < 3 else -given, middle + given)
        if (low, high) != (middle, middle):
            image = f(image, draw.uniform(low, high))
    return image


def _rectangle(draw: Any, shape: Any, scale: Any, ratio: Any, attempts: int) -> tuple[int, int, int, int] | None:
    """Top, left, height and width of a rectangle with a part of the area and a ratio of sides from ranges, None if none fits."""
    for _ in range(attempts):
        area = shape[0] * shape[1] * draw.uniform(*scale)
        aspect = np.exp(draw.uniform(*np.log(ratio)))
        width, height = round(float(np.sqrt(area * aspect))), round(float(np.sqrt(area / aspect)))
        if 0 < height <= shape[0] and 0 < width <= shape[1]:
            return draw.randint(shape[0] - height + 1), draw.randint(shape[1] - width + 1), height, width
    return None


@_step
def RandomResizedCrop(
    image: np.ndarray, draw: Any, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3 / 4, 4 / 3),
    interpolation: Any = Inter.BILINEAR, max_attempts: int = 10,
) -> np.ndarray:  # fmt: skip
    """A random rectangle, resampled to a size; the middle where none is found."""
    found = _rectangle(draw, image.shape, scale, ratio, max_attempts)
    if found is None:
        side = min(image.shape[:2])
        found = (image.shape[0] - side) // 2, (image.shape[1] - side) // 2, side, side
    return ResizedCrop(image, *found, size, interpolation)


@_checked(lambda prob, **_: _probability(prob), (3,))
def RandomErasing(
    image: np.ndarray, draw: Any, prob: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0,
    inplace: bool = False, max_attempts: int = 10,
) -> np.ndarray:  # fmt: skip
    """A random rectangle of an image (channels, height, width) of one value, or of noise ("random"), with a probability."""
    found = _rectangle(draw, image.shape[1:], scale, ratio, max_attempts) if draw.random_sample() < prob else None
    if found is None:
        return image
    top, left, height, width = found
    out = image if inplace else image.copy()
    noise = draw.standard_normal((len(image), height, width)) if isinstance(value, str) else np.reshape(value, (-1, 1, 1))
    out[:, top : top + height, left : left + width] = noise
    return out


@_step
def CutOut(image: np.ndarray, draw: Any, length: int, num_patches: int = 1, is_hwc: bool = True) -> np.ndarray:
    """Squares of zeros, cut off at the border."""
    out = image.copy()
    plane = out if is_hwc else np.moveaxis(out, 0, -1)
    for _ in range(num_patches):
        y, x = (int(draw.randint(n)) for n in plane.shape[:2])
        plane[max(y - length // 2, 0) : y + length - length // 2, max(x - length // 2, 0) : x + length - length // 2] = 0
    return out


@_step
def RandomResize(image: np.ndarray, draw: Any, size: Any) -> np.ndarray:
    """Resampled to a size, linearly or by the nearest at random."""
    return Resize(image, size, (Inter.LINEAR, Inter.NEAREST)[draw.randint(2)])


# ------------------------------------------------------------------------------------------ Pillow


def _pillow(op: str) -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise RuntimeError(f"{op}: Pillow does this; install it (`pip install pillow`)") from None


@_checked(lambda to_pil: None, (1,))
def Decode(image: np.ndarray, to_pil: bool = False) -> Any:
    """The pixels (height, width, 3) of an encoded image's bytes, as an array or as Pillow's image."""
    found = _pillow("Decode").open(io.BytesIO(image.astype(np.uint8).tobytes())).convert("RGB")
    return found if to_pil else np.asarray(found)


@_step
def ToPIL(image: np.ndarray) -> Any:
    """Pillow's image of an array of bytes."""
    return _pillow("ToPIL").fromarray(image)


class ToNumpy:
    """The array of Pillow's image."""

    def __call__(self, x: Any) -> np.ndarray:
        return np.array(x)
