"""Distributions as rows: classes whose formulas are those of a family (`retrograde.learn.distributions`).

A row says the constructor's parameters, what they and the values must satisfy, and what is PyTorch's own: how samples are
drawn from its stream. What a family does not have is written beside, as a method.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from ....learn.distributions import Family
from ... import torch
from ..._shared.rows import constructor, named, reader
from .distribution import Distribution
from .utils import alike, broadcast_all, lazy_property

Method = Callable[..., Any]


def summed(x: Any, keep: bool = False, axes: int = 1) -> Any:
    """The sum over the last dimensions."""
    return x.sum(-1 if axes == 1 else tuple(range(-axes, 0)), keep)


def mahalanobis(factor: Any, x: Any) -> Any:
    """The squared lengths of `factor^-1 x` for lower triangular factors, batches broadcast."""
    if factor.dim() == 2 and x.dim() > 1:  # one factor for all: one solve with many columns
        return solve(factor, x.reshape(-1, x.size(-1)).mT).pow(2).sum(-2).reshape(x.shape[:-1])
    return solve(factor, x.unsqueeze(-1)).pow(2).sum(-2).squeeze(-1)


def solve(factor: Any, columns: Any) -> Any:
    """`factor^-1 columns` for lower triangular factors."""
    return torch.linalg.solve_triangular(factor, columns, upper=False)


def unit_sigmoid(x: Any) -> Any:
    """The sigmoid, kept off 0 and 1."""
    limits = torch.finfo(x.dtype)
    return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)


def _arange(start: int, stop: int, like: Any) -> Any:
    return torch.arange(start, stop, 1 if stop > start else -1, **alike(like))


F = SimpleNamespace(
    **{name: getattr(torch, name) for name in (
        "abs", "atan", "atanh", "clamp", "cos", "digamma", "erf", "erfinv", "exp", "expm1", "floor", "full_like",
        "isclose", "lgamma", "log", "log1p", "logit", "mvlgamma", "reciprocal", "sigmoid", "sign", "sqrt", "tan", "tanh", "where",
        "xlogy",
    )},
    **{name: getattr(torch.special, name) for name in ("gammainc", "i0e", "i1e", "xlog1py")},
    arange=_arange, column=lambda x: x.unsqueeze(-1), cumprod=lambda x: x.cumprod(-1), cumsum=lambda x: x.cumsum(-1),
    diagonal=lambda x: x.diagonal(dim1=-2, dim2=-1), first=lambda x: x.sum(0), log_sigmoid=torch.nn.functional.logsigmoid,
    mahalanobis=mahalanobis, pad=lambda x, before, after: torch.nn.functional.pad(x, [before, after], value=1),
    positive=lambda x: torch.clamp(x, min=torch.finfo(x.dtype).tiny), softplus=torch.nn.functional.softplus, solve=solve,
    sum=summed, times_log=torch.xlogy, times_log1p=torch.special.xlog1py, unit_sigmoid=unit_sigmoid,
)  # fmt: skip
"""PyTorch's functions as the formulas' vocabulary."""

CLASSES: dict[Family, type] = {}
"""The classes of the families, for their divergences."""

_OF_VALUES = ("log_prob", "cdf", "icdf")


def checked(method: Method) -> Method:
    """A method of a value, which is checked first where values are."""

    @functools.wraps(method)
    def of_value(self: Any, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return method(self, value)

    return of_value


def extended(draw: Method) -> Method:
    """Samples: of the distribution and the shape that was asked for, with batch and event behind it."""
    return lambda self, sample_shape=(): draw(self, self._extended_shape(sample_shape))


def _formula(name: str, family: Family) -> Any:
    """A family's formula as a method or property."""
    formula, read = getattr(family, name), reader(family.parameters)
    if name in _OF_VALUES:

        def of_value(self: Any, value: Any) -> Any:
            return formula(F, value, *read(self))

        return of_value if name == "icdf" else checked(of_value)

    def of_parameters(self: Any) -> Any:
        return formula(F, *read(self))

    return of_parameters if name == "entropy" else property(of_parameters)


def of_family(family: Family, formulas: tuple[str, ...]) -> dict[str, Any]:
    """The members of a class that a family gives it."""
    members = {name: _formula(name, family) for name in formulas if name in family.formulas}
    if "natural" in family.formulas and formulas:
        members["_natural_params"] = _formula("natural", family)
        members["_log_normalizer"] = lambda self, *x: family.log_normaliser(F, *x)  # type: ignore[attr-defined]
    return members


def row(
    family: Family, parameters: str, constraints: Mapping[str, Any] | property, support: Any = None, *,
    bases: tuple[type, ...] = (Distribution,), take: Method | None = None, build: Method | None = None,
    parts: Mapping[str, Method] | None = None, copied: str = "", of_base: str = "", then: Method | None = None,
    name: str = "", formulas: str = "mean mode stddev variance entropy log_prob cdf icdf", **members: Any,
) -> Any:  # fmt: skip
    """The class of a row.

    parameters: of the constructor, before validate_args. constraints: what parameters satisfy, by name; they are expanded
    with the batch. support: what values satisfy. take: keeps the parameters, and returns the shapes of batch and event;
    usually they are broadcast and kept by their names. build: of the distribution, its parameters and validate_args, the
    base and the transforms of a transformed distribution. parts: attributes that are expanded with the batch, and what
    makes them, of the distribution. copied: attributes that stay as they are. of_base: where a transformed distribution
    keeps the parameters, if not by itself. then: a further check. formulas: which of the family's are taken. members: of
    the class.
    """
    name = name or family.name
    names = tuple(n.partition("=")[0].partition(":")[0] for n in parameters.split(", "))
    kept = tuple(constraints) if isinstance(constraints, Mapping) else names

    def made(self: Any, *given: Any) -> None:
        *values, validate_args = given
        if take is not None:
            arguments = take(self, *given)
        elif not of_base:
            for key, value in zip(names, broadcast_all(*values)):
                setattr(self, key, value)
            arguments = (getattr(self, names[0]).size(),)
        for key, part in (parts or {}).items():
            setattr(self, key, part(self))
        if build is not None:
            arguments = build(self, *given)
        super(cls, self).__init__(*arguments, validate_args=validate_args)  # type: ignore[misc]
        if then is not None and self._validate_args:
            then(self)

    def made_plainly(self: Any, *given: Any) -> None:
        values = broadcast_all(*given[:-1])
        for key, value in zip(names, values):
            setattr(self, key, value)
        super(cls, self).__init__(values[0].size(), validate_args=given[-1])  # type: ignore[misc]

    def expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
        if build is None:
            new = self._expanded(cls, batch_shape, _instance, kept)
        else:
            new = self._get_checked_instance(cls, _instance)
            for key in () if of_base else kept:
                setattr(new, key, getattr(self, key).expand(batch_shape))
            new = super(cls, self).expand(batch_shape, _instance=new)  # type: ignore[misc]
        for key in parts or {}:
            setattr(new, key, getattr(self, key).expand(torch.Size(batch_shape)))
        for key in copied.split():
            setattr(new, key, getattr(self, key))
        return new

    def held(parameter: str) -> property:
        def get(self: Any) -> Any:
            for step in of_base.split("."):
                self = getattr(self, step)
            return getattr(self, parameter)

        return property(get, doc=f"The parameter `{parameter}`.")

    own: dict[str, Any] = {
        "__doc__": family.doc, "arg_constraints": constraints, **({} if support is None else {"support": support}),
        **of_family(family, tuple(formulas.split())), **({p: held(p) for p in names} if of_base else {}), **members,
    }  # fmt: skip
    plain = not (take or build or parts or then)
    signature = f"{parameters}, validate_args: bool | None = None"
    own["__init__"] = constructor(name, signature, made_plainly if plain else made)
    own.setdefault("expand", expand)
    for key, member in own.items():
        if isinstance(member, lazy_property):
            member.wrapped.__name__ = key  # it is kept under this name
    cls = type(name, bases, named(name, own, bases[-1]))
    return entered(family, cls)


def entered(family: Family, cls: type) -> type:
    """A class, known as that of a family."""
    CLASSES[family] = cls
    return cls
