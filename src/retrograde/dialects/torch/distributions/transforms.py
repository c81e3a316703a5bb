"""Transforms: maps with the logarithms of their Jacobian determinants, for flows and constrained parameters."""

from __future__ import annotations

import functools
import math
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ....learn.distributions import transforms as maps
from ... import torch
from ..._shared.rows import constructor, named, reader
from . import constraints
from ._rows import F, unit_sigmoid
from .utils import Number, alike, broadcast_all, lazy_property, sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
    "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform", "identity_transform",
]  # fmt: skip


class Transform:
    """A map from a domain to a codomain; with `cache_size=1` it remembers its last pair, so that inverses are exact."""

    bijective: Any = False
    domain: Any
    codomain: Any
    _arguments: str
    """Of a class with a constructor of its own: the attributes that hold its arguments."""

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"Transform: cache_size must be 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None
        self._cached_x_y: Any = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_inv"] = None
        return state

    @property
    def event_dim(self) -> int:
        """The number of event dimensions, where domain and codomain have the same."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("event_dim: domain and codomain have different numbers of dimensions; ask them")

    @property
    def inv(self) -> Any:
        """The inverse transform."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """Whether the map increases (1) or decreases (-1), where it is monotonic and known."""
        raise NotImplementedError(f"{type(self).__name__}.sign")

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another cache size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        cls = next((cls for cls in type(self).__mro__ if "_arguments" in vars(cls)), None)
        if cls is None:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return cls(*(getattr(self, name) for name in cls._arguments.split()), cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = object.__hash__

    def __call__(self, x: Any) -> Any:
        """The map; remembered if there is a cache."""
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._call")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}._inverse")

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the absolute value of the Jacobian determinant at x with image y."""
        raise NotImplementedError(f"{type(self).__name__}.log_abs_det_jacobian")

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the image of something of that shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of what has an image of that shape."""
        return shape


def _regions(make: Callable[[Any, str], Any], **known: Any) -> Any:
    """Domain and codomain, made of a transform and one of these names."""
    return (
        constraints.dependent_property(lambda self, side=side: make(self, side), **known)
        for side in ("domain", "codomain")
    )


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The transform's codomain."""
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The transform's domain."""
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        """Whether the transform is."""
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


def _outermost(parts: list[tuple[Any, Any]]) -> Any:
    """The last region on the way through the parts, with more event dimensions where those before need them."""
    if not parts:
        return constraints.real
    region, event_dim = parts[-1][1], parts[0][0].event_dim
    for inner, outer in parts:
        event_dim = max(event_dim + outer.event_dim - inner.event_dim, outer.event_dim)
    more = event_dim - region.event_dim
    return constraints.independent(region, more) if more > 0 else region


class ComposeTransform(Transform):
    """Several transforms, one after the other."""

    _arguments = "parts"

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The first part's, with more event dimensions where later parts need them."""
        return _outermost([(part.codomain, part.domain) for part in reversed(self.parts)])

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The last part's, with more event dimensions where earlier parts need them."""
        return _outermost([(part.domain, part.codomain) for part in self.parts])

    @lazy_property
    def bijective(self) -> bool:
        """Whether every part is."""
        return all(p.bijective for p in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the signs."""
        return functools.reduce(operator.mul, (p.sign for p in self.parts), 1)

    @property
    def inv(self) -> Any:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([p.inv for p in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms = []
        event_dim = self.domain.event_dim
        for part, a, b in zip(self.parts, values[:-1], values[1:]):
            terms.append(sum_rightmost(part.log_abs_det_jacobian(a, b), event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        inner = ",\n    ".join(repr(p) for p in self.parts)
        return f"{type(self).__name__}(\n    {inner}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as event dimensions: their Jacobian terms are added up."""

    _arguments = "base_transform reinterpreted_batch_ndims"

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    domain, codomain = _regions(
        lambda self, side: constraints.independent(getattr(self.base_transform, side), self.reinterpreted_batch_ndims),
        is_discrete=False,
    )

    @property
    def bijective(self) -> bool:
        """Whether the base is."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(f"IndependentTransform: wanted at least {self.domain.event_dim} dimensions, got {x.dim()}")
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            wanted = self.codomain.event_dim
            raise ValueError(f"IndependentTransform: wanted at least {wanted} dimensions, got {y.dim()}")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Another shape of the last dimensions."""

    bijective = True

    _arguments = "in_shape out_shape"

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = torch.Size(in_shape), torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(f"ReshapeTransform: {tuple(in_shape)} and {tuple(out_shape)} hold different numbers")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        """Real arrays of the one shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Real arrays of the other shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.size()[: x.dim() - len(self.in_shape)])

    def _swapped(self, shape: Any, own: Any, other: Any) -> Any:
        if len(shape) < len(own):
            raise ValueError(f"ReshapeTransform: {tuple(shape)} has too few dimensions, wanted at least {len(own)}")
        cut = len(shape) - len(own)
        if tuple(shape[cut:]) != tuple(own):
            raise ValueError(f"ReshapeTransform: the last dimensions must be {tuple(own)}, got {tuple(shape[cut:])}")
        return torch.Size(tuple(shape[:cut]) + tuple(other))

    def forward_shape(self, shape: Any) -> Any:
        return self._swapped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._swapped(shape, self.out_shape, self.in_shape)


# ------------------------------------------------------------------------------------------ of single numbers


def row(
    name: str, formulas: Any, domain: Any, codomain: Any, doc: str = "", *, arguments: str = "", take: Any = None,
    **members: Any,
) -> Any:  # fmt: skip
    """The class of a transform whose formulas are those of a map. arguments: of the constructor, before cache_size; they are
    kept by their names, or by `take`. `sign` says that it increases."""
    names = arguments.split()
    read = reader(tuple(names))

    def made(self: Any, *given: Any) -> None:
        super(cls, self).__init__(cache_size=given[-1])
        if take is not None:
            take(self, *given[:-1])
        else:
            self.__dict__.update(zip(names, given))

    def formula(f: Any) -> Any:
        return (lambda self, x: f(F, x, *read(self))) if names else lambda self, x: f(F, x)

    def log_slope(self: Any, x: Any, y: Any) -> Any:
        return formulas.log_slope(F, x, lambda: y, *read(self))

    own: dict[str, Any] = {"__eq__": lambda self, other: isinstance(other, cls), "__doc__": doc}
    if formulas is not None:
        own |= {"__doc__": formulas.doc, "_call": formula(formulas.forward), "_inverse": formula(formulas.inverse)}
        if "log_slope" in formulas.formulas:
            own |= {"bijective": True, "log_abs_det_jacobian": log_slope}
    if names:
        own |= {
            "_arguments": arguments,
            "__init__": constructor(name, f"{', '.join(names)}, cache_size: int = 0", made),
        }
    own |= {"domain": domain, "codomain": codomain, "__hash__": object.__hash__, "__module__": __name__, **members}
    cls = type(name, (Transform,), named(name, own, Transform))
    return cls


def _broadcast(shapes: Any) -> dict[str, Any]:
    """The methods that say the shapes of a transform whose parameters are broadcast with the values."""

    def of_shape(self: Any, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, *shapes(self))

    return {"forward_shape": of_shape, "inverse_shape": lambda self, shape: of_shape(self, shape)}


def _inner(y: Any) -> Any:
    """Numbers kept off 0 and 1."""
    limits = torch.finfo(y.dtype)
    return y.clamp(min=limits.tiny, max=1.0 - limits.eps)


ExpTransform = row("ExpTransform", maps.Exp, constraints.real, constraints.positive, sign=1)
SigmoidTransform = row(
    "SigmoidTransform", maps.Sigmoid, constraints.real, constraints.unit_interval, sign=1,
    _call=lambda self, x: unit_sigmoid(x), _inverse=lambda self, y: maps.Sigmoid.inverse(F, _inner(y)),
)  # fmt: skip
SoftplusTransform = row("SoftplusTransform", maps.Softplus, constraints.real, constraints.positive, sign=1)
TanhTransform = row("TanhTransform", maps.Tanh, constraints.real, constraints.interval(-1.0, 1.0), sign=1)
AbsTransform = row("AbsTransform", maps.Abs, constraints.real, constraints.positive)


def _exponent(self: Any, exponent: Any) -> None:
    (self.exponent,) = broadcast_all(exponent)


PowerTransform = row(
    "PowerTransform", maps.Power, constraints.positive, constraints.positive, arguments="exponent", take=_exponent,
    sign=lazy_property(lambda self: self.exponent.sign()), **_broadcast(lambda self: (self.exponent.shape,)),
    __eq__=lambda self, other: isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all()),
)  # fmt: skip
CumulativeDistributionTransform = row(
    "CumulativeDistributionTransform", None, property(lambda self: self.distribution.support), constraints.unit_interval,
    "A distribution's cdf: its samples to numbers uniform in [0, 1].", arguments="distribution", bijective=True, sign=1,
    _call=lambda self, x: self.distribution.cdf(x), _inverse=lambda self, y: self.distribution.icdf(y),
    log_abs_det_jacobian=lambda self, x, y: self.distribution.log_prob(x), __eq__=Transform.__eq__,
)  # fmt: skip


class AffineTransform(Transform):
    """y = loc + scale * x."""

    bijective = True

    _arguments = "loc scale event_dim"

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Real arrays."""
        return constraints.real if self.event_dim == 0 else constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        for a, b in ((self.loc, other.loc), (self.scale, other.scale)):
            same = a == b if isinstance(a, Number) and isinstance(b, Number) else bool((torch.as_tensor(a == b)).all())
            if not same:
                return False
        return True

    __hash__ = object.__hash__

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Number):
            return 1 if float(self.scale) > 0 else -1 if float(self.scale) < 0 else 0
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return maps.Affine.forward(F, x, self.loc, self.scale)

    def _inverse(self, y: Any) -> Any:
        return maps.Affine.inverse(F, y, self.loc, self.scale)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape = x.shape
        if isinstance(self.scale, Number):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = maps.Affine.log_slope(F, x, lambda: y, self.loc, self.scale)
        if self.event_dim:
            result = result.view(tuple(result.size()[: -self.event_dim]) + (-1,)).sum(-1)
            shape = shape[: -self.event_dim]
        return result.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


# ------------------------------------------------------------------------------------------ of vectors and matrices


class CorrCholeskyTransform(Transform):
    """Unconstrained vectors of length d (d - 1) / 2 to Cholesky factors of d by d correlation matrices.

    Each entry goes through tanh and breaks off its share of what is left of the row's length of one.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], **alike(r))
        return r * F.pad(left[..., :-1], 1, 0)

    def _inverse(self, y: Any) -> Any:
        left = F.pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], 1, 0)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        left = 1 - (y * y).cumsum(dim=-1)
        shares = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        return shares - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        if len(shape) < 1:
            raise ValueError("CorrCholeskyTransform: wanted at least 1 dimension")
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError(f"CorrCholeskyTransform: {n} entries fill no triangle below a diagonal")
        return torch.Size(tuple(shape[:-1]) + (d, d))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2 or shape[-2] != shape[-1]:
            raise ValueError(f"CorrCholeskyTransform: wanted square matrices, got the shape {tuple(shape)}")
        d = shape[-1]
        return torch.Size(tuple(shape[:-2]) + (d * (d - 1) // 2,))


def _vectors(name: str, more: int) -> dict[str, Any]:
    """The methods that say the shapes of a transform of vectors to vectors that are longer by `more`."""

    def shape_of(shape: Any, more: int) -> Any:
        if len(shape) < 1:
            raise ValueError(f"{name}: wanted at least 1 dimension")
        return torch.Size(tuple(shape[:-1]) + (shape[-1] + more,)) if more else shape

    return {
        "forward_shape": lambda self, shape: shape_of(shape, more), "inverse_shape": lambda self, shape: shape_of(shape, -more),
    }  # fmt: skip


def _softmax(self: Any, x: Any) -> Any:
    probs = (x - x.max(-1, True)[0]).exp()
    return probs / probs.sum(-1, True)


def _on_diagonal(x: Any, f: Callable[[Any], Any]) -> Any:
    return x.tril(-1) + f(x.diagonal(dim1=-2, dim2=-1)).diag_embed()


def _square(self: Any, x: Any) -> Any:
    factor = LowerCholeskyTransform()(x)
    return factor @ factor.mT


SoftmaxTransform = row(
    "SoftmaxTransform", None, constraints.real_vector, constraints.simplex,
    "Vectors to the simplex by normalised exponentials; not bijective.", _call=_softmax, _inverse=lambda self, y: y.log(),
    **_vectors("SoftmaxTransform", 0),
)  # fmt: skip
StickBreakingTransform = row(
    "StickBreakingTransform", maps.StickBreaking, constraints.real_vector, constraints.simplex,
    **_vectors("StickBreakingTransform", 1),
)  # fmt: skip
LowerCholeskyTransform = row(
    "LowerCholeskyTransform", None, constraints.independent(constraints.real, 2), constraints.lower_cholesky,
    "Square matrices to lower triangular ones with a positive diagonal.",
    _call=lambda self, x: _on_diagonal(x, torch.exp), _inverse=lambda self, y: _on_diagonal(y, torch.log),
)  # fmt: skip
PositiveDefiniteTransform = row(
    "PositiveDefiniteTransform", None, constraints.independent(constraints.real, 2), constraints.positive_definite,
    "Square matrices to positive definite ones.", _call=_square,
    _inverse=lambda self, y: LowerCholeskyTransform().inv(torch.linalg.cholesky(y)),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ of pieces


class _OfParts(Transform):
    """Transforms for pieces of arrays along a dimension."""

    transforms: list[Any]
    dim: int

    def _take(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise TypeError(f"{type(self).__name__}: wanted a sequence of transforms")
        Transform.__init__(self, cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        """Whether every part is."""
        return all(t.bijective for t in self.transforms)


class CatTransform(_OfParts):
    """Different transforms for stretches along a dimension."""

    _arguments = "transforms dim lengths"

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        self._take(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise ValueError(f"CatTransform: {len(self.transforms)} transforms, but {len(self.lengths)} lengths")

    @lazy_property
    def event_dim(self) -> int:
        """The largest number of event dimensions."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The length of the dimension."""
        return sum(self.lengths)

    def _pieces(self, *values: Any) -> Any:
        for x in values:
            if not -x.dim() <= self.dim < x.dim() or x.size(self.dim) != self.length:
                raise ValueError(f"CatTransform: dimension {self.dim} must have size {self.length}, not {x.shape}")
        start = 0
        for transform, length in zip(self.transforms, self.lengths):
            yield (transform, *(x.narrow(self.dim, start, length) for x in values))
            start += length

    def _call(self, x: Any) -> Any:
        return torch.cat([t(a) for t, a in self._pieces(x)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return torch.cat([t.inv(a) for t, a in self._pieces(y)], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = []
        for transform, a, b in self._pieces(x, y):
            term = transform.log_abs_det_jacobian(a, b)
            if transform.event_dim < self.event_dim:
                term = sum_rightmost(term, self.event_dim - transform.event_dim)
            terms.append(term)
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    domain, codomain = _regions(
        lambda self, side: constraints.cat([getattr(t, side) for t in self.transforms], self.dim, self.lengths)
    )


class StackTransform(_OfParts):
    """Different transforms for the slices along a dimension."""

    _arguments = "transforms dim"

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        self._take(tseq, dim, cache_size)

    def _slice(self, z: Any) -> list[Any]:
        if not -z.dim() <= self.dim < z.dim() or z.size(self.dim) != len(self.transforms):
            raise ValueError(
                f"StackTransform: dimension {self.dim} must have size {len(self.transforms)}, got {tuple(z.shape)}"
            )
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _call(self, x: Any) -> Any:
        return torch.stack([t(a) for a, t in zip(self._slice(x), self.transforms)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return torch.stack([t.inv(a) for a, t in zip(self._slice(y), self.transforms)], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = [t.log_abs_det_jacobian(a, b) for a, b, t in zip(self._slice(x), self._slice(y), self.transforms)]
        return torch.stack(terms, dim=self.dim)

    domain, codomain = _regions(
        lambda self, side: constraints.stack([getattr(t, side) for t in self.transforms], self.dim)
    )
