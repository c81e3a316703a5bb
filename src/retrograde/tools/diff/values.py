"""Values of a record as arrays, and how far two of them lie apart, whatever their layouts."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .policy import POLICY
from .record import Kept, Record, bits_of, digest, dtype_named, same_bits

SAME, TRANSPOSED, RESHAPED, SQUEEZED = "", "transposed", "reshaped", "axes of length 1"


class Distance(NamedTuple):
    """How two values differ: the largest difference over the largest magnitude, and where that is."""

    relative: float
    absolute: float
    at: tuple[int, ...] = ()
    """Of the largest difference, in the first value."""
    layout: str = SAME
    """How the second lies relative to the first: the same, transposed, reshaped, or with other axes of length 1."""


FAR = Distance(math.inf, math.inf)
"""Of values that have different numbers of elements."""

MASKED = POLICY.masked


class Values:
    """The values of one record."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._norms = record.norms

    def __len__(self) -> int:
        return len(self.record.values)

    def kept(self, value: int) -> Kept:
        """Shape, dtype and place of a value."""
        return self.record.values[value]

    def shape(self, value: int) -> tuple[int, ...]:
        """The shape of a value."""
        return tuple(self.record.values[value].shape)

    def size(self, value: int) -> int:
        """The number of elements of a value."""
        return math.prod(self.record.values[value].shape)

    def key(self, value: int) -> tuple[str, tuple[int, ...], object]:
        """The same for two values, of whichever record, that are the same to the last bit; by the digest where one is kept so."""
        known = self.record.keys.get(value)
        if known is None:
            kept = self.kept(value)
            array = self.array(value)
            content: object = tuple(kept.digest)
            if array is not None and array.nbytes <= 64:
                content = array.tobytes()
            elif array is not None:  # two sums of 32 bits, in a quarter of the time of a hash that nobody can forge
                bits = bits_of(array).data
                content = zlib.crc32(bits), zlib.adler32(bits)
            known = self.record.keys[value] = (kept.dtype, tuple(kept.shape), content)
        return known

    def array(self, value: int) -> np.ndarray | None:
        """A value, in the order of its axes; None for one that is kept as a digest."""
        replaced = self.record.replaced.get(value)
        if replaced is not None:
            return replaced
        kept = self.record.values[value]
        if kept.offset < 0:
            return None
        dtype = dtype_named(kept.dtype)
        content = self.record.bytes_at(kept.offset, math.prod(kept.shape) * dtype.itemsize)
        return np.frombuffer(content, dtype).reshape(kept.shape)

    def rows(self, value: int, start: int, n: int) -> int | None:
        """A new value for the rows of one from `start` on; None where it is kept as a digest."""
        kept = self.record.values[value]
        if kept.offset < 0 or not kept.shape or start + n > kept.shape[0]:
            return None
        size = math.prod(kept.shape[1:]) * dtype_named(kept.dtype).itemsize
        self.record.values.append(Kept((n, *kept.shape[1:]), kept.dtype, kept.offset + start * size))
        return len(self.record.values) - 1

    def digest(self, value: int) -> list[float]:
        """The digest of a value, however it is kept."""
        kept = self.record.values[value]
        array = self.array(value)
        return list(kept.digest) if array is None else digest(array)

    def norm(self, value: int) -> float:
        """The root of the sum of squares; nan where an element is."""
        known = self._norms.get(value)
        if known is None:
            array = self.array(value)
            if array is None:
                known = self.record.values[value].digest[2]
            elif array.size == 1 and array.dtype.kind == "f":
                known = abs(float(array.reshape(-1)[0]))
            else:
                known = norm_of(array if array.dtype == np.float32 else as_wide(array))
            self._norms[value] = known
        return known

    def largest(self, value: int) -> float:
        """The largest magnitude of a value's elements; nan where an element is."""
        array = self.array(value)
        if array is None:
            return max(map(abs, self.record.values[value].digest[3:5]))
        if array.dtype.kind == "c":
            array = np.abs(array)
        return max(abs(float(array.min(initial=0))), abs(float(array.max(initial=0))))

    def telling(self, value: int) -> bool:
        """Whether the content alone says which value it is: not a round number, not one number throughout, no mask."""
        kept = self.record.values[value]
        kind = kept.dtype
        if kind == "bool" or kind.startswith(("int", "uint")) or self.size(value) == 0:
            return False
        array = self.array(value)
        return kept.digest[3] != kept.digest[4] if array is None else is_telling(array)


def is_telling(array: np.ndarray) -> bool:
    """Whether an array of numbers says by itself which value it is."""
    flat = array.reshape(-1)
    if flat.size == 1:
        x = complex(flat[0])
        x = x.real or x.imag
        return bool(np.isfinite(x)) and (64 * x) % 1 != 0 and (100 * x) % 1 != 0
    if flat.size <= 64:
        return bool((flat != flat[0]).any())
    return bool(flat[0] != flat[1] or flat[0] != flat[flat.size // 2] or (flat != flat[0]).any())


def norm_of(array: np.ndarray) -> float:
    """The root of the sum of squares of an array (float32, float64, or complex), without what is masked."""
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        found = math.sqrt(_squares(flat))
        if not found < -MASKED and flat.dtype.kind == "f":
            found = math.sqrt(_squares(flat[~(flat <= MASKED)]))
    return found


def _squares(flat: np.ndarray) -> float:
    """The sum of squares, in double precision: without BLAS, whose threads take longer to start than this does."""
    if flat.dtype.kind == "c":
        return _squares(flat.real) + _squares(flat.imag)
    return float(np.einsum("i,i->", flat, flat, dtype=np.float64))


def as_wide(array: np.ndarray) -> np.ndarray:
    """An array in double precision."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def distance(a: Values, va: int, b: Values, vb: int, rtol: float) -> Distance:
    """How far two values are apart, in the layout in which they agree within `rtol`.

    Where none does, in the layout that brings them closest; their own, where that is not ten times as far.
    """
    shape_a, shape_b = a.shape(va), b.shape(vb)
    if math.prod(shape_a) != math.prod(shape_b):
        return FAR
    x, y = a.array(va), b.array(vb)
    if x is None or y is None:
        return _between_digests(a.digest(va), b.digest(vb), shape_a, shape_b)
    if same_bits(x, y):
        return Distance(0.0, 0.0)
    return _of_numbers(x, y, shape_a) if x.size == 1 else apart(as_wide(x), as_wide(y), rtol)


def apart(x: np.ndarray, y: np.ndarray, rtol: float) -> Distance:
    """How far two arrays of one size are apart, in float64 or complex128; the layout as `distance` chooses it."""
    shape_a, shape_b = x.shape, y.shape
    own = closest = FAR
    if shape_a == shape_b:
        own = closest = _between(x, y, SAME)
        if own.relative <= rtol or len(shape_a) < 2:
            return own
    for order in orders(shape_b, shape_a):
        if order == tuple(range(x.ndim)):
            continue
        found = _between(x, y.transpose(order), TRANSPOSED if x.ndim == 2 else f"axes {order}")
        if found.relative <= rtol:
            return found
        if closest is FAR or found.relative < closest.relative:
            closest = found
    if shape_a != shape_b:
        squeezed = [n for n in shape_a if n != 1] == [n for n in shape_b if n != 1]
        found = _between(x, y.reshape(shape_a), SQUEEZED if squeezed else RESHAPED)
        return found if closest is FAR or found.relative <= max(rtol, closest.relative) else closest
    return closest if closest.relative < POLICY.closer * own.relative else own


def _of_numbers(x: np.ndarray, y: np.ndarray, shape: tuple[int, ...]) -> Distance:
    p, q = x.reshape(-1)[0].item(), y.reshape(-1)[0].item()
    layout = SAME if x.shape == y.shape else RESHAPED
    index = (0,) * len(shape)
    if p == q or (p != p and q != q):
        return Distance(0.0, 0.0, index, layout)
    off = abs(p - q)
    if not off < math.inf:
        return Distance(math.inf, math.inf, index, layout)
    return Distance(off / max(abs(p), abs(q)), float(off), index, layout)


def orders(shape: Sequence[int], wanted: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The orders in which the axes of one shape give another: as they are, reversed, the last two swapped; then the others."""
    n = len(shape)
    if n > 5 or sorted(shape) != sorted(wanted):
        return
    own = tuple(range(n))
    for order in dict.fromkeys((own, own[::-1], (*own[:-2], *own[:-3:-1]), *itertools.permutations(own))):
        if tuple(shape[i] for i in order) == tuple(wanted):
            yield order


def _between(x: np.ndarray, y: np.ndarray, layout: str) -> Distance:
    if not x.size:
        return Distance(0.0, 0.0, (), layout)
    with np.errstate(all="ignore"):
        off = np.abs(x - y)
        at = int(np.argmax(off))  # nan counts as the largest
        worst = float(off.reshape(-1)[at])
        if not worst < math.inf:  # the same infinities and nans in both are no difference
            off = np.where((x == y) | ((x != x) & (y != y)), 0.0, off)
            at = int(np.argmax(off))
            worst = float(off.reshape(-1)[at])
            if not worst < math.inf:
                worst = math.inf
            scale = float(max(abs(z[np.isfinite(z)]).max(initial=0.0) for z in (x, y)))
        else:
            scale = float(max(np.abs(x).max(), np.abs(y).max()))
        if not scale < -MASKED and x.dtype.kind == y.dtype.kind == "f" and ((x <= MASKED) & (y <= MASKED)).any():
            masked = (x <= MASKED) & (y <= MASKED)
            return _between(np.where(masked, 0.0, x), np.where(masked, 0.0, y), layout)
    index = tuple(int(i) for i in np.unravel_index(at, x.shape))
    return Distance(worst / scale if scale and worst else worst, worst, index, layout)


def _between_digests(
    x: list[float], y: list[float], shape_a: tuple[int, ...], shape_b: tuple[int, ...]
) -> Distance:
    """Of values too large to be kept: the same elements in another order look the same, but for the samples."""
    layout = SAME if shape_a == shape_b else TRANSPOSED if shape_a == shape_b[::-1] else RESHAPED
    p, q = np.array(x), np.array(y)
    scale = max(abs(p[3]), abs(p[4]), abs(q[3]), abs(q[4])) or 1.0
    with np.errstate(all="ignore"):
        # The sums are compared with what they are sums of; the other figures and the samples with the largest element.
        off = np.abs(p - q)
        relative = off / scale
        relative[0] = off[0] / (max(p[1], q[1]) or 1.0)
        relative[1:3] = off[1:3] / (np.maximum(p[1:3], q[1:3]) + (p[1:3] + q[1:3] == 0))
    if shape_a != shape_b:
        relative = relative[:5]
    both = (p[: len(relative)] == q[: len(relative)]) | (np.isnan(p) & np.isnan(q))[: len(relative)]
    relative = np.where(both, 0.0, relative)
    worst = float(np.max(relative)) if relative.size else 0.0
    worst = worst if worst == worst else math.inf
    return Distance(worst, worst * scale, (), layout)
