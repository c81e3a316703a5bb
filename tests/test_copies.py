"""Copies and sums of arrays that lie differently, as generated code: every layout against NumPy, with any number of threads, and
where operations on large arrays take them."""

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.jit import copies, llvm, threads
from retrograde.backend.numpy import NUMPY
from retrograde.core import large
from retrograde.ops import manipulation, structural, triangular

from .same_bits import same_bits

rng = np.random.default_rng(3)
pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")

SHAPES = [(5,), (16,), (17, 23), (65, 130), (2, 40, 50), (2, 3, 33, 9), (1, 9001), (4000, 2)]


@pytest.fixture
def every(monkeypatch):
    """All copies are taken here, however small, by two threads."""
    before = threads.count()
    monkeypatch.setattr(copies, "_LEAST", dict.fromkeys(copies._LEAST, 0))
    monkeypatch.setattr(copies, "MOVED", 0)
    threads.set_count(2)
    yield
    threads.set_count(before)


def check(out, x):
    before, want = out.copy(), out.copy()
    want[...] = x
    assert copies.copy(out, x)
    np.testing.assert_array_equal(out, want)
    if out.dtype.kind == "f":
        out[...] = before
        assert copies.add(out, x)
        np.testing.assert_array_equal(out, before + x)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_layout(every, shape, dtype):
    base = (100 * rng.random(tuple(2 * n for n in shape))).astype(dtype)
    room = np.zeros(base.shape, dtype)
    views = [
        tuple(slice(n) for n in shape), tuple(slice(n, None) for n in shape), (slice(None, None, 2),) * len(shape),
        tuple(slice(None, n - 1, -1) for n in shape), (slice(None, None, -2),) * len(shape),
    ]  # fmt: skip
    for a in views:
        for b in views:
            check(room[a], base[b])
    turned = (100 * rng.random(shape[::-1])).astype(dtype).T
    swapped = np.ascontiguousarray(turned.swapaxes(0, -1)).swapaxes(0, -1)
    for x in (turned, swapped, np.broadcast_to(base[(slice(1),) * len(shape)], shape)):
        check(np.zeros(shape, dtype), x)
        check(room[views[1]], x)
    check(np.zeros(shape, dtype), np.broadcast_to(turned[..., :1], shape))
    check(np.zeros(shape[::-1], dtype).T, base[views[0]])


def test_what_is_left_to_the_caller(every):
    x = np.zeros((300, 300), np.float32)
    for out, given in (
        (x, np.zeros((300, 300))), (x, x[:5]), (x[:0], x[:0]), (np.broadcast_to(x[0], (300, 300)), x),
        (np.zeros(9, complex), np.ones(9, complex)), (np.zeros(4, object), np.ones(4, object)),
        (np.zeros((2,) * 6), np.zeros((2,) * 6).transpose(5, 3, 1, 4, 2, 0)),
        (np.zeros(4 * 100 + 1, np.uint8)[1:].view(np.float32), np.zeros(100, np.float32)),
    ):  # fmt: skip
        assert not copies.copy(out, given)
    assert not copies.add(np.zeros(9, np.int32), np.zeros(9, np.int32))


def test_the_bits_do_not_depend_on_the_number_of_threads(every):
    x = rng.normal(size=(300, 500)).astype(np.float32)

    def call():
        out = np.ones((500, 300), np.float32)
        copies.add(out, x.T)
        return out, copies.ordered(x[::-1, ::-1]), copies.ordered(x[::3, 1:])

    same_bits(call)


def test_sums_onto_what_shares_memory():
    x = rng.normal(size=(300, 300)).astype(np.float32)
    want = x + x.T
    large.add_into(x, x.T)
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize(
    "index", [(slice(1, None), slice(None, -1)), (slice(2, 200, 3),), (5,), (slice(None), -7), (slice(3, 3),),
              (slice(None, None, -1),), (Ellipsis, slice(4)), (slice(None, None, 2), slice(1, None, 2)), (np.int64(3), 4)],
)  # fmt: skip
def test_a_part_among_zeros(index, every):
    shape = 300, 400
    want = np.zeros(shape, np.float32)
    g = rng.normal(size=want[index].shape).astype(np.float32)
    want[index] = g
    np.testing.assert_array_equal(structural.embed(g, shape=shape, index=index), want)


@pytest.mark.parametrize("value", [0, 1.5])
@pytest.mark.parametrize("widths", [((1, 2), (3, 4)), ((0, 0), (-3, 5)), ((2, -1), (0, 0)), ((0, 0), (0, 0))])
def test_padding(widths, value, every):
    x = rng.normal(size=(300, 400)).astype(np.float32)
    kernel = manipulation.pad_constant.prim.kernel
    found = manipulation.pad_constant(x, widths=widths, value=value)
    np.testing.assert_array_equal(found, kernel(np, x, widths=widths, value=value))


def test_operations_on_large_arrays_are_numpys(every):
    x = rng.normal(size=(2, 300, 400)).astype(np.float32)
    for axis in range(3):
        y = rng.normal(size=x.shape).astype(np.float32)
        np.testing.assert_array_equal(structural.concatenate(x, y, axis=axis), np.concatenate([x, y], axis))
        np.testing.assert_array_equal(structural.stack(x, y, x, axis=axis), np.stack([x, y, x], axis))
        np.testing.assert_array_equal(manipulation.flip(x, axes=(axis,)), np.flip(x, axis))
        np.testing.assert_array_equal(manipulation.roll(x, shifts=(7,), axes=(axis,)), np.roll(x, 7, axis))
    turned = x.transpose(2, 0, 1)
    np.testing.assert_array_equal(structural.reshape(turned, shape=(400, 600)), turned.reshape(400, 600))
    with pytest.raises(ValueError, match="reshape"):
        structural.reshape(turned, shape=(400, 601))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
def test_triangles(dtype):
    x = rng.normal(size=(2, 600, 500)).astype(dtype)
    x[0, 3, 499] = x[1, 599, 2] = np.nan if dtype is not np.int64 else 0
    for y in (x, x.swapaxes(1, 2), x[0, :, ::-1]):
        for k in (-700, -3, 0, 5, 700):
            np.testing.assert_array_equal(triangular.tril(y, k=k), np.tril(y, k))
            np.testing.assert_array_equal(triangular.triu(y, k=k), np.triu(y, k))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, ">f4", np.float64, np.complex64, np.complex128])
def test_small_triangles(dtype):
    x = (rng.normal(size=(2, 7, 5)) * 50).astype(dtype)
    if x.dtype.kind in "fc":
        x[0, 2, 1], x[0, 0, 4], x[1, 6, 0], x[1, 0, 0] = np.nan, np.nan, np.inf, -0.0
    for y in (x, x.swapaxes(1, 2), x[:, ::-1, ::2], x[0], x[:, :0], x[..., :0], x[:0]):
        for k in (-9, -2, 0, 1, 9):
            for op, theirs in ((triangular.tril, np.tril), (triangular.triu, np.triu)):
                found, wanted = op(y, k=k), theirs(y, k)
                assert found.dtype == wanted.dtype
                assert found.flags.c_contiguous
                assert found.tobytes() == wanted.tobytes()


def test_gradients_that_lie_otherwise():
    x = rg.asarray(rng.normal(size=(200, 300)).astype(np.float32), requires_grad=True)
    seed = rng.normal(size=(300, 200)).astype(np.float32)
    for k in (1, 2):
        x.T.backward(rg.asarray(seed))
        np.testing.assert_array_equal(x.grad.numpy(), k * seed.T)


def test_one_part_of_many_gets_a_gradient():
    x = rg.asarray(rng.normal(size=(300, 400)).astype(np.float32), requires_grad=True)
    for op, axis, given in ((manipulation.split, 1, {"sizes": (150, 150, 100)}), (manipulation.split, 0, {"sizes": (299, 1)})):
        for k, part in enumerate(op(x, axis=axis, **given)):
            seed = rng.normal(size=part.shape).astype(np.float32)
            (found,) = rg.autograd.grad(part, [x], [rg.asarray(seed)])
            want = [np.zeros(other.shape) for other in op(x, axis=axis, **given)]
            want[k] = seed
            np.testing.assert_array_equal(found.numpy(), np.concatenate(want, axis))


def test_writing_into_an_array(every):
    turned = rng.normal(size=(400, 300)).T
    for out, x in ((np.zeros((300, 400)), turned), (np.zeros((300, 400)), np.asarray(3.0)), (np.zeros(9), np.ones(9, int))):
        np.testing.assert_array_equal(NUMPY.write(out, x), np.broadcast_to(x, out.shape))
    x = rng.normal(size=(500, 500))
    want = x.T.copy()
    np.testing.assert_array_equal(NUMPY.write(x, x.T), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, bool, np.int64, np.float16, np.complex128])
def test_zeros_are_filled_by_any_number_of_threads(dtype):
    before = threads.count()
    try:
        for count in (1, 2):
            threads.set_count(count)
            out = large.zeros((400, 500), np.dtype(dtype))
            assert out.dtype == dtype
            np.testing.assert_array_equal(out, np.zeros((400, 500), dtype))
    finally:
        threads.set_count(before)
