"""`Distribution`, and what its subclasses share: arguments as tensors, shapes, sampling, the table of divergences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...._state import grad_mode
from ....core.value import Value, dtype_of, shape_of
from ....ops import reduction as rd
from ....ops.elementwise import exp
from ....ops.selection import where
from ....ops.structural import broadcast_to
from .._tensor import float_dtype, from_array
from ..random import seeded, uniform_array

Shape = tuple[int, ...]


def arguments(op: str, *xs: Any) -> list[Any]:
    """Numbers, lists, arrays and tensors as tensors of one shape and a floating dtype; raises TypeError for others."""
    made = []
    for x in xs:
        if not isinstance(x, (Value, int, float, list, tuple, np.ndarray, np.generic)) or isinstance(x, bool):
            raise TypeError(f"{op}: wanted a number, a list, an array or a tensor, got {type(x).__name__}")
        if not isinstance(x, Value):
            array = np.asarray(x)
            x = from_array(
                array.astype(array.dtype if array.dtype.kind == "f" and isinstance(x, np.ndarray) else float_dtype())
            )
        elif dtype_of(x).kind in "iub":
            x = x.astype("float32")
        made.append(x)
    shape = np.broadcast_shapes(*(tuple(shape_of(x)) for x in made))
    return [x if tuple(shape_of(x)) == shape else broadcast_to(x, shape=shape) for x in made]


def uniform_like(shape: Shape, like: Any) -> Any:
    """Uniform numbers in (0, 1), away from both ends, in the dtype of a tensor."""
    d = dtype_of(like)
    tiny = float(np.finfo(d).tiny) if d.kind == "f" else 1e-30
    return from_array(np.maximum(uniform_array(shape, d), np.asarray(tiny, d)))


def summed(x: Any, axes: int) -> Any:
    """The sum over the last axes."""
    n = len(shape_of(x))
    return x if axes == 0 else rd.sum(x, axis=tuple(range(n - axes, n)), keepdims=False)


def inside(condition: Any, x: Any, outside: float) -> Any:
    """`x` where a condition holds, a number elsewhere."""
    return where(condition, x, np.asarray(outside, dtype_of(x)))


F = TypeVar("F", bound=Callable[..., Any])


class Distribution:
    """Base of distributions: batches of independent ones, each over events of one shape."""

    def __init__(self, batch_shape: Any = (), event_shape: Any = ()) -> None:
        self._batch_shape, self._event_shape = tuple(batch_shape), tuple(event_shape)

    @property
    def batch_shape(self) -> Shape:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Shape:
        """The shape of one sample of one of them."""
        return self._event_shape

    def _missing(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {what}")

    @property
    def mean(self) -> Any:
        """The expected value."""
        raise self._missing("mean")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise self._missing("variance")

    def sample(self, shape: Any = (), seed: int = 0) -> Any:
        """Samples without history: of the given shape, behind which stand those of batch and event; with a `seed` other
        than 0 the same in every call."""
        with grad_mode(False), seeded(seed):
            return self._draw(_listed(shape)).detach()

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the parameters are differentiated, where there is such a way."""
        raise self._missing("rsample: its samples are no differentiable function of the parameters")

    def _draw(self, shape: Shape) -> Any:
        return self.rsample(shape)

    def _extended(self, shape: Any) -> Shape:
        return (*_listed(shape), *self._batch_shape, *self._event_shape)

    def entropy(self) -> Any:
        """The entropy."""
        raise self._missing("entropy")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density (or probability) at a value."""
        raise self._missing("log_prob")

    def prob(self, value: Any) -> Any:
        """The density (or probability) at a value."""
        return exp(self.log_prob(value))

    def probs(self, value: Any) -> Any:
        """`prob`."""
        return self.prob(value)

    def kl_divergence(self, other: Distribution) -> Any:
        """The Kullback-Leibler divergence from this distribution to another."""
        return kl_divergence(self, other)


_TABLE: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(cls_p: type, cls_q: type) -> Callable[[F], F]:
    """Register a function as the divergence between distributions of two classes."""
    for cls in (cls_p, cls_q):
        if not isinstance(cls, type) or not issubclass(cls, Distribution):
            raise TypeError(f"register_kl: wanted two classes of distributions, got {cls!r}")

    def decorate(f: F) -> F:
        _TABLE[cls_p, cls_q] = f
        return f

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The Kullback-Leibler divergence from p to q; NotImplementedError where none is registered."""
    for a in type(p).__mro__:
        for b in type(q).__mro__:
            found = _TABLE.get((a, b))
            if found is not None:
                return found(p, q)
    raise NotImplementedError(
        f"kl_divergence: none is known between {type(p).__name__} and {type(q).__name__}; use register_kl"
    )


class ExponentialFamily(Distribution):
    """Base of the distributions of the exponential family."""


def _listed(shape: Any) -> Shape:
    if isinstance(shape, Value):
        shape = shape.numpy().reshape(-1).tolist()
    return (shape,) if isinstance(shape, int) else tuple(int(n) for n in shape)


class Independent(Distribution):
    """A distribution whose last batch axes count as part of the event."""

    def __init__(self, base: Distribution, reinterpreted_batch_rank: int) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"Independent: base must be a Distribution, got {type(base).__name__}")
        k = reinterpreted_batch_rank
        if not 0 < k <= len(base.batch_shape):
            raise ValueError(f"Independent: the rank must be in [1, {len(base.batch_shape)}], got {k}")
        self._base, self._rank = base, k
        split = len(base.batch_shape) - k
        super().__init__(base.batch_shape[:split], (*base.batch_shape[split:], *base.event_shape))

    @property
    def mean(self) -> Any:
        """The expected value."""
        return self._base.mean

    @property
    def variance(self) -> Any:
        """The variance."""
        return self._base.variance

    def _draw(self, shape: Shape) -> Any:
        return self._base._draw(shape)

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the parameters are differentiated."""
        return self._base.rsample(shape)

    def log_prob(self, value: Any) -> Any:
        """The sum of the log densities over the axes of the event."""
        return summed(self._base.log_prob(value), self._rank)

    def entropy(self) -> Any:
        """The sum of the entropies over the axes of the event."""
        return summed(self._base.entropy(), self._rank)
