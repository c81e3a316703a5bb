"""`mindspore.train.amp`: the same as `mindspore.amp`."""

from __future__ import annotations

from ..amp import *  # noqa: F403  (the package's names under their older path)
