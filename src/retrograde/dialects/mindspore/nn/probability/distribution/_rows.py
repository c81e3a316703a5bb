"""Distributions as rows: classes whose formulas are those of a family (`retrograde.learn.distributions`).

A row says what MindSpore calls the parameters, which formulas it has, where densities are 0, and how samples are drawn.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from ......learn.distributions import Family
from ......learn.distributions.divergences import DIVERGENCES
from ....._shared.rows import constructor, named
from .... import _shape
from ...._dtype import Number, float32
from .._parameters import above, floating
from .._vocabulary import F
from ._base import Distribution

Method = Callable[..., Any]

_OF_VALUES = {"log_prob", "cdf"}
_NAMES = {"sd": "stddev", "var": "variance"}
"""What formulas are called in families, where MindSpore calls them otherwise."""


def together(parameters: tuple[Any, ...]) -> list[Any]:
    """Parameters of one shape."""
    shape = tuple(np.broadcast_shapes(*(p.shape for p in parameters)))
    return [p if p.shape == shape else _shape.broadcast_to(p, shape) for p in parameters]


def _formula(family: Family, name: str, within: Method | None, before: Method | None) -> Method:
    if name == "kl_loss":
        divergence, count = DIVERGENCES[family, family], len(family.parameters)

        def of_both(self: Any, *parameters: Any) -> Any:
            other, own = (
                SimpleNamespace(**dict(zip(family.parameters, each)))
                for each in (parameters[:count], parameters[count:])
            )
            return divergence(F, own, other)

        return of_both
    formula = getattr(family, _NAMES.get(name, name))
    if name not in _OF_VALUES:
        return lambda self, *parameters: formula(F, *together(parameters))

    def of_value(self: Any, x: Any, *parameters: Any) -> Any:
        result = formula(F, x if before is None else before(x), *parameters)
        return result if within is None or name == "cdf" else F.where(within(x, *parameters), result, -math.inf)

    return of_value


def of_family(family: Family, formulas: str, within: Method | None = None, before: Method | None = None) -> Any:
    """The methods that a family gives."""
    return {"_" + name: _formula(family, name, within, before) for name in formulas.split()}


def drawn(draw: Method) -> Method:
    """Samples from NumPy: `draw(stream, size, *arrays)`."""
    return lambda self, shape, *parameters: self._drawn(draw, shape, *parameters)


def moved(draw: str) -> Method:
    """Samples of a place and a scale times those of a standard distribution."""
    return lambda self, shape, *own: own[0] + own[1] * self._standard(draw, shape, *own)


def row(
    family: Family, parameters: str, formulas: str, *, base: type = Distribution, positive: str = "",
    whole: bool = False, dtype: Number = float32, named_later: bool = False, seed: int | None = None, docs: str = "",
    raises: str = "", within: Method | None = None, before: Method | None = None, then: Method | None = None,
    sample: Method | None = None, start: Method | None = None, required: bool = False, **members: Any,
) -> Any:  # fmt: skip
    """The class of a row.

    parameters: what the family's are called here. formulas: which of them there are, and `kl_loss`. positive: the
    parameters that must be above 0. whole: whether it is over whole numbers, so that any dtype will do; dtype: the default.
    named_later: whether the name's default is None. seed: the default. docs: of the parameters that are attributes.
    raises: what the constructor refuses. within: where the density is not 0. before: what is done to values first. then: a
    further check. sample: of the distribution, a shape and the parameters. start: another way to start, for distributions
    made of others. required: whether parameters must be given. members: of the class.
    """
    owner, names = family.name, tuple(parameters.split())

    def made(self: Any, *given: Any) -> None:
        *values, seed, dtype, name = given
        kind = type(self).__name__
        name = kind if name is None else name
        dtype = dtype if whole else floating(kind, dtype)
        if start is not None:
            start(self, *values, seed, dtype, name)
        else:
            super(cls, self).__init__(seed, dtype, name, dict(zip(names, values)))  # type: ignore[misc]
        for parameter in positive.split():
            above(kind, parameter, self._values[parameter], 0)
        if then is not None:
            then(self)

    attributes = {
        name: property(lambda self, name=name: self._values[name], doc=doc)
        for name, doc in zip(names, docs.split(" | ") if docs else ())
    }
    name = "None" if named_later else repr(owner)
    own = {
        "__doc__": f"{family.doc}{raises and f' Raises ValueError {raises}.'}", **attributes,
        "__module__": sys._getframe(1).f_globals["__name__"], "_names": names,
        **of_family(family, formulas, within, before), **({} if sample is None else {"_sample": sample}), **members,
        "__init__": constructor(
            owner, "".join(f"{n}, " if required else f"{n}=None, " for n in names) + f"seed={seed}, dtype=_dtype, name={name}",
            made, _dtype=dtype,
        ),
    }  # fmt: skip
    cls = type(owner, (base,), named(owner, own, base))
    return cls
