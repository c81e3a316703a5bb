"""Calls of elementwise functions at points that matter: kinks, ties, signed zeros, nan and infinity, and by dtype.

`edges(torch)` and `dtypes(torch)` make the calls with whichever torch they are given: PyTorch when the figures are
recorded (record_elementwise.py), the dialect when they are tested (test_elementwise.py).
"""

import math
import operator

nan, inf = math.nan, math.inf
LINE = [-inf, -30.0, -3.0, -1.5, -1.0, -0.5, -0.0, 0.0, 0.3, 0.5, 1.0, 2.5, 3.0, 6.0, inf, nan]
FIRST = [0.0, 0.0, -0.0, 1.0, -3.0, 3.0, 2.0, nan, 1.0, -2.0, 5.5, -0.7]
SECOND = [0.0, 1.0, 2.0, 1.0, 3.0, -3.0, 0.5, 1.0, nan, 3.0, -2.0, -0.7]
PLANE = [1 + 1j, -1 + 0.5j, -1 - 0.5j, 2 + 0.1j, 0.1 + 2j, -3 + 0.2j]

UNARY = [
    "acos", "acosh", "angle", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "deg2rad", "erf", "erfc",
    "exp", "exp2", "expm1", "floor", "frac", "log", "log10", "log1p", "log2", "logit", "nan_to_num", "neg", "rad2deg",
    "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    "trunc",
]  # fmt: skip
ACTIVATIONS = [
    "relu", "relu6", "elu", "selu", "celu", "silu", "softplus", "hardtanh", "hardswish", "hardshrink", "leaky_relu",
    "tanhshrink", "softsign",
]  # fmt: skip
BINARY = [
    "add", "sub", "mul", "div", "remainder", "fmod", "atan2", "hypot", "ldexp", "maximum", "minimum", "fmax", "fmin",
    "xlogy", "nextafter",
]  # fmt: skip
COMPLEX = [
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log",
    "log10", "sqrt", "rsqrt", "reciprocal", "square", "sigmoid", "sgn", "abs", "angle",
]  # fmt: skip
DTYPES = [
    "bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
KINDS_OF_UNARY = [
    "abs", "acos", "angle", "bitwise_not", "ceil", "conj_physical", "deg2rad", "digamma", "erf", "exp", "floor",
    "frac", "frexp", "isfinite", "isposinf", "isreal", "lgamma", "log", "logical_not", "logit", "nan_to_num", "neg",
    "positive", "reciprocal", "relu", "round", "sgn", "sigmoid", "sign", "signbit", "sinc", "sqrt", "square", "trunc",
]  # fmt: skip
KINDS_OF_BINARY = [
    "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow", "float_power", "atan2", "hypot",
    "copysign", "logaddexp", "ldexp", "xlogy", "heaviside", "maximum", "fmax", "eq", "lt", "logical_and",
    "bitwise_and", "bitwise_left_shift", "gcd", "isclose", "clamp_min",
]  # fmt: skip
OPERATORS = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "lshift", "lt", "eq", "iadd", "imul",
    "itruediv", "ipow", "iand",
]  # fmt: skip


def _functions(torch):
    """Every call as (name, function, inputs)."""
    F = torch.nn.functional
    for name in UNARY:
        yield name, getattr(torch, name), [LINE]
    for name in ACTIVATIONS:
        # Without nan: what PyTorch's derivatives say there depends on the element's place in a vector register.
        yield f"F.{name}", getattr(F, name), [LINE[:-1]]
    for name in BINARY:
        yield f"{name}(x, y)", getattr(torch, name), [FIRST, SECOND]
    for name in COMPLEX:
        yield f"complex {name}", getattr(torch, name), [PLANE]
    for exponent in (2, 3, 0.5, -1, 0, 1, -1.3):
        yield f"x ** {exponent}", lambda x, e=exponent: x**e, [LINE]
    yield "x ** y", torch.pow, [[0.0, 0.0, 0.0, -2.0, -2.0, 3.0, 1.0], [0.0, 2.0, -1.0, 3.0, 0.5, -2.0, nan]]
    yield "2 ** x", lambda x: 2**x, [LINE]
    yield "1 - x", lambda x: 1 - x, [LINE]
    yield "2 / x", lambda x: 2 / x, [LINE]
    yield "x % 2.5", lambda x: x % 2.5, [LINE]
    yield "x % -2.5", lambda x: x % -2.5, [LINE]
    yield "div floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), [FIRST, SECOND]
    yield "div trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), [FIRST, SECOND]
    yield "clamp numbers", lambda x: x.clamp(-1, 2.5), [LINE]
    yield "clamp crossed", lambda x: x.clamp(1, -1), [LINE]
    yield "clamp nan", lambda x: x.clamp(nan, 1), [LINE]
    yield "clamp tensors", torch.clamp, [FIRST, SECOND, SECOND[::-1]]
    yield "clamp_min tensor", torch.clamp_min, [FIRST, SECOND]
    yield "where", lambda x, y: torch.where(x > y, x, y), [FIRST, SECOND]
    yield "where number", lambda x: torch.where(x > 0, x, 1.0), [FIRST]
    yield "lerp", torch.lerp, [FIRST, SECOND, [0.3] * 12]
    yield "lerp number", lambda x, y: torch.lerp(x, y, 0.7), [FIRST, SECOND]
    yield "addcmul", lambda x, y: torch.addcmul(x, x, y, value=2.0), [FIRST, SECOND]
    yield "addcdiv", lambda x, y: torch.addcdiv(x, x, y, value=2.0), [FIRST, SECOND]
    yield "add alpha", lambda x, y: torch.add(x, y, alpha=2.5), [FIRST, SECOND]
    yield "rsub alpha", lambda x, y: torch.rsub(x, y, alpha=2.5), [FIRST, SECOND]
    yield "round decimals", lambda x: torch.round(x / 7, decimals=2), [LINE]
    yield "round tens", lambda x: torch.round(x * 7, decimals=-1), [LINE]
    yield "F.prelu", F.prelu, [LINE[:-1], [0.25]]
    yield "F.threshold", lambda x: F.threshold(x, 0.5, 7.0), [LINE[:-1]]
    yield "F.hardtanh bounds", lambda x: F.hardtanh(x, -0.5, 2.5), [LINE[:-1]]
    yield "F.gelu tanh", lambda x: F.gelu(x, approximate="tanh"), [LINE[1:-2]]
    yield "F.softplus bent", lambda x: F.softplus(x, 2, 5), [LINE[:-1]]
    yield "F.glu", F.glu, [LINE[1:-1]]
    yield "polygamma", lambda x: torch.polygamma(2, x), [[0.5, 1.0, 2.5, 7.0]]
    yield "mvlgamma", lambda x: torch.mvlgamma(x, 2), [[0.6, 2.0, 5.5]]
    yield "entr", torch.special.entr, [LINE]
    yield "erfcx", torch.special.erfcx, [[-1.5, 0.0, 0.5, 3.0]]
    yield "i0", torch.special.i0, [[-1.5, 0.0, 0.5, 3.0]]
    yield "i1e", torch.special.i1e, [[-1.5, 0.5, 3.0]]
    yield "ndtri", torch.special.ndtri, [[0.01, 0.5, 0.9]]
    yield "log_ndtr", torch.special.log_ndtr, [[-9.0, -1.0, 0.0, 3.0]]
    yield "xlog1py", torch.special.xlog1py, [FIRST, SECOND]
    yield "zeta", lambda q: torch.special.zeta(2.5, q), [[0.5, 1.0, 3.7]]
    yield "gammainc", lambda x: torch.special.gammainc(torch.tensor(2.5, dtype=x.dtype), x), [[0.0, 0.5, 3.7, 30.0]]
    yield "legendre", lambda x: torch.special.legendre_polynomial_p(x.detach(), 5), [[-1.0, -0.3, 0.0, 0.7, 1.7]]
    yield "laguerre", lambda x: torch.special.laguerre_polynomial_l(x.detach(), 3), [[-1.0, -0.3, 0.0, 0.7, 1.7]]


def _plain(x):
    if isinstance(x, list):
        return [_plain(y) for y in x]
    return [repr(x.real), repr(x.imag)] if isinstance(x, complex) else repr(x)


def edges(torch):
    """Name -> [value, node, gradients, second derivatives] of every call, in float64 or complex128."""
    found = {}
    for name, f, inputs in _functions(torch):
        d = torch.complex128 if isinstance(inputs[0][0], complex) else torch.float64
        xs = [torch.tensor(x, dtype=d, requires_grad=True) for x in inputs]
        y = f(*xs)
        record = [_plain(y.detach().tolist())]
        if y.requires_grad:
            record.append(y.grad_fn.name())
            first = torch.autograd.grad(y, xs, torch.ones_like(y), create_graph=True)
            record.append([_plain((g + 0).detach().tolist()) for g in first])
            again = [g for g in first if g.requires_grad]
            if again:
                second = torch.autograd.grad(again, xs, [torch.ones_like(g) for g in again], allow_unused=True)
                record.append([None if g is None else _plain((g + 0).tolist()) for g in second])
        found[name] = record
    return found


def dtypes(torch):
    """Call -> the result's dtype, or the exception's type, for every dtype in turn."""
    found = {}

    def note(name, call):
        kinds = []
        for d in DTYPES:
            try:
                out = call(d)
                kinds.append(str(out.dtype if isinstance(out, torch.Tensor) else type(out).__name__)[-10:])
            except Exception as e:
                kinds.append(type(e).__name__)
        found[name] = " ".join(kinds)

    def make(d):
        return torch.tensor([1, 2]).to(getattr(torch, d))

    for name in KINDS_OF_UNARY:
        note(name, lambda d, n=name: getattr(torch, n)(make(d)))
        if hasattr(torch.Tensor, name + "_"):
            note(name + "_", lambda d, n=name: getattr(make(d), n + "_")())
    for name in KINDS_OF_BINARY:
        f = getattr(torch, name)
        for other in ("int8", "int64", "float32", "float64"):
            note(f"{name}(_, {other})", lambda d, f=f, o=other: f(make(d), make(o)))
        for number in (2, 2.5, True):
            note(f"{name}(_, {number})", lambda d, f=f, v=number: f(make(d), v))
    for name in OPERATORS:
        f = getattr(operator, name)
        for number in (2, 2.5, True, None):
            note(f"_ {name} {number}", lambda d, f=f, v=number: f(make(d), v))
            note(f"{number} {name} _", lambda d, f=f, v=number: f(v, make(d)))
    return found
