"""Distributions as rows: classes whose formulas are those of a family (`retrograde.learn.distributions`).

A row says the constructor's parameters, which formulas PaddlePaddle has, and how samples are drawn from its stream.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn.distributions import Family
from ....ops import elementwise as ew
from ....ops import special as sp
from ....ops import structural as st
from ....ops.activation import log_sigmoid, sigmoid, softplus
from ....ops.linalg import solve_triangular
from ....ops.scan import cumprod
from ....ops.selection import where as choose
from ....ops.triangular import diagonal
from ..._shared.rows import constructor, named, reader
from .._joining import concat
from .._tensor import from_array
from .distribution import Distribution, Shape, arguments, summed

Method = Callable[..., Any]


def _where(condition: Any, x: Any, y: Any) -> Any:
    """x where a condition holds, y elsewhere; one of them may be a number."""
    d = dtype_of(x if isinstance(x, Value) else y)
    return choose(condition, *(v if isinstance(v, Value) else np.asarray(v, d) for v in (x, y)))


def _sum(x: Any, keep: bool = False, axes: int = 1) -> Any:
    return x.sum(-1, keepdim=True) if keep else summed(x, axes)


def _column(x: Any) -> Any:
    return st.reshape(x, shape=(*shape_of(x), 1))


def _solve(factor: Any, columns: Any) -> Any:
    return solve_triangular(factor, columns, upper=False, left=True, unit=False)


def _arange(start: int, stop: int, like: Any) -> Any:
    return from_array(np.arange(start, stop, 1 if stop > start else -1, dtype=dtype_of(like)))


def _pad(x: Any, before: int, after: int) -> Any:
    one = from_array(np.ones((*shape_of(x)[:-1], 1), dtype_of(x)))
    return concat([one] * before + [x] + [one] * after, axis=-1)


def _last(x: Any) -> int:
    return len(shape_of(x)) - 1


F = SimpleNamespace(
    atan=ew.atan, atanh=ew.atanh, cos=ew.cos, exp=ew.exp, expm1=ew.expm1, log=ew.log, log1p=ew.log1p, reciprocal=ew.reciprocal,
    sqrt=ew.sqrt, tan=ew.tan, tanh=ew.tanh, digamma=sp.digamma, erf=sp.erf, erfinv=sp.erfinv, i0e=sp.i0e, i1e=sp.i1e,
    lgamma=sp.lgamma, xlog1py=sp.xlog1py, xlogy=sp.xlogy,
    abs=ew.absolute, arange=_arange, clamp=lambda x, low, high: x.clip(low, high), column=_column,
    cumprod=lambda x: cumprod(x, axis=_last(x), reverse=False), cumsum=lambda x: x.cumsum(-1),
    diagonal=lambda x: diagonal(x, offset=0, axis1=_last(x) - 1, axis2=_last(x)), first=lambda x: x.sum(0),
    floor=lambda x: x.floor(), full_like=lambda x, number: x * 0 + number, log_sigmoid=log_sigmoid,
    mahalanobis=lambda factor, x: summed(_solve(factor, _column(x)) ** 2, 2),
    mvlgamma=lambda x, p: sp.multigammaln(x, p=p), pad=_pad, positive=lambda x: x, sigmoid=sigmoid, sign=lambda x: x.sign(),
    softplus=lambda x: softplus(x, beta=1.0, threshold=20.0), solve=_solve, sum=_sum,
    times_log=lambda a, x: a * ew.log(x), times_log1p=lambda a, x: a * ew.log1p(x), unit_sigmoid=sigmoid, where=_where,
)  # fmt: skip
"""PaddlePaddle's functions as the formulas' vocabulary."""

CLASSES: dict[Family, Any] = {}
"""The classes of the families, for their divergences."""


def parameters_of(family: Family, p: Any) -> Any:
    """A distribution's parameters by the names that the family has for them."""
    if p._parameters == family.parameters:
        return p
    return SimpleNamespace(**dict(zip(family.parameters, (getattr(p, name) for name in p._parameters))))


def _formula(formula: Method, name: str, parameters: tuple[str, ...]) -> Any:
    read = reader(parameters)
    if name in ("log_prob", "cdf", "icdf"):
        return lambda self, value: formula(F, value, *read(self))

    def of_parameters(self: Any) -> Any:
        return formula(F, *read(self))

    return of_parameters if name == "entropy" else property(of_parameters)


_DOCS = {
    "cdf": "The probability of this value or a smaller one.", "icdf": "The value that is not exceeded with a probability.",
    "stddev": "The standard deviation.",
}  # fmt: skip


def row(
    family: Family, parameters: str, also: str = "", *, base: type = Distribution, keeps: tuple[str, ...] = (),
    take: Method | None = None, draw: Method | None = None, **members: Any,
) -> Any:  # fmt: skip
    """The class of a row.

    parameters: of the constructor; they are made tensors of one shape and kept by their names. also: the formulas of the
    family that PaddlePaddle has besides `mean variance entropy log_prob`. keeps: the attributes that the formulas take, if
    not the parameters. take: what keeps the parameters instead, and returns the shapes of batch and event. draw: samples
    without derivatives, of the shape that was asked for. members: of the class.
    """
    owner = family.name
    names = tuple(p.partition("=")[0].partition(":")[0] for p in parameters.split(", "))
    has_name = names[-1] == "name"
    own = names[:-1] if has_name else names

    count = len(own)

    def made(self: Any, *given: Any) -> None:
        if take is not None:
            shapes = take(self, *given[:count])
        else:
            values = arguments(type(self).__name__, *given[:count])
            for key, value in zip(own, values):
                setattr(self, key, value)
            shapes = (shape_of(values[0]),)
        if has_name:
            self.name = given[-1] or type(self).__name__
        super(cls, self).__init__(*shapes)  # type: ignore[misc]

    found: dict[str, Any] = {
        name: _formula(getattr(family, name), name, keeps or own)
        for name in f"mean variance entropy log_prob {also}".split() if name in family.formulas
    }  # fmt: skip
    module = sys._getframe(1).f_globals["__name__"]
    found |= {"__doc__": family.doc, "__module__": module, "_parameters": keeps or own, **members}
    found["__init__"] = constructor(owner, parameters, made)
    if draw is not None:
        found["_draw"] = draw
    cls = CLASSES[family] = type(owner, (base,), named(owner, found, base, _DOCS))
    return cls


def extended(f: Callable[[Any, Shape], Any]) -> Method:
    """Samples of the shape that was asked for with batch and event behind it."""
    return lambda self, shape=(): f(self, self._extended(shape))
