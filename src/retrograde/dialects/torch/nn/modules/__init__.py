"""The layers of `torch.nn`, one topic per file."""

from __future__ import annotations

from .activation import *  # noqa: F403
from .container import *  # noqa: F403
from .flatten import *  # noqa: F403
from .linear import *  # noqa: F403
from .loss import *  # noqa: F403
from .module import Module
from .rnn import *  # noqa: F403
