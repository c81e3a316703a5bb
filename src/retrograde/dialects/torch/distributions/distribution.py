"""`Distribution`, the base of all: shapes, validation, and what each distribution offers."""

from __future__ import annotations

import warnings
from typing import Any

from ....core.arrays import bottom
from ....core.batched import BatchedArray
from ....core.unwrap import bare
from ... import torch
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


def _holds(valid: Any) -> Any:
    """Whether something is true of all elements: under vmap, of those of every entry of the batch."""
    return bool(bottom(valid).all()) if type(bare(valid)) is BatchedArray else valid.all()


class Distribution:
    """A batch of distributions over events. Samples have the shape sample_shape + batch_shape + event_shape."""

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether parameters and values are checked where a distribution is not told itself."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: wanted True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            warnings.warn(f"{type(self)} defines no arg_constraints, so its parameters are not checked", stacklevel=3)
            return
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue
            value = getattr(self, name)
            if not _holds(constraint.check(value)):
                raise ValueError(
                    f"{type(self).__name__}: the parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) must satisfy {constraint!r}, but has values outside:\n{value}"
                )

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch shape, its parameters expanded without a copy."""
        raise NotImplementedError(f"{type(self).__name__}.expand")

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Any:
        """The constraint of each parameter by its name."""
        raise NotImplementedError(f"{type(self).__name__}.arg_constraints")

    @property
    def support(self) -> Any:
        """The constraint of the values."""
        raise NotImplementedError(f"{type(self).__name__}.support")

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError(f"{type(self).__name__}.mean")

    @property
    def mode(self) -> Any:
        """The value of the highest density or probability."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError(f"{type(self).__name__}.variance")

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples through which no gradient passes."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples through which gradients pass to the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no reparameterised samples; use sample()")

    def sample_n(self, n: int) -> Any:
        """n samples; an old form of `sample((n,))`."""
        warnings.warn("sample_n(n) is deprecated; use sample((n,))", UserWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density or probability at a value."""
        raise NotImplementedError(f"{type(self).__name__}.log_prob")

    def cdf(self, value: Any) -> Any:
        """The probability of values up to the given one."""
        raise NotImplementedError(f"{type(self).__name__}.cdf")

    def icdf(self, value: Any) -> Any:
        """The value at which the cdf has the given value."""
        raise NotImplementedError(f"{type(self).__name__}.icdf")

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution along a new first dimension."""
        raise NotImplementedError(f"{type(self).__name__}.enumerate_support")

    def entropy(self) -> Any:
        """The entropy of each distribution of the batch."""
        raise NotImplementedError(f"{type(self).__name__}.entropy")

    def perplexity(self) -> Any:
        """The exponential of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = ()) -> Any:
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError for a value of the wrong shape or outside the support, TypeError for what is no tensor."""
        if not isinstance(value, torch.Tensor):
            raise ValueError(f"{type(self).__name__}: the value must be a tensor, got {type(value).__name__}")
        shape, wanted = tuple(value.shape), tuple(self._event_shape)
        event = len(shape) - len(wanted)
        if shape[event:] != wanted:
            raise ValueError(f"{type(self).__name__}: the value has the event shape {shape[event:]}, wanted {wanted}")
        expected = tuple(self._batch_shape) + wanted
        for i, j in zip(reversed(shape), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"{type(self).__name__}: a value of shape {shape} does not broadcast with the batch "
                    f"and event shape {expected}"
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} defines no support, so values are not checked", stacklevel=3)
            return
        if not _holds(support.check(value)):
            raise ValueError(
                f"{type(self).__name__}: the value ({type(value).__name__} of shape {tuple(value.shape)}) must lie in "
                f"the support {support!r}, but has elements outside:\n{value}"
            )

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"{type(self).__name__} has a constructor of its own and so needs an expand() of its own"
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _expanded(
        self, cls: type, batch_shape: Any, _instance: Any, names: tuple[str, ...] = (), event: Any = (), **own: Any
    ) -> Any:
        """A new instance of `cls` with the attributes `names` expanded to the batch shape (and the event's), and `own`."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                setattr(new, name, getattr(self, name).expand(torch.Size(tuple(batch_shape) + tuple(event))))
        new.__dict__.update(own)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        names = [k for k in self.arg_constraints if k in self.__dict__]
        shown = ", ".join(
            f"{p}: {self.__dict__[p] if self.__dict__[p].numel() == 1 else self.__dict__[p].size()}" for p in names
        )
        return f"{type(self).__name__}({shown})"
