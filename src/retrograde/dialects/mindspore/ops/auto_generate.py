"""`mindspore.ops.auto_generate`: an older path of the functions and the Primitive classes."""

from __future__ import annotations

from .._paths import offer_paths
from .functional import __getattr__ as __getattr__

offer_paths(__name__)
