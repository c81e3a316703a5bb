"""How many threads BLAS takes: one, for as long as LAPACK works on matrices that several would only wait for each other on.

LAPACK's functions call BLAS many times for one matrix, and BLAS's threads meet at the end of each call. The inverse of
100 x 100 float32 numbers takes 0.2 ms with one thread of OpenBLAS, as long with two on an idle machine of two cores, and
300 ms where other programs use these; from some hundred rows on several threads are faster. Which threads of the program
see a number that one of them says differs: each puts back for itself what the first of them has found.
"""

from __future__ import annotations

import functools
import sys
import threading
from types import TracebackType
from typing import Any

FEW, MANY = 64, 512
"""Matrices of so many rows or columns are not shared out by OpenBLAS in any case; of more than so many, several threads pay."""

_lock = threading.Lock()
_asking = 0  # how many want one thread at the moment
_before: list[tuple[Any, int]] = []  # the libraries that had several, and how many


def held_up(shape: tuple[int, ...]) -> bool:
    """Whether several threads would take longer than one for a matrix of a shape, or several of them."""
    return FEW < max(shape[-2:], default=0) <= MANY


class _OneThread:
    """A context in which BLAS has one thread."""

    def __enter__(self) -> None:
        global _asking
        with _lock:
            _asking += 1
            if _asking == 1:
                found = _libraries("scipy.linalg" in sys.modules)
                _before.extend((library, count) for library in found if (count := library.num_threads) > 1)
            for library, _ in _before:
                library.set_num_threads(1)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        global _asking
        with _lock:
            for library, count in _before:
                library.set_num_threads(count)
            _asking -= 1
            if not _asking:
                _before.clear()


one_thread = _OneThread()


@functools.cache
def adds_as_avx2() -> bool:
    """Whether OpenBLAS multiplies matrices by its code for AVX2, which adds in another order than that for AVX-512: a processor
    that it does not know, as Zen 5 is to version 0.3.31, is a Haswell to it whatever it can do."""
    return any(getattr(library, "architecture", "") in ("Haswell", "Zen") for library in _libraries(False))


@functools.cache
def _libraries(scipys: bool) -> list[Any]:
    """The BLAS libraries that are loaded, SciPy's own among them once its linear algebra is: 2 ms to look for them."""
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
