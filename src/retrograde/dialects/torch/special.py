"""`torch.special`: special functions. As there, Bessel functions and orthogonal polynomials pass no gradient."""

from __future__ import annotations

import math
import sys as _sys
from collections.abc import Callable
from typing import Any

from ...core.value import Value, make
from ...ops import polynomial
from ...ops import special as ops
from .._shared.guard import at_home as _at_home
from .._shared.registry import defined as _defined
from . import _binary, _unary
from ._api import FUNCTIONS as _FUNCTIONS
from ._api import missing as _missing
from ._api import named as _named
from ._api import offered as _offered
from ._api import with_out as _with_out
from ._binary import xlog1py as _xlog1py
from ._binary import zeta as _zeta
from ._elementwise import EITHER, REAL_FLOAT, unary
from ._elementwise import settled_pair as _settled_pair
from ._elementwise import single as _settled
from ._tensor import Tensor

_SAME = {
    "digamma": _unary.digamma, "erf": _unary.erf, "erfc": _unary.erfc, "erfinv": _unary.erfinv, "exp2": _unary.exp2,
    "expit": _unary.sigmoid, "expm1": _unary.expm1, "gammaln": _unary.lgamma, "i0": _unary.i0, "log1p": _unary.log1p,
    "logit": _unary.logit, "multigammaln": _unary.mvlgamma, "polygamma": _unary.polygamma, "psi": _unary.digamma,
    "round": _unary.round, "sinc": _unary.sinc, "xlogy": _binary.xlogy, "gammainc": _binary.gammainc,
    "gammaincc": _binary.gammaincc,
}  # fmt: skip
_DIFFERENTIABLE = {
    "entr": ops.entr, "erfcx": ops.erfcx, "i0e": ops.i0e, "i1": ops.i1, "i1e": ops.i1e, "log_ndtr": ops.log_ndtr,
    "ndtri": ops.ndtri,
}  # fmt: skip
_CONSTANT = {
    "airy_ai": ops.airy_ai, "bessel_j0": ops.j0, "bessel_j1": ops.j1, "bessel_y0": ops.y0, "bessel_y1": ops.y1,
    "modified_bessel_i0": ops.i0, "modified_bessel_i1": ops.i1, "modified_bessel_k0": ops.k0,
    "modified_bessel_k1": ops.k1, "scaled_modified_bessel_k0": ops.k0e, "scaled_modified_bessel_k1": ops.k1e,
    "spherical_bessel_j0": ops.spherical_j0,
}  # fmt: skip
_POLYNOMIALS = {
    "chebyshev_polynomial_t": polynomial.chebyshev_t, "chebyshev_polynomial_u": polynomial.chebyshev_u,
    "chebyshev_polynomial_v": polynomial.chebyshev_v, "chebyshev_polynomial_w": polynomial.chebyshev_w,
    "hermite_polynomial_h": polynomial.hermite_h, "hermite_polynomial_he": polynomial.hermite_he,
    "laguerre_polynomial_l": polynomial.laguerre_l, "legendre_polynomial_p": polynomial.legendre_p,
    "shifted_chebyshev_polynomial_t": polynomial.shifted_chebyshev_t,
    "shifted_chebyshev_polynomial_u": polynomial.shifted_chebyshev_u,
    "shifted_chebyshev_polynomial_v": polynomial.shifted_chebyshev_v,
    "shifted_chebyshev_polynomial_w": polynomial.shifted_chebyshev_w,
}  # fmt: skip


def _without_history(x: Any) -> Any:
    return make(Tensor, x._a, None, x._level) if isinstance(x, Value) and x._node is not None else x


def _constant(name: str, op: Any) -> Callable[..., Any]:
    """A function of one tensor through which no gradient passes."""

    def f(input: Any) -> Any:
        return op(_without_history(_settled(name, input, REAL_FLOAT)))

    return _defined(name, f, f"The elementwise `{name}` of a tensor; no gradient passes.")


def _polynomial(name: str, op: Any) -> Callable[..., Any]:
    def f(input: Any, n: Any) -> Any:
        return op(*_settled_pair(name, input, n, REAL_FLOAT, EITHER))

    return _defined(name, f, f"The {name.replace('_', ' ')} of degree `n` at `input`, elementwise; no gradient passes.")


def ndtr(input: Any) -> Any:
    """The distribution function of the standard normal distribution, computed as (1 + erf(x / sqrt(2))) / 2."""
    return (_unary.erf(input * math.sqrt(0.5)) + 1) * 0.5


for _name, _op in _DIFFERENTIABLE.items():
    globals()[_name] = _with_out(_name, unary(_name, _op, REAL_FLOAT))
for _name, _op in _CONSTANT.items():
    globals()[_name] = _with_out(_name, _constant(_name, _op))
for _name, _op in _POLYNOMIALS.items():
    globals()[_name] = _with_out(_name, _polynomial(_name, _op))
for _name, _other in _SAME.items():
    globals()[_name] = _offered(_other)
ndtr = _with_out("ndtr", ndtr)
xlog1py = _with_out("xlog1py", _xlog1py)
zeta = _with_out("zeta", _zeta)


# As in PyTorch, these call themselves special_erf and so on.
for _name in (*_SAME, *_DIFFERENTIABLE, *_CONSTANT, *_POLYNOMIALS, "ndtr", "xlog1py", "zeta"):
    globals()[_name] = _at_home(_named(globals()[_name], "special_" + _name), _sys.modules[__name__], _name)


def __getattr__(name: str) -> Any:
    # softmax, log_softmax and logsumexp are the functions of the same name in torch, in whichever file they stand.
    if name in ("softmax", "log_softmax", "logsumexp") and name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise _missing("torch.special", name, globals())
