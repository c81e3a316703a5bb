"""Constraints: the regions that parameters and samples of distributions lie in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import torch
from ..._shared.rows import constructor, named

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "independent", "integer_interval", "interval", "half_open_interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative",
    "nonnegative_integer", "one_hot", "positive", "positive_semidefinite", "positive_definite", "positive_integer",
    "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of values: `check` says for each event whether it lies in it."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Any) -> Any:
        """A boolean tensor without the event dimensions."""
        raise NotImplementedError(f"{type(self).__name__}.check")

    def __repr__(self) -> str:
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """Depends on other parameters; where the number of event dimensions or discreteness is known, it says so."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether values are isolated points; raises NotImplementedError where it is not known."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError("is_discrete is not known for a dependent constraint")
        return self._is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of event dimensions; raises NotImplementedError where it is not known."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError("event_dim is not known for a dependent constraint")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Any) -> Any:
        raise ValueError("a dependent constraint cannot be checked; ask the distribution's own support")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that is a constraint of the instance, and a dependent constraint of the class."""

    def __init__(self, fn: Any = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Any) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _OfBase(Constraint):
    """A constraint made of another."""

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            name = "independent" if isinstance(self, _IndependentConstraint) else type(self).__name__
            raise TypeError(f"{name}: wanted a constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether values are isolated points."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of event dimensions."""
        return self.base_constraint.event_dim


class _IndependentConstraint(_OfBase):
    """A constraint whose last batch dimensions count as event dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        super().__init__(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise TypeError(f"independent: wanted an int, got {type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise ValueError("independent: the number of dimensions cannot be negative")
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of event dimensions."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(
                f"independent: the value has {value.dim()} dimensions, at least {self.event_dim} are wanted"
            )
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_OfBase):
    """The support of a mixture: that of its components."""

    def check(self, value: Any) -> Any:
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"the value has {value.dim()} dimensions, at least {self.event_dim} are wanted")
        batch = value.dim() - self.event_dim
        return inside.reshape(value.shape[:batch] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


# ------------------------------------------------------------------------------------------ rows


def _region(name: str, doc: str, check: Any, bounds: str = "", base: type = Constraint, **members: Any) -> Any:
    """The class of a row. check: whether values lie in the region; bounds: what it is made with, and shown with."""
    names = bounds.split()

    def made(self: Any, *given: Any) -> None:
        for key, bound in zip(names, given):
            setattr(self, key, bound)

    own = {"__doc__": doc, "check": check, "__module__": __name__, **members}
    if names:
        own["__init__"] = constructor(name, ", ".join(names), made)
        own.setdefault("__repr__", lambda self: f"{name[1:]}({', '.join(f'{n}={getattr(self, n)}' for n in names)})")
    return type(name, (base,), named(name, own, base))


def _among_whole(value: Any, inside: Any) -> Any:
    """Which values are inside and whole, as those of a dtype of whole numbers are."""
    return (value % 1 == 0) & inside if value.is_floating_point() else inside


_Boolean = _region("_Boolean", "Zero or one.", lambda self, value: (value == 0) | (value == 1), is_discrete=True)
_OneHot = _region(
    "_OneHot", "Vectors of zeros and a single one.",
    lambda self, value: ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1), is_discrete=True, event_dim=1,
)  # fmt: skip
_IntegerInterval = _region(
    "_IntegerInterval", "Whole numbers from a lower to an upper bound, both included.",
    lambda self, value: _among_whole(value, (self.lower_bound <= value) & (value <= self.upper_bound)),
    "lower_bound upper_bound", is_discrete=True,
)  # fmt: skip
_IntegerLessThan = _region(
    "_IntegerLessThan", "Whole numbers up to a bound.",
    lambda self, value: _among_whole(value, value <= self.upper_bound), "upper_bound", is_discrete=True,
)  # fmt: skip
_IntegerGreaterThan = _region(
    "_IntegerGreaterThan", "Whole numbers from a bound on.",
    lambda self, value: _among_whole(value, value >= self.lower_bound), "lower_bound", is_discrete=True,
)  # fmt: skip
_Real = _region("_Real", "Any number but nan.", lambda self, value: value == value)
_GreaterThan = _region(
    "_GreaterThan", "Numbers above a bound.", lambda self, value: self.lower_bound < value, "lower_bound",
)  # fmt: skip
_GreaterThanEq = _region(
    "_GreaterThanEq", "Numbers from a bound on.", lambda self, value: self.lower_bound <= value, "lower_bound", _GreaterThan,
)  # fmt: skip
_LessThan = _region("_LessThan", "Numbers below a bound.", lambda self, value: value < self.upper_bound, "upper_bound")
_Interval = _region(
    "_Interval", "Numbers between two bounds, both included.",
    lambda self, value: (self.lower_bound <= value) & (value <= self.upper_bound), "lower_bound upper_bound",
)  # fmt: skip
_HalfOpenInterval = _region(
    "_HalfOpenInterval", "Numbers between two bounds, the lower one included.",
    lambda self, value: (self.lower_bound <= value) & (value < self.upper_bound), "lower_bound upper_bound", _Interval,
)  # fmt: skip
_Simplex = _region(
    "_Simplex", "Vectors of non-negative numbers that add up to 1.",
    lambda self, value: torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6), event_dim=1,
)  # fmt: skip
_Multinomial = _region(
    "_Multinomial", "Vectors of counts that add up to a total.",
    lambda self, x: (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound), "upper_bound", is_discrete=True, event_dim=1,
    __repr__=Constraint.__repr__,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ matrices


def _triangular(self: Any, value: Any) -> Any:
    return (value.tril() == value).view(value.shape[:-2] + (-1,)).min(-1)[0]


def _factor(self: Any, value: Any) -> Any:
    return _triangular(self, value) & (value.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


def _unit_rows(self: Any, value: Any) -> Any:
    tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
    lengths: Any = torch.linalg.norm(value.detach(), dim=-1)
    return _factor(self, value) & torch.abs(lengths - 1).le(tolerance).all(dim=-1)


def _is_square(self: Any, value: Any) -> Any:
    square = value.shape[-2] == value.shape[-1]
    return torch.full(size=value.shape[:-2], fill_value=square, dtype=torch.bool, device=value.device)


def _is_symmetric(self: Any, value: Any) -> Any:
    if value.shape[-2] != value.shape[-1]:
        return _is_square(self, value)
    return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


def _and_symmetric(test: Any) -> Any:
    """Whether all matrices are symmetric, and then which of them pass a test."""

    def check(self: Any, value: Any) -> Any:
        symmetric = _is_symmetric(self, value)
        return test(value) if symmetric.all() else symmetric

    return check


_LowerTriangular = _region("_LowerTriangular", "Lower triangular matrices.", _triangular, event_dim=2)
_LowerCholesky = _region("_LowerCholesky", "Lower triangular matrices with a positive diagonal.", _factor, event_dim=2)
_CorrCholesky = _region("_CorrCholesky", "Lower Cholesky factors whose rows have length one.", _unit_rows, event_dim=2)
_Square = _region("_Square", "Square matrices.", _is_square, event_dim=2)
_Symmetric = _region("_Symmetric", "Symmetric matrices.", _is_symmetric, base=_Square)
_PositiveSemidefinite = _region(
    "_PositiveSemidefinite", "Symmetric matrices without negative eigenvalues.",
    _and_symmetric(lambda value: torch.linalg.eigvalsh(value).ge(0).all(-1)), base=_Symmetric,
)  # fmt: skip
_PositiveDefinite = _region(
    "_PositiveDefinite", "Symmetric matrices with positive eigenvalues.",
    _and_symmetric(lambda value: torch.linalg.cholesky_ex(value).info.eq(0)), base=_Symmetric,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ pieces


class _OfSeveral(Constraint):
    """Different constraints for pieces along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        self.cseq, self.dim = list(cseq), dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        """Whether any of the constraints is."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of event dimensions."""
        return max(c.event_dim for c in self.cseq)


class _Cat(_OfSeveral):
    """Different constraints for stretches along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(f"cat: {len(self.cseq)} constraints need as many lengths, got {len(self.lengths)}")

    def check(self, value: Any) -> Any:
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return torch.cat(checks, self.dim)


class _Stack(_OfSeveral):
    """Different constraints for the slices along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        """The number of event dimensions, the stacked one included if it is one."""
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        slices = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return torch.stack([c.check(v) for c, v in zip(self.cseq, slices)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
