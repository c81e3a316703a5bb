"""What generated code is written for: the vector registers of this processor, and what its instructions can do.

One text per kernel serves all of them: vectors are as long as the text says, LLVM cuts them to registers. Where a text
keeps values in registers (products, convolutions, recurrent layers), the shape of its tiles is taken from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Processor(NamedTuple):
    """A kind of processor."""

    name: str
    register: int
    """Bytes of a vector register."""
    registers: int
    fused: bool
    """Whether x y + z is one instruction, rounded once."""
    masked: bool
    """Whether some lanes of a vector are read and written by one instruction."""
    half: bool
    """Whether float16 is converted by an instruction."""

    def tile(self) -> tuple[int, int]:
        """The rows and vectors of a product's sums that stay in registers, beside the vectors and a number to multiply."""
        if self.registers == 32:
            return 8, 3
        return (6, 2) if self.fused else (4, 2)


AVX512 = Processor("AVX-512", 64, 32, fused=True, masked=True, half=True)
AVX2 = Processor("AVX2", 32, 16, fused=True, masked=True, half=True)
SSE = Processor("SSE4.2", 16, 16, fused=False, masked=False, half=False)
NEON = Processor("NEON", 16, 32, fused=True, masked=False, half=True)


_X86 = (
    (AVX512, {"avx512f", "avx512bw", "avx512dq", "avx512vl"}), (AVX2, {"avx2", "fma", "f16c"}), (SSE, {"sse4.2"}),
)  # fmt: skip
"""The kinds for x86, and which of LLVM's features each has at least."""


def kind_of(triple: str, features: Mapping[str, bool]) -> Processor | None:
    """The kind of the processor that LLVM describes so; None for one that no code is generated for."""
    family = triple.partition("-")[0]
    if family in ("aarch64", "arm64"):
        return NEON
    has = {name for name, given in features.items() if given} if family == "x86_64" else set()
    return next((kind for kind, needed in _X86 if needed <= has), None)
