"""float16 and bfloat16 beside float32 and float64 by generated code: every number, rounding and layout as NumPy has them."""

import ml_dtypes
import numpy as np
import pytest
from same_bits import same_bits

import retrograde as rg
from retrograde.backend.jit import halves, llvm

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SINGLE = np.dtype(np.float32)
rng = np.random.default_rng(0)


@pytest.fixture(params=[np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])
def dtype(request):
    return np.dtype(request.param)


@pytest.fixture(autouse=True)
def at_any_size(monkeypatch):
    monkeypatch.setattr(halves, "_FEWEST", 0)
    for name in ("_LEAST", "_LEAST_WIDENED"):
        monkeypatch.setattr(halves, name, {"e": 0, "E": 0})


def every(dtype):
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def near_every(dtype):
    """Single numbers at, between, and just beside those between the numbers of a dtype, and what is none of them."""
    x = every(dtype).astype(SINGLE)
    with np.errstate(all="ignore"):
        middle = (x.astype(np.float64) / 2 + np.roll(x, 1).astype(np.float64) / 2).astype(SINGLE)
        found = [x, middle, np.nextafter(middle, SINGLE.type(np.inf)), np.nextafter(middle, SINGLE.type(-np.inf))]
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, 65504, 65519.99, 65520, 1e-8], SINGLE)
    return np.concatenate([*found, edges])


def test_every_number(dtype):
    found = halves.converted(every(dtype), SINGLE)
    assert found.dtype == SINGLE
    np.testing.assert_array_equal(found, every(dtype).astype(SINGLE))


def test_every_rounding(dtype):
    x = near_every(dtype)
    found = halves.converted(x, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(dtype)
    assert found.dtype == dtype
    nan = np.isnan(x)
    assert np.isnan(found[nan]).all()
    np.testing.assert_array_equal(found[~nan].view(np.uint16), expected[~nan].view(np.uint16))


def test_double_numbers_are_rounded_once(dtype):
    with np.errstate(all="ignore"):
        x = near_every(dtype).astype(np.float64)
        x = np.concatenate([x, x * (1 + 1e-13), x * (1 - 1e-13), x / 2 + np.roll(x, 1) / 2, [1e300, -1e300, 5e-324, 2.0**-25]])
        expected = x.astype(dtype)
    found = halves.converted(x, dtype)
    assert found.dtype == dtype
    nan = np.isnan(x)
    assert np.isnan(found[nan]).all()
    np.testing.assert_array_equal(found[~nan].view(np.uint16), expected[~nan].view(np.uint16))
    back = halves.converted(every(dtype), np.dtype(float))
    assert back.dtype == np.dtype(float)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(back, every(dtype).astype(float))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 8191, 8192, 8193])
def test_every_size(dtype, n):
    x = rng.normal(size=n).astype(SINGLE)
    np.testing.assert_array_equal(halves.converted(x, dtype), x.astype(dtype))
    np.testing.assert_array_equal(halves.single(x.astype(dtype)), x.astype(dtype).astype(SINGLE))


def test_every_layout(dtype):
    x = rng.normal(size=(6, 7, 8)).astype(SINGLE)
    odd = np.frombuffer(b"x" + x.tobytes(), SINGLE, offset=1)
    for given in (x, x.T, x.transpose(1, 0, 2), x[::2], x[:, ::-1], x[..., 1:], x[0, 0, 0], np.broadcast_to(x[0], x.shape), odd):
        for a, to in ((given, dtype), (given.astype(dtype), SINGLE)):
            found, expected = halves.converted(a, to), a.astype(to)
            assert found.shape == expected.shape
            assert found.strides == expected.strides
            np.testing.assert_array_equal(found, expected)


def test_what_it_does_not_convert_is_numpys(dtype):
    x = rng.normal(size=100)
    for a, to in ((x, dtype), (x.astype(dtype), np.dtype(np.float64)), (x.astype(dtype), np.dtype(np.int32)),
                  (x.astype(">f4"), dtype), (x.astype(dtype), dtype)):  # fmt: skip
        found = halves.converted(a, to)
        assert found.dtype == to
        np.testing.assert_array_equal(found, a.astype(to))


def test_the_same_bits_for_any_number_of_threads(dtype):
    x = rng.normal(size=70_001).astype(SINGLE)
    same_bits(lambda: halves.converted(x, dtype))
    same_bits(lambda: halves.single(x.astype(dtype)))


def test_casts_and_their_cotangents(dtype):
    x = rng.normal(size=(70, 90))
    for wide, narrow in ((SINGLE, dtype), (np.dtype(np.float64), dtype), (dtype, SINGLE)):
        a = rg.asarray(x.astype(wide), requires_grad=True)
        seed = rng.normal(size=x.shape).astype(narrow)
        out = rg.astype(a, narrow)
        (g,) = rg.autograd.grad(out, [a], [rg.asarray(seed)])
        np.testing.assert_array_equal(out.detach().numpy(), x.astype(wide).astype(narrow))
        assert g.dtype == wide
        np.testing.assert_array_equal(g.numpy(), seed.astype(wide))


def test_products_round_once(dtype):
    x, y = (rng.normal(size=(64, 64)).astype(dtype) for _ in range(2))
    found = (rg.asarray(x) @ rg.asarray(y)).numpy()
    np.testing.assert_array_equal(found, (x.astype(SINGLE) @ y.astype(SINGLE)).astype(dtype))
