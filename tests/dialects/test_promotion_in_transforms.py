"""Operands of two dtypes inside transforms: the result has the dtype that it has outside."""

import itertools
import operator

import pytest

import retrograde as rg
import retrograde.dialects.torch as torch

DTYPES = [torch.float32, torch.float64, torch.int64, torch.bool]
OPERATORS = [operator.add, operator.sub, operator.truediv, torch.maximum]


def found(f, *operands):
    """The dtype of a result, or the type of the error."""
    try:
        return f(*operands).dtype
    except (RuntimeError, TypeError) as error:
        return type(error)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_dtypes_of_mixed_operands(op):
    for d, e, shape in itertools.product(DTYPES, DTYPES, [(2,), ()]):
        x, y = torch.ones(2).to(d), torch.ones(shape).to(e)
        wanted = found(op, x, y)
        many, others = x.expand(3, 2), y.expand(3, *shape)
        inside = [
            found(torch.func.vmap(op, in_dims=(0, None)), many, y),
            found(torch.func.vmap(lambda u: op(u, y)), many),  # noqa: B023
            found(torch.func.vmap(lambda v: op(x, v)), others),  # noqa: B023
        ]
        if d.is_floating_point:
            inside.append(found(lambda u: torch.func.jvp(lambda u: op(u, y), (u,), (u,))[1], x))  # noqa: B023
        assert inside == [wanted] * len(inside), (d, e, shape)


def test_dtypes_of_numpys_rules():
    """The native API follows NumPy inside transforms, too."""
    x, y = rg.asarray([1.0], dtype="float32"), rg.asarray([1])
    assert rg.vmap(lambda u: u * y)(x[None]).dtype == (x * y).dtype == "float64"
