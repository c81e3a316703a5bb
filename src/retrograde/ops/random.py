"""Random draws as operations: the state of a stream goes in, the numbers and the state after them come out.

What a stream draws from its state is NumPy's work on any library's arrays, so that every library gets the same bits; a
compiler that has a generator of the same kind may register its own (`lowering`). A generator of a dialect draws from its
live stream, without a word of this file, as long as its state is NumPy's. When another array has been put in for the state
(a trace's, a remote one), a `Followed` stream stands in for the live one: each draw is then the operation `draw` on that
array, and leaves the next state there.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import UnsupportedError
from ..backend import backend_of, is_array
from ..core.arrays import from_host
from ..core.aval import Aval
from .kernels import constant
from .rules import batch_loop, nondifferentiable
from .samples import sample

Result = tuple[tuple[int, ...], Any]
"""The shape and the dtype of what is drawn."""


class Kind(NamedTuple):
    """A kind of streams: how one is made from its state and says its state, and what its methods draw."""

    name: str
    live: type
    resumed: Callable[[np.ndarray], Any]
    state_of: Callable[[Any], np.ndarray]
    results: Mapping[str, Callable[[Mapping[str, Any]], Result]]
    """Of methods by name, the shape and dtype drawn for the arguments; of others they are `shape` and `dtype` themselves."""
    words: int
    """How many elements a state has."""
    each: frozenset[str] = frozenset()
    """The methods that draw one number for each element of their parameters."""


KINDS: dict[str, Kind] = {}

GENERATORS: list[Any] = []
"""The default generators of the dialects, whose state stands in `_a`: what every function may draw from."""


def register_stream(kind: Kind) -> Kind:
    """Let streams of a kind be drawn from by operations."""
    KINDS[kind.name] = kind
    return kind


class _Operand:
    """Stands among a draw's arguments for the next operand."""

    def __repr__(self) -> str:
        return "OPERAND"

    def __reduce__(self) -> str:
        return "OPERAND"  # a copy is itself, and where it is written down its name is


OPERAND = _Operand()


def _drawn(
    state: np.ndarray, *parameters: Any, stream: str, method: str, shape: tuple[int, ...], dtype: np.dtype,
    arguments: tuple[tuple[str, Any], ...],
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    kind, given = KINDS[stream], iter(parameters)
    source = resumed(kind, state)
    numbers = getattr(source, method)(**{name: next(given) if x is OPERAND else x for name, x in arguments})
    after = kind.state_of(source)
    _stands(after, source)
    return np.asarray(numbers, dtype), after


_STANDING: dict[int, tuple[weakref.ref[np.ndarray], Any]] = {}
"""Streams that stand where a draw has left them, by the id of the state that it gave, or `_Again`: the next draw mostly begins
there."""
_MOST = 4


class _Again(NamedTuple):
    """How a stream of a class is made that goes on from a state."""

    live: type
    make: Callable[[], Any]


def _stands(state: np.ndarray, source: Any) -> None:
    state.flags.writeable = False  # it says where the stream stands for as long as it is there
    while len(_STANDING) >= _MOST:
        _STANDING.pop(next(iter(_STANDING), 0), None)
    _STANDING[id(state)] = weakref.ref(state), source


def state_to_resume(kind: Kind, stream: Any, make: Callable[[], Any]) -> np.ndarray:
    """The state of a live stream, from which the first draw mostly goes on with what `make` gives: a stream like this one, sooner
    than one is made of the state's elements."""
    state = kind.state_of(stream)
    _stands(state, _Again(kind.live, make))
    return state


def resumed(kind: Kind, state: np.ndarray) -> Any:
    """A stream that goes on from a state; the one that has come to it where that is at hand, which is no longer then."""
    found = _STANDING.pop(id(state), None)
    if found is not None and found[0]() is state:
        source = found[1]
        if type(source) is kind.live:
            return source
        if type(source) is _Again and source.live is kind.live:
            return source.make()
    return kind.resumed(state)


def _draw_kernel(
    xp: Any, state: Any, *parameters: Any, stream: str, method: str, shape: tuple[int, ...], dtype: np.dtype,
    arguments: tuple[tuple[str, Any], ...],
) -> tuple[Any, Any]:  # fmt: skip
    library = backend_of(state)
    host = [np.asarray(library.to_host(library.wrap(x))) for x in (state, *parameters)]
    numbers, after = _drawn(*host, stream=stream, method=method, shape=shape, dtype=dtype, arguments=arguments)
    return constant(xp, numbers, state), constant(xp, after, state)


def _infer_draw(avals: Sequence[Aval], params: dict[str, Any]) -> tuple[Aval, Aval]:
    kind, shape = KINDS[params["stream"]], tuple(params["shape"])
    if avals[0].shape != (kind.words,):
        raise ValueError(f"draw: a state of {kind.name} has {kind.words} elements, got the shape {avals[0].shape}")
    if params["method"] in kind.each and np.broadcast_shapes(*(a.shape for a in avals[1:])) != shape:
        raise ValueError(f"draw: parameters of the shapes {[a.shape for a in avals[1:]]} for numbers of the shape {shape}")
    return Aval(shape, np.dtype(params["dtype"])), avals[0]


def _draw_samples() -> Any:
    state, double = pcg64_state(np.random.default_rng(3)), np.dtype(np.float64)
    yield sample(
        state, stream="pcg64", method="standard_normal", shape=(2, 3), dtype=double, arguments=(("size", (2, 3)),)
    )
    yield sample(state, np.array([2.0, 30.0]), stream="pcg64", method="poisson", shape=(2,), dtype=np.dtype(np.int64),
                 arguments=(("lam", OPERAND),))  # fmt: skip


# What `method` of a stream draws with the named `arguments`, among which OPERAND stands for the next parameter: the numbers,
# of `shape` and `dtype`, and the state after them.
draw = nondifferentiable(
    "draw", kernel=_draw_kernel, numpy=_drawn, multi=True, batch=batch_loop, infer=_infer_draw, samples=_draw_samples,
)  # fmt: skip


class Followed:
    """A stream whose state is an array of a library other than NumPy's: it has the methods of the live one.

    Raises AttributeError for a method that the live one has not.
    """

    def __init__(self, kind: Kind, state: Any) -> None:
        self.kind, self.state = kind, state

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return functools.partial(self._draw, method, _signature(self.kind.live, method))

    def _draw(self, method: str, signature: inspect.Signature, *args: Any, **named: Any) -> Any:
        bound = signature.bind(None, *args, **named)
        bound.apply_defaults()
        given = {name: tuple(x) if isinstance(x, list) else x for name, x in list(bound.arguments.items())[1:]}
        result = self.kind.results.get(method)
        shape, dtype = (given["shape"], given["dtype"]) if result is None else result(given)
        return self.drawn(method, (shape,) if isinstance(shape, int) else tuple(shape), dtype, given)

    def drawn(self, method: str, shape: tuple[int, ...], dtype: Any, arguments: Mapping[str, Any]) -> Any:
        """What a method draws with named arguments, of a shape and a dtype."""
        parameters = [x for x in arguments.values() if is_array(x)]
        fixed = tuple((name, OPERAND if is_array(x) else x) for name, x in arguments.items())
        numbers, self.state = draw(
            self.state, *parameters, stream=self.kind.name, method=method, shape=shape, dtype=np.dtype(dtype),
            arguments=fixed,
        )  # fmt: skip
        return numbers

    def get_state(self) -> Any:
        """The state, an array that nothing is written to."""
        return self.state

    def set_state(self, state: Any) -> Followed:
        """Go on from another state; NumPy's goes where this one is."""
        self.state = from_host(state, self.state) if isinstance(state, np.ndarray) else state
        return self

    def manual_seed(self, seed: int) -> Followed:
        """Start anew from a seed."""
        return self.set_state(self.kind.state_of(self.kind.live(seed)))

    def clone(self) -> Followed:
        """A stream that goes on from the same state."""
        return Followed(self.kind, self.state)


@functools.cache
def _signature(live: type, method: str) -> inspect.Signature:
    try:
        return inspect.signature(getattr(live, method))
    except ValueError:  # a method that is not Python's
        raise UnsupportedError(
            f"{method}: this draw has no operation, so that it cannot be made where the generator's state is an array of "
            "another library; draw it beforehand"
        ) from None


def stream_with(kind: Kind, state: Any) -> Any:
    """A stream that goes on from a state: live where it is NumPy's, else followed by operations."""
    return resumed(kind, state) if isinstance(state, np.ndarray) else Followed(kind, state)


def state_of(kind: Kind, stream: Any) -> Any:
    """The state of a stream as the array that `stream_with` takes."""
    return stream.state if type(stream) is Followed else kind.state_of(stream)


# ------------------------------------------------------------------------------------------ NumPy's generator

_WORD = (1 << 64) - 1


def pcg64_state(stream: np.random.Generator) -> np.ndarray:
    """Where NumPy's default generator stands, as six words."""
    said: Any = stream.bit_generator.state
    state, step = said["state"]["state"], said["state"]["inc"]
    words = (state >> 64, state & _WORD, step >> 64, step & _WORD, said["has_uint32"], said["uinteger"])
    return np.array(words, np.uint64)


def pcg64_resumed(state: np.ndarray) -> np.random.Generator:
    """NumPy's default generator where it stood."""
    high, low, step_high, step_low, held, spare = map(int, state)
    stream = np.random.Generator(np.random.PCG64(0))
    stream.bit_generator.state = {
        "bit_generator": "PCG64", "state": {"state": high << 64 | low, "inc": step_high << 64 | step_low},
        "has_uint32": held, "uinteger": spare,
    }  # fmt: skip
    return stream


PCG64 = register_stream(Kind("pcg64", np.random.Generator, pcg64_resumed, pcg64_state, {}, 6, frozenset({"poisson"})))
"""NumPy's default generator; its state is six words."""
