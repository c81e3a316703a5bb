"""Transforms to a constraint: `biject_to` (bijections) and `transform_to` (any that reach it, for optimisation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Transforms from unconstrained values by the type of the constraint."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register what makes the transform for a constraint; usable as a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(f"register: wanted a constraint or a class of constraints, got {constraint!r}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform to the constraint; raises NotImplementedError where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"no transform to {type(constraint).__name__} constraints is registered")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _both(constraint: Any, factory: Callable[[Any], Any]) -> None:
    biject_to.register(constraint, factory)
    transform_to.register(constraint, factory)


def _moved(first: Any, loc: Any, scale: Any) -> Any:
    return transforms.ComposeTransform([first, transforms.AffineTransform(loc, scale)])


def _above(c: Any) -> Any:
    return _moved(transforms.ExpTransform(), c.lower_bound, 1)


def _between(c: Any) -> Any:
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, (int, float)) and low == 0 and isinstance(high, (int, float)) and high == 1:
        return transforms.SigmoidTransform()
    return _moved(transforms.SigmoidTransform(), low, high - low)


def _of_others(registry: ConstraintRegistry) -> None:
    """Register the transforms to constraints made of others, in the registry that knows the others."""
    registry.register(constraints.independent, lambda c: transforms.IndependentTransform(
        registry(c.base_constraint), c.reinterpreted_batch_ndims))  # fmt: skip
    registry.register(constraints.cat, lambda c: transforms.CatTransform(
        [registry(x) for x in c.cseq], c.dim, c.lengths))  # fmt: skip
    registry.register(constraints.stack, lambda c: transforms.StackTransform([registry(x) for x in c.cseq], c.dim))


_of_others(biject_to)
_of_others(transform_to)
_both(constraints.real, lambda c: transforms.identity_transform)
_both(constraints.positive, lambda c: transforms.ExpTransform())
_both(constraints.nonnegative, lambda c: transforms.ExpTransform())
_both(constraints.greater_than, _above)
_both(constraints.greater_than_eq, _above)
_both(constraints.less_than, lambda c: _moved(transforms.ExpTransform(), c.upper_bound, -1))
_both(constraints.interval, _between)
_both(constraints.half_open_interval, _between)
_both(constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: transforms.PositiveDefiniteTransform())
