"""retrograde: automatic differentiation for NumPy and other arrays, with the gradient APIs of three frameworks.

The package is a namespace of the Python array API standard (version 2024.12): `rg.sin`, `rg.linalg.inv`, `rg.float32`
and so on, over tensors that remember how they were computed. Gradients come from the tape (`x.requires_grad_()`,
`y.backward()`, `rg.autograd.grad`) or from transforms of functions (`rg.grad`, `rg.jvp`, `rg.vmap`, ...).

Examples
--------
>>> import retrograde as rg
>>> f = lambda x: rg.sin(x) ** 2
>>> rg.vmap(rg.grad(f))(rg.asarray([0.0, rg.pi / 4]))
Tensor([0., 1.])
"""

from __future__ import annotations

import importlib as _importlib
import math as _math
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._collection import Paused as _Paused
from ._version import __version__

_paused = _Paused(lasting=True)  # until the modules below are loaded

# Kernels run in modules of this package; what they meet (a logarithm of zero, say) is a value, not a warning.
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"retrograde(\.|$)")

# The filter comes before what it is for.
from ._errors import (  # noqa: E402
    FreedGraphError,
    GradError,
    LevelError,
    MutationError,
    RetrogradeError,
    ShapeError,
    UnsupportedError,
)
from .tensor import autograd  # noqa: E402
from .tensor.autograd import enable_grad, is_grad_enabled, no_grad  # noqa: E402
from .tensor.contraction import einsum, matmul, matrix_transpose, tensordot, vecdot  # noqa: E402
from .tensor.core import Tensor  # noqa: E402
from .tensor.conversion import asarray, astype, from_dlpack  # noqa: E402
from .tensor.creation import (  # noqa: E402
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .tensor.dtypes import (  # noqa: E402
    can_cast,
    complex64,
    complex128,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .tensor.dtypes import bool_ as bool  # noqa: E402
from .tensor.elementwise import (  # noqa: E402
    abs,
    acos,
    acosh,
    add,
    allclose,
    angle,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    exp2,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isclose,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
    where,
)
from .tensor.info import __array_namespace_info__  # noqa: E402
from .tensor.manipulation import (  # noqa: E402
    broadcast_arrays,
    broadcast_to,
    concat,
    diff,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from .tensor.reductions import (  # noqa: E402
    all,
    any,
    cumulative_prod,
    cumulative_sum,
    log_softmax,
    logsumexp,
    max,
    mean,
    min,
    prod,
    softmax,
    std,
    sum,
    var,
)
from .tensor.searching import (  # noqa: E402
    argmax,
    argmin,
    argsort,
    count_nonzero,
    nonzero,
    searchsorted,
    sort,
    take,
    take_along_axis,
)
from .tensor.sets import unique_all, unique_counts, unique_inverse, unique_values  # noqa: E402
from .transform import (  # noqa: E402
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    value_and_grad,
    vjp,
    vmap,
)

if _TYPE_CHECKING:
    from .compile import compile_minify, compile_report, cond, jit, scan, while_loop
    from .tensor import fft, linalg, random
    from .tensor.saving import load, save

__array_api_version__ = "2024.12"

e, pi, inf, nan = _math.e, _math.pi, _math.inf, _math.nan
newaxis = None

_paused.end()
del _paused

# What few programs use is imported when it is asked for.
_LAZY = {"linalg": "tensor.linalg", "fft": "tensor.fft", "random": "tensor.random"}
_LAZY_NAMES = {
    "load": "tensor.saving", "save": "tensor.saving", "bfloat16": "tensor.dtypes", "jit": "compile", "compile_report": "compile",
    "compile_minify": "compile", "cond": "compile", "scan": "compile", "while_loop": "compile", "explain_nan": "tools.nan",
    "graph": "tools.graph", "memory": "tools.graph", "watch": "tools.graph",
    "compute": "tensor.deferred", "persist": "tensor.deferred", "allow_whole": "backend.dask",
    "pad": "tensor.numpy_shapes",
}  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _LAZY:
        found = _importlib.import_module(f"{__name__}.{_LAZY[name]}")
    elif name in _LAZY_NAMES:
        found = getattr(_importlib.import_module(f"{__name__}.{_LAZY_NAMES[name]}"), name)
    else:
        raise _missing(name)
    globals()[name] = found
    return found


_ELSEWHERE = {
    "array": "asarray", "from_numpy": "asarray", "concatenate": "concat", "cat": "concat",
    "transpose": "permute_dims", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "power": "pow",
    "dot": "vecdot", "relu": "maximum(x, 0)", "randn": "random.normal", "rand": "random.uniform", "Variable": "asarray",
    "vstack": "concat", "hstack": "concat", "float": "float64", "norm": "linalg.vector_norm", "inv": "linalg.inv",
}  # fmt: skip
"""What NumPy and the frameworks call otherwise."""


def _missing(name: str) -> AttributeError:
    # Asking is common (`hasattr`, NumPy's and IPython's protocols), reading the answer rare.
    from .dialects._shared.registry import Message, near

    def text() -> str:
        found = near(name, __dir__()) or (f"; take {_ELSEWHERE[name]}" if name in _ELSEWHERE else "")
        return f"retrograde has no {name}{found} (this is its native module, whose names are the array API standard's)"

    error = AttributeError(Message(text))
    error.name = name
    return error


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_NAMES})


def activate(*dialects: str) -> None:
    """Make `import torch` (or another framework's name) resolve to retrograde's dialect, in this process.

    Call it before anything imports the framework. Raises ValueError for a dialect that does not exist.

    Examples
    --------
    >>> import retrograde
    >>> retrograde.activate("torch")  # doctest: +SKIP
    """
    from ._activate import activate as _activate

    _activate(*dialects)


__all__ = [
    "FreedGraphError", "GradError", "LevelError", "MutationError", "RetrogradeError", "ShapeError", "Tensor",
    "UnsupportedError", "__array_api_version__", "__array_namespace_info__", "__version__",
    "abs", "acos", "acosh", "activate", "add", "all", "allclose", "allow_whole", "angle", "any", "arange", "argmax", "argmin",
    "argsort",
    "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "autograd", "bfloat16", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool",
    "broadcast_arrays", "broadcast_to", "can_cast", "ceil", "checkpoint", "clip", "compile_minify", "compile_report",
    "complex128", "complex64", "compute", "concat", "cond",
    "conj", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum", "custom_jvp", "custom_vjp",
    "diff", "divide", "e", "einsum", "empty", "empty_like", "enable_grad", "equal", "exp", "exp2", "expand_dims",
    "explain_nan",
    "expm1", "eye", "fft", "finfo", "flip", "float16", "float32", "float64", "floor", "floor_divide", "from_dlpack",
    "full", "full_like", "grad", "graph", "greater", "greater_equal", "hessian", "hvp", "hypot", "iinfo", "imag", "inf", "int16",
    "int32", "int64", "int8", "is_grad_enabled", "isclose", "isdtype", "isfinite", "isinf", "isnan", "jacfwd", "jacrev",
    "jit", "jvp", "less", "less_equal", "linalg", "linearize", "linspace", "load", "log", "log10", "log1p", "log2",
    "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "memory", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan",
    "negative", "newaxis", "nextafter", "no_grad", "nonzero", "not_equal", "ones", "ones_like", "pad", "permute_dims", "persist",
    "pi",
    "positive", "pow", "prod", "random", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round",
    "save", "scan", "searchsorted", "sign", "signbit", "sin", "sinh", "softmax", "sort", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "tril", "triu", "trunc",
    "uint16", "uint32", "uint64", "uint8", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unstack",
    "value_and_grad", "var", "vecdot", "vjp", "vmap", "watch", "where", "while_loop", "zeros", "zeros_like",
]  # fmt: skip
