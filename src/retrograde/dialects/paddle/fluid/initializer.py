"""`paddle.fluid.initializer`: the initialisers under their old names and arguments."""

from __future__ import annotations

from typing import Any

from .._api import attributes as _attributes
from ..nn import initializer as _new


class Constant(_new.Constant):
    """One number everywhere."""

    def __init__(self, value: float = 0.0, force_cpu: bool = False) -> None:
        super().__init__(value)


class Uniform(_new.Uniform):
    """Numbers drawn evenly from [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, seed: int = 0, **options: Any) -> None:
        super().__init__(low, high, **options)


class Normal(_new.Normal):
    """Normally distributed numbers."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(loc, scale)


class TruncatedNormal(_new.TruncatedNormal):
    """Normally distributed numbers within two standard deviations of the mean."""

    def __init__(self, loc: float = 0.0, scale: float = 1.0, seed: int = 0) -> None:
        super().__init__(loc, scale, loc - 2 * scale, loc + 2 * scale)


def Xavier(uniform: bool = True, fan_in: Any = None, fan_out: Any = None, seed: int = 0) -> _new.Initializer:
    """Xavier's initialiser, with uniform or normal numbers."""
    return (_new.XavierUniform if uniform else _new.XavierNormal)(fan_in, fan_out)


def MSRA(uniform: bool = True, fan_in: Any = None, seed: int = 0) -> _new.Initializer:
    """Kaiming's initialiser, with uniform or normal numbers."""
    return (_new.KaimingUniform if uniform else _new.KaimingNormal)(fan_in)


ConstantInitializer, UniformInitializer, NormalInitializer = Constant, Uniform, Normal
TruncatedNormalInitializer, XavierInitializer, MSRAInitializer = TruncatedNormal, Xavier, MSRA
Bilinear = BilinearInitializer = _new.Bilinear
NumpyArrayInitializer = _new.Assign

__all__ = [
    "MSRA", "Bilinear", "BilinearInitializer", "Constant", "ConstantInitializer", "MSRAInitializer", "Normal",
    "NormalInitializer", "NumpyArrayInitializer", "TruncatedNormal", "TruncatedNormalInitializer", "Uniform",
    "UniformInitializer", "Xavier", "XavierInitializer",
]  # fmt: skip

__getattr__ = _attributes(globals())
