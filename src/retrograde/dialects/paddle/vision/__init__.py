"""`paddle.vision`: image models, transforms, data sets from folders, operations on boxes. Nothing is fetched from anywhere."""

from __future__ import annotations

import importlib
from typing import Any

from .._api import missing as _missing
from .._api import submodule as _submodule

_backend = ["pil"]


def set_image_backend(backend: str) -> None:
    """Say what images are loaded as: "pil", "cv2" or "tensor". Raises ValueError for another word."""
    if backend not in ("pil", "cv2", "tensor"):
        raise ValueError(f"set_image_backend: wanted 'pil', 'cv2' or 'tensor', got {backend!r}")
    _backend[0] = backend


def get_image_backend() -> str:
    """What images are loaded as."""
    return _backend[0]


def image_load(path: str, backend: str | None = None) -> Any:
    """An image from a file, through Pillow: as its object ("pil"), or as an array of bytes (H, W, C).

    Raises ImportError where Pillow is not installed.
    """
    backend = backend or _backend[0]
    if backend not in ("pil", "cv2", "tensor"):
        raise ValueError(f"image_load: wanted 'pil', 'cv2' or 'tensor', got {backend!r}")
    try:
        Image = importlib.import_module("PIL.Image")
    except ImportError:
        raise ImportError("image_load: Pillow reads images; install it, or read them into arrays yourself") from None
    image = Image.open(path)
    if backend == "pil":
        return image
    import numpy as np

    array = np.asarray(image.convert("RGB"))
    if backend == "cv2":
        return array[..., ::-1]
    from .. import to_tensor

    return to_tensor(array)


__all__ = ["datasets", "get_image_backend", "image_load", "models", "ops", "set_image_backend", "transforms"]


def __getattr__(name: str) -> Any:
    if name in ("datasets", "models", "ops", "transforms"):
        return _submodule(__name__, name)
    if name[:1] != "_" and name in (models := _submodule(__name__, "models")).__all__:
        return getattr(models, name)
    raise _missing("paddle.vision", name, __all__)
