"""What kernels of several files share: half precision computed in single, and SciPy's special functions."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import UnsupportedError
from ..backend import blas
from ..backend.dtypes import astype, complex_of, dtype_in, is_complex, is_half, is_integer, kind_of
from ..backend.jit.halves import converted, single
from ..core import value as values
from ..core.large import copied
from ..core.number import Number
from ..core.value import make

Kernel = Callable[..., Any]

def elements(x: Any) -> int:
    """How many elements an array of any library has. PyTorch's `size`, unlike the standard's, is a method."""
    return math.prod(x.shape)


def in_single(x: Any) -> Any:
    """A half-precision array in single precision; any other as it is."""
    dtype = x.dtype
    half = dtype.itemsize == 2 and dtype.kind not in "iu" if isinstance(dtype, np.dtype) else is_half(dtype)
    return single(x) if half else x


def no_zeros(x: Any) -> bool:
    """Whether no element of a NumPy array is 0: of few elements in 0.3 µs, where `all` takes 0.8."""
    return bool(np.count_nonzero(x) == x.size if x.size <= 1024 else x.all())


def all_finite(x: Any) -> bool:
    """Whether no element of a NumPy array is infinite or nan."""
    return bool(np.count_nonzero(np.isfinite(x)) == x.size)


def in_c_order(x: Any) -> Any:
    """A NumPy array in C order, in which frameworks return what is not computed element by element: their users go on
    with view(). NumPy keeps the order of the operand, where an expanded axis comes last."""
    return x if x.flags.c_contiguous else copied(x)


def permuted(x: Any) -> tuple[int, ...] | None:
    """The order of the axes in which a NumPy array lies in memory without gaps; None where it does so in C order, or not."""
    if x.flags.c_contiguous:
        return None
    axes = tuple(sorted(range(x.ndim), key=lambda axis: -x.strides[axis]))
    return axes if x.transpose(axes).flags.c_contiguous else None


def widened(kernel: Kernel) -> Kernel:
    """A kernel of several steps, with one output or a tuple: half precision is computed in single, rounded at the end."""

    @functools.wraps(kernel)
    def wide(xp: Any, *arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        if getattr(dtype, "itemsize", 0) != 2 or is_integer(dtype):
            return kernel(xp, *arrays, **params)
        single = dtype_in(xp, np.float32)
        given = (astype(xp, x, single) if x is not None and x.dtype == dtype else x for x in arrays)
        out = kernel(xp, *given, **params)
        if isinstance(out, tuple):
            return tuple(astype(xp, x, dtype) if x.dtype == single else x for x in out)
        return astype(xp, out, dtype) if out.dtype == single else out

    return wide


def widened_numpy(kernel: Kernel) -> Kernel:
    """The same for what NumPy computes in a kernel's place."""

    @functools.wraps(kernel)
    def wide(*arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return kernel(*arrays, **params)
        given = (single(x) if x is not None and x.dtype == dtype else x for x in arrays)
        out = kernel(*given, **params)
        if isinstance(out, tuple):
            return tuple(converted(x, dtype) if x.dtype == np.float32 else x for x in out)
        return converted(out, dtype) if out.dtype == np.float32 else out

    return wide


def matrices_numpy(kernel: Kernel) -> Kernel:
    """`widened_numpy` for what LAPACK computes: BLAS has one thread where several would wait for each other."""
    wide = widened_numpy(kernel)

    @functools.wraps(kernel)
    def alone(*arrays: Any, **params: Any) -> Any:
        if not blas.held_up(arrays[0].shape):
            return wide(*arrays, **params)
        with blas.one_thread:
            return wide(*arrays, **params)

    return alone


def complex_from(xp: Any, real: Any, imag: Any) -> Any:
    """Complex numbers from their parts. In a product with 1j an infinity would make the other part nan."""
    dtype = complex_of(real.dtype)
    finite = xp.isfinite(imag)
    part = astype(xp, xp.where(finite, imag, zero_of(imag)), dtype) * 1j
    for value in (math.inf, -math.inf):
        part = xp.where(imag == value, complex(0, value), part)
    part = xp.where(xp.isnan(imag), complex(0, math.nan), part)
    return astype(xp, real, dtype) + part


_SCALARS: dict[tuple[Any, np.dtype], np.ndarray] = {}
_ZEROS: dict[np.dtype, np.ndarray] = {}


def zero_of(x: Any) -> Any:
    """0 beside an array: in NumPy in its dtype, since beside a bfloat16 array a Python number would widen the result."""
    if type(x) is not np.ndarray:
        return scalar(0, x)
    found = _ZEROS.get(x.dtype)
    if found is None:
        found = _ZEROS[x.dtype] = np.zeros((), x.dtype)
        found.flags.writeable = False
    return found


def scalar(value: Any, x: Any) -> Any:
    """A number beside an array, of the array's kind: a Python number, for NumPy a 0-d array that is kept, since to convert a
    number takes it 0.2 µs."""
    if type(x) is not np.ndarray:
        if isinstance(x, np.generic):
            return x.dtype.type(value)
        kind = kind_of(x)
        if type(value) is Number and kind == "f":
            return make(values.core_class, value.entered(values.dtype_of(x)))
        return int(value) if kind in "iu" else bool(value) if kind == "b" else value
    if not value:
        return zero_of(x)
    key = (value, x.dtype)
    found = _SCALARS.get(key)
    if found is None:
        found = np.array(value, dtype=x.dtype)
        found.flags.writeable = False
        if len(_SCALARS) < 1024:
            _SCALARS[key] = found
    return found


def constant(xp: Any, host: np.ndarray, like: Any) -> Any:
    """An array that a kernel computes from shapes and parameters (positions, weights), in a namespace and where `like` is."""
    if isinstance(like, (np.ndarray, np.generic)):
        return host
    device = getattr(like, "device", None)
    return xp.asarray(host) if device is None else xp.asarray(host, device=device)


# ------------------------------------------------------------------------------------------ NumPy's namespace, faster


class _Numpy:
    """NumPy's functions, but for a few that are faster here. A kernel gives the same bits with it as with `numpy`."""

    __name__ = "numpy"

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        setattr(self, name, found)
        return found

    @staticmethod
    def where(mask: Any, x: Any, y: Any) -> Any:
        """Large arrays by bits: 300,000 float32 under a random mask, 0 elsewhere, take 0.1 ms, NumPy's takes 1.1."""
        if mask.size < LARGE or type(x) is not np.ndarray or type(y) is not np.ndarray or x.dtype != y.dtype:
            return np.where(mask, x, y)
        bits = BITS.get(x.dtype.itemsize)
        if bits is None:
            return np.where(mask, x, y)
        zero = _ZEROS.get(x.dtype)
        if y is zero:
            return np.bitwise_and(_words(mask, bits, False), x.view(bits)).view(x.dtype)
        if x is zero:
            return np.bitwise_and(_words(mask, bits, True), y.view(bits)).view(y.dtype)
        words, a, b = _words(mask, bits, False), x.view(bits), y.view(bits)
        return np.bitwise_xor(np.bitwise_and(np.bitwise_xor(a, b), words), b).view(x.dtype)


NUMPY: Any = _Numpy()

BITS: dict[int, Any] = {2: np.int16, 4: np.int32, 8: np.int64}
LARGE = 1024


def _words(mask: Any, bits: Any, inverse: bool) -> Any:
    """All bits set where the mask is (not, if inverse), in words of a size."""
    byte = mask.view(np.int8)
    return (np.subtract(byte, 1) if inverse else np.negative(byte)).astype(bits)


def on_numpy(kernel: Kernel) -> Kernel:
    """A standard kernel as what NumPy computes, with the faster functions of this module."""
    return functools.partial(kernel, NUMPY)


# ------------------------------------------------------------------------------------------ special functions

# Array libraries with a module of special functions of their own, by their namespace's name.
_SPECIAL_MODULES = {"numpy": "scipy.special", "cupy": "cupyx.scipy.special", "jax.numpy": "jax.scipy.special"}


class _Special:
    """The special functions for arrays of a namespace: the library's, or else ours in functions of the standard."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        module = _SPECIAL_MODULES.get(self._xp.__name__.removeprefix("array_api_compat."))
        own = getattr(self._xp, "special", None) if module is None else importlib.import_module(module)
        found = getattr(own, name, None)
        if found is None:
            from . import special_standard

            ours = getattr(special_standard, name, None)
            if ours is None:
                raise UnsupportedError(f"{self._xp.__name__} as an array library has no special function {name!r}")
            found = functools.partial(ours, self._xp)
        setattr(self, name, found)
        return found


_special: dict[int, _Special] = {}


def special_functions(xp: Any) -> Any:
    """The special functions for arrays of a namespace, by SciPy's names; imported when they are first asked for."""
    found = _special.get(id(xp))
    if found is None:
        found = _special[id(xp)] = _Special(xp)
    return found


def special(name: str) -> Kernel:
    """The kernel that is the function `name` of SciPy's special module; name its operands at registration."""
    return widened(lambda xp, *arrays: getattr(special_functions(xp), name)(*arrays))


def sigmoid_array(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)) of an array, in its dtype."""
    if is_complex(x):
        return 1 / (xp.exp(-x) + 1)
    return special_functions(xp).expit(x)


def sigmoid_numpy(x: Any) -> Any:
    """`sigmoid_array` on NumPy. Large arrays in place and vectorised: 100,000 float32 in 0.1 ms against 0.26."""
    if x.dtype.kind == "c":
        return 1 / (np.exp(-x) + 1)
    if x.size < 1000:
        return SCIPY.expit(x)
    out = np.negative(x)
    np.minimum(out, scalar(88 if x.dtype.itemsize == 4 else 709, x), out=out)  # exp of at most 88 (709) is finite
    np.exp(out, out=out)
    out += 1
    return np.reciprocal(out, out=out)


SCIPY: Any = _Special(np)
_special[id(np)] = _special[id(NUMPY)] = _Special(np)
special_functions(np).expit = sigmoid_numpy
