"""`torch.nn`: modules, parameters, functional forms, initial values."""

from __future__ import annotations

from typing import Any as _Any

from .._api import missing as _missing
from . import functional, init, modules, parameter, utils
from .modules import *
from .parameter import Buffer, Parameter, UninitializedParameter


def __getattr__(name: str) -> _Any:
    raise _missing("torch.nn", name, globals())
