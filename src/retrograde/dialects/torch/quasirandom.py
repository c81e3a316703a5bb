"""`torch.quasirandom`: Sobol sequences, plain and scrambled (Owen 1998: a random lower triangular matrix and a
shift)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import _dtype
from ._tensor import Tensor, from_array
from .random import Generator, stream_of


class SobolEngine:
    """Points of a Sobol sequence in [0, 1)^dimension; the unscrambled sequence comes from SciPy.

    Scrambling draws from a generator seeded with `seed`, or from the default one, as PyTorch does.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"SobolEngine: the dimension must lie between 1 and {self.MAXDIM}, got {dimension}")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.num_generated = 0
        self._sequence = self._start()
        if scramble:
            self._draw_scrambling()

    def _start(self) -> Any:
        from scipy.stats import qmc

        return qmc.Sobol(self.dimension, scramble=False, bits=self.MAXBIT)

    def _draw_scrambling(self) -> None:
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        stream, d, bits = stream_of("SobolEngine", generator), self.dimension, self.MAXBIT
        self._shift = stream.randint((d, bits), 0, 2) @ (1 << np.arange(bits, dtype=np.int64))
        lower = np.tril(stream.randint((d, bits, bits), 0, 2))
        lower[:, np.arange(bits), np.arange(bits)] = 1
        self._lower = lower

    def _scrambled(self, points: np.ndarray) -> np.ndarray:
        """The integers of points (n, d), each bit vector (highest first) multiplied modulo 2 and shifted."""
        shifts = np.arange(self.MAXBIT - 1, -1, -1, dtype=np.int64)
        bits = (points[..., None] >> shifts) & 1
        mixed = np.einsum("djk,ndk->ndj", self._lower, bits) & 1
        return (mixed << shifts).sum(-1) ^ self._shift

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Tensor:
        """The next n points, a tensor of shape (n, dimension)."""
        d = dtype or _dtype.get_default_dtype()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # SciPy's advice on powers of two is for the user to know
            points = self._sequence.random(n)
        if self.scramble:
            scale = 1 << self.MAXBIT
            points = self._scrambled((points * scale).astype(np.int64)) / scale
        self.num_generated += n
        result = from_array(points.astype(d.np))
        if out is not None:
            out.resize_(result.shape).copy_(result)
            return out
        return result

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Tensor:
        """The next 2**m points; raises ValueError when the number drawn so far makes the set unbalanced."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"draw_base2: {self.num_generated} points were drawn already, so {n} more are no power of two in all; "
                "use draw(), or reset() first"
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Start the sequence again; returns the engine."""
        self._sequence = self._start()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Skip n points; returns the engine."""
        self._sequence.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"
