"""`mindspore.log`: messages of a program, through Python's `logging` under the name "mindspore"."""

from __future__ import annotations

import logging

_logger = logging.getLogger("mindspore")

debug, info, warning, error, critical = _logger.debug, _logger.info, _logger.warning, _logger.error, _logger.critical


def get_level() -> str:
    """The number of the level from which on messages are shown, as MindSpore counts: "0" debug ... "4" critical."""
    return str(min(max(_logger.getEffectiveLevel() // 10 - 1, 0), 4))
