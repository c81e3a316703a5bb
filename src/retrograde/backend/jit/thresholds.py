"""Which code multiplies matrices of which sizes, for each kind of processor, as benchmarks/products.py measures it.

BLAS does, or generated code for any sizes (products.py), or, in compiled functions, code for the very sizes: several rows after
the other with what lies between products (tiles), and batches of small matrices where they lie.
"""

from __future__ import annotations

from typing import NamedTuple

from . import llvm
from .processor import AVX2, AVX512, NEON, SSE, Processor

LEAST = 1 << 20
"""Fewer multiplications go to BLAS, whatever the processor: a call takes 2 µs longer than one of NumPy."""
ALONE = 1 << 18
"""So many multiplications OpenBLAS does with one thread. From there on its threads wait for each other: 100x100x100 takes them
16 ms where other programs use the processors, and 12 µs alone. They are not used where there is a pool."""


class Thresholds(NamedTuple):
    """Of a kind of processor."""

    generated: bool
    """Whether generated code for any sizes is faster than BLAS where it is asked. With AVX2 it takes 0.85 to 1.2 of OpenBLAS's
    time on one thread; on two a network's step takes half as long, without OpenBLAS's threads beside ours."""
    small: int
    """Bytes at most of a matrix that rows are multiplied with in tiles, or that sums of products of rows make."""
    batch: int
    """Multiplications at most of one product of a batch that is computed where it lies."""


THRESHOLDS: dict[Processor, Thresholds] = {
    AVX512: Thresholds(generated=True, small=1 << 18, batch=1 << 19),
    AVX2: Thresholds(generated=True, small=1 << 18, batch=1 << 19),
    SSE: Thresholds(generated=False, small=1 << 17, batch=1 << 19),
    NEON: Thresholds(generated=False, small=1 << 17, batch=1 << 19),
}
"""With AVX-512 and AVX2 measured: of 60 shapes each all compiled products are within 15 % of the best. Of NumPy's products with
AVX2 seven take 1.15 to 1.56 of OpenBLAS's time on one thread, 1 to 11 µs: of 2^18 to 2^20 multiplications, or few columns; the
bits are to be those of several threads (products.py). SSE's and NEON's are AVX2's before it was measured: these processors were
emulated, and an emulator's times say nothing."""


def here() -> Thresholds:
    """Those of this processor, which code is generated for."""
    kind = llvm.processor()
    assert kind is not None
    return THRESHOLDS[kind]
