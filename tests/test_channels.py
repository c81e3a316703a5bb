"""Batch, group and instance normalisation as generated code: what NumPy computes in passes, for every layout it takes."""

import itertools
import math

import numpy as np
import pytest

from retrograde.backend.jit import channels, llvm
from retrograde.ops import normalization, running

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(
    not llvm.available(), reason="needs llvmlite"
)
rng = np.random.default_rng(4)
SHAPES = [(16, 16, 32, 32), (5, 8, 7, 67), (64, 4, 100), (3, 12, 9, 9, 9), (2, 4, 16, 80), (40, 8, 2, 3), (9, 12, 4, 4)]


def over(kind, shape):
    n, c, *size = shape
    if kind == "batch":
        return shape, (0, *range(2, len(shape)))
    if kind == "instance":
        return shape, tuple(range(2, len(shape)))
    return (n, 4, c // 4 * math.prod(size)), (2,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weights", ["both", "none", "w", "b"])
@pytest.mark.parametrize(
    ("shape", "kind"), [*itertools.product(SHAPES, ["batch", "group", "instance"]), ((300, 21), "batch"), ((64, 32), "batch")],
    ids=str,
)  # fmt: skip
def test_as_numpy(monkeypatch, shape, kind, weights, dtype):
    x, g = ((rng.normal(size=shape) + k).astype(dtype) for k in (2, 0))
    c = shape[1]
    w = rng.normal(size=c).astype(dtype) if weights in ("both", "w") else None
    b = rng.normal(size=c).astype(dtype) if weights in ("both", "b") else None
    taken, axis = over(kind, shape)
    given = {"shape": taken, "axis": axis, "affine": (1, c, *(1,) * (len(shape) - 2)), "eps": 1e-5}
    needs = True, w is not None, b is not None
    calls = []
    for name in ("normalize", "normalize_pull"):
        function = getattr(channels, name)
        monkeypatch.setattr(channels, name, lambda *a, function=function: (calls.append(1), function(*a))[1])

    def all_of_it():
        out = normalization.normalize_stats(x, w, b, **given)
        return *out, *normalization._pull_arrays(needs, g, x, w, b, **given)

    generated = same_bits(all_of_it)
    assert len(calls) == 8
    np.testing.assert_array_equal(normalization.normalize(x, w, b, **given), generated[0])
    monkeypatch.setattr(channels, "LEAST", 1 << 60)
    tolerance = 200 * np.finfo(dtype).eps
    for found, expected in zip(generated, [y for y in all_of_it() if y is not None], strict=True):
        assert found.shape == expected.shape
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_by_given_statistics(monkeypatch, dtype):
    x = rng.normal(size=(5, 7, 9, 11)).astype(dtype)
    given = [rng.random(7).astype(dtype) + k for k in (0, 1, 0, 0)]
    made = []
    function = channels.scaled
    monkeypatch.setattr(channels, "scaled", lambda *a: (made.append(function(*a)), made[-1])[1])
    (found,) = same_bits(lambda: normalization.normalize_by(x, *given, affine=(1, 7, 1, 1), eps=0.1))
    center, var, w, b = (a.reshape(7, 1, 1) for a in given)
    np.testing.assert_allclose(found, (x - center) / np.sqrt(var + 0.1) * w + b, atol=20 * np.finfo(dtype).eps)
    assert made[-1] is found or np.array_equal(made[-1], found)


@pytest.mark.parametrize("kind", ["batch", "group", "instance"])
def test_against_double_precision(kind):
    shape = (8, 8, 24, 24)
    x = rng.normal(size=shape).astype(np.float32) * 3 + 100  # a mean far from 0, for which one pass would not do
    taken, axis = over(kind, shape)
    z = x.astype(np.float64).reshape(taken)
    exact = (z - z.mean(axis, keepdims=True)) / np.sqrt(z.var(axis, keepdims=True) + 1e-5)
    found = normalization.normalize(x, None, None, shape=taken, axis=axis, affine=(1, 8, 1, 1), eps=1e-5)
    np.testing.assert_allclose(found, exact.reshape(shape), atol=3e-5)


def test_constant_images_have_no_deviation():
    x = np.full((4, 4, 32, 32), 7, np.float32)
    out = normalization.normalize(x, None, None, shape=x.shape, axis=(0, 2, 3), affine=(1, 4, 1, 1), eps=1e-5)
    np.testing.assert_array_equal(out, 0)


def test_what_is_left_to_numpy():
    def blocks(x, axis, affine, shape=None):
        return channels.blocks_of(x if shape is None else shape, axis, x, affine)

    assert blocks((64, 32), (0,), (1, 32)) == (64, 1, 1, 32, 1)
    assert blocks((64, 32), (1,), (1, 32)) is None  # a layer's
    assert blocks((64, 32, 3), (0, 2), (1, 32, 1)) is None  # short ones
    assert blocks((8, 8, 32), (1, 2), (1, 8, 32)) is None  # a layer's weights
    assert blocks((8, 8, 32), (0,), (1, 8, 1)) is None
    assert blocks((8, 6, 32), (2,), (1, 6, 1), (8, 4, 48)) is None  # four groups of six channels
    assert blocks((8, 8, 32), (0, 2), (1, 8, 1)) == (8, 1, 1, 8, 32)
    x = np.zeros((8, 8, 32, 32), np.float32)
    assert channels.normalize(x, np.ones(8), None, channels.Blocks(8, 1, 1, 8, 1024), 0.1) is None


@pytest.mark.parametrize("kind", ["batch", "instance"])
def test_large_images_lose_no_digits(kind):
    shape = (16, 1, 256, 256) if kind == "batch" else (1, 2, 1024, 1024)
    x = rng.normal(size=shape).astype(np.float32) + 100
    taken, axis = over(kind, shape)
    z = x.astype(np.float64)
    affine = (1, shape[1], 1, 1)
    out, mean, scale = normalization.normalize_stats(x, None, None, shape=taken, axis=axis, affine=affine, eps=1e-5)
    exact = z.mean(axis), 1 / np.sqrt(z.var(axis) + 1e-5)
    np.testing.assert_allclose(mean, exact[0], rtol=1e-7)
    np.testing.assert_allclose(scale, exact[1], rtol=3e-7)
    np.testing.assert_allclose(out, (z - z.mean(axis, keepdims=True)) / np.sqrt(z.var(axis, keepdims=True) + 1e-5), atol=1e-5)


def test_a_bias_alone_of_one_channel():
    x, b = rng.normal(size=(4, 1, 4096)).astype(np.float32), np.ones(1, np.float32)
    g = np.ones_like(x)
    found = normalization._pull_arrays((True, False, True), g, x, None, b, x.shape, (2,), (1, 1, 1), 1e-5)
    np.testing.assert_allclose(found[2], [x.size])
    np.testing.assert_allclose(found[0], 0, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 3, 15, 16, 17, 40])
def test_running_statistics_move_by_the_bits_of_numpy(count, dtype):
    means, variances, mean, scale = (rng.uniform(0.5, 2, count).astype(dtype) for _ in range(4))
    wanted = (
        running.moved_towards(means, mean, share=0.1),
        running.moved_towards(variances, running.variance_of_scale(scale, eps=1e-5, factor=1.25), share=0.1),
    )
    assert channels.moved((means, variances), mean, scale, 0.1, 1e-5, 1.25)
    np.testing.assert_array_equal(means, wanted[0])
    np.testing.assert_array_equal(variances, wanted[1])


def test_running_statistics_that_numpy_moves():
    means, mean = np.ones(4, np.float32), np.zeros(4, np.float32)
    for variances in (np.ones(4), np.ones(8, np.float32)[::2], np.ones(3, np.float32), np.broadcast_to(np.float32(1), 4)):
        assert not channels.moved((means, variances), mean, mean, 0.1, 0.0, 1.0)
    np.testing.assert_array_equal(means, 1)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0), (2, 0, 3)])
def test_no_numbers(shape):
    x, w = np.zeros(shape, np.float32), np.ones(shape[1], np.float32)
    affine = (1, shape[1], 1)
    assert normalization.normalize(x, w, w, shape=shape, axis=(0, 2), affine=affine, eps=0.1).shape == shape
    grouped = (shape[0], 2, shape[1] // 2 * shape[2])
    assert normalization.normalize(x, w, w, shape=grouped, axis=(2,), affine=affine, eps=0.1).shape == shape


@pytest.mark.parametrize("shape", [(1, 2, 4), (2, 4, 1, 5), (3, 2)])
def test_few_numbers(monkeypatch, shape):
    x, g = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    w = rng.normal(size=shape[1]).astype(np.float32)
    given = {"shape": shape, "axis": (0, *range(2, len(shape))), "affine": (1, shape[1], *(1,) * (len(shape) - 2)), "eps": 0.1}

    def all_of_it():
        return *normalization.normalize_stats(x, w, w, **given), *normalization._pull_arrays((True,) * 3, g, x, w, w, **given)

    generated = all_of_it()
    monkeypatch.setattr(channels, "LEAST", 1 << 60)
    for found, expected in zip(generated, all_of_it(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6)
