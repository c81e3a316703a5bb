"""Garbage collection, put off while modules are loaded: of what they make nothing is garbage, and nothing would be found."""

from __future__ import annotations

import gc


class Paused:
    """From its making to `end()`, nothing is collected, if it was before. What is dropped without an end, as where an import
    fails, ends by that."""

    __slots__ = ("_resumes",)

    def __init__(self) -> None:
        self._resumes = gc.isenabled()
        gc.disable()

    def end(self) -> None:
        """Go on collecting."""
        if self._resumes:
            self._resumes = False
            gc.enable()

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None:
        self.end()

    def __del__(self) -> None:
        self.end()
