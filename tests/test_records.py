"""What a record says beside its kernel: its kind, what libraries compute in its place, its expression; keys of parameters."""

from typing import Any

import numpy as np
import pytest

import retrograde as rg
from retrograde.core.expression import Expr
from retrograde.core.params import params_key
from retrograde.core.primitive import PRIMITIVES, lowering, primitive
from retrograde.ops.elementwise import lerp
from retrograde.ops.rules import batch_elementwise, infer_elementwise
from retrograde.ops.samples import sample


@pytest.fixture
def doubling() -> Any:
    name = "doubling"
    yield primitive(
        name, kernel=lambda xp, x: x + x, kind="elementwise", batch=batch_elementwise, infer=infer_elementwise,
        vjps=[lambda g, _out, _x: g + g], jvp=lambda t, out, x: t[0] + t[0], samples=lambda: [sample(np.ones(2))],
    )  # fmt: skip
    del PRIMITIVES[name]


def test_a_lowering_takes_the_kernels_place_in_its_library(doubling: Any) -> None:
    x = np.ones(2)
    assert doubling(x).tolist() == [2, 2]
    called = []

    @lowering("numpy", doubling)
    def by_product(x: Any) -> Any:
        called.append(x)
        return x * 2

    assert doubling.prim.numpy_kernel is by_product
    assert doubling(x).tolist() == [2, 2]
    assert doubling(rg.asarray(x)).tolist() == [2, 2]
    assert len(called) == 2

    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    assert rg.asarray(strict.asarray(x)).numpy().tolist() == [1, 1]
    assert doubling(rg.asarray(strict.asarray(x))).numpy().tolist() == [2, 2]
    lowering("array_api_strict", doubling)(lambda x: x * 3)
    assert doubling(rg.asarray(strict.asarray(x))).numpy().tolist() == [3, 3]


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="kind"):
        primitive("odd", kernel=lambda xp, x: x, kind="odd", batch=batch_elementwise, infer=infer_elementwise,
                  vjps=[None], jvp=None, samples=list)  # fmt: skip


def test_keys_of_parameters() -> None:
    prim = lerp.prim

    def key(**params: Any) -> Any:
        return params_key(prim, params)

    different = [1, 1.0, True, 1 + 0j, -1, 0.0, -0.0, 0, False, None, "1", (1,), (1.0,), ((1,),), slice(1), slice(1.0),
                 np.dtype("f4"), np.dtype("f8"), np.float32(1), Ellipsis]  # fmt: skip
    assert len({hash(key(a=x)) for x in different}) > 12
    assert len({key(a=x) for x in different}) == len(different)
    assert key(a=float("nan")) == key(a=float("nan"))
    assert key(a=1, b=2) == key(b=2, a=1) != key(a=2, b=1)
    for unfit in ([1], np.ones(2), {"a": 1}, (1, [2]), rg.asarray(1.0), {1}):
        with pytest.raises(TypeError, match=r"lerp: the parameter 'weight'"):
            key(weight=unfit)


def test_an_expression() -> None:
    found = PRIMITIVES["add"].expression()
    assert isinstance(found, Expr)
    assert repr(found) == "add(x0, x1)"
    assert found.dtype == np.float64
    with pytest.raises(rg.UnsupportedError, match="no elementwise"):
        PRIMITIVES["sum"].expression(axis=(0,), keepdims=False)
