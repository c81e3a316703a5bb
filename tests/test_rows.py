"""Softmax and layer normalisation of rows as generated code: against double precision, for every width, and optional."""

import numpy as np
import pytest
from scipy import special

from retrograde.backend.jit import operands, rows
from retrograde.ops import normalization
from retrograde.ops import softmax as softmax_ops

from .same_bits import same_bits

rng = np.random.default_rng(3)
LEAST = operands.LEAST
pytestmark = pytest.mark.skipif(
    rows.softmax(np.zeros((LEAST, 1), np.float32)) is None, reason="needs llvmlite and a processor that code is generated for"
)
WIDTHS = [1, 2, 15, 16, 17, 31, 32, 33, 100, 1000, 8192, 9001]


def many(width, spread=1.0):
    return (rng.normal(size=(-(-LEAST // width) + 1, width)) * spread).astype(np.float32)


def exact_softmax(x):
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_softmax(width):
    x, g = many(width, 3.0), many(width)
    out, wide = rows.softmax(x), exact_softmax(x)
    np.testing.assert_allclose(out, wide, rtol=3e-6)
    exact = (g - (g * wide).sum(-1, keepdims=True)) * wide
    np.testing.assert_allclose(rows.softmax_pull(g, out), exact, rtol=1e-5, atol=3e-6)


def test_softmax_of_unusual_rows_is_numpys():
    inf, nan = np.inf, np.nan
    few = np.array([[1, 2, inf], [-inf, 0, 1], [-inf] * 3, [nan, 0, 1], [0, 1, nan], [-90, -100, 0], [3e38, -3e38, 0]])
    x = np.resize(few, (LEAST // 3 + 7 - (LEAST // 3) % 7, 3)).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        expected = softmax_ops.softmax(x[:7], axis=1)
    np.testing.assert_allclose(rows.softmax(x)[:7], expected, rtol=1e-6, atol=1e-44)
    assert (rows.softmax(x)[5, :2] > 0).all()  # as small as numbers get


def normalised(x, w, b, eps):
    z = x.astype(np.float64)
    standard = (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + eps)
    return standard, standard * (1 if w is None else w) + (0 if b is None else b)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("width", WIDTHS[1:])
def test_layer_norm(width, weighted, shifted):
    x, g, eps = many(width) + 2, many(width), 1e-5
    w = rng.normal(size=width).astype(np.float32) if weighted else None
    b = rng.normal(size=width).astype(np.float32) if shifted else None
    standard, expected = normalised(x, w, b, eps)
    np.testing.assert_allclose(rows.layer_norm(x, w, b, width, eps), expected, rtol=1e-4, atol=1e-5 if width > 2 else 1e-3)
    factor = 1 / np.sqrt(x.astype(np.float64).var(-1, keepdims=True) + eps)
    scaled = g.astype(np.float64) * (1 if w is None else w)
    dx, dw, db = rows.layer_norm_pull(g, x, w, width, eps)
    exact = factor * (scaled - scaled.mean(-1, keepdims=True) - standard * (scaled * standard).mean(-1, keepdims=True))
    if width > 2:  # of two numbers, each is one deviation off whatever they are: the derivative is rounding
        np.testing.assert_allclose(dx, exact, rtol=1e-3, atol=2e-5)
    np.testing.assert_allclose(dw, (g * standard).sum(0), rtol=1e-4, atol=3e-4)
    np.testing.assert_allclose(db, g.sum(0, dtype=np.float64), rtol=1e-4, atol=3e-4)


def test_large_and_small_arrays_agree():
    x, w, b = many(64), rng.normal(size=64).astype(np.float32), rng.normal(size=64).astype(np.float32)
    given = {"axis": (1,), "affine": (1, 64), "eps": 1e-5}
    whole = normalization.normalize(x, w, b, shape=x.shape, **given)
    np.testing.assert_allclose(whole[:4], normalization.normalize(x[:4], w, b, shape=(4, 64), **given), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        softmax_ops.softmax(x, axis=1)[:4], softmax_ops.softmax(x[:4], axis=1), rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize(
    "x",
    [np.zeros((4, 4), np.float32), np.zeros((LEAST, 2), np.float16), np.zeros((LEAST, 2), np.float32).T,
     np.zeros((2, LEAST), ">f4")],
    ids=["few", "float16", "columns", "swapped bytes"],
)  # fmt: skip
def test_what_is_left_to_numpy(x):
    assert rows.softmax(x) is None
    assert (rows.layer_norm(x, None, None, x.shape[-1], 0.1) is None) == (x.size > 16)  # few rows are not left to it


def test_weights_of_another_kind_are_left_to_numpy():
    x = many(16)
    assert rows.layer_norm(x, np.ones(16), None, 16, 0.1) is None
    assert rows.layer_norm(x, np.ones(32, np.float32)[::2], None, 16, 0.1) is None
    assert rows.layer_norm_pull(x, x, np.ones(15, np.float32), 16, 0.1) is None


@pytest.mark.parametrize("width", [1 << 17, 1 << 20])
def test_long_rows_lose_no_digits(width):
    x = rng.random((1, width)).astype(np.float32) * 3
    np.testing.assert_allclose(rows.softmax(x), exact_softmax(x), rtol=5e-7)
    x += 100
    standard, _ = normalised(x, None, None, 1e-5)
    np.testing.assert_allclose(rows.layer_norm(x, None, None, width, 1e-5), standard, atol=1e-5)


@pytest.mark.parametrize("width", [3, 64, 700])
def test_the_bits_do_not_depend_on_the_number_of_threads(width):
    x, g = (rng.normal(size=(40_000 // width, width)).astype(np.float32) for _ in range(2))
    w, b = rng.normal(size=(2, width)).astype(np.float32)
    (out,) = same_bits(lambda: rows.softmax(x))
    same_bits(lambda: rows.softmax_pull(g, out))
    same_bits(lambda: rows.layer_norm(x, w, b, width, 1e-5))
    same_bits(lambda: rows.layer_norm_pull(g, x, w, width, 1e-5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 7, 17, 600, 9001])
def test_both_precisions(width, dtype):
    x, g = (many(width, 3.0).astype(dtype) for _ in range(2))
    z, wide = x.astype(np.float64), g.astype(np.float64)
    logs = special.log_softmax(z, -1)
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(rows.softmax(x), np.exp(logs), **close)
    np.testing.assert_allclose(rows.log_softmax(x), logs, **close)
    np.testing.assert_allclose(rows.logsumexp(x), special.logsumexp(z, -1), **close)
    total = wide.sum(-1, keepdims=True)
    scale = 1 + np.abs(wide).sum(-1, keepdims=True)
    found = rows.log_softmax_pull(g, logs.astype(dtype))
    np.testing.assert_allclose(found / scale, (wide - np.exp(logs) * total) / scale, **close)
    center, spread = z.mean(-1, keepdims=True), z.var(-1, keepdims=True)
    np.testing.assert_allclose(rows.layer_norm(x, None, None, width, 0.1), (z - center) / np.sqrt(spread + 0.1), **close)
    dx, _, db = rows.layer_norm_pull(g, x, None, width, 0.1)
    assert dx.dtype == db.dtype == dtype
    np.testing.assert_allclose(db / np.abs(wide).sum(0), wide.sum(0) / np.abs(wide).sum(0), **close)


def test_logsumexp_of_unusual_rows():
    inf, nan = np.inf, np.nan
    few = np.array([[inf, 0, 1], [-inf] * 3, [nan, 0, 1], [-inf, 0, 0], [3e38, -3e38, 0]], np.float32)
    with np.errstate(all="ignore"):
        want = special.logsumexp(few.astype(np.float64), -1)
    np.testing.assert_allclose(rows.logsumexp(np.tile(few, (LEAST, 1))).reshape(-1, 5)[0], want, rtol=1e-6)


@pytest.mark.parametrize("width", [100, 9001])
def test_the_logarithms_bits_do_not_depend_on_the_number_of_threads(width):
    x, g = many(width), many(width)
    same_bits(lambda: (rows.log_softmax(x), rows.logsumexp(x), rows.log_softmax_pull(g, x)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 17), (5, 16), (33, 3)])
def test_layer_normalisation_of_few_numbers(shape, dtype):
    x, g = (rng.normal(size=shape).astype(dtype) for _ in range(2))
    w, b = (rng.normal(size=shape[1]).astype(dtype) for _ in range(2))
    d = x - x.mean(1, keepdims=True, dtype=np.float64)
    r = 1 / np.sqrt((d * d).mean(1, keepdims=True) + 0.1)
    tolerance = {"rtol": 2e-5, "atol": 2e-5} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-13}
    np.testing.assert_allclose(rows.layer_norm(x, w, b, shape[1], 0.1), d * r * w + b, **tolerance)
    np.testing.assert_allclose(rows.layer_norm(x, None, None, shape[1], 0.1), d * r, **tolerance)
    dx, dw, db = rows.layer_norm_pull(g, x, w, shape[1], 0.1)
    inner = g * w
    wanted = r * (inner - inner.mean(1, keepdims=True) - d * r * (inner * d * r).mean(1, keepdims=True))
    np.testing.assert_allclose(dx, wanted, **tolerance)
    np.testing.assert_allclose(dw, (g * d * r).sum(0), **tolerance)
    np.testing.assert_allclose(db, g.sum(0), **tolerance)
