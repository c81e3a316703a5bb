"""The exceptions of the engine.

They are raised where no dialect is involved; a dialect names the exception types that its users expect
through its `TapePolicy` (core/policy.py), which `core.value.error_type` and `core.bind.fail` ask.
"""

from __future__ import annotations


class RetrogradeError(Exception):
    """Base of every exception that only retrograde raises."""


class ShapeError(RetrogradeError, ValueError):
    """Operand shapes do not fit the operation."""


class GradError(RetrogradeError, RuntimeError):
    """A derivative was asked for that the recorded graph cannot give."""


class FreedGraphError(GradError):
    """A graph was used again after its saved values had been freed."""


class MutationError(GradError):
    """A value needed by the backward pass was changed in place after it had been recorded."""


class RecomputeError(GradError):
    """A function did something else when it was computed again than the first time."""


class LevelError(GradError):
    """A value left the functional transform it belongs to."""


class UnsupportedError(RetrogradeError, NotImplementedError):
    """The operation is known but not offered for these operands; the message names the remedy."""


class ElementsError(UnsupportedError):
    """The elements of a value were asked for where it stands for many: inside vmap."""


for _kind in (RetrogradeError, ShapeError, GradError, FreedGraphError, MutationError, LevelError, UnsupportedError):
    _kind.__module__ = "retrograde"  # where users find them
