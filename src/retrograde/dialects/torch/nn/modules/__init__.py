"""The layers of `torch.nn`, one topic per file."""

from __future__ import annotations

from ...._shared.documents import documented as _documented
from . import utils
from .activation import *
from .adaptive import AdaptiveLogSoftmaxWithLoss
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .lazy import *
from .linear import *
from .loss import *
from .linear_cross_entropy_options import *
from .module import Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

# Only the layers: a star import of this package must not carry its files along (`utils` is another thing in torch.nn).
__all__ = sorted(name for name in globals() if name[0].isupper())  # noqa: PLE0605 - computed from what is imported
_documented(globals(), __all__, Module)
