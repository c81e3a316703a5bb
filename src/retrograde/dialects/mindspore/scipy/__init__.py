"""`mindspore.scipy`: here its `linalg` and `fft`."""

from __future__ import annotations

from .._api import attributes

__getattr__ = attributes(globals(), "fft", "linalg")
