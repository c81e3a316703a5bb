"""Products of matrices that others give are left out (compile/passes/linear.py), and what is computed stays the same."""

import itertools
import re
import time

import numpy as np
import pytest
from graphs import Builder, names

import retrograde as rg
from retrograde.compile import jit
from retrograde.compile.emit import machine
from retrograde.compile.passes.common import common
from retrograde.compile.passes.dead import dead
from retrograde.compile.passes.linear import spared
from retrograde.compile.verify import verify

M, N = 12, 8


def products(graph):
    return sum(name in ("matmul", "project", "transposed_matmul") for name in names(graph))


def spares(graph, count):
    """So many products fewer, and the same numbers."""
    after = verify(spared(graph), "spared")
    assert products(graph) - products(after) == count
    if not count:
        assert after is graph
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=v.shape).astype(v.dtype) for v in graph.inputs]
    for got, want in zip(after.run(*arrays), graph.run(*arrays), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9 * np.abs(want).max())
    return after


def begun():
    """A graph, two matrices of rows, a square one, and numbers for each row."""
    build = Builder()
    x, y, w, c = (build.input(*shape, dtype=np.float64) for shape in ((M, N), (M, N), (N, N), (M, 1)))
    return build, x, y, w, c


def test_what_multiplies_rows_is_taken_out_of_a_product():
    build, x, y, w, c = begun()
    first = build("matmul", build("multiply", x, y), w)
    scaled = build("scaled_product", build("multiply", c, y), c, x, scale=-2.0)
    after = spares(build.graph(first, build("matmul", scaled, w)), 1)
    assert names(after).count("matmul") == 1
    build, x, y, w, c = begun()
    other = build("matmul", build("multiply", x, x), w)  # of something else
    spares(build.graph(other, build("matmul", build("multiply", c, x), w)), 0)
    build, x, y, w, c = begun()
    divided = build("matmul", build("divide", x, c), w)  # the first has what the second has not
    spares(build.graph(divided, build("matmul", x, w)), 0)


def test_gradients_of_one_matrix_are_one_product():
    build, x, y, w, c = begun()
    one = build("transposed_matmul", build("multiply", x, c), y)
    two = build("transposed_matmul", x, x)
    three = build("transposed_matmul", y, x)
    both = build("add", build("add", one, three), two)
    used = build("matmul", x, w), build("matmul", build("multiply", y, x), w)
    spares(build.graph(both, *used), 1)
    spares(build.graph(both, one, *used), 0)  # one of them is wanted for itself


def second(*, beside=True):
    """t W, and the sum along the rows of (a Wᵀ) t, which is multiplied with it again and added to b Wᵀ."""
    build, x, y, w, _ = begun()
    given = build("matmul", x, w)
    a = build("multiply", build("multiply", given, given), y)
    back = build("project", a, w)
    summed = build("sum", build("multiply", build("add", back, y), x), axis=(1,), keepdims=True)
    factor = build("multiply", summed, summed)
    again = build("multiply", build("multiply", factor, back), x)
    if not beside:
        return build.graph(summed, again)
    other = build("project", build("multiply", build("multiply", given, y), factor), w)
    return build.graph(summed, build("add", again, build("multiply", other, x)))


def test_what_is_summed_up_along_rows_or_stands_beside_another_product_goes():
    spares(second(), 1)
    spares(second(beside=False), 0)
    build, x, y, w, _ = begun()
    given = build("matmul", x, w)
    back = build("project", build("tanh", given), w)
    total = build("sum", build("subtract", y, build("negative", build("multiply", back, x))), axis=(1,), keepdims=False)
    spares(build.graph(total), 1)
    spares(build.graph(total, back), 0)  # an output
    spares(build.graph(total, build("exp", back)), 0)  # not linear
    spares(build.graph(total, build("matmul", back, w)), 0)  # linear, but not for elements
    spares(build.graph(total, build("transpose", back, axes=(1, 0))), 0)


def test_numbers_that_are_there_too_late_are_not_taken():
    """They are computed from the product beside, and so can be no part of it."""
    build, x, y, w, _ = begun()
    given = build("matmul", x, w)
    back = build("project", build("multiply", given, y), w)
    summed = build("sum", build("multiply", back, x), axis=(1,), keepdims=True)
    other = build("project", y, w)
    late = build("sum", build("exp", other), axis=(1,), keepdims=True)
    spares(build.graph(summed, build("add", build("multiply", late, back), other)), 0)


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs(seed):
    """Of what is linear, and what is not, in products with one matrix: the same numbers, and many products fewer in all."""
    fewer = 0
    for k in range(200):
        rng = np.random.default_rng((seed, k))
        build, x, y, w, c = begun()
        rows, columns, ends = [x, y], [c], []

        def some(of, rng=rng):
            return of[max(rng.integers(len(of)), rng.integers(len(of)))]

        for _ in range(14):
            kind = rng.integers(9)
            if kind < 3:
                rows.append(build("matmul" if rng.integers(2) else "project", some(rows), w))
            elif kind == 3:
                rows.append(build("add" if rng.integers(2) else "subtract", some(rows), some(rows)))
            elif kind == 4:
                rows.append(build("multiply", some(columns), some(rows)))
            elif kind == 5:
                rows.append(build("multiply", some(rows), rows[rng.integers(2)]))
            elif kind == 6:
                rows.append(build("tanh_slope", some(rows), rows[rng.integers(2)]))
            elif kind == 7:
                columns.append(build("sum", build("multiply", some(rows), some(rows)), axis=(1,), keepdims=True))
            else:
                ends.append(build("transposed_matmul", some(rows), some(rows)))
                ends.append(build("add", ends[-1], some(ends)))
                columns.append(build("sum", some(rows), axis=(1,), keepdims=True))
        graph = dead(common(build.graph(*columns[1:], *ends[-1:], build("sum", some(rows), axis=(0,), keepdims=False))))
        after = verify(spared(graph), "spared")
        arrays = [rng.normal(size=v.shape) * 0.3 for v in graph.inputs]
        for got, want in zip(after.run(*arrays), graph.run(*arrays), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10 * max(1.0, np.abs(want).max()))
        assert products(after) <= products(graph)
        fewer += products(graph) - products(after)
    assert fewer > 5


def network(depth, act, dtype):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(40, 1))]
    for a, b in itertools.pairwise([1, *[16] * depth, 1]):
        arrays += [rng.normal(size=(a, b)) * 0.5, rng.normal(size=b) * 0.3]

    def loss(x, *weights):
        def u(z):
            for w, b in zip(weights[:-2:2], weights[1:-2:2]):
                z = act(z @ w + b)
            return z @ weights[-2] + weights[-1]

        def slope(f):
            return rg.grad(lambda z: rg.sum(f(z)))

        return rg.mean((slope(slope(u))(x) + u(x) * slope(u)(x) - rg.sin(x)) ** 2)

    return rg.value_and_grad(loss, tuple(range(1, len(arrays)))), [rg.asarray(a.astype(dtype)) for a in arrays]




@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
@pytest.mark.parametrize("act", [rg.tanh, rg.sin])
@pytest.mark.parametrize(("depth", "wanted"), [(2, 10), (3, 23)])
def test_derivatives_of_derivatives_of_a_network(depth, wanted, act):
    f, arrays = network(depth, act, np.float32)
    compiled = jit(f)
    value, grads = compiled(*arrays)
    eager_value, eager = f(*arrays)
    f64, exact = network(depth, act, np.float64)
    exact_value, exact_grads = f64(*exact)
    for got, one_by_one, want in zip((value, *grads), (eager_value, *eager), (exact_value, *exact_grads), strict=True):
        size = np.abs(want._a).max()
        error = np.abs(got._a - want._a).max()
        assert error <= 4 * np.abs(one_by_one._a - want._a).max() + 4 * np.finfo(np.float32).eps * size
    text = compiled.lower(*arrays).text()
    assert len(re.findall(r" = (matmul|project|transposed_matmul)\(", text.split("\n\n")[2])) == wanted
    assert compiled.lower(*arrays).text() == jit(f).lower(*arrays).text()  # no choice is by chance


@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
@pytest.mark.parametrize("seed", range(6))
def test_random_functions_of_rows_derived_again_and_again(seed):
    rng = np.random.default_rng(seed)
    acts = rg.tanh, rg.sin, rg.exp, lambda z: z * z, lambda z: z / (1 + z * z), lambda z: 2 - z
    chosen = [(acts[rng.integers(len(acts))], int(rng.integers(4))) for _ in range(int(rng.integers(2, 5)))]
    order = [int(k) for k in rng.integers(3, size=3)]
    x, first, w, v, last, c = (
        rg.asarray(rng.normal(size=shape) * 0.3) for shape in ((20, 1), (1, 8), (8, 8), (8, 8), (8, 1), (20, 1))
    )

    def loss(first, w, v, last):
        def u(z):
            h = z @ first
            for act, kind in chosen:
                h = act((h @ w, h @ v, h @ w.T, c * (h @ w) - h @ v)[kind])
            return h @ last

        def slope(f):
            return rg.grad(lambda z: rg.sum(f(z)))

        slopes = [u, slope(u), slope(slope(u))]
        return rg.mean((slopes[order[0]](x) * slopes[order[1]](x) + c * slopes[order[2]](x) - slopes[2](x)) ** 2)

    f = rg.value_and_grad(loss, argnums=(0, 1, 2, 3))
    value, grads = jit(f)(first, w, v, last)
    eager_value, eager = f(first, w, v, last)
    for got, want in zip((value, *grads), (eager_value, *eager), strict=True):
        np.testing.assert_allclose(got._a, want._a, rtol=1e-9, atol=1e-11 * max(1.0, np.abs(want._a).max()))


def test_many_products_with_one_matrix_are_looked_at_quickly():
    """A layer that is taken hundreds of times, with sums along rows and what is linear all the way: work is bounded."""
    build, x, y, w, _ = begun()
    rows, total = x, build("sum", x, axis=(1,), keepdims=True)
    for _ in range(150):
        forth = build("matmul", build("tanh", rows), w)
        back = build("project", build("multiply", forth, y), w)
        rows = build("add", build("multiply", rows, x), back)
        total = build("add", total, build("sum", build("multiply", rows, y), axis=(1,), keepdims=True))
    graph = build.graph(total)
    before = time.process_time()
    after = verify(spared(graph), "spared")
    assert time.process_time() - before < 5
    assert products(after) <= products(graph)
