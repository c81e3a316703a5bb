"""What to do about the operations that are known for making what is not finite: one small rule for each, in order."""

from __future__ import annotations

from collections.abc import Callable

from .made import BACKWARD, UPDATE, Made, Seen

Rule = Callable[[Made], str]


def remedy(made: Made) -> str:
    """What usually helps where a value of this kind began; "" where nothing general is known."""
    for rule in RULES:
        said = rule(made)
        if said:
            return said
    return ""


def _zero(x: Seen) -> bool:
    return x.there == 0 if x.there is not None else x.zeros > 0


def _negative(x: Seen) -> bool:
    return (x.there.real < 0) if x.there is not None else (x.least is not None and x.least < 0)


def _any(made: Made, test: Callable[[Seen], bool]) -> bool:
    return any(test(x) for x in made.operands)


def _given(made: Made) -> str:
    if not made.given:
        return ""
    if made.phase == BACKWARD:
        return "the gradient that the backward pass was started with is not finite: look at where it is computed"
    return "these values come from outside of what was computed (data, a file, NumPy): look at them before they are used"


def _root_at_zero(made: Made) -> str:
    if made.operation not in ("sqrt", "rsqrt", "power", "power_by") or not (made.phase == BACKWARD or _any(made, _zero)):
        return ""
    if made.operation == "sqrt" and made.phase != BACKWARD:
        return ""
    if made.operation in ("power", "power_by") and not _any(made, _zero):
        return ""
    return (
        "a root (and a power below 1) has an infinite derivative at 0. where() around it does not help, for 0 * inf is nan: "
        "let it see another operand there, as in sqrt(where(x > 0, x, 1)), or add a small number under the root"
    )


def _root_of_negative(made: Made) -> str:
    if made.operation in ("sqrt", "rsqrt") and _any(made, _negative):
        return (
            "a root of a negative number: clamp its operand from below, e.g. at a small number; often it is a variance that "
            "rounding has made negative"
        )
    if made.operation in ("power", "power_by") and made.nan and _any(made, _negative):
        return "a negative number to a power that is no integer: take the absolute value first, or clamp the base"
    return ""


def _log(made: Made) -> str:
    if made.operation not in ("log", "log2", "log10", "log1p", "xlogy", "xlog1py", "logit", "entr"):
        return ""
    if _any(made, _negative) and made.operation not in ("log1p", "xlog1py", "logit"):
        return "the logarithm of a negative number: clamp the operand from below, or compute in logarithms from the start"
    return (
        "the logarithm where it has no finite value (0 for log): clamp the operand, as in log(x.clamp(min=1e-12)), or use the "
        "operation that has the logarithm inside, such as log_softmax, logsumexp or a loss on logits"
    )


_DIVISIONS = frozenset([
    "divide", "reciprocal", "add_quotient", "trunc_divide", "floor_divide", "modulo", "remainder", "fmod",
])  # fmt: skip


def _division(made: Made) -> str:
    if made.operation not in _DIVISIONS:
        return ""
    divisor = made.operands[-1] if made.operands else None
    if divisor is not None and divisor.there not in (None, 0) and not divisor.zeros:
        return _overflow(made)
    return (
        "a division by 0: add a small number to the divisor, or let it see another one where it is 0, as in "
        "x / where(d == 0, 1, d); where() around the quotient comes too late for the gradient"
    )


def _norm(made: Made) -> str:
    if made.operation in ("vector_norm", "cdist", "pdist", "dist", "hypot", "cosine_similarity") and made.phase == BACKWARD:
        return "a norm has no derivative at 0: add a small number to the squares under the root, or leave those vectors out"
    if made.operation in ("std", "std_mean", "var", "var_mean"):
        if made.phase == BACKWARD and made.operation.startswith("std"):
            return "a standard deviation has no derivative where all elements are equal: use sqrt(var + eps)"
        return "the spread of one element with correction 1 divides by 0: give more elements, or correction=0"
    return ""


def _exp(made: Made) -> str:
    if made.operation in ("exp", "exp2", "expm1", "sinh", "cosh", "scaled_exp"):
        return (
            "an exponential beyond the largest number of its dtype: subtract the maximum first, or use the operation that does "
            "(softmax, logsumexp, log_softmax, softplus, sigmoid), or clamp the operand"
        )
    return ""


def _softmax(made: Made) -> str:
    if made.operation not in ("softmax", "log_softmax", "attention", "logsumexp", "logcumsumexp"):
        return ""
    return (
        "all entries of a row are masked (-inf), so there is nothing to divide by: leave one entry in, mask with a large "
        "negative number in place of -inf, or leave such rows out"
    )


def _ends(made: Made) -> str:
    if made.operation in ("acos", "asin", "acosh", "atanh", "erfinv", "ndtri", "logit"):
        return (
            "at or beyond the end of what it is defined on, where value or derivative is not finite: clamp the operand a little "
            "inside, e.g. to [-1 + 1e-6, 1 - 1e-6]"
        )
    if made.operation in ("atan2", "atan2_undefined") and made.phase == BACKWARD:
        return "the angle of (0, 0) has no derivative: add a small number to one of the operands there"
    if made.operation in ("lgamma", "digamma", "polygamma", "zeta", "multigammaln"):
        return "a pole of the function (0 and the negative integers): keep the operand away from it"
    return ""


def _repeated(made: Made) -> str:
    if made.operation in ("eigh", "eig", "svd", "schur") and made.phase == BACKWARD:
        return (
            "two eigenvalues (or singular values) are equal, so their vectors have no derivative: use the values alone, which "
            "have one, or separate them with a small diagonal of different numbers"
        )
    if made.operation in ("qr", "inv", "solve", "solve_triangular", "cholesky", "lu", "lu_factor", "slogdet", "det"):
        return "a matrix that is singular, or nearly so: add a small multiple of the identity"
    return ""


def _zero_times_infinity(made: Made) -> str:
    infinite = _any(made, lambda x: x.infinities > 0)
    if made.nan and infinite and made.operation in ("multiply", "matmul", "einsum", "affine", "add_matmul", "add_product", "dot"):
        return "0 * inf is nan: replace the infinity before it is multiplied, e.g. where(mask, x, 0) in place of x * mask"
    if made.nan and infinite and made.operation in ("subtract", "add", "sum", "add_scaled", "subtract_scaled", "mean", "cumsum"):
        return "inf - inf is nan: use a large finite number in place of infinity, or leave those elements out"
    if made.nan and made.phase == BACKWARD and infinite:
        return (
            "a cotangent of 0 meets an infinite derivative, and 0 * inf is nan: give the operation another operand there, "
            "before it, since where() after it comes too late"
        )
    return ""


def _empty(made: Made) -> str:
    if made.operation in ("mean", "median", "amax", "amin", "var", "std") and _any(made, lambda x: 0 in x.shape):
        return "there is nothing to reduce: the operand is empty, e.g. after a mask that selects nothing"
    if made.operation in ("nll_loss", "binary_cross_entropy", "mse_loss") and made.nan:
        return "a mean over nothing: all targets are ignored, or the batch is empty"
    return ""


def _step(made: Made) -> str:
    if made.phase == UPDATE:
        return "the step itself has overflowed or divided by 0: lower the learning rate, or raise the optimiser's eps"
    return ""


def _overflow(made: Made) -> str:
    if made.nan:
        return ""
    dtypes = {x.dtype for x in made.operands}
    if dtypes & {"float16"}:
        return "beyond 65504, the largest float16: compute this in float32 or bfloat16, or scale it down before"
    if made.operands:
        return (
            "the values have grown beyond the largest number of their dtype: look at how they grow (learning rate, "
            "initialisation, missing normalisation), or clip the gradients"
        )
    return ""


RULES: tuple[Rule, ...] = (
    _given, _empty, _root_at_zero, _root_of_negative, _log, _division, _norm, _exp, _softmax, _ends, _repeated,
    _zero_times_infinity, _step, _overflow,
)  # fmt: skip
