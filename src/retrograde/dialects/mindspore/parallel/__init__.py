"""`mindspore.parallel`: what programs for several devices ask for; there is one here."""

from __future__ import annotations

from .._api import attributes

__getattr__ = attributes(globals())
