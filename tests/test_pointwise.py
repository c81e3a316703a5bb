"""Expressions as generated loops: the functions are as accurate as they say, every layout and length is computed, the bits do
not depend on the number of threads; large arrays go there, and what has no loop to NumPy."""

import math

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import retrograde as rg
from retrograde._errors import UnsupportedError
from retrograde.backend.jit import llvm, pointwise, threads
from retrograde.backend.jit.operands import LEAST, address
from retrograde.core.expression import SYMBOLIC, Expr, trace_rule
from retrograde.core.large import CHEAP_LEAST, SHARED_LEAST
from retrograde.core.record import PRIMITIVES
from retrograde.ops import activation, elementwise, selection
from retrograde.ops import special as special_ops

rng = np.random.default_rng(5)


def operand(k=0, dtype=np.float32):
    return Expr("operand", (k,), np.dtype(dtype))


def fused(*outputs):
    return pointwise.Fused(outputs)


def function(name, dtype):
    return fused(getattr(SYMBOLIC.special if name == "erf" else SYMBOLIC, name)(operand(0, dtype)))


pytestmark = pytest.mark.skipif(
    function("erf", np.float32)(np.zeros(9, np.float32)) is None,
    reason="needs llvmlite and a processor that code is generated for",
)


@pytest.fixture
def counted():
    """threads.set_count, undone afterwards."""
    before = threads.count()
    yield threads.set_count
    threads.set_count(before)


# ------------------------------------------------------------------------------------------ accuracy

RANGES = {
    "exp": [(-104, 89), (-1, 1)], "expm1": [(-20, 89), (-1, 1), (-1e-4, 1e-4)], "log": [(0, 4), (0, 1e-37), (0, 3e38)],
    "log1p": [(-1, 4), (-1e-4, 1e-4)], "tanh": [(-12, 12), (-1, 1)], "sin": [(-7, 7), (-6e4, 6e4), (-1e7, 1e7)],
    "cos": [(-7, 7), (-6e4, 6e4), (-1e7, 1e7)], "atan": [(-3, 3), (-1e3, 1e3)],
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RANGES)
def test_functions_are_off_by_two_units_and_a_half_at_most(name, dtype):
    f, exact = function(name, dtype), getattr(np, name)
    wide = np.float64 if dtype is np.float32 else np.longdouble
    for low, high in RANGES[name]:
        x = rng.uniform(low, high, 100_003).astype(dtype)
        with np.errstate(all="ignore"):
            want = exact(x.astype(wide))
            unit = np.spacing(np.abs(want).astype(dtype)).astype(wide)
        error = np.abs(f(x)[0].astype(wide) - want) / unit
        oracle = 1 if wide is np.longdouble and np.finfo(wide).eps > 1e-17 else 0  # where it has no more digits
        assert np.nanmax(np.where(np.isfinite(unit), error, 0)) < 2.5 + oracle


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_error_function_is_off_by_a_unit_or_two(dtype):
    x = np.concatenate([np.linspace(-6.5, 6.5, 100_001), np.logspace(-30, 0, 1000)]).astype(dtype)
    want = special.erf(x.astype(np.float64))  # itself off by 3 units in double precision
    error = np.abs(function("erf", dtype)(x)[0] - want) / np.spacing(np.abs(want).astype(dtype))
    assert np.max(error) < (1.1 if dtype is np.float32 else 5)


@pytest.mark.parametrize("turned", [False, True])
def test_one_and_the_error_function(turned):
    """Has no formula of its own near 0, where the sum has fewer digits; the error function beside it has all of its own."""
    x = np.concatenate([np.linspace(-6.5, 6.5, 100_001), np.logspace(-30, 0, 1000), [-40, 40, np.inf, -np.inf]])
    x = x.astype(np.float32)
    erf = SYMBOLIC.special.erf(operand(0, np.float32))
    both, alone = pointwise.Fused([1.0 + erf if turned else erf + 1.0, erf])(x)
    exact = special.erf(x.astype(np.float64))
    assert np.max(np.abs(both - (1 + exact))) < 1.3e-7
    assert np.max(np.abs(alone - exact) / np.spacing(np.abs(exact).astype(np.float32))) < 1.1
    assert not both[x < -4].any()
    assert np.isnan(pointwise.Fused([erf + 1.0])(np.full(9, np.nan, np.float32))[0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*RANGES, "erf", "sqrt"])
def test_the_edges_are_cs(name, dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, 1e30, -1e30, -1, 1, -2, 1e-38, 88.9, 709.9, -104.5], dtype)
    with np.errstate(all="ignore"):
        want = special.erf(x) if name == "erf" else getattr(np, name)(x)
    (found,) = function(name, dtype)(x)
    np.testing.assert_allclose(found, want, rtol=1e-6 if dtype is np.float32 else 1e-14, atol=0)
    assert (np.signbit(found) == np.signbit(want))[~np.isnan(want)].all()


GAMMA = {"gammaln": special.gammaln, "digamma": special.digamma}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", GAMMA)
def test_the_gamma_family_is_off_by_a_few_units(name, dtype):
    f = fused(getattr(SYMBOLIC.special, name)(operand(0, dtype)))
    exact = np.vectorize(math.lgamma) if name == "gammaln" else special.digamma
    for low, high in ((0, 0.5), (0.5, 1.5), (1.46, 1.47), (1.5, 2.5), (2.5, 12), (12, 1e30), (-0.4, 0), (-9, 0)):
        x = rng.uniform(low, high, 3001).astype(dtype)
        want = exact(x.astype(float))
        error = np.abs(f(x)[0] - want)
        if low < 0 and dtype is np.float64:  # where terms cancel; SciPy loses digits beside the poles
            assert np.max(error / (1 + np.abs(want))) < 1e-10
        else:  # C's function has no more digits beside the zeros
            assert np.max(error / (np.spacing(np.abs(want).astype(dtype)) + 1e-16)) < (1 if dtype is np.float32 else 16)


@pytest.mark.parametrize(("name", "x", "want"), [
    ("gammaln", 1 + 2**-20, -5.504750066148867e-07), ("gammaln", 1 - 2**-30, 5.375739798578573e-10),
    ("gammaln", 2 + 2**-25, 1.2599955341480182e-08), ("gammaln", 2 - 2**-10, -0.0004125677359714894),
    ("digamma", 1.4616, -3.110625123034165e-05), ("digamma", 1.462, 0.00035590320380104274),
    ("digamma", 1.4616321449683622, -9.241265521729427e-17),
])  # fmt: skip
def test_the_gamma_family_beside_its_zeros(name, x, want):
    """Against 40 digits."""
    (found,) = fused(getattr(SYMBOLIC.special, name)(operand(0, float)))(np.array([x]))
    assert abs(found[0] - want) < 5 * np.spacing(abs(want))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_edges_of_the_gamma_family(dtype):
    inf, nan, limits = np.inf, np.nan, np.finfo(dtype)
    tiny, most = limits.smallest_subnormal, limits.max
    x = np.array([0, -0.0, -1, -2, -1e20, inf, -inf, nan, 1, 2, tiny, most], dtype)
    for name, want in (
        ("gammaln", [inf, inf, inf, inf, inf, inf, inf, nan, 0, 0, -np.log(float(tiny)), inf]),
        ("digamma", [-inf, inf, nan, nan, nan, inf, nan, nan, -np.euler_gamma, 1 - np.euler_gamma, -inf, np.log(float(most))]),
    ):
        (found,) = fused(getattr(SYMBOLIC.special, name)(operand(0, dtype)))(x)
        np.testing.assert_allclose(found, np.array(want, dtype), rtol=1e-6 if dtype is np.float32 else 1e-14)


PROCESSOR = llvm.processor()
HALF = [np.float16] if PROCESSOR is not None and PROCESSOR.half else []  # else float16 is NumPy's affair


@pytest.mark.parametrize("dtype", [*HALF, ml_dtypes.bfloat16])
def test_half_precision_is_rounded_as_numpy_rounds_it(dtype):
    every = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    x, y = operand(0, dtype), operand(1, np.float32)
    wide = (rng.normal(size=1 << 16) * 10.0 ** rng.integers(-9, 6, 1 << 16)).astype(np.float32)
    with np.errstate(all="ignore"):
        want = every.astype(np.float32), wide.astype(dtype), every * every
    f = fused(SYMBOLIC.astype(x, SYMBOLIC.float32), SYMBOLIC.astype(y, np.dtype(dtype)), x * x)
    for found, exact in zip(f(every, wide), want):
        assert found.dtype == exact.dtype
        np.testing.assert_array_equal(found.astype(np.float32), exact.astype(np.float32))


@pytest.mark.skipif(not HALF, reason="this processor converts no float16")
def test_doubles_are_rounded_once_to_half_precision():
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(float)
    every = every[np.isfinite(every)]
    between = (every[:-1] + every[1:]) / 2
    x = np.concatenate([every, between, np.nextafter(between, 9e9), np.nextafter(between, -9e9), [np.nan, np.inf, 1e300, 5e-324]])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(fused(SYMBOLIC.astype(operand(0, float), SYMBOLIC.float16))(x)[0], x.astype(np.float16))


@pytest.mark.parametrize(("name", "exact", "dtype", "units"), [
    ("atan2", np.arctan2, np.float32, 2.5), ("atan2", np.arctan2, np.float64, 3.5), ("pow", np.power, np.float32, 0.51),
])  # fmt: skip
def test_functions_of_two_numbers(name, exact, dtype, units):
    f = fused(getattr(SYMBOLIC, name)(operand(0, dtype), operand(1, dtype)))
    edges = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 3, -3, 0.5, 3e38, -2e38, 1e-45, 2**24 + 1], dtype)
    x, y = (a.ravel().copy() for a in np.meshgrid(edges, edges))
    with np.errstate(all="ignore"):
        want = exact(x, y)
    (found,) = f(x, y)
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=0)
    assert (np.signbit(found) == np.signbit(want))[~np.isnan(want)].all()
    x, y = (rng.uniform(0.01 if name == "pow" else -3, 3, 50_001).astype(dtype) for _ in range(2))
    want = exact(x.astype(np.longdouble), y.astype(np.longdouble))
    assert np.max(np.abs(f(x, y)[0] - want) / np.spacing(np.abs(want).astype(dtype))) < units


def test_maxima_and_choices_with_nan():
    x = np.array([1, np.nan, 2, np.nan, -np.inf, 3], np.float32)
    y = np.array([2, 1, np.nan, np.nan, np.inf, 3], np.float32)
    a, b = operand(), operand(1)
    out = [SYMBOLIC.maximum(a, b), SYMBOLIC.minimum(a, b), SYMBOLIC.maximum(0.5, a), SYMBOLIC.maximum(a, 0.5),
           SYMBOLIC.clip(a, 1.5, 2.5), SYMBOLIC.where(a > b, a, 7.0), SYMBOLIC.isnan(a) | (a == b),
           SYMBOLIC.astype(a < b, SYMBOLIC.float64)]  # fmt: skip
    want = [np.maximum(x, y), np.minimum(x, y), np.maximum(x, 0.5), np.maximum(x, 0.5), np.clip(x, 1.5, 2.5),
            np.where(x > y, x, np.float32(7)), np.isnan(x) | (x == y), (x < y).astype(float)]  # fmt: skip
    for found, exact in zip(fused(*out)(x, y), want):
        assert found.dtype == exact.dtype
        np.testing.assert_array_equal(found, exact)


# ------------------------------------------------------------------------------------------ layouts


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 7, 15, 16, 17, 31, 4095, 4096, 4097, 9001])
def test_every_element_is_computed_and_none_beyond(n, dtype):
    memory = rng.normal(size=n + 64).astype(dtype)
    before = memory.copy()
    (found,) = fused(operand(0, dtype) * 2.5 + 1.0)(memory[:n])
    np.testing.assert_array_equal(found, memory[:n] * dtype(2.5) + 1)
    np.testing.assert_array_equal(memory, before)


SHAPES = [
    ((50, 70), (70,)), ((50, 70), (50, 1)), ((50, 1), (1, 70)), ((3, 4, 50), (4, 1)), ((3, 4, 50), (3, 1, 50)), ((50, 70), ()),
    ((2, 9000), (9000,)), ((2, 9000), (2, 1)), ((3000, 3), (3,)), ((3000, 3), (3000, 1)), ((1, 1), (1,)), ((5, 1, 6), (1, 7, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_operands_broadcast(a, b):
    f = fused(operand(0) - operand(1) * 3.0)
    first, second = rng.normal(size=a).astype(np.float32), rng.normal(size=b).astype(np.float32)
    for x, y in ((first, second), (second, first), (np.broadcast_to(first, np.broadcast_shapes(a, b)), second)):
        (found,) = f(x, y)
        np.testing.assert_array_equal(found, x - y * np.float32(3))


def test_views():
    f = fused(operand(0) + operand(1))
    x, y = (rng.normal(size=(40, 60)).astype(np.float32) for _ in range(2))
    for a, b in ((x[1:, :-1], y[:-1, 1:]), (x[::2], y[::2]), (x[:, 0][:, None], y), (x.T, y.T), (x.T, y.T[:1].copy())):
        (found,) = f(a, b)
        np.testing.assert_array_equal(found, a + b)
        assert found.strides == (a + b).strides
    odd = np.zeros(4 * 2400 + 1, np.uint8)[1:].view(np.float32).reshape(40, 60)
    np.testing.assert_array_equal(f(odd, y)[0], y)  # as if it lay elsewhere
    for a, b in ((x.T, y.T.copy()), (x[:, ::-1], y), (x, y.T.copy().T)):  # one of them is copied first
        (found,) = f(a, b)
        np.testing.assert_array_equal(found, a + b)
        assert found.strides == (a + b).strides
    for a, b in ((x[:, ::2], y[:, ::2]), (x, y[:3])):
        assert f(a, b) is None
    assert f(x[:0], y[:0])[0].shape == (0, 60)


def test_the_bits_do_not_depend_on_the_number_of_threads(counted):
    x, y = rng.normal(size=(300, 500)).astype(np.float32), rng.normal(size=(300, 1)).astype(np.float32)
    f = fused(SYMBOLIC.exp(operand(0)) * operand(1), operand(0) + operand(1))
    results = []
    for n in (1, 2, 3):
        counted(n)
        results.append((*(out.tobytes() for out in f(x, y)), *f.sums(x, y)))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (17,), (5000,), (3, 4099), (4001, 3)])
def test_sums(shape, dtype):
    x = (rng.normal(size=shape) + 1).astype(dtype)
    a = operand(0, dtype)
    first, second = fused(a, a * a).sums(x)
    wide = x.astype(np.longdouble)
    for found, want, size in ((first, wide.sum(), np.abs(wide).sum()), (second, (wide * wide).sum(), (wide * wide).sum())):
        assert abs(found - want) <= (3e-7 if dtype is np.float32 else 2e-15) * size


def test_other_numbers_are_the_same_code():
    x = rng.normal(size=100).astype(np.float32)
    fused(operand() * 0.125)(x)
    before = len(pointwise._FUNCTIONS)
    np.testing.assert_array_equal(fused(operand() * 0.7)(x)[0], x * np.float32(0.7))
    assert len(pointwise._FUNCTIONS) == before
    np.testing.assert_array_equal(fused(operand() * 2.0)(x)[0], x * 2)
    assert len(pointwise._FUNCTIONS) == before + 1


def test_what_has_no_code():
    for unsupported in (operand(0, np.uint16) + 1, operand(0, np.complex64) + 1, operand() + 1j):
        with pytest.raises(pointwise.Unsupported):
            fused(unsupported)
    x = np.ones(100, np.int64)
    assert fused(operand(0, np.int64) ** 2)(x) is None  # powers of integers are NumPy's
    assert fused(operand(0, np.int8) > 300)(x.astype(np.int8)) is None  # and so are numbers beyond them


# ------------------------------------------------------------------------------------------ integers

INTEGERS = [np.int8, np.uint8, np.int16, np.int32, np.int64]


def whole_numbers(dtype):
    """Pairs of integers: small ones, any ones, the ends, 0."""
    limits = np.iinfo(dtype)
    ends = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 7]
    ends = np.array(ends + [-1, -2, -3, -7] * (limits.min < 0), dtype)
    pairs = [rng.integers(limits.min, limits.max, (2, 500), dtype, endpoint=True)]
    pairs += [np.stack([pairs[0][0], rng.integers(max(limits.min, -9), 10, 500, dtype)])]
    return np.concatenate([*pairs, np.stack(np.meshgrid(ends, ends)).reshape(2, -1)], 1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_computed_as_numpy_computes_them(dtype):
    a, b = operand(0, dtype), operand(1, dtype)
    x, y = whole_numbers(dtype)
    names = ["add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum", "equal", "not_equal", "less",
             "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift",
             "bitwise_right_shift", "logical_and", "logical_or"]  # fmt: skip
    alone = ["abs", "sign", "negative", "square", "bitwise_invert", "logical_not", "isnan", "isfinite", "signbit"]
    outputs = [getattr(SYMBOLIC, name)(a, b) for name in names] + [getattr(SYMBOLIC, name)(a) for name in alone]
    outputs += [SYMBOLIC.where(a > b, a, b + 1), SYMBOLIC.clip(a, 3, 5), a // 3, a % 3 == 1, 5 - a, SYMBOLIC.zeros_like(a)]
    with np.errstate(all="ignore"):
        want = [getattr(np, name)(x, y) for name in names] + [getattr(np, name)(x) for name in alone]
        want += [np.where(x > y, x, y + dtype(1)), np.clip(x, 3, 5), x // 3, x % 3 == 1, 5 - x, np.zeros_like(x)]
    names += [*alone, "where", "clip", "//", "%", "-", "zeros_like"]
    for name, found, exact in zip(names, fused(*outputs)(x, y), want, strict=True):
        assert found.dtype == exact.dtype, name
        np.testing.assert_array_equal(found, exact, err_msg=name)


ALL = [*INTEGERS, np.bool_, np.float32, np.float64, *HALF, ml_dtypes.bfloat16]


@pytest.mark.parametrize("have", ALL)
def test_every_type_is_cast_to_every_other(have):
    kind = np.dtype(have).kind
    if kind in "iu":
        x = whole_numbers(have).ravel()
    elif kind == "b":
        x = rng.random(100) < 0.5
    else:
        x = np.concatenate([rng.uniform(-120, 120, 400), rng.uniform(-3e4, 3e4, 400)]).astype(have)
    others = [dtype for dtype in ALL if dtype is not have]
    for want, found in zip(others, fused(*(SYMBOLIC.astype(operand(0, have), np.dtype(want)) for want in others))(x)):
        known = slice(None)
        if np.dtype(want).kind in "iu" and kind not in "iub":  # of numbers that are beyond the type C says nothing
            limits = np.iinfo(want)
            known = (x.astype(float) > limits.min) & (x.astype(float) < limits.max)
        with np.errstate(all="ignore"):
            exact = x.astype(want)
        assert found.dtype == exact.dtype
        np.testing.assert_array_equal(found[known].astype(float), exact[known].astype(float), err_msg=np.dtype(want).name)


def test_integers_beside_floats_are_compared_as_numpy_compares_them():
    x, y = np.array([2**24 + 1, 3, -5], np.int32), np.array([2**24, 3, -5.5], np.float32)
    np.testing.assert_array_equal(fused(operand(0, np.int32) > operand(1))(x, y)[0], x > y)


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_truths_are_compared(name):
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    (found,) = fused(getattr(SYMBOLIC, name)(operand(0, bool), operand(1, bool)))(x, y)
    np.testing.assert_array_equal(found, getattr(np, name)(x, y))


def test_operands_of_other_types_than_said_are_refused():
    with pytest.raises(TypeError, match="float32.*float64"):
        fused(operand() + 1.0)(np.ones(5))


def test_where_an_array_begins():
    x = np.arange(10.0)
    for a in (x, x[3:], x[::-1], x.astype("f2"), np.zeros((0, 3))):
        assert address(a) == a.ctypes.data
    assert address(None) == 0


def test_single_elements_stand_beside_contiguous_arrays():
    x, y = operand(0), operand(1)
    loop = fused(Expr("add", (Expr("multiply", (x, y), np.dtype(np.float32)), 0.25), np.dtype(np.float32)))
    for shape in ((5,), (3, 4097), (1,)):
        many, one = rng.normal(size=shape).astype(np.float32), np.asarray(rng.normal(), np.float32)
        for a, b in ((many, one), (one, many), (many, many), (many, one[()])):
            want = a * b + np.float32(0.25)
            np.testing.assert_array_equal(loop(a, b)[0], want)
            np.testing.assert_allclose(loop.sums(a, b)[0], want.sum(dtype=np.float64), rtol=1e-6, atol=1e-6)
    assert loop(one, one)[0].shape == ()
    assert loop(many.reshape(1, 1), one)[0].shape == (1, 1)


def test_a_layout_that_was_seen_before_is_another_arrays_too():
    loop = fused(Expr("subtract", (operand(0), operand(1)), np.dtype(np.float32)))
    for _ in range(2):
        x = rng.normal(size=(40, 30)).astype(np.float32)
        for a, b in ((x, x[0]), (x, x[:, :1]), (x.T, x.T), (x[:, ::2], x[:, 1::2]), (x[::2], x[1::2]), (x.T, x.T[:, :1])):
            found = loop(a, b)
            if found is not None:
                np.testing.assert_array_equal(found[0], a - b)
                assert found[0].flags.f_contiguous == (a is x.T or a.flags.f_contiguous)
            total = loop.sums(a, b)
            if total is not None:
                np.testing.assert_allclose(total[0], (a - b).sum(dtype=np.float64), rtol=1e-5, atol=1e-4)


# ------------------------------------------------------------------------------------------ large arrays of operations


def near(found, want):
    single = found.dtype == np.float32
    np.testing.assert_allclose(found, want, rtol=1e-5 if single else 1e-13, atol=1e-6 if single else 1e-15)


def test_large_arrays_are_computed_as_small_ones():
    """A few operations of each kind: composed, with parameters, choices, of two and three operands."""
    x, y = (rng.normal(size=CHEAP_LEAST + 37) for _ in range(2))
    mask = x > 0.3
    calls = [
        (activation.silu, (x,), {}), (activation.softplus, (x,), {"beta": 2.0, "threshold": 1.5}), (activation.gelu, (x,), {}),
        (activation.leaky_relu, (x,), {"slope": 0.1, "at_kink": 0.1}), (elementwise.lerp, (x, y, y * y), {}),
        (selection.where, (mask, x, y), {}), (elementwise.sin, (x,), {}), (special_ops.erf, (x,), {}),
    ]  # fmt: skip
    for op, operands, params in calls:
        for dtype in (np.float32, np.float64):
            given = [a if a.dtype == bool else a.astype(dtype) for a in operands]
            found = op(*given, **params)
            with np.errstate(all="ignore"):
                few = np.concatenate([op(*(a[k : k + 4000] for a in given), **params) for k in range(0, x.size, 4000)])
            assert found.dtype == few.dtype == dtype
            near(found, few)


def derivative(f, x, dtype, seed):
    x = rg.asarray(x.astype(dtype), requires_grad=True)
    (found,) = rg.autograd.grad(f(x), [x], [rg.asarray(seed.astype(dtype))])
    assert found.dtype == np.dtype(dtype)
    return found.numpy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [
    activation.silu, activation.gelu, activation.mish, activation.sigmoid, elementwise.tanh, elementwise.sin, activation.relu,
    lambda x: activation.softplus(x, beta=1.0, threshold=20.0), lambda x: x * x, lambda x: x / (x * x + 1), lambda x: 1 - x,
], ids=["silu", "gelu", "mish", "sigmoid", "tanh", "sin", "relu", "softplus", "square", "ratio", "difference"])  # fmt: skip
def test_derivatives_of_large_arrays_are_those_of_small_ones(f, dtype, counted):
    counted(2)
    x, seed = rng.normal(size=SHARED_LEAST + 5), rng.normal(size=SHARED_LEAST + 5)
    found = derivative(f, x, dtype, seed)
    few = np.concatenate([derivative(f, x[k : k + 8000], dtype, seed[k : k + 8000]) for k in range(0, x.size, 8000)])
    near(found, few)


def test_a_rule_is_one_loop(counted, monkeypatch):
    counted(2)
    calls = []
    whole = pointwise.Fused.__call__
    monkeypatch.setattr(pointwise.Fused, "__call__", lambda self, *arrays: calls.append(arrays) or whole(self, *arrays))
    x, y = (rg.asarray(rng.normal(size=SHARED_LEAST).astype(np.float32), requires_grad=True) for _ in range(2))
    out = x * y
    assert len(calls) == 1
    gx, gy = rg.autograd.grad(out, [x, y], [rg.asarray(np.full(SHARED_LEAST, 3, np.float32))])
    assert len(calls) == 2
    np.testing.assert_array_equal(gx.numpy(), 3 * y.detach().numpy())
    np.testing.assert_array_equal(gy.numpy(), 3 * x.detach().numpy())


def test_a_cotangent_of_a_broadcast_operand_is_summed(counted):
    counted(2)
    x = rg.asarray(rng.normal(size=(400, 400)).astype(np.float32), requires_grad=True)
    row = rg.asarray(rng.normal(size=400).astype(np.float32), requires_grad=True)
    seed = rng.normal(size=(400, 400)).astype(np.float32)
    _, found = rg.autograd.grad(x * row, [x, row], [rg.asarray(seed)])
    assert found.shape == (400,)
    np.testing.assert_allclose(found.numpy(), (seed * x.detach().numpy()).sum(0, dtype=np.float64), rtol=2e-5, atol=1e-4)


def test_rules_are_traced():
    g, out, x = operand(0), operand(1), operand(2)
    assert repr(trace_rule(elementwise.multiply.prim, 0, g, None, (x, operand(3)), {})) == "multiply(x0, x3)"
    assert "exp" in repr(trace_rule(activation.silu.prim, 0, g, out, (x,), {}))
    with pytest.raises(UnsupportedError, match="floor"):
        trace_rule(selection.floor.prim, 0, g, None, (None,), {})  # zeros of a shape, which an expression does not have


def test_parameters_are_told_apart():
    x = np.linspace(-2, 2, CHEAP_LEAST + 1).astype(np.float32)
    for slope in (0.1, 0.25, 1, True, 0.1):
        want = np.where(x > 0, x, x * np.float32(slope))
        np.testing.assert_array_equal(activation.leaky_relu(x, slope=slope, at_kink=slope), want)


def test_without_generated_code_numpy_computes(monkeypatch):
    monkeypatch.setenv("RETROGRADE_JIT", "0")
    monkeypatch.setattr(pointwise, "_FUNCTIONS", {})
    for op in (activation.silu, special_ops.erf):
        monkeypatch.setattr(op.prim.large, "_forward", {})
    x = rng.normal(size=LEAST).astype(np.float32)
    np.testing.assert_array_equal(special_ops.erf(x), special.erf(x))
    np.testing.assert_array_equal(activation.silu(x), activation.silu.prim.kernel(np, x))


def test_only_elementwise_primitives_of_real_numbers_go_there():
    assert PRIMITIVES["sum"].large is None
    z = np.full(LEAST, 1 + 2j)
    np.testing.assert_array_equal(activation.silu(z), activation.silu(z[:1])[0])
    whole = np.arange(SHARED_LEAST)
    np.testing.assert_array_equal(elementwise.add(whole, whole), 2 * whole)


def test_higher_derivatives_of_large_arrays():
    x = rg.asarray(rng.normal(size=LEAST).astype(np.float32), requires_grad=True)
    z = x.detach().numpy().astype(np.float64)
    (first,) = rg.autograd.grad(activation.gelu(x).sum(), [x], create_graph=True)
    (second,) = rg.autograd.grad(first.sum(), [x])
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    assert np.allclose(first.detach().numpy(), special.ndtr(z) + z * density, atol=3e-7)
    assert np.allclose(second.numpy(), (2 - z * z) * density, atol=1e-6)
