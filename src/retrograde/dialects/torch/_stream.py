"""The CPU random stream of the torch dialect: the same seed draws the numbers that PyTorch draws, bit for bit.

`Stream` owns one MT19937 generator and turns its words into NumPy arrays, knowing nothing of tensors; the dialect's
Generator and its random functions call it. How each draw consumes words was measured against PyTorch 2.13
(docs/decisions/0003-random-streams.md). Arrays come in C order: a draw into strided memory goes in storage order.
"""

from __future__ import annotations

import math
import operator
import os
import struct
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ...ops.random import Kind, register_stream
from . import _stream_code as code
from . import _stream_samplers as samplers
from ._stream_code import below53, block_normals32, permutation, remainders, unit24, unit53
from ._stream_dtypes import (
    BRAIN,
    DIGITS,
    DOUBLE,
    HALF,
    LARGEST,
    NO_KERNEL,
    PARTS,
    SINGLE,
    Shape,
    as_tuple,
    c_integers,
    discrete_kind,
    float_kind,
    integer_range,
    narrow,
    random_top,
    size_of,
)  # fmt: skip
from ._stream_math import F32, F64, Floats, Interval, Words, block_normals64, fma64, interval, join64, libm

DEFAULT_SEED = 67280421310721  # what a PyTorch generator holds before anyone seeds it
STATE_SIZE = 5056

_BLOCK = code.BLOCK
_HEAD = struct.Struct("<QiiQ")  # seed, words left, seeded, next word
_TAIL = struct.Struct("<3dii")  # unused, spare normal, unused, spare held, padding
_KEYS = slice(_HEAD.size, _HEAD.size + 8 * _BLOCK)
_WIDE_RANGE = 1 << 28  # integer ranges from here on take two words
_SLICE = 52 * _BLOCK  # words or values handled at a time, in cache
_TWO_PI = 2.0 * math.pi
_BLOCK_NORMALS = 16  # contiguous targets from this size on take the block path


def storage_axes(strides: Sequence[int]) -> tuple[int, ...]:
    """Give the axes of a strided target, outermost in memory first: the order in which draws fill it.

    Draw the permuted shape and permute back; for normals pass `contiguous=False` unless the target is in C order.
    """
    return tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis]))


class _Unseeded(np.random.bit_generator.ISeedSequence):
    """What an engine is made of that is seeded at once: NumPy's own way to its first state takes 90 µs, this one 10."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return [1] * n_words


_UNSEEDED = _Unseeded()


class Stream:
    """A seeded source of random arrays that repeats PyTorch's CPU generator; safe to share between threads.

    Shapes are an int or a sequence of ints, dtypes NumPy's (with ml_dtypes.bfloat16); every draw returns a new array.

    >>> Stream(0).uniform(3).tolist()
    [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]
    """

    __slots__ = (
        "__weakref__", "_behind", "_block", "_end", "_engine", "_engine_state", "_float_spare", "_lock", "_pos", "_seed",
        "_spare", "_words",
    )  # fmt: skip

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._lock = threading.RLock()
        self._engine = np.random.RandomState(np.random.MT19937(_UNSEEDED))
        self.manual_seed(seed)

    # -- seeding and state ---------------------------------------------------------------------------------------

    def manual_seed(self, seed: int) -> Stream:
        """Start the stream anew from `seed`, an integer in [-2**63, 2**64); raises ValueError outside."""
        seed = operator.index(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"manual_seed: seed is {seed}; it has to lie in [-2**63, 2**64)")
        with self._lock:
            self._seed = seed % 2**64
            self._engine.seed(self._seed & 0xFFFFFFFF)
            self._engine_state: Any = None  # where the engine is, if that is known: to ask takes 70 us, to set it 90
            self._behind = False  # whether it is still to be put there
            self._words: Words | None = None  # the engine's state, when generated code has taken over from it
            self._block: Words = np.empty(0, np.uint32)
            self._pos = self._end = 0
            self._spare: float | None = None
            self._float_spare = bytes(8)
        return self

    def seed(self) -> int:
        """Seed from the operating system's entropy and return that seed."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def initial_seed(self) -> int:
        """Return the seed the stream was last started from, in [0, 2**64)."""
        return self._seed

    def get_state(self) -> NDArray[np.uint8]:
        """Return the state as 5056 bytes, laid out as `torch.get_rng_state()` lays it out."""
        with self._lock:
            keys = self._keys() if self._words is None else self._words
            head = _HEAD.pack(self._seed, self._end - self._pos + 1, 1, self._pos)
            spare = self._spare
            tail = _TAIL.pack(0.0, 0.0 if spare is None else spare, 0.0, spare is not None, 0)
            raw = head + np.asarray(keys).astype("<u8").tobytes() + tail + self._float_spare
        return np.frombuffer(raw, np.uint8).copy()

    def set_state(self, state: NDArray[np.uint8]) -> Stream:
        """Continue from a state that this class or PyTorch gave; TypeError or RuntimeError if it is none."""
        array = np.asarray(state)
        if array.dtype != np.uint8:
            raise TypeError(f"set_state: state has dtype {array.dtype}; it has to be an array of uint8")
        raw = np.ascontiguousarray(array).tobytes()
        if len(raw) != STATE_SIZE:
            raise RuntimeError(f"set_state: state has {len(raw)} bytes; a generator's state has {STATE_SIZE}")
        seed, left, seeded, following = _HEAD.unpack_from(raw)
        _, spare, _, held, _ = _TAIL.unpack_from(raw, _KEYS.stop)
        end = following + left - 1
        if not seeded or not 1 <= left <= _BLOCK or following > _BLOCK or (left > 1 and end > _BLOCK):
            raise RuntimeError(
                f"set_state: not a generator's state (seeded {seeded}, {left} words left after word {following}); "
                "pass what get_state returned"
            )
        keys = np.frombuffer(raw[_KEYS], "<u8").astype(np.uint32)
        with self._lock:
            exhausted = left == 1
            self._engine.set_state(("MT19937", keys, _BLOCK if exhausted else 0, 0, 0.0))
            self._engine_state, self._behind = None, False
            self._words = None
            self._block = np.empty(0, np.uint32) if exhausted else self._drawn(1)
            self._seed, self._pos, self._end = seed, following, end
            self._spare = spare if held else None
            self._float_spare = raw[-8:]
        return self

    def mark(self) -> tuple[Any, ...]:
        """Where the stream is, for `back_to`: a tenth of the time of `get_state`."""
        with self._lock:
            words = None if self._words is None else self._words.copy()
            engine = self._where() if words is None else None
            return engine, words, self._block, self._pos, self._end, self._seed, self._spare, self._float_spare

    def back_to(self, mark: tuple[Any, ...]) -> None:
        """Continue from where the stream was at a `mark`, any number of times."""
        with self._lock:
            engine, words, self._block, self._pos, self._end, self._seed, self._spare, self._float_spare = mark
            if words is None and engine is not self._engine_state:
                self._engine_state, self._behind = engine, True
            self._words = None if words is None else words.copy()

    @classmethod
    def at(cls, mark: tuple[Any, ...]) -> Stream:
        """Return an independent stream that continues from where one was at a `mark`."""
        found = cls()
        found.back_to(mark)
        return found

    def clone(self) -> Stream:
        """Return an independent stream that continues from the same state."""
        return _resume(self.get_state())

    def __reduce__(self) -> tuple[Any, ...]:
        return _resume, (self.get_state(),)

    # -- words ---------------------------------------------------------------------------------------------------

    def _keys(self) -> Words:
        return np.asarray(self._where()["state"]["key"], np.uint32)

    def _where(self) -> Any:
        if self._engine_state is None:
            self._engine_state = self._engine.get_state(legacy=False)
        return self._engine_state

    def _drawn(self, blocks: int) -> Words:
        if self._behind:
            self._engine.set_state(self._engine_state)
        self._engine_state, self._behind = None, False
        return self._engine.randint(0, 1 << 32, blocks * _BLOCK, np.uint32)

    def _take(self, count: int) -> Words:
        """Return the next `count` words; the array may be the buffer itself, so it is never written to.

        Whole blocks are drawn, so that the engine's key is always that of the block at hand.
        """
        with self._lock:
            start, stop = self._pos, self._pos + count
            if stop <= self._end:
                self._pos = stop
                return self._block[start:stop]
            head = self._block[start : self._end]
            missing = count - head.size
            blocks = -(-missing // _BLOCK)
            self._pos, self._end = missing - (blocks - 1) * _BLOCK, _BLOCK
            if self._words is None and code.ready(blocks * _BLOCK):
                self._words = self._keys().copy()
            if self._words is not None:
                out, self._block = code.words(self._words, head, missing)
                return out
            fresh = self._drawn(blocks)
            self._block = fresh if blocks == 1 else fresh[-_BLOCK:].copy()
            fresh = fresh[:missing]
            return np.concatenate((head, fresh)) if head.size else fresh

    def _unit_doubles(self) -> Iterator[float]:
        """Yield doubles one by one, consuming words only as they are asked for; the caller holds the lock."""
        ahead = 4  # how many are converted at a time: more and more, since most draws end after a few
        while True:
            pairs = min((self._end - self._pos) // 2, ahead)
            if pairs == 0:
                yield from _doubles(self._take(2))
                continue
            ahead = min(2 * ahead, _BLOCK)
            words = self._block[self._pos : self._pos + 2 * pairs]
            for value in _doubles(words) if pairs < 64 else unit53(words).tolist():
                self._pos += 2
                yield value

    def _normal(self, source: Iterator[float]) -> float:
        """Draw one standard normal: the spare of the last pair, or the first of a new pair."""
        if self._spare is not None:
            value, self._spare = self._spare, None
            return value
        angle = _TWO_PI * next(source)
        radius = math.sqrt(-2.0 * math.log1p(-next(source)))
        self._spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def _normals(self, count: int, exact: bool) -> NDArray[np.float64]:
        """Draw standard normals in pairs, the spare first and last; `exact` takes the C library's logarithms."""
        with self._lock:
            if count <= 2 * _BLOCK_NORMALS:
                source = _doubles(self._take(4 * ((count - (self._spare is not None) + 1) // 2)))
                return np.array([self._normal(source) for _ in range(count)], F64)
            out, done = np.empty(count, F64), 0
            if self._spare is not None:
                out[0], self._spare, done = self._spare, None, 1
            pairs = (count - done) // 2
            u = unit53(self._take(4 * pairs)).reshape(-1, 2)
            log = libm(math.log1p, np.log1p, -u[:, 1]) if exact else np.log1p(-u[:, 1])
            radius, angle = np.sqrt(-2.0 * log), (2.0 * math.pi) * u[:, 0]
            body = out[done : done + 2 * pairs].reshape(-1, 2)
            np.multiply(radius, np.cos(angle), out=body[:, 0])
            np.multiply(radius, np.sin(angle), out=body[:, 1])
            if (count - done) % 2:
                out[-1] = self._normal(_doubles(self._take(4)))
        return out

    def _unit24(
        self, count: int, within: Interval | None = None, out: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:  # fmt: skip
        """Draw float32 values in [0, 1), or in an interval, slice by slice: in cache, at half the time of one pass over a
        million."""
        if count <= _SLICE:
            return unit24(self._take(count), out, within)
        if out is None:
            out = np.empty(count, F32)
        with self._lock:
            for start in range(0, count, _SLICE):
                part = out[start : start + _SLICE]
                unit24(self._take(part.size), part, within)
        return out

    def _unit53(self, count: int) -> NDArray[np.float64]:
        """Draw float64 values in [0, 1), slice by slice."""
        if count <= _SLICE:
            return unit53(self._take(2 * count))
        out = np.empty(count, F64)
        with self._lock:
            for start in range(0, count, _SLICE):
                part = out[start : start + _SLICE]
                unit53(self._take(2 * part.size), part)
        return out

    # -- continuous draws ----------------------------------------------------------------------------------------

    def fill_uniform(self, target: NDArray[np.float32], low: float = 0.0, high: float = 1.0) -> None:
        """Write what `uniform` draws into an array of float32 in C order."""
        low, high = _uniform_bounds(float(low), float(high), SINGLE)
        within, out = interval(low, high), target.reshape(-1)
        self._unit24(out.size, within, out)
        if within.reaches:
            _exclude(out, low, high, SINGLE)

    def uniform(self, shape: Shape, low: float = 0.0, high: float = 1.0, dtype: DTypeLike = F32) -> Floats:
        """Draw from [low, high), as `rand` and `uniform_` do; complex dtypes draw both parts."""
        kind, size = dtype if dtype is SINGLE else float_kind("uniform", dtype), size_of(shape)
        if low == 0.0 and high == 1.0:
            if kind is SINGLE:
                return self._unit24(size).reshape(shape)
            if kind == DOUBLE:
                return self._unit53(size).reshape(shape)
        part = PARTS.get(kind)
        if part is not None:
            return self.uniform(2 * size, low, high, part).view(kind).reshape(shape)
        low, high = _uniform_bounds(float(low), float(high), kind)
        if kind == DOUBLE:
            out: Floats = fma64(self._unit53(size), high - low, low)
        else:
            within = interval(low, high)
            out = self._unit24(size, within)
            if kind == SINGLE and not within.reaches:
                return out.reshape(shape)
            out = out.astype(kind, copy=False)
        _exclude(out, low, high, kind)
        return out.reshape(shape)

    def normal(
        self, shape: Shape, mean: float = 0.0, std: float = 1.0, dtype: DTypeLike = F32, *, contiguous: bool = True
    ) -> Floats:
        """Draw normals, as `randn` and `normal_` do; `contiguous` tells whether the target is, for the path differs.

        In a complex dtype each part has standard deviation std/sqrt(2), and `mean` is added to both parts.
        """
        kind, size = dtype if dtype is SINGLE else float_kind("normal", dtype), size_of(shape)
        mean, std = float(mean), float(std)
        if not std >= 0.0:
            raise RuntimeError(f"normal: std is {std}; it has to be 0 or more")
        part = None if kind is SINGLE else PARTS.get(kind)
        if part is not None:
            real = self.normal(2 * size, mean, std / math.sqrt(2.0), part, contiguous=contiguous)
            return real.view(kind).reshape(shape)
        if contiguous and size >= _BLOCK_NORMALS:
            return self._block_path(size, mean, std, kind).reshape(shape)
        values = self._normals(size, kind == DOUBLE)
        if kind is SINGLE and std == 1.0 and mean == 0.0:
            values += 0.0  # which turns -0 into 0
            return values.astype(F32).reshape(shape)
        return narrow(_affine(values, std, mean, kind), kind).reshape(shape)

    def _block_path(self, size: int, mean: float, std: float, kind: np.dtype[Any]) -> Floats:
        """Fill by blocks of 16; a last partial block is redrawn whole, over the end of the one before."""
        rest = size % _BLOCK_NORMALS
        each = 2 if kind == DOUBLE else 1
        whole, again = each * (size - rest), each * _BLOCK_NORMALS if rest else 0
        skipped = each * rest if kind in (SINGLE, DOUBLE) else 0  # drawn there before the redraw, though never used
        words = self._take(whole + skipped + again)
        if kind != DOUBLE:
            single = block_normals32(words, size, float(F32(mean)), float(F32(std)))
            return single if kind is SINGLE else single.astype(kind)
        if rest:
            words = np.concatenate((words[:whole], words[whole + skipped :]))
        values = fma64(block_normals64(words), std, mean)
        if rest:
            values = np.concatenate((values[: size - _BLOCK_NORMALS], values[-_BLOCK_NORMALS:]))
        return values

    def normal_each(self, mean: Floats | float, std: Floats | float) -> Floats:
        """Draw with a mean or standard deviation per element, as `torch.normal` does with tensors; they broadcast.

        The result has the dtype of `mean` where that is an array, else that of `std`.
        """
        if isinstance(std, np.ndarray):
            if std.dtype.kind == "c":
                raise RuntimeError("normal: std is complex; it has to be real")
            if std.size and not bool((std >= 0).all()):
                raise RuntimeError("normal: std has a negative element or a nan; each has to be 0 or more")
        shape = _broadcast("normal", "mean", np.shape(mean), "std", np.shape(std))
        dtype = mean.dtype if isinstance(mean, np.ndarray) else np.asarray(std).dtype
        if not isinstance(std, np.ndarray):
            out = self.normal(shape, 0.0, std, dtype)
        else:
            out = self.normal(shape, dtype=dtype)
            out = (out * std).astype(dtype, copy=False)
        return np.asarray(out + (mean if isinstance(mean, np.ndarray) else np.asarray(mean, dtype)), dtype)

    def log_normal(self, shape: Shape, mean: float = 1.0, std: float = 2.0, dtype: DTypeLike = F32) -> Floats:
        """Draw exp of a normal, as `log_normal_` does; always by the path for small sizes."""
        kind = float_kind("log_normal", dtype, complex_too=False)
        if not std > 0.0:
            raise RuntimeError(f"log_normal: std is {std}; it has to be above 0")
        exponent = _affine(self._normals(size_of(shape), kind == DOUBLE), float(std), float(mean), kind)
        with np.errstate(over="ignore"):
            values = libm(math.exp, np.exp, exponent) if kind == DOUBLE else np.exp(exponent)
        return narrow(values, kind).reshape(shape)

    def exponential(self, shape: Shape, rate: float = 1.0, dtype: DTypeLike = F32) -> Floats:
        """Draw exponentials with the given rate, as `exponential_` does."""
        kind = float_kind("exponential", dtype, complex_too=False, error=RuntimeError)
        rate = float(rate)
        if not rate > 0.0:
            raise RuntimeError(f"exponential: rate is {rate}; it has to be above 0")
        u = self._unit53(size_of(shape))
        log = libm(math.log1p, np.log1p, -u) if kind == DOUBLE else np.log1p(-u)
        log *= -1.0 / rate
        return narrow(log, kind).reshape(shape)

    def gumbel(self, shape: Shape, dtype: DTypeLike = F32) -> Floats:
        """Draw standard Gumbel noise as `gumbel_softmax` makes it: -log of exponentials of the same dtype."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(self.exponential(shape, dtype=dtype)))

    def cauchy(self, shape: Shape, median: float = 0.0, sigma: float = 1.0, dtype: DTypeLike = F32) -> Floats:
        """Draw from the Cauchy distribution, as `cauchy_` does."""
        kind = float_kind("cauchy", dtype, complex_too=False, error=RuntimeError)
        if not sigma > 0.0:
            raise RuntimeError(f"cauchy: sigma is {sigma}; it has to be above 0")
        angle = math.pi * (self._unit53(size_of(shape)) - 0.5)
        values = libm(math.tan, np.tan, angle) if kind == DOUBLE else np.tan(angle)
        return narrow(_affine(values, float(sigma), float(median), kind), kind).reshape(shape)

    def rrelu_slopes(self, negative: NDArray[np.bool_], low: float, high: float, dtype: DTypeLike = F32) -> Floats:
        """Draw a slope in [low, high) for each element that `negative` marks and give 1 to the others, as rrelu does.

        Only marked elements (those <= 0) consume the stream. For a 16-bit dtype the slopes come in float32, since the
        product with the input is what is rounded.
        """
        if not low <= high:
            raise RuntimeError(f"rrelu: lower is {low} and upper is {high}; lower may not exceed upper")
        kind = F64 if float_kind("rrelu", dtype, complex_too=False) == DOUBLE else F32
        first, last = float(kind(low)), float(kind(high))
        slopes = np.ones(np.shape(negative), kind)
        drawn = self._unit53(int(np.count_nonzero(negative))) * (last - first) + first
        slopes[negative] = np.where(drawn == last, first, drawn)
        return slopes

    # -- discrete draws ------------------------------------------------------------------------------------------

    def randint(self, shape: Shape, low: int, high: int, dtype: DTypeLike = np.int64) -> NDArray[Any]:
        """Draw integers from [low, high), as `randint` and `random_(low, high)` do, in any real dtype."""
        kind = np.dtype(dtype)
        low, high = integer_range(operator.index(low), operator.index(high), kind)
        return self._integers(shape, low, high - low, kind)

    def random(self, shape: Shape, dtype: DTypeLike, low: int | None = None) -> NDArray[Any]:
        """Draw from the dtype's whole range (floats: the integers it holds exactly), as `random_()` does.

        From 0, or from `low` as `random_(low, None)` does.
        """
        kind = np.dtype(dtype)
        if kind in NO_KERNEL:
            raise NotImplementedError(f"random: dtype {kind} has no default range; give low and high, or another dtype")
        if low is None:
            return self._integers(shape, 0, random_top(kind) + 1, kind, words_each=2 if kind.itemsize == 8 else 1)
        low = operator.index(low)
        top, bottom = random_top(kind), 0 if kind.kind in "ub" else -random_top(kind) - 1
        if not bottom <= low <= top:
            raise RuntimeError(f"random: low is {low}, outside the range of {kind}; pass one that the dtype holds")
        return self._integers(shape, low, top + 1 - low, kind)

    def _integers(
        self, shape: Shape, low: int, span: int, kind: np.dtype[Any], words_each: int | None = None
    ) -> NDArray[Any]:
        size = size_of(shape)
        if (words_each or (2 if span >= _WIDE_RANGE else 1)) == 2:
            wide = join64(self._take(2 * size))
            if span < 2**64:  # else the words are the integers
                wide %= np.uint64(span)
                wide += np.uint64(low % 2**64)  # modulo 2**64, as two's complement adds
            values = wide.view(np.int64)
        else:
            values = remainders(self._take(size), low, span)
        if kind in (HALF, BRAIN):
            return values.astype(F32).astype(kind).reshape(shape)
        return values.astype(kind, copy=False).reshape(shape)

    def permutation(self, n: int, dtype: DTypeLike = np.int64) -> NDArray[Any]:
        """Draw a permutation of 0..n-1, as `randperm` does (n - 1 words, a forward Fisher-Yates shuffle)."""
        n, kind = operator.index(n), np.dtype(dtype)
        if n < 0:
            raise RuntimeError(f"randperm: n is {n}; it has to be 0 or more")
        if (kind.kind not in "iu" or (kind.kind == "u" and kind.itemsize > 1)) and kind not in DIGITS:
            raise NotImplementedError(f"randperm: no permutations of dtype {kind}; ask for a signed integer or a float")
        if n - 1 > random_top(kind) and kind != BRAIN:
            raise RuntimeError(f"randperm: n is {n}, and {kind} cannot hold each of 0..n-1; ask for a wider dtype")
        if n < 2:
            return np.zeros(n, kind)
        return permutation(self._take(n - 1)).astype(kind, copy=False)

    def bernoulli(self, shape: Shape, p: float = 0.5, dtype: DTypeLike = F32) -> NDArray[Any]:
        """Draw 1 with probability p, else 0, as `bernoulli_(p)` does: two words an element."""
        kind = discrete_kind("bernoulli", dtype)
        if not 0.0 <= p <= 1.0:
            raise RuntimeError(f"bernoulli: p is {p}; it has to lie in [0, 1]")
        out = np.empty(size_of(shape), np.bool_)
        with self._lock:
            for start in range(0, out.size, _SLICE // 2):
                part = out[start : start + _SLICE // 2]
                below53(self._take(2 * part.size), float(p), part)
        return out.astype(kind, copy=False).reshape(shape)

    def bernoulli_each(self, p: Floats, dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Draw 1 with each element's own probability, as `bernoulli(p)` does; the dtype is that of `p` by default.

        Two words an element where `p` is float64, else one.
        """
        p = np.asarray(p)
        float_kind("bernoulli", p.dtype, complex_too=False)
        kind = discrete_kind("bernoulli", p.dtype if dtype is None else dtype)
        if not bool(((p >= 0) & (p <= 1)).all()):
            raise RuntimeError("bernoulli: p has an element outside [0, 1] or a nan; each has to be a probability")
        if p.dtype == DOUBLE:
            return (self._unit53(p.size).reshape(p.shape) < p).astype(kind)
        return (self._unit24(p.size).reshape(p.shape) < p.astype(F32)).astype(kind)

    def dropout_keep(self, shape: Shape, p: float, *, features: bool = False) -> NDArray[np.bool_]:
        """Draw which elements dropout at rate p keeps; `features` draws per channel, shape (N, C, 1, ...).

        Nothing is drawn at p = 0 and p = 1. Raises ValueError unless p is in [0, 1].
        """
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"dropout: p is {p}; it has to lie in [0, 1]")
        shape = as_tuple(shape)
        if features and 0.0 < p < 1.0:
            if len(shape) < 2:
                raise RuntimeError(f"dropout: the shape {shape} has no channel axis; features are dropped along axis 1")
            shape = (*shape[:2], *(1 for _ in shape[2:]))
        if p in (0.0, 1.0):
            return np.full(shape, p == 0.0)
        return self.bernoulli(shape, 1.0 - p, np.bool_)

    def geometric(self, shape: Shape, p: float, dtype: DTypeLike = F32) -> NDArray[Any]:
        """Draw the number of trials up to the first success, as `geometric_` does."""
        kind = discrete_kind("geometric", dtype)
        if kind.kind == "b":
            raise NotImplementedError("geometric: dtype bool cannot hold a count; ask for an integer or a float")
        if not 0.0 < p < 1.0:
            raise RuntimeError(f"geometric: p is {p}; it has to lie in (0, 1)")
        with np.errstate(divide="ignore"):
            values = np.ceil(np.log(self._unit53(size_of(shape))) / math.log1p(-p))
        if kind.kind in "iu":
            return c_integers(values, kind).reshape(shape)
        return narrow(values, kind).reshape(shape)

    def multinomial(self, probs: Floats, count: int, replacement: bool = False) -> NDArray[np.int64]:
        """Draw `count` category indices per row of `probs`, shape (C,) or (R, C), as `torch.multinomial` does."""
        probs = np.asarray(probs)
        if probs.ndim not in (1, 2):
            raise RuntimeError(f"multinomial: probs has {probs.ndim} dimensions; it has to have 1 or 2")
        kind = float_kind("multinomial", probs.dtype, complex_too=False, error=RuntimeError)
        categories = probs.shape[-1]
        if count <= 0:
            raise RuntimeError(f"multinomial: count is {count}; it has to be at least 1")
        if not replacement and count > categories:
            raise RuntimeError(f"multinomial: {count} of {categories} categories asked for; that takes replacement")
        if categories > 2**24:
            raise RuntimeError(f"multinomial: {categories} categories; there may be at most 2**24")
        if not bool(((probs >= 0) & (probs < math.inf)).all()):
            raise RuntimeError("multinomial: probs has a negative, infinite or nan element; each has to be >= 0")
        weights = probs.astype(F64 if kind == DOUBLE else F32, copy=False)
        if not bool((weights.sum(axis=-1) > 0).all()):
            raise RuntimeError("multinomial: a row of probs sums to 0; at least one category needs a weight")
        if not replacement or count == 1:
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                race = (probs / self.exponential(probs.shape, 1.0, kind)).astype(F64)
            if count == 1:
                return np.argmax(race, axis=-1, keepdims=True)
            return np.ascontiguousarray(np.argsort(-race, axis=-1, kind="stable")[..., :count])
        bounds = np.cumsum(weights, axis=-1)
        bounds /= bounds[..., -1:]
        rows = bounds.reshape(-1, categories).astype(F64, copy=False)
        u = self._unit53(len(rows) * count).reshape(len(rows), count)
        out = np.empty(u.shape, np.int64)
        for row, (edges, points) in enumerate(zip(rows, u, strict=True)):
            out[row] = np.searchsorted(edges, points)
        return out.reshape(*probs.shape[:-1], count)

    # -- rejection samplers --------------------------------------------------------------------------------------

    def poisson(self, rates: Floats) -> Floats:
        """Draw a Poisson count for each rate, in the dtype of `rates`, as `torch.poisson` does."""
        rates = np.asarray(rates)
        kind = float_kind("poisson", rates.dtype, complex_too=False)
        if not bool((rates >= 0).all()):
            raise RuntimeError("poisson: rates has a negative element or a nan; each has to be 0 or more")
        with self._lock:
            source = self._unit_doubles()
            values = [samplers.poisson(rate, source) for rate in rates.astype(F64).ravel().tolist()]
        return narrow(np.array(values, F64), kind).reshape(rates.shape)

    def binomial(self, count: Floats, prob: Floats) -> Floats:
        """Draw the successes in `count` trials of probability `prob`, which broadcast, as `torch.binomial` does."""
        count, prob = np.asarray(count), np.asarray(prob)
        kind = float_kind("binomial", count.dtype, complex_too=False, error=ValueError)
        if kind not in (SINGLE, DOUBLE):
            raise NotImplementedError(f"binomial: count is {kind}; it has to be float32 or float64")
        if prob.dtype != kind:
            raise RuntimeError(f"binomial: count is {kind} and prob {prob.dtype}; both have to have one dtype")
        shape = _broadcast("binomial", "count", count.shape, "prob", prob.shape)
        count, prob = np.broadcast_to(count, shape), np.broadcast_to(prob, shape)
        with self._lock:
            source = self._unit_doubles()
            pairs = zip(count.astype(F64).ravel().tolist(), prob.astype(F64).ravel().tolist(), strict=True)
            values = [samplers.binomial(n, p, source) for n, p in pairs]
        return narrow(np.array(values, F64), kind).reshape(count.shape)

    def standard_gamma(self, alpha: Floats) -> Floats:
        """Draw gamma values of scale 1 for each shape parameter, as `torch._standard_gamma` does."""
        alpha = np.asarray(alpha)
        if alpha.dtype not in (SINGLE, DOUBLE):
            raise NotImplementedError(f"standard_gamma: alpha is {alpha.dtype}; it has to be float32 or float64")
        values = self._gammas(alpha, single=alpha.dtype == SINGLE).astype(alpha.dtype)
        return np.fmax(values, np.finfo(alpha.dtype).tiny)

    def dirichlet(self, alpha: Floats) -> Floats:
        """Draw points of the simplex along the last axis of `alpha`, as `torch._sample_dirichlet` does."""
        alpha = np.asarray(alpha)
        if alpha.dtype not in (SINGLE, DOUBLE):
            raise NotImplementedError(f"dirichlet: alpha is {alpha.dtype}; it has to be float32 or float64")
        values = np.fmax(self._gammas(alpha, single=False), np.finfo(F64).tiny)
        limits = np.finfo(alpha.dtype)
        if alpha.ndim:
            values /= _four_lane_sum(values)
        else:
            values /= values.copy()
        return np.clip(values.astype(alpha.dtype), limits.tiny, 1.0 - limits.eps / 2)

    def _gammas(self, alpha: Floats, single: bool) -> NDArray[np.float64]:
        with self._lock:
            source = self._unit_doubles()
            values = [
                samplers.gamma(a, source, lambda: self._normal(source), single)
                for a in alpha.astype(F64).ravel().tolist()
            ]
        return np.array(values, F64).reshape(alpha.shape)


def _resume(state: NDArray[np.uint8]) -> Stream:
    return Stream().set_state(state)


def _each(name: str) -> Any:
    """A draw for each element of an argument, in its dtype."""
    return lambda given: (given[name].shape, given[name].dtype)


def _normal_each(given: Any) -> Any:
    mean, std = given["mean"], given["std"]
    return np.broadcast_shapes(np.shape(mean), np.shape(std)), (mean if hasattr(mean, "dtype") else std).dtype


def _kept(given: Any) -> Any:
    shape = as_tuple(given["shape"])
    return (*shape[:2], *(1 for _ in shape[2:])) if given["features"] and 0.0 < given["p"] < 1.0 else shape, np.bool_


KIND = register_stream(Kind("torch", Stream, _resume, Stream.get_state, {
    "normal_each": _normal_each, "dropout_keep": _kept,
    "rrelu_slopes": lambda given: (given["negative"].shape, F64 if np.dtype(given["dtype"]) == DOUBLE else F32),
    "permutation": lambda given: ((given["n"],), given["dtype"]),
    "bernoulli_each": lambda given: (given["p"].shape, given["p"].dtype if given["dtype"] is None else given["dtype"]),
    "multinomial": lambda given: ((*given["probs"].shape[:-1], given["count"]), np.int64),
    "poisson": _each("rates"), "binomial": _each("count"), "standard_gamma": _each("alpha"), "dirichlet": _each("alpha"),
}, STATE_SIZE, frozenset({
    "normal_each", "rrelu_slopes", "bernoulli_each", "poisson", "binomial", "standard_gamma", "dirichlet",
})))  # fmt: skip
"""How a stream is drawn from by operations."""


def _doubles(words: Words) -> Iterator[float]:
    """Yield what `unit53` gives, a third of its cost for a handful of values."""
    values = iter(words.tolist())
    for high, low in zip(values, values, strict=True):
        yield ((high & 0x1FFFFF) << 32 | low) * 2.0**-53


def _exclude(out: Floats, low: float, high: float, kind: np.dtype[Any]) -> None:
    """Where rounding has reached the excluded end of an interval, give the other one."""
    bottom, top = narrow(np.array((low, high)), kind)
    np.copyto(out, bottom, where=out == top)


def _uniform_bounds(low: float, high: float, kind: np.dtype[Any]) -> tuple[float, float]:
    limit = LARGEST[kind]
    for name, bound in (("low", low), ("high", high)):
        if not abs(bound) <= limit:
            raise RuntimeError(f"uniform: {name} is {bound}; it has to be finite and in the range of {kind}")
    if low > high:
        raise RuntimeError(f"uniform: low is {low} and high is {high}; low may not exceed high")
    if high - low > limit:
        raise RuntimeError(f"uniform: the interval [{low}, {high}) is wider than {kind} can express; narrow it")
    return low, high


def _broadcast(op: str, first: str, one: tuple[int, ...], second: str, other: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        message = f"{op}: {first} has shape {one} and {second} {other}, which do not broadcast; make them agree"
        raise RuntimeError(message) from None


def _affine(x: Floats, scale: float, offset: float, kind: np.dtype[Any]) -> Floats:
    """Scale and shift float64 values bound for `kind`; the single rounding shows in float64 only."""
    return fma64(x, scale, offset) if kind == DOUBLE else x * scale + offset


def _four_lane_sum(x: Floats) -> Floats:
    """Sum the last axis in the order of the reference's loop (four lanes, the rest on the first), up to 19 elements."""
    length = x.shape[-1]
    if length > 19:
        return np.asarray(x.sum(axis=-1, keepdims=True))
    whole = length // 4 * 4 if length > 4 else length
    total = _sequential_sum(x[..., 0:whole:4] if length > 4 else x)
    if length > 4:
        if whole < length:
            total += _sequential_sum(x[..., whole:])
        for lane in (1, 2, 3):
            total += _sequential_sum(x[..., lane:whole:4])
    return total


def _sequential_sum(x: Floats) -> Floats:
    return np.asarray(np.cumsum(x, axis=-1)[..., -1:])
