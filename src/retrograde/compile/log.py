"""What the compiler says of its work: one logger of the standard library for each topic, below `retrograde.compile`.

`RETROGRADE_LOG=compile,recompiles`, read when the compiler is loaded, sends topics to the standard error stream; a program that
sets the level of `logging.getLogger("retrograde.compile.guards")` to DEBUG gets them where its own messages go. What is said is
put together only where somebody listens, and calls that run what is compiled already ask nobody.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging  # which takes longer to load than most of the compiler's files: only who listens needs it

VARIABLE = "RETROGRADE_LOG"
TOPICS = {
    "compile": "what was traced and compiled for which operands, how long it took, and whether the code was found on disk",
    "guards": "what decides, before each call, whether what was compiled may run",
    "recompiles": "which of these failed, with the value that it had and the one that it has",
    "graphs": "graphs as they were traced, and after the passes",
    "fusion": "what is computed together, and why a group ends where it does",
    "code": "the code that is made",
}
"""The topics, and what is said of each."""


@functools.cache
def _loggers() -> dict[str, logging.Logger]:
    import logging

    return {topic: logging.getLogger(f"{__package__}.{topic}") for topic in TOPICS}


_DEBUG = 10
"""The level of `logging` at which everything is said."""


class _About(threading.local):
    what: str = "a graph"


_about = _About()


def wanted(topic: str) -> bool:
    """Whether anybody listens to a topic."""
    return "logging" in sys.modules and _loggers()[topic].isEnabledFor(_DEBUG)


def tell(topic: str, text: str | Callable[[], str]) -> None:
    """Say something of a topic, after the name of the function that it is about. text: what makes it, where that takes work."""
    if wanted(topic):
        _loggers()[topic].debug("%s: %s", _about.what, text if isinstance(text, str) else text())


@contextlib.contextmanager
def about(what: str | None) -> Iterator[None]:
    """A context in which what is said is about a function; None: about the same as before."""
    before, _about.what = _about.what, what or _about.what
    try:
        yield
    finally:
        _about.what = before


class Clock:
    """How long parts of some work take, in milliseconds: `clock()` gives the time since the last call."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def __call__(self) -> float:
        before, self._last = self._last, time.perf_counter()
        return 1e3 * (self._last - before)


def listen(topics: str) -> None:
    """Send topics, named with commas between them, to the standard error stream.

    Raises ValueError for a topic that there is not.
    """
    named = [topic.strip() for topic in topics.split(",") if topic.strip()]
    unknown = [topic for topic in named if topic not in TOPICS]
    if unknown:
        listed = "\n".join(f"  {topic}: {said}" for topic, said in TOPICS.items())
        raise ValueError(f"{VARIABLE}={topics}: there is no topic {unknown[0]!r}; the topics are\n{listed}")
    for topic in named:
        _send(_loggers()[topic])


def _send(logger: logging.Logger) -> None:
    """Let a logger write to the standard error stream, once."""
    import logging

    name = "the standard error stream"
    logger.setLevel(_DEBUG)
    if not any(handler.name == name for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.name = name
        handler.setFormatter(logging.Formatter("[%(name)s] %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False


listen(os.environ.get(VARIABLE, ""))
