"""Invertible functions with the logarithm of their slope, and distributions of what they make of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....core.value import shape_of
from ....learn.distributions import Map
from ....learn.distributions import transforms as maps
from ....ops import elementwise as ew
from ....ops.softmax import softmax
from ....ops.structural import reshape
from ..._shared.rows import constructor, named
from .._joining import stack
from .._promote import pair
from ._rows import F
from .distribution import Distribution, Shape, summed


class Transform:
    """Base of transforms: one defines `_forward`, `_inverse` and `_forward_log_det_jacobian` (the log of the derivative's
    size) or `_inverse_log_det_jacobian`, and `_forward_shape` and `_inverse_shape` where the shape changes."""

    _event_axes = 0
    """How many axes one application of the function takes."""

    def forward(self, x: Any) -> Any:
        """The function."""
        return self._forward(x)

    def inverse(self, y: Any) -> Any:
        """Its inverse."""
        return self._inverse(y)

    def forward_log_det_jacobian(self, x: Any) -> Any:
        """The log of the determinant of the function's Jacobian."""
        return self._forward_log_det_jacobian(x)

    def inverse_log_det_jacobian(self, y: Any) -> Any:
        """The log of the determinant of the inverse's Jacobian."""
        return self._inverse_log_det_jacobian(y)

    def forward_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that the function makes of one."""
        return self._forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Shape:
        """The shape that the inverse makes of one."""
        return self._inverse_shape(shape)

    def __call__(self, input: Any) -> Any:
        """The function of a tensor, the distribution of a distribution's samples, or the chain with a transform."""
        if isinstance(input, Distribution):
            return TransformedDistribution(input, [self])
        if isinstance(input, Transform):
            return ChainTransform([self, input])
        return self.forward(input)

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inverse")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if type(self)._inverse_log_det_jacobian is Transform._inverse_log_det_jacobian:
            raise NotImplementedError(f"{type(self).__name__} has no log_det_jacobian")
        return -self._inverse_log_det_jacobian(self._forward(x))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -self._forward_log_det_jacobian(self._inverse(y))

    def _forward_shape(self, shape: Sequence[int]) -> Any:
        return shape

    def _inverse_shape(self, shape: Sequence[int]) -> Any:
        return shape


def _row(formulas: Map, name: str, parameters: str = "", event_axes: int = 0, **members: Any) -> Any:
    """The class of a transform whose formulas are those of a map."""
    names = tuple(parameters.split())

    def made(self: Any, *given: Any) -> None:
        for key, value in zip(names, given):
            setattr(self, key, value)

    def formula(name: str) -> Any:
        f = getattr(formulas, name)
        return lambda self, x: f(F, x, *[getattr(self, key) for key in names])

    def log_slope(self: Any, x: Any) -> Any:
        return formulas.log_slope(F, x, lambda: self._forward(x), *[getattr(self, key) for key in names])

    own = {
        "_forward": formula("forward"), "_inverse": formula("inverse"), "_event_axes": event_axes, "__doc__": formulas.doc,
        "__module__": __name__, **({"_forward_log_det_jacobian": log_slope} if "log_slope" in formulas.formulas else {}),
        **members,
    }  # fmt: skip
    if names:
        own["__init__"] = constructor(name, ", ".join(names), made)
    return type(name, (Transform,), named(name, own, Transform))


AffineTransform = _row(maps.Affine, "AffineTransform", "loc scale")
ExpTransform = _row(maps.Exp, "ExpTransform")
SigmoidTransform = _row(maps.Sigmoid, "SigmoidTransform")
TanhTransform = _row(maps.Tanh, "TanhTransform")
PowerTransform = _row(
    maps.Power, "PowerTransform", "power",
    # Known at 0, too.
    _forward_log_det_jacobian=lambda self, x: ew.log(ew.absolute(self.power * x ** (self.power - 1))),
)  # fmt: skip


# The inverse is both -y and y.
AbsTransform = _row(maps.Abs, "AbsTransform", _inverse=lambda self, y: (-y, y))


class ReshapeTransform(Transform):
    """The last axes in another shape."""

    def __init__(self, in_event_shape: Sequence[int], out_event_shape: Sequence[int]) -> None:
        self.in_event_shape, self.out_event_shape = tuple(in_event_shape), tuple(out_event_shape)
        if math.prod(self.in_event_shape) != math.prod(self.out_event_shape):
            raise ValueError(f"ReshapeTransform: {in_event_shape} and {out_event_shape} have different sizes")
        self._event_axes = len(self.in_event_shape)

    def _moved(self, x: Any, given: Shape, wanted: Shape) -> Any:
        shape = tuple(shape_of(x))
        return reshape(x, shape=(*shape[: len(shape) - len(given)], *wanted))

    def _forward(self, x: Any) -> Any:
        return self._moved(x, self.in_event_shape, self.out_event_shape)

    def _inverse(self, y: Any) -> Any:
        return self._moved(y, self.out_event_shape, self.in_event_shape)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return summed(x * 0, len(self.in_event_shape))

    def _forward_shape(self, shape: Sequence[int]) -> Shape:
        return (*tuple(shape)[: len(shape) - len(self.in_event_shape)], *self.out_event_shape)

    def _inverse_shape(self, shape: Sequence[int]) -> Shape:
        return (*tuple(shape)[: len(shape) - len(self.out_event_shape)], *self.in_event_shape)


def _vectors(op: str, shape: Sequence[int]) -> tuple[Shape, int]:
    """A shape as that of the batch and the length of the vectors; raises ValueError without one."""
    if len(shape) < 1:
        raise ValueError(f"{op}: wanted at least 1 dimension")
    return tuple(shape)[:-1], shape[-1]


class SoftmaxTransform(Transform):
    """Vectors to points of the simplex by softmax; the inverse is a logarithm, which gives one of many such vectors."""

    _event_axes = 1

    def _forward(self, x: Any) -> Any:
        return softmax(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return ew.log(y)

    def _forward_shape(self, shape: Sequence[int]) -> Any:
        _vectors("SoftmaxTransform", shape)
        return shape

    _inverse_shape = _forward_shape


def _longer(more: int) -> Any:
    """The shape of vectors that are longer by `more`."""

    def longer(self: Any, shape: Sequence[int]) -> Shape:
        batch, n = _vectors("StickBreakingTransform", shape)
        return (*batch, n + more)

    return longer


StickBreakingTransform = _row(
    maps.StickBreaking, "StickBreakingTransform", event_axes=1, _forward_shape=_longer(1), _inverse_shape=_longer(-1),
)  # fmt: skip


class StackTransform(Transform):
    """A transform for each of the slices along an axis."""

    def __init__(self, transforms: Sequence[Transform], axis: int = 0) -> None:
        if not isinstance(transforms, (list, tuple)) or not transforms or not all(
            isinstance(t, Transform) for t in transforms
        ):  # fmt: skip
            raise TypeError("StackTransform: transforms must be a list of at least one transform")
        if not isinstance(axis, int):
            raise TypeError(f"StackTransform: axis must be an int, got {type(axis).__name__}")
        self.transforms, self.axis = list(transforms), axis

    def _each(self, method: str, x: Any) -> Any:
        parts = x.unbind(self.axis)
        if len(parts) != len(self.transforms):
            raise ValueError(
                f"StackTransform: axis {self.axis} has {len(parts)} slices for {len(self.transforms)} transforms"
            )
        return stack([getattr(t, method)(part) for t, part in zip(self.transforms, parts)], axis=self.axis)

    def _forward(self, x: Any) -> Any:
        return self._each("forward", x)

    def _inverse(self, y: Any) -> Any:
        return self._each("inverse", y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._each("forward_log_det_jacobian", x)


class IndependentTransform(Transform):
    """A transform whose slopes are summed over the last axes."""

    def __init__(self, base: Transform, reinterpreted_batch_rank: int) -> None:
        if reinterpreted_batch_rank <= 0:
            raise ValueError(f"IndependentTransform: the rank must be positive, got {reinterpreted_batch_rank}")
        self._base, self._rank = base, reinterpreted_batch_rank
        self._event_axes = base._event_axes + reinterpreted_batch_rank

    def _forward(self, x: Any) -> Any:
        return self._base.forward(x)

    def _inverse(self, y: Any) -> Any:
        return self._base.inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return summed(self._base._forward_log_det_jacobian(x), self._rank)


class ChainTransform(Transform):
    """Transforms one after the other, the first first."""

    def __init__(self, transforms: Sequence[Transform]) -> None:
        self.transforms = list(transforms)
        self._event_axes = max((t._event_axes for t in self.transforms), default=0)

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t.forward(x)
        return x

    def _inverse(self, y: Any) -> Any:
        for t in reversed(self.transforms):
            y = t.inverse(y)
        return y

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        total: Any = None
        for t in self.transforms:
            part = summed_to(t._forward_log_det_jacobian(x), self._event_axes - t._event_axes)
            total = part if total is None else total + part
            x = t.forward(x)
        return total


def summed_to(slope: Any, axes: int) -> Any:
    """A slope summed over as many axes as the event has more than the transform takes."""
    return summed(slope, min(axes, len(shape_of(slope))))


class TransformedDistribution(Distribution):
    """The distribution of what transforms make of a distribution's samples."""

    def __init__(self, base: Distribution, transforms: Sequence[Transform]) -> None:
        if not isinstance(base, Distribution):
            raise TypeError(f"TransformedDistribution: base must be a Distribution, got {type(base).__name__}")
        if not isinstance(transforms, (list, tuple)) or not all(isinstance(t, Transform) for t in transforms):
            raise TypeError("TransformedDistribution: transforms must be a list of transforms")
        self._base, self.transforms = base, list(transforms)
        self._chain = ChainTransform(self.transforms)
        shape = self._chain_shape((*base.batch_shape, *base.event_shape))
        self._axes = max(len(base.event_shape), self._chain._event_axes)
        split = len(shape) - self._axes
        super().__init__(shape[:split], shape[split:])

    def _chain_shape(self, shape: Shape) -> Shape:
        for t in self.transforms:
            shape = t.forward_shape(shape)
        return shape

    def _draw(self, shape: Shape) -> Any:
        return self._chain.forward(self._base._draw(shape))

    def rsample(self, shape: Any = ()) -> Any:
        """Samples through which the parameters are differentiated, where the base has such."""
        return self._chain.forward(self._base.rsample(shape))

    def log_prob(self, value: Any) -> Any:
        """The log density: that of the base less the log of the slopes."""
        x = self._chain.inverse(value)
        missing = self._axes - len(self._base.event_shape)
        base = summed(self._base.log_prob(x), missing)
        slope = summed_to(self._chain._forward_log_det_jacobian(x), self._axes - self._chain._event_axes)
        one, other = pair("log_prob", base, slope)
        return one - other
