"""What a record says beside its kernel: its kind, what libraries compute in its place, its expression; keys of parameters."""

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

import retrograde as rg
import retrograde.ops
from retrograde.core.expression import Expr
from retrograde.core.params import params_key
from retrograde.core.primitive import PRIMITIVES, lowering, primitive
from retrograde.ops.elementwise import lerp
from retrograde.ops.rules import batch_elementwise, infer_elementwise
from retrograde.ops.samples import sample

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)


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


STEPS_BY_VALUES = "as many steps as the largest degree, which is data"
NO_EXPRESSION = {
    **dict.fromkeys(
        ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "i0",
         "i0e", "i1", "i1e", "airy_ai", "airy_ai_prime", "gammainc", "gammaincc"),
        "a special function beyond those of the core",
    ),
    **dict.fromkeys(
        (f"{prefix}chebyshev_{kind}" for prefix in ("", "shifted_") for kind in "tuvw"), STEPS_BY_VALUES
    ),
    **dict.fromkeys(("hermite_h", "hermite_he", "laguerre_l", "legendre_p"), STEPS_BY_VALUES),
    **dict.fromkeys(
        ("dirichlet_derivative", "gamma_derivative"), "how a sample moves with its shape is computed with SciPy, by cases"
    ),
    **dict.fromkeys(("grid_coordinate", "grid_slope", "lattice_weight"), "computed by the host's NumPy"),
    "phase_check": "raises for what its operands hold",
    "gamma_sample": "a copy",
}  # fmt: skip
ELEMENTWISE = [name for name, prim in sorted(PRIMITIVES.items()) if prim.kind == "elementwise"]


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_kernels_are_expressions(name: str) -> None:
    prim = PRIMITIVES[name]
    for operands, params in prim.samples():
        dtypes = [None if x is None else x.dtype for x in operands]
        if name in NO_EXPRESSION:
            with pytest.raises(rg.UnsupportedError):
                prim.expression(*dtypes, **params)
            continue
        traced = prim.expression(*dtypes, **params)
        with np.errstate(all="ignore"):
            computed = prim.kernel(np, *operands, **params)
            pairs = zip(computed, traced, strict=True) if prim.multi else [(computed, traced)]
            for y, e in pairs:
                assert isinstance(e, Expr)
                assert e.dtype == y.dtype
                found = e.evaluate(np, *operands)
                assert found.dtype == y.dtype
                # SciPy's special functions and ours differ in the last places.
                np.testing.assert_allclose(np.broadcast_to(found, y.shape), y, rtol=1e-11, atol=1e-300)


def test_what_has_no_expression_is_elementwise() -> None:
    assert set(NO_EXPRESSION) <= set(ELEMENTWISE)


def test_parameters_of_the_table_are_keys() -> None:
    for prim in list(PRIMITIVES.values()):
        for _, params in prim.samples():
            assert hash(params_key(prim, params)) == hash(params_key(prim, dict(params)))
