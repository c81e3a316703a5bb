"""What machine code computes for a graph is what its primitives compute one after the other, for all shapes and layouts."""

import concurrent.futures
import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.backend.jit import llvm, processor, threads, vectors
from retrograde.compile import jit, pipeline
from retrograde.compile.emit import machine, straight
from retrograde.compile.graph import Equation, Graph, Variable
from retrograde.core.record import PRIMITIVES

pytestmark = pytest.mark.skipif(not machine.available(), reason="no machine code is made here")

NAMES = [n for n, p in PRIMITIVES.items() if p.kind in ("elementwise", "reduction", "structural", "composite")]


def emitted(f, *arrays):
    """The graph of a function, emitted."""
    return machine.Emitted(pipeline.optimised(jit(f).lower(*arrays).graph))


def arrays_of(out):
    return [np.asarray(y._a) for y in (out if isinstance(out, (tuple, list)) else (out,))]


def draws(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def close(found, wanted, scale, units=4):
    """Within units in the last place of the largest number on the way."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if found.dtype.kind != "f":
        np.testing.assert_array_equal(found, wanted)
        return
    eps = np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, wanted, rtol=units * eps, atol=units * eps * scale, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_primitive_is_what_it_is_alone(name):
    prim = PRIMITIVES[name]
    for sample in prim.samples():
        for dtype in (np.float32, np.float64):
            given = [None if x is None else np.asarray(x) for x in sample.operands]
            given = [x.astype(dtype) if x is not None and x.dtype == np.float64 else x for x in given]
            with np.errstate(all="ignore"):
                wanted = prim.op(*given, **sample.params)
            wanted = [np.asarray(y) for y in (wanted if prim.multi else (wanted,))]
            inputs = [None if x is None else Variable(x.shape, x.dtype) for x in given]
            outputs = [Variable(y.shape, y.dtype) for y in wanted]
            graph = Graph([v for v in inputs if v is not None], {}, [Equation(prim, inputs, sample.params, outputs)], outputs)
            with np.errstate(all="ignore"):
                found = machine.emitted(graph)(*[x for x in given if x is not None])
            scale = max((float(np.max(np.abs(x))) for x in given if x is not None and x.size and x.dtype.kind == "f"), default=1)
            for y, z in zip(found, wanted):
                close(y, z, scale if np.isfinite(scale) else 1)


def mixed(x, w, b):
    """Elementwise operations, reductions along rows and down columns and of everything, and what is made of them."""
    top = rg.max(x, axis=1, keepdims=True)
    e = rg.exp(x - top)
    p = e / rg.sum(e, axis=1, keepdims=True)
    d = p - rg.mean(p, axis=1, keepdims=True)
    y = d / rg.sqrt(rg.mean(d * d, axis=1, keepdims=True) + 0.01) * w + b
    return rg.sum(y * y, axis=0), rg.sum(rg.tanh(y)), rg.max(y), y, rg.min(x * 2, axis=1), top


@pytest.mark.parametrize(
    ("rows", "width"),
    [(1, 1), (2, 1), (5, 3), (33, 7), (4, 15), (2, 16), (3, 17), (1, 31), (300, 32), (5, 33), (9, 63), (2, 513), (3, 5000)],
)
def test_rows_of_every_width(rows, width):
    given = draws(rows, width), draws(width, seed=1), draws(width, seed=2)
    for x, y in zip(arrays_of(jit(mixed)(*given)), arrays_of(mixed(*[rg.asarray(z.astype(np.float64)) for z in given]))):
        np.testing.assert_allclose(x, y, rtol=3e-6 * max(1, width**0.5), atol=1e-6 * max(1, np.abs(y).max()))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 15, 17, 31, 32, 33, 4096, 4097, 70000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_a_sum_and_its_gradient_of_every_size(size, dtype):
    def f(x):
        return rg.sum(rg.tanh(2 * x + 1) * rg.exp(-x * x) + rg.sin(x))

    x = draws(size, dtype=dtype) / 4
    found = jit(rg.value_and_grad(f))(x)
    value, slope = rg.value_and_grad(f)(rg.asarray(x.astype(np.float64)))
    eps = float(np.finfo(dtype).eps)
    assert found[0]._a.dtype == found[1]._a.dtype == dtype
    np.testing.assert_allclose(found[0]._a, value._a, rtol=8 * eps, atol=8 * eps * max(1, size) ** 0.5)
    np.testing.assert_allclose(found[1]._a, slope._a, rtol=16 * eps, atol=16 * eps)


def test_the_chain_of_a_small_vector_is_one_function_without_loops():
    def f(x, y):
        for _ in range(100):
            x = x * y
        return rg.sum(x)

    x, y = draws(4), 1 + draws(4, seed=1) / 50
    step = rg.value_and_grad(f, argnums=(0, 1))
    found = emitted(step, x, y)
    (segment,) = found.pieces
    assert "<4 x float>" in segment.text()
    value, (dx, dy) = jit(step)(x, y)
    want, (wx, wy) = step(rg.asarray(x.astype(np.float64)), rg.asarray(y.astype(np.float64)))
    for a, b in ((value, want), (dx, wx), (dy, wy)):
        np.testing.assert_allclose(a._a, b._a, rtol=1e-5)


def test_sine_and_cosine_of_an_angle_take_it_apart_once():
    alone, both, other = (
        emitted(f, draws(64)).text().count("@quarters_of(")
        for f in (rg.sin, lambda x: rg.sin(x) * rg.cos(x) + rg.tan(x), lambda x: rg.sin(x) * rg.cos(2 * x))
    )
    assert alone == both
    assert other > both


def test_operands_lie_as_they_like():
    def f(x, y):
        return rg.exp(x) * y + rg.sum(x * y, axis=1, keepdims=True)

    x, y = draws(37, 21), draws(37, 21, seed=1)
    wanted = arrays_of(f(rg.asarray(x), rg.asarray(y)))[0]
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    odd = buffer[1:].view(x.dtype).reshape(x.shape)
    odd[...] = x
    wide = np.zeros((37, 42), np.float32)
    wide[:, ::2] = x
    for z in (np.asfortranarray(x), odd, wide[:, ::2], x[::-1].copy()[::-1]):
        np.testing.assert_array_equal(arrays_of(jit(f)(z, y))[0], arrays_of(jit(f)(x, y))[0])
        close(arrays_of(jit(f)(z, y))[0], wanted, 30)


def test_operands_are_broadcast_over_axes_in_between():
    def f(x, y, z, s):
        return rg.tanh(x) * y + z * s, rg.sum(x * y, axis=2)

    given = draws(3, 5, 8), draws(3, 1, 8, seed=1), draws(5, 1, seed=2), draws(seed=3)
    assert len(emitted(f, *given).pieces) == 1
    for x, y in zip(arrays_of(jit(f)(*given)), arrays_of(f(*map(rg.asarray, given)))):
        close(x, y, 8)


def test_softmax_normalisation_and_losses_are_fused():
    F = torch.nn.functional

    def f(x, w, b, t):
        y = F.layer_norm(torch.softmax(x, -1), (33,), w, b)
        loss = F.mse_loss(y, t) + F.cross_entropy(y, t.softmax(-1)) + y.var()
        return loss, *torch.autograd.grad(loss, [x, w, b])

    given = [torch.tensor(draws(*shape, seed=k)) for k, shape in enumerate([(20, 33), (33,), (33,), (20, 33)])]
    for x in given[:3]:
        x.requires_grad_()
    for x, y in zip(arrays_of(jit(f)(*given)), arrays_of(f(*given))):
        close(x, y, 4)
    graph = pipeline.optimised(jit(f).lower(*given).graph)
    assert all(isinstance(p, machine.Segment) for p in machine.Emitted(graph).pieces)


def test_a_batch_is_normalised_over_axes_that_lie_apart():
    def f(x):
        d = x - rg.mean(x, axis=(0, 2, 3), keepdims=True)
        return d / rg.sqrt(rg.mean(d * d, axis=(0, 2, 3), keepdims=True) + 1e-5), rg.max(x, axis=(0, 3))

    x = draws(6, 5, 7, 9)
    assert all(isinstance(p, machine.Segment) for p in emitted(f, x).pieces)
    for a, b in zip(arrays_of(jit(f)(x)), arrays_of(f(rg.asarray(x)))):
        close(a, b, 8)


def test_the_text_says_what_is_run():
    text = emitted(lambda x: rg.sort(rg.exp(x) + rg.sum(x, axis=1, keepdims=True)), draws(6, 40)).text()
    assert "6 rows of 40, 2 phases" in text
    assert "= exp(x0)" in text
    assert "call sort" in text or "call argsort" in text
    assert "define internal void @kernel0(ptr %frame, i64 %first, i64 %last)" in text


def test_what_no_kernel_computes_stands_between_segments():
    def f(x, w):
        h = rg.tanh(rg.matmul(x, w) * 0.5)
        return rg.sum(rg.matmul(h, w) ** 2), rg.sort(rg.sum(h, axis=0)), rg.permute_dims(h, (1, 0))

    given = draws(9, 6), draws(6, 6, seed=1)
    for x, y in zip(arrays_of(jit(f)(*given)), arrays_of(f(*map(rg.asarray, given)))):
        close(x, y, 30)


def test_no_result_shares_memory_with_an_operand_or_another_result():
    c = rg.asarray(draws(4))

    def f(x):
        y = x + 1
        return rg.reshape(x, (2, 2)), y, rg.reshape(y, (2, 2)), x * 2, x * 2, rg.broadcast_to(c, (3, 4)), rg.flip(x)

    x = draws(4)
    graph = jit(f).lower(x).graph
    outputs = machine.emitted(Graph(graph.inputs, graph.constants, graph.equations, (*graph.outputs, graph.outputs[3])))(x, c._a)
    for i, a in enumerate(outputs):
        assert a.flags.writeable
        assert not any(np.shares_memory(a, b) for b in (x, c._a, *outputs[:i]))


def test_a_call_keeps_and_loses_nothing():
    x, y = draws(4), draws(4, seed=1)
    graph = jit(lambda x, y: (x * y, rg.sum(x), rg.astype(x, rg.float64))).lower(x, y).graph
    run = machine.emitted(graph)
    kinds = [v.dtype for v in graph.outputs]

    def counts():
        gc.collect()  # what earlier tests have left
        return [sys.getrefcount(z) for z in (x, y, *kinds)]

    run(x, y)
    before = counts()
    for _ in range(100):
        found = run(x, y)
    del found
    assert counts() == before
    found = run(x, y)
    assert [sys.getrefcount(z) for z in found] == [3] * 3  # the tuple, the loop and the call
    assert [z.dtype for z in found] == kinds


def test_compiled_code_refuses_other_arrays():
    x = draws(4)
    run = machine.emitted(jit(lambda x, y: x * y).lower(x, x).graph)
    np.testing.assert_array_equal(run(x, np.broadcast_to(x[1], 4))[0], x * x[1])
    with pytest.raises(TypeError, match=r"float32\[5\] as operand 1, and is for float32\[4\]"):
        run(x, draws(5))
    with pytest.raises(TypeError, match="float64"):
        run(x, x.astype(np.float64))
    with pytest.raises(TypeError, match="of 2 arrays was given 1"):
        run(x)


def test_nan_and_infinities_go_their_way():
    x = draws(40, 50)
    x[3, 4], x[5, 6], x[7, :], x[9, 49] = np.nan, np.inf, -np.inf, np.nan

    def f(x):
        return rg.max(x), rg.min(x, axis=1), rg.max(x, axis=1), rg.min(x, axis=0), rg.sum(x, axis=0), rg.maximum(x, 0.5)

    with np.errstate(invalid="ignore"):
        for a, b in zip(arrays_of(jit(f)(x)), arrays_of(f(rg.asarray(x)))):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_sums_are_as_accurate_as_pairwise_ones():
    x = np.full((3000, 1200), 0.1, np.float32)
    total, rows, columns = arrays_of(jit(lambda x: (rg.sum(x), rg.sum(x, axis=1), rg.sum(x, axis=0)))(x))
    exact = float(np.float32(0.1))
    assert abs(total / (exact * x.size) - 1) < 5e-7
    assert np.abs(rows / (exact * 1200) - 1).max() < 5e-7
    assert np.abs(columns / (exact * 3000) - 1).max() < 5e-7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_divided_as_elements_are(dtype):
    info = np.finfo(dtype)
    small, large = [info.smallest_subnormal, 5 * info.tiny / 8, info.tiny, 1e-30], [1e30, info.max / 3, info.max]
    s = np.array([0, -0.0, np.inf, -np.inf, np.nan, *small, 3, -7.7, *large], dtype)[:, None]
    special = np.concatenate([s[:, 0], [1, 1.5, 1e-20, 1e20, info.tiny * 3, info.max / 2]])
    x = np.broadcast_to(np.concatenate([special, -special, draws(300, dtype=dtype)]).astype(dtype), (len(s), 340)).copy()
    with np.errstate(all="ignore"):
        wanted = x / s
    found = arrays_of(jit(lambda x, s: x / s)(x, s))[0]
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(wanted)]), np.signbit(wanted[~np.isnan(wanted)]))
    number = np.isfinite(wanted)
    limit = np.abs(wanted[number]) < info.max * (1 - 4 * info.eps)  # beside the largest number either may be infinite
    np.testing.assert_allclose(
        found[number][limit], wanted[number][limit], rtol=2 * info.eps, atol=2 * float(info.smallest_subnormal)
    )
    np.testing.assert_array_equal(found[np.isinf(wanted)], wanted[np.isinf(wanted)])


def test_threads_call_one_function_at_once():
    given = draws(64, 300), draws(300, seed=1), draws(300, seed=2)
    compiled = jit(mixed)
    wanted = arrays_of(compiled(*given))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: arrays_of(compiled(*given)), range(40)):
            for x, y in zip(found, wanted):
                np.testing.assert_array_equal(x, y)


def test_no_byte_beside_an_array_is_written_or_decides():
    for rows, width in ((1, 13), (5, 16), (7, 33), (3, 4100)):
        given = draws(rows, width), draws(width, seed=1), draws(width, seed=2)
        for piece in emitted(mixed, *given).pieces:
            assert isinstance(piece, machine.Segment)
            results = []
            for pad in (0x00, 0xFF):
                arrays, memory = [], []
                sources = dict(zip(piece.takes, given))
                for v in (*piece.gives, *piece.takes):
                    size = v.size * v.dtype.itemsize
                    around = np.full(size + 256, pad, np.uint8)
                    array = around[128 : 128 + size].view(v.dtype).reshape(v.shape)
                    if v in sources:
                        array[...] = sources[v]
                    arrays.append(array)
                    memory.append(around)
                if piece.room:
                    arrays.append(np.full(piece.room + 64, pad, np.uint8))
                piece.routine().call()(0, *arrays)
                for around in memory:
                    assert (around[:128] == pad).all()
                    assert (around[-128:] == pad).all()
                results.append([a.copy() for a in arrays[: len(piece.gives)]])
            for a, b in zip(*results):
                np.testing.assert_array_equal(a, b)


def test_the_same_bits_whatever_the_number_of_threads():
    given = draws(600, 700), draws(700, seed=1), draws(700, seed=2)
    compiled, before, found = jit(mixed), threads.count(), []
    try:
        for n in (1, 2, 3):
            threads.set_count(n)
            found.append(arrays_of(compiled(*given)))
    finally:
        threads.set_count(before)
    for other in found[1:]:
        for x, y in zip(found[0], other):
            np.testing.assert_array_equal(x, y)


def test_many_reductions_of_wide_rows_fit_on_the_stack():
    def f(x):
        y = rg.exp(x - rg.max(x, axis=1, keepdims=True))
        rows = [rg.sum(y * rg.sin(x + k), axis=1, keepdims=True) * rg.cos(x * k) for k in range(12)]
        return [rg.sum(z, axis=0) for z in rows]

    x = draws(150, 4096, dtype=np.float64)
    for a, b in zip(arrays_of(jit(f)(x)), arrays_of(f(rg.asarray(x)))):
        close(a, b, 1e4)


def test_the_text_of_the_code_is_the_same_in_another_process():
    source = (
        "import numpy as np, retrograde as rg, hashlib\n"
        "from retrograde.compile import jit\n"
        "from retrograde.compile.emit import machine\n"
        "f = rg.value_and_grad(lambda x: rg.sum(rg.exp(x) / rg.sum(x, axis=1, keepdims=True)))\n"
        "g = jit(f).lower(np.ones((5, 70))).graph\n"
        "print([hashlib.sha256(p.text().encode()).hexdigest() for p in machine.Emitted(g).pieces])\n"
    )
    first, second = (
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, env=os.environ).stdout
        for _ in range(2)
    )
    assert first == second
    assert "[]" not in first


def test_numpy_is_asked_for_by_name(monkeypatch):
    monkeypatch.setenv("RETROGRADE_COMPILE", "numpy")
    monkeypatch.setattr(machine, "emitted", None)
    assert jit(lambda x: rg.sum(x * x))(np.ones(5)).item() == 5


def test_without_machine_code_numpy_writes_where_nothing_is_needed_any_more(monkeypatch):
    monkeypatch.setenv("RETROGRADE_JIT", "0")

    def f(x, y):
        z = rg.exp(x) * y
        return rg.tanh(z + 1) / (z - y), x + y, rg.reshape(rg.sin(x), (-1,)) * 2

    x, y = draws(5, 4), 3 + draws(4, seed=1)
    graph = jit(f).lower(x, y).graph
    _, scope = straight.text(graph)
    assert sum(isinstance(g, np.ufunc) for g in scope.values()) >= 3
    before = x.copy(), y.copy()
    for a, b in zip(straight.emitted(graph)(x, y), graph.run(x, y)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


# ------------------------------------------------------------------------------------------ random graphs

UNARY = [rg.exp, rg.tanh, rg.sin, rg.negative, rg.abs, rg.square, lambda x: rg.sqrt(rg.abs(x) + 1), lambda x: 0.5 * x + 1]
BINARY = [rg.add, rg.subtract, rg.multiply, rg.maximum, lambda x, y: x / (2 + rg.abs(y)), lambda x, y: rg.where(x > y, x, 2 * y)]
SHAPES = [(4, 6), (6,), (4, 1), (), (1, 6), (3, 4, 6), (3, 1, 1), (17,), (5, 17), (2, 33)]


def program(choices, shapes):
    """A function of arrays, made of random choices; its values stay near 1."""

    def f(*arrays):
        values, rest = list(arrays), iter(choices)
        for what, i, j in zip(rest, rest, rest):
            x, y = values[i % len(values)], values[j % len(values)]
            if what < 6:
                z = UNARY[(what + j) % len(UNARY)](x)
            elif what < 12:
                try:
                    np.broadcast_shapes(x.shape, y.shape)
                except ValueError:
                    continue
                z = BINARY[what - 6](x, y)
            elif what < 16 and x.ndim:
                reduce = (rg.sum, rg.mean, rg.max, rg.min)[what - 12]
                z = reduce(x, axis=(None, 0, -1)[j % 3], keepdims=bool(i % 2))
            else:
                z = rg.reshape(x, (-1,)) if what % 2 else rg.broadcast_to(x, (2, *x.shape))
            if z.size <= 4096:
                values.append(rg.tanh(z) if z.ndim == 0 or what < 12 else z / (1 + rg.abs(z)))
        total = sum(rg.sum(v) for v in values[-3:])
        return total, values[-1], values[len(values) // 2]

    return f


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(0, 17), min_size=9, max_size=45),
    st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3), st.sampled_from([np.float32, np.float64]), st.booleans(),
)  # fmt: skip
def test_random_graphs_have_the_error_of_eager_ones(choices, shapes, dtype, with_gradient):
    f = program(choices, shapes)
    arrays = [draws(*shape, dtype=dtype, seed=k) for k, shape in enumerate(shapes)]

    def step(*xs):
        if not with_gradient:
            return f(*xs)
        value, slopes = rg.value_and_grad(lambda *ys: f(*ys)[0], argnums=tuple(range(len(xs))))(*xs)
        return value, *slopes

    found, eager = arrays_of(jit(step)(*arrays)), arrays_of(step(*map(rg.asarray, arrays)))
    exact = arrays_of(step(*[rg.asarray(x.astype(np.float64)) for x in arrays]))
    eps = float(np.finfo(dtype).eps)
    for x, y, z in zip(found, eager, exact):
        assert x.shape == y.shape
        assert x.dtype == y.dtype
        own, theirs, scale = (float(np.max(np.abs(d), initial=0)) for d in (x - z, y - z, z))
        assert own <= 4 * theirs + 64 * eps * max(scale, 1)


# ------------------------------------------------------------------------------------------ products, tiles


def tiles_of(found):
    """What the `tiles` equations of an emitted graph compute."""
    segments = [p for p in found.pieces if isinstance(p, machine.Segment)]
    return [k for s in segments for k in s.kernels if isinstance(k, machine.TilesKernel)]


def product_sizes(k):
    return [step.form for step in k.steps if isinstance(step, machine.Product)]


KINDS = [processor.AVX512, processor.AVX2, processor.SSE, processor.NEON]


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.name)
def test_products_of_every_size_for_every_kind_of_processor(monkeypatch, kind):
    for module in (llvm, vectors):
        monkeypatch.setattr(module, "processor", lambda: kind)

    def three(x, w, v):
        y = rg.matmul(x, w)
        return y, rg.matmul(rg.tanh(y), v.T), rg.matmul(x.T, y)

    for m, k, n, dtype in ((32, 64, 48, "f"), (9, 10, 3, "f"), (24, 300, 17, "f"), (8, 65, 16, "d"), (16, 33, 31, "d")):
        given = draws(m, k, dtype=dtype), draws(k, n, seed=1, dtype=dtype), draws(5, n, seed=2, dtype=dtype)
        found = emitted(three, *given)
        assert [type(p) for p in found.pieces] == [machine.Segment]
        (tiles,) = tiles_of(found)
        assert len(product_sizes(tiles)) == 3
        wide = [x.astype(np.float64) for x in given]
        y = wide[0] @ wide[1]
        for x, exact in zip(found.program().function()(*given), (y, np.tanh(y) @ wide[2].T, wide[0].T @ y)):
            assert x.dtype == np.dtype(dtype)
            np.testing.assert_allclose(x, exact, rtol=0, atol=30 * np.finfo(dtype).eps * np.abs(exact).max())


def network(z, w, b, v, c, u):
    """Layers, the derivative with respect to what goes in, and the gradient of a loss of it."""
    def out(z):
        return rg.matmul(rg.tanh(rg.matmul(rg.tanh(rg.matmul(z, w) + b), v) + c), u)

    slope = rg.grad(lambda z: rg.sum(out(z)))(z)
    return rg.mean((slope * slope + out(z)) ** 2)


def network_operands(rows, dtype=np.float32):
    shapes = (rows, 2), (2, 32), (32,), (32, 24), (24,), (24, 1)
    return [0.5 * draws(*shape, seed=k, dtype=dtype) for k, shape in enumerate(shapes)]


@pytest.mark.parametrize("rows", [1, 8, 64, 1000, 1009, 2048])
def test_a_network_with_a_derivative_in_its_loss_goes_tile_by_tile(rows):
    given = network_operands(rows)
    f = rg.value_and_grad(network, argnums=(1, 2, 3, 4, 5))
    value, gradients = jit(f)(*given)
    exact, wanted = f(*[rg.asarray(x.astype(np.float64)) for x in given])
    for x, y in zip([value, *gradients], [exact, *wanted]):
        x, y = np.asarray(x._a), np.asarray(y._a)
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
    if rows in (1000, 2048):
        counts = {k.tiles.count for k in tiles_of(emitted(lambda *a: (f(*a)[0], *f(*a)[1]), *given))}
        assert max(counts) > 1


def test_tiles_have_the_same_bits_whatever_the_number_of_threads():
    given = network_operands(8192)
    compiled, before, found = jit(rg.value_and_grad(network, argnums=(1, 2, 3, 4, 5))), threads.count(), []
    try:
        for n in (1, 2, 3):
            threads.set_count(n)
            value, gradients = compiled(*given)
            found.append(arrays_of([value, *gradients]))
    finally:
        threads.set_count(before)
    for other in found[1:]:
        for x, y in zip(found[0], other):
            np.testing.assert_array_equal(x, y)


def test_tiles_are_cut_along_a_batch_of_sequences_and_end_where_rows_are_mixed():
    def f(x, w, v, b):
        h = rg.matmul(x, w) + b
        scores = rg.matmul(h, rg.permute_dims(h, (0, 2, 1)))
        p = rg.exp(scores - rg.max(scores, axis=-1, keepdims=True))
        y = rg.matmul(p / rg.sum(p, axis=-1, keepdims=True), h)
        z = rg.matmul(rg.tanh(rg.matmul(y, v)), rg.permute_dims(v, (1, 0))) + x
        return rg.mean(z * z), rg.reshape(z, (-1, z.shape[-1])), h

    given = draws(6, 32, 48), draws(48, 48, seed=1) / 7, draws(48, 40, seed=2) / 7, draws(48, seed=3)
    f_and_gradient = rg.value_and_grad(lambda *a: f(*a)[0], argnums=(1, 2, 3))
    for g in (f, f_and_gradient):
        found, wanted = jit(g)(*given), g(*[rg.asarray(x) for x in given])
        for x, y in zip(rg_leaves(found), rg_leaves(wanted)):
            np.testing.assert_allclose(x, y, rtol=2e-4, atol=2e-6)
    assert {k.tiles.count for k in tiles_of(emitted(f, *given))} <= {1, 2, 3, 6}
    assert len(tiles_of(emitted(f, *given))) == 2


def rg_leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [y for x in tree for y in rg_leaves(x)]
    return [np.asarray(tree._a)]


def test_what_the_rows_are_multiplied_with_may_lie_anyhow():
    def f(x, w, scale):
        return rg.sum(rg.tanh(rg.matmul(x, w * scale)), axis=0), rg.matmul(rg.exp(x), rg.broadcast_to(scale, (24, 24)))

    x, w, scale = draws(64, 24), draws(24, 24, seed=1), draws(24, seed=2)
    for one, other in ((x, w), (x[::-1], w.T), (np.asfortranarray(x), w[:, ::-1])):
        found = arrays_of(jit(f)(one, other, scale))
        for a, b in zip(found, arrays_of(f(*map(rg.asarray, (one, other, scale))))):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def test_no_byte_beside_the_operands_of_products_is_written_or_decides():
    def f(x, w, v):
        y = rg.tanh(rg.matmul(x, w))
        return rg.matmul(y, v), rg.matmul(x.T, y)

    for sizes in ((40, 33, 7), (24, 16, 16)):
        m, k, n = sizes
        given = draws(m, k), draws(k, n, seed=1), draws(n, 5, seed=2)
        (piece,) = emitted(f, *given).pieces
        results = []
        for pad in (0x00, 0xFF):
            arrays, memory = [], []
            sources = dict(zip(piece.takes, sorted(given, key=lambda a: [v.shape for v in piece.takes].index(a.shape))))
            for v in (*piece.gives, *piece.takes):
                around = np.full(v.size * v.dtype.itemsize + 256, pad, np.uint8)
                array = around[128:-128].view(v.dtype).reshape(v.shape)
                if v in sources:
                    array[...] = sources[v]
                arrays.append(array)
                memory.append(around)
            arrays += [np.full(piece.room + 64, pad, np.uint8)] if piece.room else []
            piece.routine().call()(0, *arrays)
            assert all((around[:128] == pad).all() and (around[-128:] == pad).all() for around in memory)
            results.append([a.copy() for a in arrays[: len(piece.gives)]])
        for a, b in zip(*results):
            np.testing.assert_array_equal(a, b)


def test_products_of_vectors_are_parts_of_the_loops_around_them():
    def f(x, row, column):
        outer = rg.matmul(column, row)
        return rg.matmul(rg.tanh(x * outer), row.T), rg.matmul(x.T, rg.sin(column))

    given = draws(50, 20), draws(1, 20, seed=1), draws(50, 1, seed=2)
    found = emitted(f, *given)
    assert [type(p) for p in found.pieces] == [machine.Segment]
    assert not tiles_of(found)
    x, row, column = (a.astype(np.float64) for a in given)
    for y, exact in zip(found.program().function()(*given), (np.tanh(x * (column @ row)) @ row.T, x.T @ np.sin(column))):
        np.testing.assert_allclose(y, exact, rtol=1e-5, atol=1e-5)


def test_what_is_too_large_for_the_stack_lies_in_memory(monkeypatch):
    given = network_operands(2048)
    f = rg.value_and_grad(network, argnums=(1, 2, 3, 4, 5))
    wanted = rg_leaves(jit(f)(*given))
    monkeypatch.setattr("retrograde.compile.emit.tiles.STACK", 0)
    found = rg_leaves(jit(f)(*given))
    for x, y in zip(found, wanted):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    "shapes, axis",
    [
        ([(3, 4, 5)] * 3, 2), ([(3, 4, 5), (3, 4, 1), (3, 4, 33)], 2), ([(3, 4, 5), (3, 1, 5)], 1), ([(1, 4), (3, 4)], 0),
        ([(7,)] * 20, 0), ([()] * 3, None), ([(5, 2)] * 4, None), ([(2, 3), (2, 3)], -1), ([(2, 0), (2, 3)], 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.complex64])
def test_arrays_side_by_side_are_written_by_the_code_around_them(shapes, axis, dtype):
    rng = np.random.default_rng(0)
    arrays = [np.array(rng.integers(-9, 9, shape)).astype(dtype) for shape in shapes]

    def f(*xs):
        made = [xs[0] * 2, *xs[1:]]
        both = rg.stack(made, axis=1 if xs[0].ndim else 0) if axis is None else rg.concat(made, axis=axis)
        return both, both + 1, rg.sum(xs[0] * xs[0])

    for layout in (arrays, [x.T.copy().T for x in arrays]):  # which lie in another order
        for found, expected in zip(arrays_of(jit(f)(*layout)), arrays_of(f(*map(rg.asarray, layout))), strict=True):
            np.testing.assert_array_equal(found, expected)
    pieces = emitted(f, *arrays).pieces
    alone = [piece.prim.name for piece in pieces if not isinstance(piece, machine.Segment)]
    plain = dtype in (np.float32, np.float64) and all(x.size for x in arrays)
    assert not plain or alone == []


def test_arrays_side_by_side_without_code_around_them_are_numpys():
    pieces = emitted(lambda x, y: rg.concat([x, y], axis=0), draws(3, 4), draws(2, 4)).pieces
    assert [piece.prim.name for piece in pieces] == ["concatenate"]
    text = jit(lambda x, y: rg.concat([x * 2, y], axis=0) * 3).lower(draws(3, 4), draws(2, 4)).text()
    assert "2 arrays side by side, in 1 rows" in text


@pytest.mark.parametrize("count", [1, 2])
def test_a_first_call_translates_its_modules_side_by_side(count, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(threads, "_count", count)
    asked = []
    meanwhile = llvm.meanwhile
    monkeypatch.setattr(llvm, "meanwhile", lambda modules, n: asked.append((len(modules), n)) or meanwhile(modules, n))
    x, w, v = draws(256, 300), draws(300, 512, seed=1), draws(512, 3, seed=2)

    def f(x, w, v):
        return rg.sum(rg.tanh(rg.matmul(x, w)) @ v)

    np.testing.assert_allclose(jit(f)(x, w, v).item(), f(*map(rg.asarray, (x, w, v))).item(), rtol=1e-4)
    assert asked == [(1, count)]  # and the products' beside it
    jit(lambda x: rg.sum(rg.sin(x) * 3))(x)
    assert len(asked) == 1  # there is one alone
