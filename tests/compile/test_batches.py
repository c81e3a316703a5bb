"""Batches of small products of matrices are read and written where they lie (compile/passes/batches.py)."""

import numpy as np
import pytest

import retrograde as rg
from retrograde.compile import jit
from retrograde.compile.emit import machine
from retrograde.compile.passes.batches import PRODUCTS, batched
from retrograde.compile.pipeline import optimised

pytestmark = pytest.mark.skipif(not machine.available(), reason="no machine code is made here")


def numbers(shape, dtype=np.float32, seed=0):
    return rg.asarray(np.random.default_rng(seed).normal(size=shape).astype(dtype))


def attention(heads):
    def f(x):
        b, t, c = x.shape
        q, k, v = (rg.permute_dims(rg.reshape(y, (b, t, heads, -1)), (0, 2, 1, 3)) for y in split(x, 3))
        s = rg.exp(rg.matmul(q, rg.permute_dims(k, (0, 1, 3, 2))) * 0.1)
        y = rg.matmul(s / rg.sum(s, axis=-1, keepdims=True), v)
        return rg.reshape(rg.permute_dims(y, (0, 2, 1, 3)), (b, t, c // 3))

    return f


def split(x, n):
    size = x.shape[-1] // n
    return [x[..., k * size : (k + 1) * size] for k in range(n)]


SHAPES = [(2, 8, 18, 3), (8, 64, 192, 4), (1, 5, 9, 1), (3, 17, 30, 2), (2, 33, 96, 2), (2, 1, 12, 2), (2, 2, 6, 2)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("b", "t", "c", "heads"), SHAPES)
def test_attention_and_its_gradient(b, t, c, heads, dtype):
    f = attention(heads)
    x = numbers((b, t, c), dtype)

    def both(x):
        return rg.value_and_grad(lambda z: rg.sum(f(z) ** 2))(x)

    near = {"rtol": 1e-4, "atol": 1e-5} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(jit(f)(x)._a, f(x)._a, **near)
    for found, expected in zip(jit(both)(x), both(x)):
        np.testing.assert_allclose(found._a, expected._a, **near)


@pytest.mark.parametrize("axes", [(0, 2, 1, 3), (0, 3, 1, 2), (0, 1, 3, 2), (2, 0, 1, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
@pytest.mark.parametrize(("m", "k", "n"), [(7, 5, 3), (16, 16, 16), (33, 1, 17), (2, 40, 2)])
def test_results_are_written_as_the_transpose_behind_wants_them(axes, m, k, n):
    x, y = numbers((3, 2, m, k)), numbers((3, 2, k, n), seed=1)

    def f(x, y):
        return rg.permute_dims(rg.matmul(x, y), axes) * 2

    np.testing.assert_allclose(jit(f)(x, y)._a, f(x, y)._a, rtol=1e-5, atol=1e-5)


def test_a_product_that_is_taken_twice_stays_itself():
    x, y = numbers((3, 4, 5)), numbers((3, 5, 6), seed=1)

    def f(x, y):
        z = rg.matmul(x, y)
        return rg.permute_dims(z, (0, 2, 1)) + 1, z * 2, z

    for found, expected in zip(jit(f)(x, y), f(x, y)):
        np.testing.assert_allclose(found._a, expected._a, rtol=1e-5, atol=1e-5)


def test_what_is_broadcast_large_or_of_other_numbers_is_left_alone():
    def count(x, y):
        graph = batched(optimised(jit(rg.matmul).lower(x, y).graph))
        return sum(e.prim is PRODUCTS for e in graph.equations)

    assert count(numbers((3, 4, 5)), numbers((3, 5, 6))) == 1
    assert count(numbers((1, 4, 5)), numbers((3, 5, 6))) == 0
    assert count(numbers((2, 200, 200)), numbers((2, 200, 200))) == 0
    assert count(rg.asarray(np.ones((3, 4, 5), int)), rg.asarray(np.ones((3, 5, 6), int))) == 0
    assert count(numbers((4, 5)), numbers((5, 6))) == 0


def test_the_equation_by_numpy_gives_the_same():
    x, y = numbers((2, 3, 4, 5)), numbers((2, 3, 5, 6))
    f = jit(lambda x, y: rg.permute_dims(rg.matmul(x, y), (0, 2, 1, 3)))
    (e,) = batched(optimised(f.lower(x, y).graph)).equations
    assert e.prim is PRODUCTS
    np.testing.assert_allclose(e.prim.kernel(np, x._a, y._a, **e.params), f(x, y)._a, rtol=1e-5, atol=1e-5)


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    from retrograde.backend.jit import threads

    f, x = jit(attention(4)), numbers((8, 64, 192))
    found = []
    before = threads.count()
    try:
        for n in (1, 2, 3):
            threads.set_count(n)
            found.append(f(x)._a.tobytes())
    finally:
        threads.set_count(before)
    assert len(set(found)) == 1
