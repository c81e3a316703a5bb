"""Garbage collection, put off while modules are loaded: of what they make nothing is garbage, and nothing would be found."""

from __future__ import annotations

import gc


class Paused:
    """From its making to `end()`, nothing is collected, if it was before. What is dropped without an end, as where an import
    fails, ends by that.

    lasting: whether what is there at the end goes to what has been there for long, at which nobody looks soon.
    """

    __slots__ = ("_lasting", "_resumes")

    def __init__(self, *, lasting: bool = False) -> None:
        self._resumes, self._lasting = gc.isenabled(), lasting
        gc.disable()

    def end(self) -> None:
        """Go on collecting."""
        if self._resumes:
            self._resumes = False
            if self._lasting and not gc.get_freeze_count():  # what the program has frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None:
        self.end()

    def __del__(self) -> None:
        self.end()
