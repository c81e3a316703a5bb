"""`torch.random` and the random functions: every draw goes through one Stream that repeats PyTorch's numbers."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._state import OBSERVERS, state
from ...backend import backend_of
from ...backend.devices import placed
from ...core.batched import BatchedArray
from ...core.dual import DualArray
from ...core.unwrap import bare, concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import structural
from ...ops.random import GENERATORS, Followed, state_of, state_to_resume, stream_with
from ...ops.rules import unbatch
from ...tape import inplace, mutation
from ...transform.vmap import batch
from .._shared.registry import defined
from . import _dtype
from ._api import METHODS, api
from ._creation import into_out
from ._data import np_dtype_of, sizes
from ._dtype import int64
from ._elementwise import tensor_argument
from ._graph_nodes import show_as
from ._size import CPU, check_device, place_named
from ._size import device as torch_device
from ._stream import KIND, Stream, storage_axes
from ._tensor import Tensor, from_array


class Generator:
    """A source of random numbers with a state of its own."""

    def __init__(self, device: Any = "cpu") -> None:
        check_device("Generator", device, RuntimeError)
        self._stream = Stream()
        self._device = torch_device(*place_named(device)) if str(device) != "cpu" else CPU

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    @property
    def _a(self) -> Any:
        """The state as an array, as tensors have theirs; one of another library's is followed by operations."""
        stream = self._stream
        if type(stream) is Stream:
            return state_to_resume(KIND, stream, functools.partial(Stream.at, stream.mark()))
        return state_of(KIND, stream)

    @_a.setter
    def _a(self, array: Any) -> None:
        self._stream = stream_with(KIND, array)

    @property
    def device(self) -> torch_device:
        """The device that the generator is for. It draws on the CPU; the numbers are moved."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Start again from a seed; returns the generator."""
        self._stream.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Start again from a seed of the system's, which is returned."""
        return self._stream.seed()

    def initial_seed(self) -> int:
        """The seed that the generator started from."""
        return self._stream.initial_seed()

    def get_state(self) -> Tensor:
        """The state as a tensor of bytes, in PyTorch's layout."""
        return from_array(self._stream.get_state())

    def set_state(self, new_state: Tensor) -> None:
        """Go on from a state that `get_state` gave."""
        if not isinstance(new_state, Tensor) or dtype_of(new_state) != np.uint8:
            raise TypeError("set_state: wanted a tensor of bytes (uint8), as get_state gives it")
        array = bare(new_state)
        if isinstance(array, np.ndarray) or isinstance(self._stream, Followed):
            self._stream.set_state(array)
        else:
            self._a = array

    def clone_state(self) -> Generator:
        """A generator that draws the same numbers from here on."""
        other = Generator(self._device)
        other._stream = self._stream.clone()
        return other


default_generator = Generator()
default_generator.seed()  # nobody has asked for certain numbers yet
GENERATORS.append(default_generator)


def stream_of(op: str, generator: Any) -> Stream:
    """The stream of an optional generator argument."""
    if generator is None:
        return default_generator._stream
    if not isinstance(generator, Generator):
        raise TypeError(f"{op}: generator must be a torch.Generator, got {type(generator).__name__}")
    return generator._stream


@api(method=False)
def manual_seed(seed: int) -> Generator:
    """Seed the default generator, which is returned."""
    return default_generator.manual_seed(int(seed))


@api(method=False)
def seed() -> int:
    """Seed the default generator from the system; returns the seed."""
    return default_generator.seed()


@api(method=False)
def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def drawn_seed(op: str, generator: Any = None) -> int:
    """A seed for another generator: what `random_()` draws for an element of int64."""
    return from_array(stream_of(op, generator).random((), np.int64)).item()  # type: ignore[no-any-return]


@api(method=False)
def get_rng_state() -> Tensor:
    """The state of the default generator."""
    return default_generator.get_state()


@api(method=False)
def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator into a state."""
    default_generator.set_state(new_state)


def mark() -> Any:
    """Where the default generator is, for `back_to`: in a tenth of the time of `get_rng_state`."""
    stream = default_generator._stream
    return stream.mark() if type(stream) is Stream else stream.get_state()


def back_to(mark: Any) -> None:
    """Put the default generator back to where it was at a `mark`."""
    stream = default_generator._stream
    if not isinstance(mark, tuple):  # of a stream that operations followed
        default_generator.set_state(from_array(mark))
    elif type(stream) is Stream:
        stream.back_to(mark)
    else:
        (live := Stream()).back_to(mark)
        stream.set_state(live.get_state())


@contextlib.contextmanager
def fork_rng(devices: Any = (), enabled: bool = True, **_: Any) -> Iterator[None]:
    """Draws inside leave the default generator as it was."""
    before = mark()
    try:
        yield
    finally:
        if enabled:
            back_to(before)


def drawn(op: str, shape: tuple[int, ...], draw: Any, requires_grad: bool = False, device: Any = CPU) -> Tensor:
    """What `draw(shape)` gives as a tensor, moved to a device; under vmap as its `randomness` says: one draw for all, or one per
    entry.

    Raises RuntimeError under a vmap whose randomness is "error".
    """
    levels = _vmap_levels(op) if state.levels else ()
    if levels:
        return _entries(levels, draw((*(level.batch_size for level in levels), *shape)), device)
    return from_array(draw(shape), requires_grad, device)


def _vmap_levels(op: str) -> list[Any]:
    """The open vmaps whose entries get random numbers of their own, outermost first. Raises RuntimeError if one forbids any."""
    found = [level for level in state.levels if level.batch_size is not None]
    if any(level.randomness == "error" for level in found):
        raise RuntimeError(
            f"{op}: random numbers were drawn under vmap; say with randomness='different' that each entry of the batch gets its "
            "own, or with randomness='same' that all share them"
        )
    return [level for level in found if level.randomness == "different"]


def _entries(levels: Any, array: Any, where: Any) -> Tensor:
    """An array as a tensor, on a device, of each entry of the vmaps, which its first axes belong to."""
    whole = make(Tensor, array if where is CPU else placed(array, *place_named(where)))
    for level in levels:
        whole = batch(whole, 0, level.id)
    return whole


def elements(op: str, stream: Any, x: Any) -> Any:
    """The array of a tensor as a stream takes it: its elements, or what an operation computes with."""
    return bare(x) if isinstance(stream, Followed) else concrete(op, x)


def drawn_by(op: str, stream: Any, draw: Any, *parameters: Any) -> Tensor:
    """What `draw`, of a stream, makes of the arrays of its parameters (numbers stay as they are); under vmap for each
    entry anew.

    Raises RuntimeError under a vmap whose randomness does not allow that.
    """
    where = next(x for x in parameters if isinstance(x, Value)).device
    levels = _vmap_levels(op) if state.levels else ()
    if not levels:
        return from_array(draw(*(elements(op, stream, x) if isinstance(x, Value) else x for x in parameters)), device=where)
    rank = max(len(shape_of(x)) for x in parameters if isinstance(x, Value))
    arrays = []
    for x in parameters:
        if isinstance(x, Value):
            short, shape = (1,) * (rank - len(shape_of(x))), tuple(shape_of(x))
            for level in reversed(levels):
                x = make(Tensor, unbatch(_without_tangents(x), level.id, level.batch_size))
            sizes_of_all = [level.batch_size for level in levels]
            x = structural.reshape(elements(op, stream, x), shape=(*sizes_of_all, *short, *shape))
        arrays.append(x)
    return _entries(levels, draw(*arrays), where)


def _without_tangents(x: Any) -> Any:
    while isinstance(x, (Value, DualArray)):
        x = x._a if isinstance(x, Value) else x.primal
    return x


def _shape(op: str, size: tuple[Any, ...], given: dict[str, Any]) -> tuple[int, ...]:
    if "size" in given:
        size = (given["size"],)
    return sizes(op, size)


@api(method=False)
@into_out
def rand(*size: Any, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False, names: Any = None, **given: Any) -> Tensor:  # fmt: skip
    """Numbers drawn uniformly from [0, 1)."""
    check_device("rand", device)
    d = np_dtype_of("rand", dtype)
    stream = stream_of("rand", generator)
    return drawn("rand", _shape("rand", size, given), lambda shape: stream.uniform(shape, dtype=d), requires_grad, device)


@api(method=False)
@into_out
def randn(*size: Any, generator: Any = None, dtype: Any = None, layout: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False, names: Any = None, **given: Any) -> Tensor:  # fmt: skip
    """Standard normal numbers."""
    check_device("randn", device)
    d = np_dtype_of("randn", dtype)
    stream = stream_of("randn", generator)
    return drawn("randn", _shape("randn", size, given), lambda shape: stream.normal(shape, dtype=d), requires_grad, device)


@api(method=False)
@into_out
def randint(low: Any = 0, high: Any = None, size: Any = None, *, generator: Any = None, dtype: Any = None,
            layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Integers drawn uniformly from `low` (0 if left out) up to but without `high`."""
    check_device("randint", device)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if size is None or high is None:
        raise TypeError(
            "randint: wanted high and size, as in randint(10, (2, 3)) or randint(low=1, high=10, size=(2, 3))"
        )
    d = np_dtype_of("randint", dtype, int64)
    stream, low, high = stream_of("randint", generator), int(low), int(high)
    return drawn("randint", sizes("randint", (size,)), lambda shape: stream.randint(shape, low, high, d), requires_grad, device)


@api(method=False)
@into_out
def randperm(n: int, *, generator: Any = None, dtype: Any = None, layout: Any = None,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """The numbers 0 to n - 1 in random order."""
    check_device("randperm", device)
    stream, d = stream_of("randperm", generator), np_dtype_of("randperm", dtype, int64)

    def draw(shape: tuple[int, ...]) -> Any:  # of one number for each permutation
        found = [stream.permutation(int(n), d) for _ in range(math.prod(shape))]
        return np.reshape(found, (*shape, -1)) if shape else found[0]

    return drawn("randperm", (), draw, device=device)


def _like(name: str, draw: Any) -> None:
    def function(input: Any, *args: Any, dtype: Any = None, layout: Any = None, device: Any = None,
                 requires_grad: bool = False, memory_format: Any = None, generator: Any = None) -> Tensor:  # fmt: skip
        where = input.device if device is None else device
        return draw(input, *args, dtype=dtype or input.dtype, device=where, requires_grad=requires_grad,
                    generator=generator)  # fmt: skip

    api(name, method=False)(defined(name, function, f"As `torch.{name[:-5]}`, in the shape and dtype of a tensor."))


def _strided(x: Value, draw: Any, *, fresh: bool = False) -> Any:
    """What `draw(shape, contiguous)` gives in the memory layout of a tensor: numbers are drawn in storage order.

    A fresh tensor like `x` has its order of axes, but no gaps: a slice of a C-ordered tensor has a contiguous likeness.
    """
    shape, array = tuple(shape_of(x)), x._a
    order = _storage_order(array)
    if order is None or (fresh and order == tuple(range(len(shape)))):
        return draw(shape, True)
    return structural.transpose(draw(tuple(shape[i] for i in order), False), axes=axes_back(order))


def _storage_order(array: Any) -> tuple[int, ...] | None:
    """The order in which numbers are drawn for an array; None of one that lies in C order."""
    if type(array) is not np.ndarray:
        return backend_of(array).storage_order(array)
    return None if array.flags.c_contiguous else storage_axes(array.strides)


def axes_back(order: tuple[int, ...]) -> tuple[int, ...]:
    """The axes that undo a transposition."""
    return tuple(order.index(axis) for axis in range(len(order)))


def _drawn_like(op: str, x: Value, draw: Any, requires_grad: bool, device: Any = None) -> Tensor:
    where = x.device if device is None else device
    if any(level.adopt is None for level in state.levels):  # a transform; a trace goes on as without
        return drawn(op, tuple(shape_of(x)), lambda shape: draw(shape, True), requires_grad, where)
    return from_array(_strided(x, draw, fresh=True), requires_grad, where)


@api(method=False)
def rand_like(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
              requires_grad: bool = False, memory_format: Any = None, generator: Any = None) -> Tensor:  # fmt: skip
    """As `torch.rand`, in the shape and dtype of a tensor."""
    check_device("rand_like", device)
    d, stream = _like_dtype("rand_like", input, dtype), stream_of("rand_like", generator)
    return _drawn_like("rand_like", input, lambda shape, _: stream.uniform(shape, dtype=d), requires_grad, device)


@api(method=False)
def randn_like(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
               requires_grad: bool = False, memory_format: Any = None, generator: Any = None) -> Tensor:  # fmt: skip
    """As `torch.randn`, in the shape and dtype of a tensor."""
    check_device("randn_like", device)
    d, stream = _like_dtype("randn_like", input, dtype), stream_of("randn_like", generator)
    return _drawn_like(
        "randn_like", input, lambda shape, dense: stream.normal(shape, dtype=d, contiguous=dense), requires_grad, device
    )


@api(method=False)
def randint_like(input: Any, low: Any = 0, high: Any = None, *, dtype: Any = None, layout: Any = None,
                 device: Any = None, requires_grad: bool = False, memory_format: Any = None,
                 generator: Any = None) -> Tensor:  # fmt: skip
    """As `torch.randint`, in the shape and dtype of a tensor."""
    check_device("randint_like", device)
    low, high = (0, low) if high is None else (low, high)
    d, stream = _like_dtype("randint_like", input, dtype), stream_of("randint_like", generator)
    return _drawn_like(
        "randint_like", input, lambda shape, _: stream.randint(shape, int(low), int(high), d), requires_grad, device
    )


def _like_dtype(op: str, x: Any, d: Any) -> np.dtype:
    tensor_argument(op, x)
    return dtype_of(x) if d is None else np_dtype_of(op, d)


def _of_graph(name: str, numbers: Tensor, *parameters: Any) -> Tensor:
    """Drawn numbers as part of the graph of what they were drawn by, in which their gradient is zero."""
    for x in parameters:
        if isinstance(x, Value) and x._node is not None:
            shape = tuple(shape_of(numbers))
            like = x if tuple(shape_of(x)) == shape else structural.broadcast_to(x, shape=shape)
            numbers = structural.replace(like, numbers)
    return show_as(numbers, name)


@api(method=False, out=True)
def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None,
           layout: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Normal numbers: of one mean and deviation in a given size, or of one each per element."""
    check_device("normal", device)
    stream = stream_of("normal", generator)
    if size is not None:
        d, mean, std = np_dtype_of("normal", dtype), float(mean), float(std)
        return drawn(
            "normal", sizes("normal", (size,)), lambda shape: stream.normal(shape, mean, std, d), requires_grad, device
        )
    parts = [x if isinstance(x, Value) else float(x) for x in (mean, std)]
    name = f"NormalBackward{3 if isinstance(std, Value) and isinstance(mean, Value) else 1 + isinstance(std, Value)}"
    return _of_graph(name, drawn_by("normal", stream, stream.normal_each, *parts), mean, std)


@api(in_place=False, out=True)
def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Tensor:
    """Zeros and ones, one with the probability that the element says (or `p`)."""
    stream = stream_of("bernoulli", generator)
    if p is not None:
        return drawn(
            "bernoulli", tuple(shape_of(input)), lambda shape: stream.bernoulli(shape, float(p), dtype_of(input)),
            device=input.device,
        )
    return _of_graph("BernoulliBackward0", drawn_by("bernoulli", stream, stream.bernoulli_each, input), input)


@api(out=True)
def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """Indices drawn with the probabilities that a row's weights say."""
    stream = stream_of("multinomial", generator)

    def draw(weights: Any) -> Any:
        batches = weights.shape[: len(weights.shape) - len(shape_of(input))]  # under vmaps, whose entries are rows like others
        rows = weights.reshape(-1, weights.shape[-1]) if batches and len(weights.shape) > 2 else weights
        found = stream.multinomial(rows, int(num_samples), bool(replacement))
        return found if rows is weights else found.reshape(*weights.shape[:-1], -1)

    return drawn_by("multinomial", stream, draw, input)


@api(method=False)
def poisson(input: Any, generator: Any = None) -> Tensor:
    """Poisson numbers of the rates that the elements say."""
    stream = stream_of("poisson", generator)
    return _of_graph("PoissonBackward0", drawn_by("poisson", stream, stream.poisson, input), input)


@api(method=False)
def binomial(count: Any, prob: Any, generator: Any = None) -> Tensor:
    """Binomial numbers of the counts and probabilities that the elements say."""
    stream = stream_of("binomial", generator)
    return drawn_by("binomial", stream, stream.binomial, count, prob)


@api(method=False)
def _standard_gamma(input: Any, generator: Any = None) -> Tensor:
    from ...ops.implicit import gamma_sample

    stream = stream_of("_standard_gamma", generator)
    return gamma_sample(input, drawn_by("_standard_gamma", stream, stream.standard_gamma, input))


@api(method=False)
def _sample_dirichlet(input: Any, generator: Any = None) -> Tensor:
    from ...ops.implicit import dirichlet_sample

    stream = stream_of("_sample_dirichlet", generator)
    return dirichlet_sample(input, drawn_by("_sample_dirichlet", stream, stream.dirichlet, input))


# ------------------------------------------------------------------------------------------ drawn in place


def _drawn(name: str, node: str, draw: Any) -> Any:
    """Register `Tensor.NAME`, which overwrites the tensor with what `draw(stream, shape, dtype, ...)` gives."""

    def method(self: Tensor, *args: Any, generator: Any = None, **kwargs: Any) -> Tensor:
        stream, d = stream_of(name, generator), dtype_of(self)

        def compute() -> Tensor:
            levels = _vmap_levels(name) if state.levels else ()
            if levels:
                return _each_entry(name, self, levels, lambda shape: draw(stream, shape, d, True, *args, **kwargs))
            new = _strided(self, lambda shape, dense: draw(stream, shape, d, dense, *args, **kwargs))
            return self._filled(new, node or f"RandomBackward{2 - len(args) - len(kwargs)}")

        return inplace.update(name, self, compute)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"Overwrite this tensor with random numbers ({name[:-1]}); returns it."
    METHODS[name] = method
    return method


def _each_entry(op: str, x: Tensor, levels: Any, draw: Any) -> Tensor:
    """New contents for each entry of a batch; raises RuntimeError where the entries share one tensor, which cannot differ."""
    batched, array = set(), bare(x)
    while type(array) is BatchedArray:
        batched.add(array._level)
        array = bare(array.content)
    born = (x if x._base is None else x._base)._born
    if any(level.id not in batched and born < level.id for level in levels):
        raise RuntimeError(
            f"{op}: under vmap with randomness='different' a tensor that all entries of the batch share cannot be overwritten "
            "with numbers of their own; make it of one that is mapped, or draw a new one"
        )
    return _entries(levels, draw((*(level.batch_size for level in levels), *shape_of(x))), x.device)


@api("_filled", function=False)
def _filled(self: Tensor, array: Any, name: str) -> Tensor:
    """New contents for this tensor, with the history that an overwritten tensor has (a zero gradient)."""
    where = self.device
    new = make(Tensor, array if where is CPU else placed(array, *place_named(where)))
    if dtype_of(new) != dtype_of(self):
        new = structural.cast(new, dtype=dtype_of(self))
    return new if self._node is None else show_as(structural.replace(self, new), name)


_uniform_anywhere = _drawn(
    "uniform_", "UniformBackward0", lambda s, shape, d, contiguous, low=0.0, high=1.0: s.uniform(shape, low, high, d)
)
_FLOAT32 = np.dtype(np.float32)


def _plain(x: Tensor, stream: Any) -> bool:
    """Whether numbers can be written into a tensor as they are drawn: float32 in C order, without history."""
    return x._node is x._base is None and _in_order(x._a, stream)


def _in_order(array: Any, stream: Any) -> bool:
    return (
        type(array) is np.ndarray and array.dtype is _FLOAT32 and array.flags.c_contiguous and type(stream) is Stream
        and not OBSERVERS and not state.levels
    )  # fmt: skip


def initialised_uniformly(x: Any, low: float, high: float, generator: Any) -> bool:
    """`uniform_` of the memory of a tensor, whatever its history, which does not see it; False, and nothing is done, where that
    is not float32 in C order that may be written."""
    array = getattr(x, "_a", None)
    stream = stream_of("uniform_", generator)
    if not _in_order(array, stream) or not array.flags.writeable or x._level or x._inference:
        return False
    stream.fill_uniform(array, low, high)
    mutation.note(array)
    return True


@api("uniform_", function=False)
def uniform_(self: Tensor, *bounds: Any, generator: Any = None, **named: Any) -> Tensor:
    """Overwrite this tensor with random numbers (uniform) from [0, 1), or between two bounds; returns it."""
    if named:  # the bounds are called from and to
        bounds = (*bounds, *[named.pop(name, default) for name, default in (("from", 0.0), ("to", 1.0))[len(bounds) :]])
        if named:
            raise TypeError(f"uniform_: unexpected arguments {', '.join(named)}; the bounds are called from and to")
    stream = stream_of("uniform_", generator)
    if _plain(self, stream):  # drawn where it is to be: 4 µs less
        inplace.check("uniform_", self)
        stream.fill_uniform(self._a, *bounds)
        mutation.note(self._a)
        return self
    return _uniform_anywhere(self, *bounds, generator=generator)  # type: ignore[no-any-return]


_normal_anywhere = _drawn(
    "normal_", "NormalBackward0",
    lambda s, shape, d, contiguous, mean=0.0, std=1.0: s.normal(shape, mean, std, d, contiguous=contiguous),
)


@api("normal_", function=False)
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Overwrite this tensor with random numbers (normal) of a mean and a standard deviation; returns it."""
    stream = stream_of("normal_", generator)
    if not _plain(self, stream):
        return _normal_anywhere(self, mean, std, generator=generator)  # type: ignore[no-any-return]
    inplace.check("normal_", self)
    array = self._a
    np.copyto(array, stream.normal(array.shape, mean, std, _FLOAT32))
    mutation.note(array)
    return self


exponential_ = _drawn(
    "exponential_", "ExponentialBackward0", lambda s, shape, d, contiguous, lambd=1.0: s.exponential(shape, lambd, d)
)
_drawn("geometric_", "GeometricBackward0", lambda s, shape, d, contiguous, p: s.geometric(shape, p, d))
_drawn("cauchy_", "CauchyBackward0",
       lambda s, shape, d, contiguous, median=0.0, sigma=1.0: s.cauchy(shape, median, sigma, d))  # fmt: skip
_drawn("log_normal_", "LogNormalBackward0",
       lambda s, shape, d, contiguous, mean=1.0, std=2.0: s.log_normal(shape, mean, std, d))  # fmt: skip


def _random(stream: Stream, shape: tuple[int, ...], d: np.dtype, dense: bool, *bounds: Any, **named: Any) -> Any:
    low, high = ((None, bounds[0]) if len(bounds) == 1 else bounds) if bounds else (named.get("from"), named.get("to"))
    if high is None:
        return stream.random(shape, d, low)
    return stream.randint(shape, 0 if low is None else int(low), int(high), d)


_drawn("random_", "", _random)  # its node is named by the number of bounds


@api(function=False)
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Any = None) -> Tensor:
    """Overwrite this tensor with zeros and ones, one with probability `p` (a number, or one per element)."""
    stream, d = stream_of("bernoulli_", generator), dtype_of(self)

    def compute() -> Tensor:
        levels = _vmap_levels("bernoulli_") if state.levels else ()
        if levels and isinstance(p, Value):
            chances = structural.broadcast_to(p, shape=tuple(shape_of(self)))
            return drawn_by("bernoulli_", stream, lambda each: stream.bernoulli_each(each, d), chances)
        if levels:
            return _each_entry("bernoulli_", self, levels, lambda shape: stream.bernoulli(shape, float(p), d))
        if not isinstance(p, Value):
            return self._filled(_strided(self, lambda shape, _: stream.bernoulli(shape, float(p), d)),
                                "BernoulliBackward2")  # fmt: skip
        chances = structural.broadcast_to(elements("bernoulli_", stream, p), shape=tuple(shape_of(self)))
        order = _storage_order(self._a) or tuple(range(len(shape_of(self))))
        drawn = stream.bernoulli_each(structural.transpose(chances, axes=order), d)
        return self._filled(structural.transpose(drawn, axes=axes_back(order)), "BernoulliBackward1")

    return inplace.update("bernoulli_", self, compute)


def uniform_values(size: tuple[int, ...], low: float, high: float, d: _dtype.dtype) -> Tensor:
    """A new tensor drawn uniformly from [low, high)."""
    return from_array(default_generator._stream.uniform(size, low, high, d.np))
