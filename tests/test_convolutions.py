"""Convolutions as generated code: what BLAS computes from the unfolded windows, for every shape, stride, group and layout."""

import numpy as np
import pytest

from retrograde.backend.jit import convolutions, llvm, threads
from retrograde.backend.jit.processor import AVX2, AVX512
from retrograde.ops import convolution

pytestmark = pytest.mark.skipif(
    not llvm.available(), reason="needs llvmlite: elsewhere convolutions go to BLAS"
)
rng = np.random.default_rng(2)


@pytest.fixture
def both(monkeypatch):
    """f() by generated code, however small, and by BLAS; and how often generated code was called."""
    calls = []
    asked = convolutions._suited

    def suited(*given):
        found = asked(*given)
        calls.extend([given] * found)
        return found

    monkeypatch.setattr(convolutions, "_suited", suited)

    def run(f):
        for name in ("LEAST", "LEAST_PLAIN"):
            monkeypatch.setattr(convolutions, name, 0)
        calls.clear()
        generated = f()
        assert calls
        for name in ("LEAST", "LEAST_PLAIN"):
            monkeypatch.setattr(convolutions, name, 1 << 62)
        calls.clear()
        expected = f()
        assert not calls
        return generated, expected

    return run


def numbers(*shape, dtype=np.float32):
    return rng.normal(size=shape).astype(dtype)


def close(pair, dtype=np.float32):
    generated, expected = pair
    assert generated.shape == expected.shape
    assert generated.dtype == expected.dtype == dtype
    np.testing.assert_allclose(generated, expected, rtol=0, atol=np.finfo(dtype).eps * 50 * np.abs(expected).max())


SHAPES = {  # images, channels in and out, size, kernel, padding, dilation
    "line": (3, 2, 5, (50,), (3,), ((1, 1),), (1,)),
    "one column over": (2, 3, 8, (51,), (3,), ((0, 0),), (1,)),
    "exact blocks": (1, 4, 16, (98,), (3,), ((0, 0),), (1,)),
    "plane": (2, 3, 9, (9, 11), (3, 3), ((1, 1), (1, 1)), (1, 1)),
    "uneven": (2, 5, 7, (8, 13), (2, 5), ((0, 1), (3, 2)), (1, 1)),
    "dilated": (2, 3, 4, (14, 12), (3, 2), ((2, 2), (0, 1)), (2, 3)),
    "row": (3, 2, 17, (1, 40), (1, 7), ((0, 0), (3, 3)), (1, 1)),
    "space": (2, 3, 6, (5, 6, 7), (2, 3, 3), ((0, 1), (1, 1), (1, 1)), (1, 1, 1)),
    "small images": (23, 40, 36, (4, 4), (3, 3), ((1, 1), (1, 1)), (1, 1)),
    "small images of many outputs": (130, 30, 70, (5, 6), (3, 3), ((1, 0), (1, 1)), (1, 1)),
    "small lines": (9, 64, 64, (5,), (3,), ((2, 2),), (2,)),
    "many outputs": (1, 2, 33, (6, 6), (3, 3), ((0, 0), (0, 0)), (1, 1)),
}
cases = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@cases
def test_convolve(both, shape, dtype):
    n, c, o, size, kernel, padding, dilation = shape
    x, w, b = numbers(n, c, *size, dtype=dtype), numbers(o, c, *kernel, dtype=dtype), numbers(o, dtype=dtype)
    given = {"stride": (1,) * len(kernel), "padding": padding, "dilation": dilation, "groups": 1}
    close(both(lambda: convolution.convolve(x, w, b, **given)), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@cases
def test_convolve_transpose(both, shape, dtype):
    n, o, c, size, kernel, padding, dilation = shape  # the transpose's outputs are the inputs' channels
    one = (1,) * len(kernel)
    out = convolution.output_size(size, kernel, one, padding, dilation)
    y, w = numbers(n, o, *out, dtype=dtype), numbers(o, c, *kernel, dtype=dtype)
    given = {"size": size, "stride": one, "padding": padding, "dilation": dilation, "groups": 1}
    close(both(lambda: convolution.convolve_transpose(y, w, None, **given)), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@cases
def test_convolve_weight(both, shape, dtype):
    n, c, o, size, kernel, padding, dilation = shape
    one = (1,) * len(kernel)
    out = convolution.output_size(size, kernel, one, padding, dilation)
    x, y = numbers(n, c, *size, dtype=dtype), numbers(n, o, *out, dtype=dtype)
    given = {"kernel": kernel, "stride": one, "padding": padding, "dilation": dilation, "groups": 1}
    close(both(lambda: convolution.convolve_weight(x, y, **given)), dtype)


@pytest.fixture
def short_registers(monkeypatch):
    """Code as it is written for AVX2."""
    kept = [f for f in vars(convolutions).values() if hasattr(f, "cache_clear")]
    for function in kept:
        function.cache_clear()
    monkeypatch.setattr(llvm, "processor", lambda: AVX2)
    yield
    for function in kept:
        function.cache_clear()


@pytest.mark.skipif(llvm.processor() is not AVX512, reason="elsewhere the other tests have these registers, or there are none")
@pytest.mark.parametrize("outputs", [1, 2, 3, 4, 6, 9, 11, 18])
def test_the_tiles_for_short_registers(short_registers, both, outputs):
    x, y = numbers(3, outputs, 9, 23), numbers(3, 5, 9, 23)
    w, one = numbers(outputs, 5, 3, 3), {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
    close(both(lambda: convolution.convolve(y, w, None, **one)))
    close(both(lambda: convolution.convolve_transpose(y, w.swapaxes(0, 1), None, size=(9, 23), **one)))
    close(both(lambda: convolution.convolve_weight(y, x, kernel=(3, 3), **one)))


STRIDED = {  # images, channels in and out, size, kernel, stride, padding, dilation, groups
    "stride": (2, 3, 9, (11, 12), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
    "strides": (2, 4, 6, (12, 9), (3, 4), (2, 3), ((1, 2), (0, 3)), (1, 1), 1),
    "small images with a stride": (9, 48, 64, (9, 8), (4, 3), (2, 2), ((1, 1), (1, 1)), (1, 1), 1),
    "stride beyond the kernel": (2, 3, 4, (10, 11), (1, 2), (3, 4), ((0, 0), (0, 0)), (1, 1), 1),
    "stride and dilation": (1, 2, 5, (13, 17), (3, 3), (2, 2), ((2, 2), (3, 1)), (3, 2), 1),
    "strides beyond the padding": (2, 2, 5, (9, 23), (5, 11), (4, 5), ((9, 0), (7, 12)), (1, 1), 1),
    "tiles": (2, 3, 7, (12, 64), (4, 4), (4, 4), ((0, 0), (0, 0)), (1, 1), 1),
    "stride of a line": (3, 4, 8, (61,), (5,), (4,), ((2, 2),), (1,), 1),
    "stride in space": (1, 2, 4, (7, 6, 9), (3, 2, 3), (2, 1, 2), ((1, 1), (0, 1), (1, 0)), (1, 1, 1), 1),
    "depthwise": (2, 5, 5, (9, 35), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 5),
    "depthwise stride": (2, 3, 3, (14, 13), (5, 5), (2, 2), ((2, 2), (2, 2)), (1, 1), 3),
    "several of each": (2, 4, 8, (9, 10), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 4),
    "groups": (2, 6, 10, (8, 9), (3, 3), (1, 2), ((1, 1), (1, 1)), (1, 1), 2),
    "one place": (3, 5, 9, (7, 8), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    "one place of a line": (3, 20, 9, (700,), (1,), (1,), ((0, 0),), (1,), 1),
    "wider than a band": (1, 2, 3, (3, 1200), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "rows that are no whole vectors": (2, 3, 9, (9, 21), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "stride down": (2, 3, 9, (9, 21), (3, 3), (2, 1), ((1, 1), (1, 1)), (1, 1), 1),
    "images in shares": (8, 2, 6, (20, 40), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 2),
    "deep": (1, 40, 3, (6, 7), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", STRIDED.values(), ids=STRIDED)
def test_strides_and_groups(both, shape, dtype):
    n, c, o, size, kernel, stride, padding, dilation, groups = shape
    given = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    out = convolution.output_size(size, kernel, stride, padding, dilation)
    x, w, y = (numbers(*s, dtype=dtype) for s in ((n, c, *size), (o, c // groups, *kernel), (n, o, *out)))
    bias, other = numbers(o, dtype=dtype), numbers(c, dtype=dtype)
    close(both(lambda: convolution.convolve(x, w, bias, **given)), dtype)
    close(both(lambda: convolution.convolve_transpose(y, w, other, size=size, **given)), dtype)
    close(both(lambda: convolution.convolve_weight(x, y, kernel=kernel, **given)), dtype)


@pytest.mark.parametrize("groups", [1, 8])
@pytest.mark.parametrize("images", [3, 16])
def test_the_number_of_threads_does_not_change_a_bit(images, groups):
    x, w, y = numbers(images, 8, 33, 31), numbers(16, 8 // groups, 3, 3), numbers(images, 16, 17, 16)
    given = {"stride": (2, 2), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": groups}
    before, found = threads.count(), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            found.append((
                convolution.convolve(x, w, None, **given),
                convolution.convolve_transpose(y, w, None, size=(33, 31), **given),
                convolution.convolve_weight(x, y, kernel=(3, 3), **given),
            ))
    finally:
        threads.set_count(before)
    for arrays in zip(*found, strict=True):
        for other in arrays[1:]:
            np.testing.assert_array_equal(arrays[0], other)


def test_nor_does_it_for_small_images():
    x, w, y = numbers(64, 40, 8, 8), numbers(64, 40, 3, 3), numbers(64, 64, 4, 4)
    given = {"stride": (2, 2), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
    before, found = threads.count(), []
    try:
        for count in (1, 2, 3):
            threads.set_count(count)
            found.append((
                convolution.convolve(x, w, None, **given),
                convolution.convolve_transpose(y, w, None, size=(8, 8), **given),
                convolution.convolve_weight(x, y, kernel=(3, 3), **given),
            ))
    finally:
        threads.set_count(before)
    for arrays in zip(*found, strict=True):
        for other in arrays[1:]:
            np.testing.assert_array_equal(arrays[0], other)


def test_layouts(both):
    x, w = numbers(2, 9, 11, 4).transpose(0, 3, 1, 2), numbers(3, 3, 4, 6).transpose(3, 2, 0, 1)
    given = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    close(both(lambda: convolution.convolve(x, w, None, **given)))
    y = numbers(2, 7, 9, 6).transpose(0, 3, 1, 2)
    close(both(lambda: convolution.convolve_transpose(y, w, None, size=(9, 11), **given)))
    close(both(lambda: convolution.convolve_weight(x, y, kernel=(3, 3), **given)))


def test_a_larger_size_than_the_windows_reach(both):
    y, w = numbers(2, 4, 10, 12), numbers(4, 5, 3, 3)
    given = {"stride": (1, 1), "padding": ((2, 1), (1, 2)), "dilation": (2, 2), "groups": 1}
    close(both(lambda: convolution.convolve_transpose(y, w, None, size=(12, 14), **given)))


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_infinities_reach_what_they_meet_and_nothing_else(both, bad):
    x, y, ones = numbers(2, 4, 12, 12), numbers(2, 4, 10, 10), np.ones((4, 4, 3, 3), np.float32)
    given = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    x[0, 1, 0, 11] = y[1, 2, 3, 4] = bad
    for f in (
        lambda: convolution.convolve(x, ones, None, **given),
        lambda: convolution.convolve_transpose(y, ones, None, size=(12, 12), **given),
        lambda: convolution.convolve_weight(x, np.ones_like(y), kernel=(3, 3), **given),
    ):
        generated, expected = both(f)
        assert np.array_equal(np.isnan(generated), np.isnan(expected))
        assert np.array_equal(np.isinf(generated), np.isinf(expected))


def test_weights_that_are_infinite_meet_no_zeros_that_are_not_there(monkeypatch):
    y, w = numbers(2, 4, 10, 10), numbers(4, 5, 3, 3)
    w[0, 0, 0, 0] = np.inf
    given = {"size": (12, 12), "stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    with np.errstate(invalid="ignore"):
        expected = convolution.convolve_transpose(y, w, None, **given)
        for name in ("LEAST", "LEAST_PLAIN"):
            monkeypatch.setattr(convolutions, name, 0)
        np.testing.assert_array_equal(convolution.convolve_transpose(y, w, None, **given), expected)
    assert np.isfinite(expected[:, 0, 11]).all()


def test_what_is_left_to_blas():
    few, many = np.zeros((1, 2, 8, 8), np.float32), np.zeros((4, 64, 8, 8), np.float32)
    swapped, wide = many.astype(">f4"), many.astype(np.float64)

    def done(x, w):
        return convolutions.convolve(x, w, None, (1, 1), ((0, 0), (0, 0)), (1, 1), 1, (6, 6)) is not None

    assert done(many, numbers(8, 64, 3, 3))
    assert not done(few, numbers(2, 2, 3, 3))
    assert not done(swapped, numbers(8, 64, 3, 3).astype(">f4"))
    assert not done(many, numbers(8, 64, 3, 3).astype(">f4"))
    assert not done(wide, numbers(8, 64, 3, 3))
    x, y = np.zeros((2, 64, 14, 14), np.float32), numbers(2, 512, 12, 12)
    assert convolutions.convolve_weight(x, y, (3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1) is None  # many weights


@pytest.mark.parametrize("stride", [1, 3])
def test_a_kernel_as_large_as_the_image(stride):
    x, w, b, y = numbers(5, 12, 4, 3), numbers(7, 12, 4, 3), numbers(12), numbers(5, 7, 1, 1)
    given = {"stride": (stride,) * 2, "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    image = np.einsum("noij,ochw->nchw", y, w) + b.reshape(-1, 1, 1)
    np.testing.assert_allclose(convolution.convolve_transpose(y, w, b, size=(4, 3), **given), image, rtol=1e-4, atol=1e-5)
    weights = np.einsum("noij,nchw->ochw", y, x)
    np.testing.assert_allclose(convolution.convolve_weight(x, y, kernel=(4, 3), **given), weights, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("other", [np.float64, np.float16, ">f4"])
def test_operands_of_two_dtypes(other):
    given = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
    x, w, y = numbers(8, 16, 32, 32), numbers(16, 16, 3, 3), numbers(8, 16, 32, 32)
    w, y = w.astype(other), y.astype(other)
    wide = [a.astype(np.float64) for a in (x, w, y)]
    for found, exact in (
        (convolution.convolve(x, w, None, **given), convolution.convolve(*wide[:2], None, **given)),
        (
            convolution.convolve_transpose(x, w, None, size=(32, 32), **given),
            convolution.convolve_transpose(*wide[:2], None, size=(32, 32), **given),
        ),
        (
            convolution.convolve_weight(x, y, kernel=(3, 3), **given),
            convolution.convolve_weight(wide[0], wide[2], kernel=(3, 3), **given),
        ),
    ):
        np.testing.assert_allclose(found, exact, atol=1e-3 * np.abs(exact).max())


def test_more_windows_than_the_images_have_room_for():
    given = {"kernel": (3, 3), "stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    x = numbers(8, 16, 32, 32)
    for shape in ((9, 16, 30, 30), (8, 16, 31, 30)):
        with pytest.raises(ValueError, match="room"):
            convolution.convolve_weight(x, numbers(*shape), **given)


def test_deep_sums_lose_no_digits():
    x, w = rng.random((2, 512, 16, 16)).astype(np.float32), rng.random((8, 512, 3, 3)).astype(np.float32)
    given = {"stride": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1}
    exact = convolution.convolve(x.astype(np.float64), w.astype(np.float64), None, **given)
    np.testing.assert_allclose(convolution.convolve(x, w, None, **given), exact, rtol=1e-6)


def test_windows_of_small_images_are_written_down(monkeypatch):
    """Half of the lanes would have no result: the generated code that lays windows side by side is what runs."""
    asked = []
    real = convolutions._gathered
    monkeypatch.setattr(convolutions, "_gathered", lambda *given: asked.append(given) or real(*given))
    convolutions._forward.cache_clear()
    x, w = numbers(5, 16, 4, 4), numbers(48, 16, 3, 3)
    given = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 1}
    found = convolution.convolve(x, w, None, **given)
    assert asked
    # Each result is the same sum in the same order as alone, where nothing is laid out.
    for n in range(5):
        np.testing.assert_array_equal(convolution.convolve(x[n : n + 1], w, None, **given)[0], found[n])


def test_a_stride_beyond_the_kernel_on_small_images():
    """Places between the strides belong to no weight: the gradient of the input is zero there."""
    from retrograde.dialects import torch

    for channels in (8, 64):
        x = torch.ones(2, channels, 4, 4, requires_grad=True)
        torch.nn.functional.conv2d(x, torch.ones(channels, channels, 1, 1), stride=2).sum().backward()
        assert (x.grad[:, :, ::2, ::2] == channels).all()
        assert x.grad.sum() == 2 * channels * 4 * channels


@pytest.mark.parametrize("images", [1, 5, 6])
def test_images_that_are_laid_out_some_at_a_time_have_the_same_bits(images, monkeypatch):
    x, w, b = numbers(images, 4, 20, 24), numbers(6, 2, 3, 3), numbers(6)
    given = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1), "groups": 2}
    expected = convolutions.convolve(x, w, b, **given, out=(20, 24))
    laid, layer = [], convolutions._layer
    monkeypatch.setattr(convolutions, "_layer", lambda shape, *rest: (laid.append(shape[0]), layer(shape, *rest))[1])
    monkeypatch.setattr(convolutions, "_LAID", 2 * 4 * 22 * 26)
    for kept in (convolutions._forward, convolutions._at_a_time):
        kept.cache_clear()
    np.testing.assert_array_equal(convolutions.convolve(x, w, b, **given, out=(20, 24)), expected)
    for kept in (convolutions._forward, convolutions._at_a_time):
        kept.cache_clear()
    assert max(laid) <= 2
