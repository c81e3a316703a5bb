"""`paddle.vision.transforms.functional`: images changed: arrays (H, W, C), Pillow's images, tensors (C, H, W).

Everything is computed on arrays; Pillow's images go through it as arrays of bytes, tensors as arrays of their dtype.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import _shape
from ..._api import attributes as _attributes
from ..._tensor import Tensor, from_array
from ...nn import functional as layers

Array = np.ndarray


def _is_pil(img: Any) -> bool:
    return hasattr(img, "getbands") and hasattr(img, "resize")


def _pil_image(array: Array) -> Any:
    """An array as Pillow's image: Pillow is there, since an image of its came."""
    return sys.modules["PIL.Image"].fromarray(array)  # type: ignore[attr-defined]


def _checked(op: str, img: Any) -> Any:
    if not (_is_pil(img) or isinstance(img, Tensor) or (isinstance(img, np.ndarray) and img.ndim in (2, 3))):
        raise TypeError(f"{op}: wanted a Pillow image, an array (H, W) or (H, W, C) or a Tensor, got {type(img).__name__}")
    return img


def _by_array(op: str, img: Any, f: Callable[[Array], Array], layout: str = "CHW") -> Any:
    """`f` of an image as an array (H, W, C), in the kind and dtype that the image has."""
    _checked(op, img)
    if isinstance(img, Tensor):
        array = img.numpy()
        turned = layout == "CHW"
        out = f(np.moveaxis(array, -3, -1) if turned else array)
        return from_array(np.ascontiguousarray(np.moveaxis(out, -1, -3) if turned else out).astype(array.dtype))
    array = np.asarray(img)
    out = f(array if array.ndim == 3 else array[..., None])
    if out.shape[-1] == 1 and array.ndim == 2:
        out = out[..., 0]
    if not _is_pil(img):
        return out
    return _pil_image(np.ascontiguousarray(out if out.shape[-1:] != (1,) else out[..., 0]))


def _size_of(img: Any, layout: str = "CHW") -> tuple[int, int]:
    """The height and the width."""
    if isinstance(img, Tensor):
        return (img.shape[-2], img.shape[-1]) if layout == "CHW" else (img.shape[-3], img.shape[-2])
    return (img.size[1], img.size[0]) if _is_pil(img) else (img.shape[0], img.shape[1])


def to_tensor(pic: Any, data_format: str = "CHW") -> Any:
    """An image as a float32 tensor, bytes divided by 255."""
    if not (_is_pil(pic) or isinstance(pic, (np.ndarray, Tensor))):
        raise TypeError(f"to_tensor: wanted a Pillow image, an array or a Tensor, got {type(pic).__name__}")
    if isinstance(pic, Tensor):
        return pic
    if data_format not in ("CHW", "HWC"):
        raise ValueError(f"to_tensor: data_format must be 'CHW' or 'HWC', got {data_format!r}")
    array = np.asarray(pic)
    array = array if array.ndim == 3 else array[..., None]
    if array.dtype == np.uint8:
        array = array.astype(np.float32) / np.float32(255)
    return from_array(np.ascontiguousarray(np.moveaxis(array, -1, 0) if data_format == "CHW" else array))


def hflip(img: Any) -> Any:
    """The image mirrored from left to right."""
    if isinstance(_checked("hflip", img), Tensor):
        return _shape.flip(img, [-1])
    return _by_array("hflip", img, lambda a: a[:, ::-1])


def vflip(img: Any) -> Any:
    """The image upside down."""
    if isinstance(_checked("vflip", img), Tensor):
        return _shape.flip(img, [-2])
    return _by_array("vflip", img, lambda a: a[::-1])


def _scaled(shape: tuple[int, int], size: Any) -> tuple[int, int]:
    """The height and width asked for: both, or that of the shorter edge."""
    if isinstance(size, (tuple, list)) and len(size) == 2:
        return int(size[0]), int(size[1])
    if isinstance(size, (tuple, list)):
        size = size[0]
    if not isinstance(size, numbers.Integral):
        raise TypeError(f"resize: size must be an int or a pair of them, got {size!r}")
    h, w = shape
    if min(h, w) == size:
        return h, w
    return (int(size * h / w), int(size)) if w < h else (int(size), int(size * w / h))


_MODES = {"nearest": 0, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5, "lanczos": 1}


def resize(img: Any, size: Any, interpolation: str = "bilinear") -> Any:
    """The image in another size: (height, width), or a number for the shorter edge."""
    shape = _size_of(_checked("resize", img))
    h, w = _scaled(shape, size)
    if interpolation not in _MODES:
        raise ValueError(f"resize: interpolation must be one of {', '.join(_MODES)}, got {interpolation!r}")
    if (h, w) == shape:
        return img
    if _is_pil(img):
        return img.resize((w, h), _MODES[interpolation])
    if isinstance(img, Tensor):
        x = _shape.unsqueeze(img, 0) if img.ndim == 3 else img
        x = _interpolated(x, h, w, interpolation)
        return _shape.squeeze(x, 0) if img.ndim == 3 else x

    def resized(a: Array) -> Array:
        x = from_array(np.moveaxis(a, -1, 0)[None].astype(np.float32))
        out = np.moveaxis(_interpolated(x, h, w, interpolation).numpy()[0], 0, -1)
        return np.clip(np.rint(out), 0, 255).astype(a.dtype) if a.dtype == np.uint8 else out.astype(a.dtype)

    return _by_array("resize", img, resized)


def _interpolated(x: Any, h: int, w: int, mode: str) -> Any:
    if mode not in ("nearest", "bilinear", "bicubic"):
        raise NotImplementedError(f"resize: {mode!r} is there for Pillow's images only; use 'nearest', 'bilinear' or 'bicubic'")
    return layers.interpolate(x, size=[h, w], mode=mode)


def _sides(padding: Any) -> tuple[int, int, int, int]:
    """left, top, right, bottom."""
    if isinstance(padding, int):
        return (padding,) * 4
    if len(padding) == 2:
        return padding[0], padding[1], padding[0], padding[1]
    if len(padding) == 4:
        return tuple(padding)  # type: ignore[return-value]
    raise ValueError(f"pad: padding must be one, two or four numbers, got {list(padding)}")


_NUMPY_MODES = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The image with a border: of `fill`, or of its own edge ("edge", "reflect", "symmetric")."""
    if not isinstance(padding, (int, list, tuple)):
        raise TypeError(f"pad: padding must be a number, or two or four of them, got {type(padding).__name__}")
    if padding_mode != "constant" and padding_mode not in _NUMPY_MODES:
        raise ValueError(f"pad: padding_mode must be constant, edge, reflect or symmetric, got {padding_mode!r}")
    left, top, right, bottom = _sides(padding)
    around = ((top, bottom), (left, right), (0, 0))

    def padded(a: Array) -> Array:
        if padding_mode == "constant":
            filled = np.empty((a.shape[0] + top + bottom, a.shape[1] + left + right, a.shape[2]), a.dtype)
            filled[:] = np.asarray(fill, a.dtype)
            filled[top : top + a.shape[0], left : left + a.shape[1]] = a
            return filled
        return np.pad(a, around, _NUMPY_MODES[padding_mode])  # type: ignore[call-overload,no-any-return]

    return _by_array("pad", img, padded)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of the image."""
    if isinstance(_checked("crop", img), Tensor):
        return img[..., top : top + height, left : left + width]
    return _by_array("crop", img, lambda a: a[top : top + height, left : left + width])


def center_crop(img: Any, output_size: Any) -> Any:
    """The part of some size in the middle of the image."""
    th, tw = (int(output_size),) * 2 if isinstance(output_size, numbers.Number) else output_size  # type: ignore[call-overload]
    h, w = _size_of(_checked("center_crop", img))
    return crop(img, round((h - th) / 2.0), round((w - tw) / 2.0), th, tw)


def normalize(img: Any, mean: Any, std: Any, data_format: str = "CHW", to_rgb: bool = False) -> Any:
    """(img - mean) / std of each channel, in float32."""
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    m, s = (np.asarray(x, np.float32).reshape(shape) for x in (mean, std))
    if isinstance(img, Tensor):
        return (img - from_array(m)) / from_array(s)
    array = np.asarray(img, np.float32)
    if to_rgb:
        array = array[..., ::-1]
    return (array - m) / s


# ------------------------------------------------------------------------------------------ colours


def _limit(a: Array) -> float:
    return 255.0 if a.dtype == np.uint8 else 1.0


def _blended(a: Array, other: Any, factor: float) -> Array:
    out = np.clip(a.astype(np.float32) * np.float32(factor) + np.float32(1 - factor) * other, 0, _limit(a))
    return out.astype(a.dtype)  # type: ignore[no-any-return]


def _gray(a: Array) -> Array:
    return (a[..., :3].astype(np.float32) * np.array([0.2989, 0.587, 0.114], np.float32)).sum(-1, keepdims=True)  # type: ignore[no-any-return]


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The image in grey, with one channel or three equal ones."""
    if num_output_channels not in (1, 3):
        raise ValueError(f"to_grayscale: num_output_channels must be 1 or 3, got {num_output_channels}")
    if _is_pil(img):
        gray = np.asarray(img.convert("L"))
        return _pil_image(gray if num_output_channels == 1 else np.repeat(gray[..., None], 3, -1))

    def made(a: Array) -> Array:
        gray = _gray(a)
        gray = np.rint(gray).astype(a.dtype) if a.dtype == np.uint8 else gray.astype(a.dtype)
        return np.repeat(gray, num_output_channels, -1)

    return _by_array("to_grayscale", img, made)


def _not_negative(op: str, factor: float) -> None:
    if factor < 0:
        raise ValueError(f"{op}: the factor must not be negative, got {factor}")


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The image that many times as bright."""
    _not_negative("adjust_brightness", brightness_factor)
    return _by_array("adjust_brightness", img, lambda a: _blended(a, 0.0, brightness_factor))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """The image blended with its mean grey; an array with the grey 74, as there."""
    _not_negative("adjust_contrast", contrast_factor)
    if _is_pil(img):
        mean = float(int(np.asarray(img.convert("L")).mean() + 0.5))
        return _by_array("adjust_contrast", img, lambda a: _blended(a, mean, contrast_factor))
    of_tensor = isinstance(img, Tensor)
    return _by_array("adjust_contrast", img, lambda a: _blended(a, _gray(a).mean() if of_tensor else 74.0, contrast_factor))


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """The image blended with itself in grey."""
    _not_negative("adjust_saturation", saturation_factor)
    return _by_array("adjust_saturation", img, lambda a: _blended(a, _gray(a), saturation_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The image with its hues turned by a part in [-0.5, 0.5] of the circle; raises ValueError for another number."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"adjust_hue: hue_factor must lie in [-0.5, 0.5], got {hue_factor}")
    return _by_array("adjust_hue", img, lambda a: _turned(a, hue_factor))


def _turned(a: Array, by: float) -> Array:
    rgb = a.astype(np.float32) / np.float32(_limit(a))
    high, low = rgb.max(-1), rgb.min(-1)
    spread = high - low
    s = np.where(high > 0, spread / np.where(high > 0, high, 1), 0)
    r, g, b = ((high - rgb[..., k]) / np.where(spread > 0, spread, 1) for k in range(3))
    hue = np.where(high == rgb[..., 0], b - g, np.where(high == rgb[..., 1], 2 + r - b, 4 + g - r)) / 6
    hue = np.where(spread > 0, hue % 1.0, 0)
    sixth = (hue + by) % 1.0 * 6
    k = np.floor(sixth)
    f = sixth - k
    p, q, t = high * (1 - s), high * (1 - s * f), high * (1 - s * (1 - f))
    v = high
    which = k.astype(int) % 6
    parts = ((v, t, p), (q, v, p), (p, v, t), (p, q, v), (t, p, v), (v, p, q))
    out = np.stack([np.choose(which, [part[c] for part in parts]) for c in range(3)], -1)
    out = np.clip(out, 0, 1) * _limit(a)
    return (np.rint(out) if a.dtype == np.uint8 else out).astype(a.dtype)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------ geometry


def _sampled(a: Array, x: Array, y: Array, interpolation: str, fill: Any) -> Array:
    """The image at positions (column x, row y), nearest or bilinear; `fill` outside."""
    h, w = a.shape[:2]
    filled = np.broadcast_to(np.asarray(fill, np.float32), a.shape[-1:])

    def at(i: Array, j: Array) -> Array:
        inside = (i >= 0) & (i < h) & (j >= 0) & (j < w)
        got = a[np.clip(i, 0, h - 1), np.clip(j, 0, w - 1)].astype(np.float32)
        return np.where(inside[..., None], got, filled)

    if interpolation == "nearest":
        out = at(np.rint(y).astype(int), np.rint(x).astype(int))
    elif interpolation == "bilinear":
        i, j = np.floor(y).astype(int), np.floor(x).astype(int)
        u, v = (y - i)[..., None].astype(np.float32), (x - j)[..., None].astype(np.float32)
        out = (1 - u) * ((1 - v) * at(i, j) + v * at(i, j + 1)) + u * ((1 - v) * at(i + 1, j) + v * at(i + 1, j + 1))
    else:
        raise ValueError(f"interpolation must be 'nearest' or 'bilinear', got {interpolation!r}")
    return (np.clip(np.rint(out), 0, 255) if a.dtype == np.uint8 else out).astype(a.dtype)  # type: ignore[no-any-return]


def _warped(op: str, img: Any, matrix: Sequence[float], size: tuple[int, int] | None, interpolation: str, fill: Any) -> Any:
    """The image at the positions that a projective map of eight numbers makes of those of the result."""
    a0, a1, a2, b0, b1, b2, c0, c1 = matrix
    if _is_pil(img):
        from PIL import Image

        resample = {"nearest": 0, "bilinear": 2, "bicubic": 3}[interpolation]
        fill = (fill,) * 3 if isinstance(fill, int) and len(img.getbands()) == 3 else fill
        h, w = size or _size_of(img)
        how = Image.Transform.AFFINE if (c0, c1) == (0.0, 0.0) else Image.Transform.PERSPECTIVE
        return img.transform((w, h), how, matrix, resample, fillcolor=fill)

    def made(a: Array) -> Array:
        h, w = size or a.shape[:2]
        y, x = np.mgrid[:h, :w] + 0.5
        below = c0 * x + c1 * y + 1
        places = (a0 * x + a1 * y + a2) / below - 0.5, (b0 * x + b1 * y + b2) / below - 0.5
        if interpolation != "bilinear" or not isinstance(img, Tensor):
            return _sampled(a, *places, interpolation, fill)
        inside = _sampled(np.ones_like(a[..., :1]), *places, interpolation, 0)  # at the rim it counts twice there
        return _sampled(a, *places, interpolation, 0) * inside + (1 - inside) * np.asarray(fill, a.dtype)

    return _by_array(op, img, made)


def _backwards(
    angle: float, translate: Sequence[float], scale: float, shear: Sequence[float], center: Sequence[float]
) -> list[float]:
    """The map from the result of a turn, a shear, a scaling and a shift to where its points come from."""
    turn, sx, sy = (math.radians(d) for d in (angle, shear[0], shear[1]))
    (cx, cy), (tx, ty) = center, translate
    a = math.cos(turn - sy) / math.cos(sy)
    b = -math.cos(turn - sy) * math.tan(sx) / math.cos(sy) - math.sin(turn)
    c = math.sin(turn - sy) / math.cos(sy)
    d = -math.sin(turn - sy) * math.tan(sx) / math.cos(sy) + math.cos(turn)
    m = [d / scale, -b / scale, 0.0, -c / scale, a / scale, 0.0]
    m[2] = m[0] * (-cx - tx) + m[1] * (-cy - ty) + cx
    m[5] = m[3] * (-cx - tx) + m[4] * (-cy - ty) + cy
    return m


def affine(
    img: Any, angle: float, translate: Sequence[float], scale: float, shear: Any, interpolation: str = "nearest", fill: Any = 0,
    center: Any = None,
) -> Any:  # fmt: skip
    """The image turned by degrees, shifted, scaled and sheared about its middle (or `center`)."""
    if not isinstance(angle, numbers.Number) or len(translate) != 2 or scale <= 0:
        raise ValueError("affine: wanted a number of degrees, two numbers of a shift and a positive scale")
    h, w = _size_of(_checked("affine", img))
    sheared = [shear, 0.0] if isinstance(shear, numbers.Number) else [*shear, 0.0][:2]
    about = (w * 0.5, h * 0.5) if center is None else center
    m = _backwards(float(angle), translate, scale, sheared, about)  # type: ignore[arg-type]
    return _warped("affine", img, [*m, 0.0, 0.0], None, interpolation, fill)


def rotate(
    img: Any, angle: float, interpolation: str = "nearest", expand: bool = False, center: Any = None, fill: Any = 0
) -> Any:
    """The image turned by degrees against the clock; `expand` makes room for all of it."""
    h, w = _size_of(_checked("rotate", img))
    about = (w * 0.5, h * 0.5) if center is None or expand else center
    m = _backwards(-float(angle), (0.0, 0.0), 1.0, (0.0, 0.0), about)
    size = None
    if expand:
        c, s = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
        size = math.ceil(round(h * c + w * s, 6)), math.ceil(round(w * c + h * s, 6))
        cx, cy = size[1] / 2, size[0] / 2
        m[2], m[5] = w / 2 - m[0] * cx - m[1] * cy, h / 2 - m[3] * cx - m[4] * cy
    return _warped("rotate", img, [*m, 0.0, 0.0], size, interpolation, fill)


def perspective(img: Any, startpoints: Any, endpoints: Any, interpolation: str = "nearest", fill: Any = 0) -> Any:
    """The image with four of its points moved."""
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(endpoints, startpoints):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    wanted = np.asarray(startpoints, np.float64).reshape(8)
    m = np.linalg.lstsq(np.asarray(rows, np.float64), wanted, rcond=None)[0]
    return _warped("perspective", img, [float(x) for x in m], None, interpolation, fill)


def erase(img: Any, i: int, j: int, h: int, w: int, v: Any, inplace: bool = False) -> Any:
    """The image with a part, from row i and column j on, put in its place."""
    if isinstance(_checked("erase", img), Tensor):
        out = img if inplace else img.clone()
        out[..., i : i + h, j : j + w] = v
        return out

    def made(a: Array) -> Array:
        out = a if inplace and a.flags.writeable else a.copy()
        out[i : i + h, j : j + w] = v
        return out

    return _by_array("erase", img, made)


__all__ = [
    "adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation", "affine", "center_crop", "crop", "erase", "hflip",
    "normalize", "pad", "perspective", "resize", "rotate", "to_grayscale", "to_tensor", "vflip",
]  # fmt: skip

__getattr__ = _attributes(globals())
