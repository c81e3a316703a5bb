"""`torch.nn`: modules, parameters, functional forms, initial values."""

from __future__ import annotations

from .._api import attributes as _attributes
from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .modules import *
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__getattr__ = _attributes(globals())
