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


def _above(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])  # fmt: skip


def _below(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])  # fmt: skip


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and low == 0 and isinstance(high, (int, float)) and high == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(loc=low, scale=high - low)])  # fmt: skip


def _exp(constraint: Any) -> Any:
    return transforms.ExpTransform()


_both(constraints.real, lambda c: transforms.identity_transform)
biject_to.register(constraints.independent, lambda c: transforms.IndependentTransform(
    biject_to(c.base_constraint), c.reinterpreted_batch_ndims))  # fmt: skip
transform_to.register(constraints.independent, lambda c: transforms.IndependentTransform(
    transform_to(c.base_constraint), c.reinterpreted_batch_ndims))  # fmt: skip
_both(constraints.positive, _exp)
_both(constraints.nonnegative, _exp)
_both(constraints.greater_than, _above)
_both(constraints.greater_than_eq, _above)
_both(constraints.less_than, _below)
_both(constraints.interval, _between)
_both(constraints.half_open_interval, _between)
biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: transforms.PositiveDefiniteTransform())
_both(constraints.corr_cholesky, lambda c: transforms.CorrCholeskyTransform())
biject_to.register(constraints.cat, lambda c: transforms.CatTransform(
    [biject_to(x) for x in c.cseq], c.dim, c.lengths))  # fmt: skip
transform_to.register(constraints.cat, lambda c: transforms.CatTransform(
    [transform_to(x) for x in c.cseq], c.dim, c.lengths))  # fmt: skip
biject_to.register(constraints.stack, lambda c: transforms.StackTransform([biject_to(x) for x in c.cseq], c.dim))
transform_to.register(constraints.stack, lambda c: transforms.StackTransform([transform_to(x) for x in c.cseq], c.dim))
