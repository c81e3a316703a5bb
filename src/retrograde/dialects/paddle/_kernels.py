"""Which functions PaddlePaddle refuses for booleans, integers and complex numbers, having no kernels for them.

Refused here too is what is more likely a mistake: the sine of booleans, the largest of complex numbers. What makes sense is
computed, though PaddlePaddle does not (products of integer matrices, quantiles of integers, booleans in order and moved
about, parts of complex tensors, half precision).
"""

from __future__ import annotations

import numpy as np

from ._dtype import FROM_NUMPY

__all__ = ["EnforceNotMet", "check"]


class EnforceNotMet(Exception):
    """What PaddlePaddle's kernels raise for elements they cannot compute with, such as an integer divided by zero."""


EnforceNotMet.__module__ = "paddle.base.core"

_REFUSED = {
    "b": """
        abs acos acosh asin asinh atan atanh cos cosh sin sinh tan tanh exp expm1 log log10 log1p log2 sqrt rsqrt
        reciprocal sigmoid erf erfinv lgamma gammaln digamma sinc multigammaln i0 i0e i1
        i1e floor ceil trunc square round sign logit stanh signbit angle clip
        prod std var nanmedian nanmean nansum logsumexp cumprod logcumsumexp quantile nanquantile histogram
        renorm add_n polygamma as_complex index_add cov corrcoef multi_dot
        floor_divide remainder pow atan2 hypot logaddexp heaviside nextafter
        bitwise_left_shift bitwise_right_shift matmul dot kron cross dist mv
        gammainc gammaincc fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft2
        ihfft2 hfftn ihfftn
    """,
    "iu": """
        renorm as_complex irfft hfft irfft2 hfft2 irfftn hfftn nextafter gammainc
        gammaincc
    """,
    "c": """
        rsqrt erf digamma isneginf isposinf clip max min amax amin median nanmedian logsumexp argmax argmin cummax cummin
        logcumsumexp sort argsort unique unique_consecutive mode kthvalue topk quantile nanquantile renorm histogram
        as_complex maximum minimum fmax fmin logaddexp searchsorted bucketize
    """,
}
_KINDS: dict[str, str] = {}
for _kinds, _names in _REFUSED.items():
    for _name in _names.split():
        _KINDS[_name] = _KINDS.get(_name, "") + _kinds


def check(op: str, d: np.dtype) -> None:
    """Raise RuntimeError where an operation is not meant for a dtype."""
    kinds = _KINDS.get(op)
    if kinds is not None and d.kind in kinds:
        raise RuntimeError(f"{op}: not computed for {FROM_NUMPY[d]}; convert the tensor with astype() first")
