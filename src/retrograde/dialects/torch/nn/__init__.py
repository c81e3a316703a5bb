"""`torch.nn`: modules, parameters, functional forms, initial values."""

from __future__ import annotations

from typing import Any as _Any

from .._api import missing as _missing
from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter


def __getattr__(name: str) -> _Any:
    raise _missing("torch.nn", name, globals())
