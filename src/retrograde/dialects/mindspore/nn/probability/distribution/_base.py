"""What distributions have in common: their parameters, and which of their functions follow from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import _unary
from ...._dtype import Number, as_dtype, float32
from ...._stream import generator
from ...._tensor import from_array
from ...cell import Cell
from .._parameters import given, parameter

_OF_VALUES = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
_FROM: dict[str, Any] = {
    "prob": ("log_prob", lambda x: _unary.exp(x)), "log_prob": ("prob", lambda x: _unary.log(x)),
    "log_cdf": ("cdf", lambda x: _unary.log(x)), "survival_function": ("cdf", lambda x: 1.0 - x),
    "log_survival": ("survival_function", lambda x: _unary.log(x)), "sd": ("var", lambda x: _unary.sqrt(x)),
    "var": ("sd", lambda x: _unary.square(x)),
}  # fmt: skip


class Distribution(Cell):
    """Base of distributions. A subclass defines the functions it has as `_log_prob(value, *parameters)`, `_cdf`,
    `_mean(*parameters)`, `_sd`, `_entropy`, `_kl_loss`, `_sample(shape, *parameters)`; others follow where they can.

    Parameters that were not given at construction are arguments of every method, behind the value.

    Raises TypeError for a seed, name or dtype of another type.
    """

    _names: tuple[str, ...] = ()

    def __init__(self, seed: Any, dtype: Any, name: Any, param: dict[str, Any]) -> None:
        op = type(self).__name__
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise TypeError(f"{op}: seed must be an int, got {type(seed).__name__}")
        if not isinstance(name, str):
            raise TypeError(f"{op}: name must be a str, got {type(name).__name__}")
        super().__init__()
        self._name, self._seed, self._dtype = name, seed, as_dtype(dtype, op)
        self._given = {k: param[k] for k in self._names if k in param}
        # Parameters of distributions over whole numbers are floating all the same.
        self._real = self._dtype if self._dtype.category == 2 else float32
        self._values = {k: parameter(op, k, v, self._real) for k, v in self._given.items()}

    # -------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        """What the distribution is called."""
        return self._name

    @property
    def dtype(self) -> Number:
        """The dtype of its samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """What its samples are drawn with; 0 for the global stream."""
        return self._seed or 0

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with."""
        return {
            **self._given, "seed": self._seed, "dtype": self._dtype, "name": self._name, "param_dict": dict(self._given),
        }  # fmt: skip

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of the parameters together; None where one is missing."""
        if any(v is None for v in self._values.values()):
            return None
        return tuple(np.broadcast_shapes(*(v.shape for v in self._values.values())))

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """How many distributions these are, along each axis; None where a parameter is missing."""
        return self.broadcast_shape

    @property
    def is_scalar_batch(self) -> bool:
        """Whether this is a single distribution."""
        return not self.batch_shape

    def extend_repr(self) -> str:
        if self.batch_shape:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{self._shown.get(k, k)} = {v}" for k, v in self._values.items())

    _shown: dict[str, str] = {}

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The parameters, those given here instead of the distribution's own."""
        return tuple(self._settled(args, kwargs))

    def get_dist_type(self) -> str:
        """The name of the kind of distribution, as `kl_loss` wants it."""
        return type(self).__name__

    # -------------------------------------------------------------------- its functions

    def _settled(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        op, names = type(self).__name__, tuple(self._values)
        if len(args) > len(names) or any(k not in names[len(args) :] for k in kwargs):
            raise TypeError(f"{op}: the parameters are {', '.join(names)}, got {len(args)} and {', '.join(kwargs)}")
        new = {**dict(zip(names, args)), **kwargs}
        found = []
        for k in names:
            v = self._values[k] if new.get(k) is None else given(op, k, new[k], self._real)
            if v is None:
                raise TypeError(f"{op}: {k} was not given at construction, so it has to be given here, as a Tensor")
            found.append(v)
        return found

    def _has(self, name: str) -> bool:
        return getattr(type(self), "_" + name, None) is not None

    def _found(self, name: str, args: tuple[Any, ...]) -> Any:
        """The function of that name, or the one it follows from."""
        if self._has(name):
            return getattr(self, "_" + name)(*args)
        source, f = _FROM.get(name, (None, None))
        if source is not None and (self._has(source) or (source == "survival_function" and self._has("cdf"))):
            return f(self._found(source, args))
        raise NotImplementedError(f"{type(self).__name__}: {name} is not defined")

    def _of_value(self, name: str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._found(name, (given(type(self).__name__, "value", value, self._real), *self._settled(args, kwargs)))

    def prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The density, or of whole numbers the probability, at a tensor."""
        return self._of_value("prob", value, args, kwargs)

    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the density or probability."""
        return self._of_value("log_prob", value, args, kwargs)

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of a value that is at most this."""
        return self._of_value("cdf", value, args, kwargs)

    def log_cdf(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the probability of a value that is at most this."""
        return self._of_value("log_cdf", value, args, kwargs)

    def survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The probability of a greater value."""
        return self._of_value("survival_function", value, args, kwargs)

    def log_survival(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        """The logarithm of the probability of a greater value."""
        return self._of_value("log_survival", value, args, kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Any:
        """The mean."""
        return self._found("mean", tuple(self._settled(args, kwargs)))

    def sd(self, *args: Any, **kwargs: Any) -> Any:
        """The standard deviation."""
        return self._found("sd", tuple(self._settled(args, kwargs)))

    def var(self, *args: Any, **kwargs: Any) -> Any:
        """The variance."""
        return self._found("var", tuple(self._settled(args, kwargs)))

    def mode(self, *args: Any, **kwargs: Any) -> Any:
        """The most likely value."""
        return self._found("mode", tuple(self._settled(args, kwargs)))

    def entropy(self, *args: Any, **kwargs: Any) -> Any:
        """The differential entropy, or of whole numbers the entropy, in nats."""
        return self._found("entropy", tuple(self._settled(args, kwargs)))

    def _other(self, dist: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], list[Any]]:
        """The parameters of the other distribution, which come first, and of this one."""
        op, count = type(self).__name__, len(self._values)
        if dist != op:
            raise ValueError(f"{op}: this is only known between two {op} distributions, got {dist!r}")
        named = [kwargs.pop(k + "_b") for k in tuple(self._values) if k + "_b" in kwargs]
        every = (*args[: count - len(named)], *named)
        own = self._settled(args[count - len(named) :], kwargs)
        if len(every) != count:
            raise TypeError(f"{op}: wanted the {count} parameters of the other distribution, got {len(every)}")
        return [given(op, k + "_b", v, self._real) for k, v in zip(self._values, every)], own

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """The Kullback-Leibler divergence of this distribution from another of its kind, whose parameters follow.

        Raises ValueError for the name of another kind.
        """
        other, own = self._other(dist, args, dict(kwargs))
        return self._found("kl_loss", (*other, *own))

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Any:
        """The entropy plus the divergence from another distribution of its kind."""
        other, own = self._other(dist, args, dict(kwargs))
        return self._found("entropy", tuple(own)) + self._found("kl_loss", (*other, *own))

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Any:
        """Random values: of this shape, for each of the distributions."""
        return self._found("sample", (tuple(shape), *self._settled(args, kwargs)))

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The method of that name; raises NotImplementedError where there is none."""
        if name not in (*_OF_VALUES, "mean", "sd", "var", "mode", "entropy", "kl_loss", "cross_entropy", "sample"):
            raise NotImplementedError(f"{type(self).__name__}: {name} is not defined")
        return getattr(self, name)(*args, **kwargs)

    def _drawn(self, draw: Any, shape: tuple[int, ...], *values: Any) -> Any:
        """Random numbers from NumPy: `draw(stream, size, *arrays)`."""
        arrays = [v._concrete("sample") for v in values]
        size = (*shape, *np.broadcast_shapes(*(a.shape for a in arrays)))
        return from_array(np.asarray(draw(generator(self._seed), size, *arrays)).astype(self._dtype.np))

    def _standard(self, draw: str, shape: tuple[int, ...], *values: Any) -> Any:
        """Draws of a standard distribution for the parameters' shapes, to be moved and scaled with derivatives."""
        size = (*shape, *np.broadcast_shapes(*(v.shape for v in values)))
        return from_array(np.asarray(getattr(generator(self._seed), draw)(size=size)).astype(self._real.np))
