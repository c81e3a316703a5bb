"""`paddle.vision.transforms`: changes of images as objects, in a row, by chance, or as a user's subclass says."""

from __future__ import annotations

import math
import numbers
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...._shared.layers import parameters as _parameters
from ...._shared.rows import constructor as _constructor
from ..._api import attributes as _attributes
from . import functional as F
from .functional import (
    adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation, affine, center_crop, crop, erase, hflip,
    normalize, pad, perspective, resize, rotate, to_grayscale, to_tensor, vflip,
)  # fmt: skip


class Compose:
    """Transforms one after the other."""

    def __init__(self, transforms: Sequence[Any]) -> None:
        self.transforms = transforms

    def __call__(self, data: Any) -> Any:
        for f in self.transforms:
            data = f(data)
        return data

    def __repr__(self) -> str:
        inner = "".join(f"\n    {t}" for t in self.transforms)
        return f"{type(self).__name__}({inner}\n)"


class BaseTransform:
    """Base of transforms: a subclass defines `_apply_image`, and `_apply_KEY` for what else its inputs are.

    keys: what the inputs are, in their order, of which the rest stays as it is; one image if left out. `_get_params(inputs)`
    draws what one call has in common for all of them, and puts it into `params`.
    """

    def __init__(self, keys: Any = None) -> None:
        if keys is None:
            keys = ("image",)
        elif not isinstance(keys, Sequence):
            raise ValueError(f"{type(self).__name__}: keys must be a sequence of names, got {keys!r}")
        for key in keys:
            if not hasattr(self, f"_apply_{key}"):
                raise NotImplementedError(f"{type(self).__name__}: {key!r} is not something it changes; define _apply_{key}")
        self.keys, self.params = keys, None

    def _get_params(self, inputs: Any) -> Any:
        return None

    def __call__(self, inputs: Any) -> Any:
        several = isinstance(inputs, tuple)
        given = inputs if several else (inputs,)
        self.params = self._get_params(given)
        found = [getattr(self, f"_apply_{key}")(x) for key, x in zip(self.keys, given)]
        found += given[len(self.keys) :]
        return tuple(found) if several else found[0]

    def _apply_image(self, image: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _apply_image")

    def _apply_boxes(self, boxes: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _apply_boxes")

    def _apply_mask(self, mask: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no _apply_mask")


class RandomResizedCrop(BaseTransform):
    """A part of an image, of a random area and ratio, in some size."""

    def __init__(
        self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4, 4.0 / 3), interpolation: str = "bilinear",
        keys: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else size
        if scale[0] > scale[1] or ratio[0] > ratio[1]:
            raise AssertionError("RandomResizedCrop: scale and ratio go from a smaller to a larger number")
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _get_param(self, image: Any, attempts: int = 10) -> tuple[int, int, int, int]:
        h, w = F._size_of(image)
        for _ in range(attempts):
            area = np.random.uniform(*self.scale) * h * w
            ratio = math.exp(np.random.uniform(*(math.log(r) for r in self.ratio)))
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= w and 0 < height <= h:
                return random.randint(0, h - height), random.randint(0, w - width), height, width
        ratio = min(max(w / h, min(self.ratio)), max(self.ratio))
        width, height = (w, round(w / ratio)) if w / h <= ratio else (round(h * ratio), h)
        return (h - height) // 2, (w - width) // 2, height, width

    def _apply_image(self, img: Any) -> Any:
        return resize(crop(img, *self._get_param(img)), self.size, self.interpolation)


def _spread(name: str, value: Any, center: float, bounds: tuple[float, float], clip: bool = True) -> Any:
    """The ends between which a factor is drawn, given by them or by how far they lie from the middle; None for no change."""
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise ValueError(f"{name}: wanted a number that is not negative, got {value}")
        value = [center - value, center + value]  # type: ignore[operator]
        if clip:
            value[0] = max(value[0], 0)
    elif not (isinstance(value, (tuple, list)) and len(value) == 2):
        raise TypeError(f"{name}: wanted a number or two of them, got {value!r}")
    if not bounds[0] <= value[0] <= value[1] <= bounds[1]:
        raise ValueError(f"{name}: {list(value)} must lie in {list(bounds)}")
    return None if value[0] == value[1] == center else value


def _transform(name: str, options: str, apply: Any, doc: str, then: Any = None, **members: Any) -> Any:
    """The transform that keeps its options, of which `then(self)` may make something else, and applies a function of itself and
    an image; `keys` is its last option."""
    names = [a.arg for a in _parameters(options).args]

    def made(self: Any, *values: Any) -> None:
        BaseTransform.__init__(self, values[-1])
        vars(self).update(zip(names, values))
        if then is not None:
            then(self)

    own = {"__init__": _constructor(name, options + ", keys=None", made), "_apply_image": apply, "__module__": __name__}
    return type(name, (BaseTransform,), {**own, "__doc__": doc, **members})


def _whole(size: Any) -> Any:
    return (int(size), int(size)) if isinstance(size, numbers.Number) else size  # type: ignore[call-overload]


def _check_resize(self: Any) -> None:
    if not (isinstance(self.size, int) or (isinstance(self.size, Sequence) and len(self.size) == 2)):
        raise AssertionError(f"Resize: size must be an int or a pair of them, got {self.size!r}")


def _check_chance(self: Any) -> None:
    if not 0 <= self.prob <= 1:
        raise AssertionError(f"{type(self).__name__}: the probability must lie in [0, 1], got {self.prob}")


def _take_moments(self: Any) -> None:
    self.mean, self.std = ([x] * 3 if isinstance(x, numbers.Number) else x for x in (self.mean, self.std))


def _transposed(self: Any, img: Any) -> Any:
    if isinstance(img, F.Tensor):
        return img.transpose(list(self.order))
    array = np.asarray(img)
    return (array if array.ndim == 3 else array[..., None]).transpose(self.order)


def _check_pad(self: Any) -> None:
    padding, mode = self.padding, self.padding_mode
    if not isinstance(padding, (numbers.Number, list, tuple)):
        raise AssertionError(f"Pad: padding must be a number, or two or four of them, got {type(padding).__name__}")
    if isinstance(padding, Sequence) and len(padding) not in (2, 4):
        raise ValueError(f"Pad: padding must be a number, or two or four of them, got {len(padding)}")
    if mode not in ("constant", "edge", "reflect", "symmetric"):
        raise AssertionError(f"Pad: padding_mode must be constant, edge, reflect or symmetric, got {mode!r}")
    self.padding = list(padding) if isinstance(padding, tuple) else padding


def _randomly_cropped(self: Any, img: Any) -> Any:
    if self.padding is not None:
        img = pad(img, self.padding, self.fill, self.padding_mode)
    th, tw = self.size
    h, w = F._size_of(img)
    if self.pad_if_needed and w < tw:
        img = pad(img, (tw - w, 0), self.fill, self.padding_mode)
    if self.pad_if_needed and h < th:
        img = pad(img, (0, th - h), self.fill, self.padding_mode)
    h, w = F._size_of(img)
    if (h, w) == (th, tw):
        return img
    if h < th or w < tw:
        raise ValueError(f"RandomCrop: a part of {list(self.size)} is larger than the image, {[h, w]}")
    return crop(img, random.randint(0, h - th), random.randint(0, w - tw), th, tw)


def _take_size(self: Any) -> None:
    self.size = _whole(self.size)


def _take_affine(self: Any) -> None:
    self.degrees = _angles("RandomAffine", self.degrees)
    if self.translate is not None and not all(0.0 <= t <= 1.0 for t in self.translate):
        raise ValueError(f"RandomAffine: a shift is a part of the image in [0, 1], got {self.translate}")
    if self.scale is not None and not all(s > 0 for s in self.scale):
        raise ValueError(f"RandomAffine: scales must be positive, got {self.scale}")
    self.shear = None if self.shear is None else _angles("RandomAffine", self.shear)


def _randomly_affine(self: Any, img: Any) -> Any:
    h, w = F._size_of(img)
    angle = random.uniform(*self.degrees)
    shift = [0, 0]
    if self.translate is not None:
        shift = [int(random.uniform(-t * n, t * n)) for t, n in zip(self.translate, (w, h))]
    scale = 1.0 if self.scale is None else random.uniform(*self.scale)
    shear = [0.0, 0.0]
    if self.shear is not None:
        ends = self.shear
        shear = [random.uniform(*ends[:2]), random.uniform(*ends[2:]) if len(ends) == 4 else 0.0]
    return affine(img, angle, shift, scale, shear, self.interpolation, self.fill, self.center)


def _take_rotation(self: Any) -> None:
    given, self.degrees = self.degrees, _angles("RandomRotation", self.degrees)
    if len(self.degrees) != 2:
        raise ValueError(f"RandomRotation: wanted a number of degrees or two of them, got {given!r}")


ToTensor = _transform(
    "ToTensor", "data_format: str = 'CHW'", lambda self, img: to_tensor(img, self.data_format),
    "An image as a float32 tensor.",
)  # fmt: skip
Resize = _transform(
    "Resize", "size, interpolation: str = 'bilinear'", lambda self, img: resize(img, self.size, self.interpolation),
    "An image in another size.", _check_resize,
)  # fmt: skip
CenterCrop = _transform(
    "CenterCrop", "size", lambda self, img: center_crop(img, self.size), "The part in the middle.", _take_size
)
RandomHorizontalFlip = _transform(
    "RandomHorizontalFlip", "prob: float = 0.5", lambda self, img: hflip(img) if random.random() < self.prob else img,
    "An image mirrored from left to right, by chance.", _check_chance,
)  # fmt: skip
RandomVerticalFlip = _transform(
    "RandomVerticalFlip", "prob: float = 0.5", lambda self, img: vflip(img) if random.random() < self.prob else img,
    "An image upside down, by chance.", _check_chance,
)  # fmt: skip
Normalize = _transform(
    "Normalize", "mean=0.0, std=1.0, data_format: str = 'CHW', to_rgb: bool = False",
    lambda self, img: normalize(img, self.mean, self.std, self.data_format, self.to_rgb), "(image - mean) / std.", _take_moments,
)  # fmt: skip
Transpose = _transform("Transpose", "order=(2, 0, 1)", _transposed, "An image as an array with its axes in another order.")
Grayscale = _transform(
    "Grayscale", "num_output_channels: int = 1", lambda self, img: to_grayscale(img, self.num_output_channels),
    "An image in grey.",
)  # fmt: skip
Pad = _transform(
    "Pad", "padding, fill=0, padding_mode: str = 'constant'",
    lambda self, img: pad(img, self.padding, self.fill, self.padding_mode), "An image with a border.", _check_pad,
)  # fmt: skip
RandomCrop = _transform(
    "RandomCrop", "size, padding=None, pad_if_needed: bool = False, fill=0, padding_mode: str = 'constant'", _randomly_cropped,
    "A part of some size at a random place, of an image that may get a border first.", _take_size,
)  # fmt: skip
RandomAffine = _transform(
    "RandomAffine",
    "degrees, translate=None, scale=None, shear=None, interpolation: str = 'nearest', fill=0, center=None", _randomly_affine,
    "An image turned, shifted, scaled and sheared by chance.", _take_affine,
)  # fmt: skip
RandomRotation = _transform(
    "RandomRotation", "degrees, interpolation: str = 'nearest', expand: bool = False, center=None, fill=0",
    lambda self, img: rotate(img, self._get_param(self.degrees), self.interpolation, self.expand, self.center, self.fill),
    "An image turned by chance.", _take_rotation, _get_param=lambda self, degrees: random.uniform(*degrees),
)  # fmt: skip


def _colour(name: str, change: Any, doc: str, center: float = 1.0, bounds: Any = (0.0, math.inf), clip: bool = True) -> Any:
    def spread(self: Any) -> None:
        self.value = _spread(name, self.value, center, bounds, clip)

    return _transform(
        name, "value", lambda self, img: img if self.value is None else change(img, random.uniform(*self.value)), doc, spread
    )


BrightnessTransform = _colour("BrightnessTransform", adjust_brightness, "An image brighter or darker, by chance.")
ContrastTransform = _colour("ContrastTransform", adjust_contrast, "An image with more or less contrast, by chance.")
SaturationTransform = _colour("SaturationTransform", adjust_saturation, "An image with stronger or weaker colours, by chance.")
HueTransform = _colour("HueTransform", adjust_hue, "An image with turned hues, by chance.", 0.0, (-0.5, 0.5), False)


class ColorJitter(BaseTransform):
    """The four changes of colours in a random order."""

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0, keys: Any = None) -> None:
        super().__init__(keys)
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue

    def _get_params(self, inputs: Any) -> Any:
        made = [BrightnessTransform(self.brightness), ContrastTransform(self.contrast), SaturationTransform(self.saturation),
                HueTransform(self.hue)]  # fmt: skip
        random.shuffle(made)
        return Compose(made)

    def _apply_image(self, img: Any) -> Any:
        return self.params(img)  # type: ignore[misc]


def _angles(name: str, value: Any) -> tuple[float, float]:
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise ValueError(f"{name}: wanted a number that is not negative, got {value}")
        return (-value, value)  # type: ignore[operator,return-value]
    return tuple(value)  # type: ignore[return-value]


class RandomPerspective(BaseTransform):
    """An image with its corners moved inwards by chance."""

    def __init__(
        self, prob: float = 0.5, distortion_scale: float = 0.5, interpolation: str = "nearest", fill: Any = 0, keys: Any = None
    ) -> None:
        super().__init__(keys)
        if not (0 <= prob <= 1 and 0 <= distortion_scale <= 1):
            raise AssertionError("RandomPerspective: the probability and the distortion must lie in [0, 1]")
        self.prob, self.distortion_scale, self.interpolation, self.fill = prob, distortion_scale, interpolation, fill

    def get_params(self, width: int, height: int, distortion_scale: float) -> tuple[Any, Any]:
        """The corners, and where they are moved to."""
        dx, dy = int(distortion_scale * (width // 2)), int(distortion_scale * (height // 2))
        corners = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]

        def moved(at: int, size: int, by: int) -> int:
            return int(random.uniform(0, by + 1) if at == 0 else random.uniform(size - by - 1, size))

        return corners, [[moved(x, width, dx), moved(y, height, dy)] for x, y in corners]

    def _apply_image(self, img: Any) -> Any:
        if random.random() >= self.prob:
            return img
        h, w = F._size_of(img)
        return perspective(img, *self.get_params(w, h, self.distortion_scale), self.interpolation, self.fill)


class RandomErasing(BaseTransform):
    """An image with a random part erased, by chance: with a number, one of each channel, or random ones."""

    def __init__(
        self, prob: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0, inplace: bool = False,
        keys: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(keys)
        if not (0 <= scale[0] <= scale[1] <= 1 and ratio[0] <= ratio[1] and 0 <= prob <= 1):
            raise AssertionError("RandomErasing: scale must rise within [0, 1], ratio must rise, prob must lie in [0, 1]")
        if not isinstance(value, (numbers.Number, str, list, tuple)) or (isinstance(value, str) and value != "random"):
            raise ValueError(f"RandomErasing: value must be a number, numbers of the channels or 'random', got {value!r}")
        self.prob, self.scale, self.ratio, self.value, self.inplace = prob, scale, ratio, value, inplace

    def _get_param(self, img: Any) -> Any:
        h, w = F._size_of(img)
        tensor = isinstance(img, F.Tensor)
        channels = img.shape[-3] if tensor else (np.asarray(img).shape[2:] or (1,))[0]
        for _ in range(10):
            area = np.random.uniform(*self.scale) * h * w
            ratio = math.exp(np.random.uniform(*(math.log(r) for r in self.ratio)))
            height, width = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if height >= h or width >= w:
                continue
            if self.value == "random":
                v = np.random.normal(size=(channels, height, width) if tensor else (height, width, channels)).astype(np.float32)
            else:
                v = np.asarray(self.value, np.float32).reshape((-1, 1, 1) if tensor else (1, 1, -1))
            top, left = np.random.randint(0, h - height + 1), np.random.randint(0, w - width + 1)
            return top, left, height, width, F.from_array(v) if tensor else v
        return 0, 0, h, w, img

    def _apply_image(self, img: Any) -> Any:
        if random.random() >= self.prob:
            return img
        return erase(img, *self._get_param(img), inplace=self.inplace)


__all__ = [
    "BaseTransform", "BrightnessTransform", "CenterCrop", "ColorJitter", "Compose", "ContrastTransform", "Grayscale",
    "HueTransform", "Normalize", "Pad", "RandomAffine", "RandomCrop", "RandomErasing", "RandomHorizontalFlip",
    "RandomPerspective", "RandomResizedCrop", "RandomRotation", "RandomVerticalFlip", "Resize", "SaturationTransform",
    "ToTensor", "Transpose", "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "affine",
    "center_crop", "crop", "erase", "hflip", "normalize", "pad", "perspective", "resize", "rotate", "to_grayscale",
    "to_tensor", "vflip",
]  # fmt: skip

__getattr__ = _attributes(globals())
