"""The code of loops: machine code in registers, calls of the body's code, NumPy; all of them give what Python's loop gives."""

import numpy as np
import pytest

import retrograde as rg
from retrograde.compile.emit import machine, registers
from retrograde.compile.loops import nested

needs_code = pytest.mark.skipif(not machine.available(), reason="no machine code here")


@pytest.fixture
def looked_at(monkeypatch):
    """Which loops became machine code as a whole."""
    found = []
    written = registers._written

    def look(e):
        result = written(e)
        found.append(result is not None)
        return result

    monkeypatch.setattr(registers, "_written", look)
    return found


def spread(rng, dtype, *shape):
    if np.dtype(dtype).kind == "b":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 7, shape).astype(dtype)
    return rng.uniform(0.2, 1.5, shape).astype(dtype)


def close(found, wanted, dtype):
    digits = {"float32": 2e-6, "float16": 4e-3}.get(np.dtype(dtype).name, 1e-14)
    for x, y in zip(found, wanted, strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_allclose(np.asarray(x, np.float64), np.asarray(y, np.float64), rtol=digits, atol=digits)


BODIES = {
    "elements": lambda c, x, w: (rg.sin(c) * x + rg.exp(-c) * w, rg.sqrt(c * c + 1) / x),
    "constants": lambda c, x, w: (c * 0.5 + w * rg.asarray(np.array([1, 2, 3], c.dtype)), x - 2),
    "parts": lambda c, x, w: (rg.stack([c[1], c[2] * x[0], c[0] + w[2]]), rg.concat([c[:2], x, w[::-1]])),
    "sums": lambda c, x, w: (c * 0.5 + rg.mean(x * w), rg.stack([rg.sum(c), rg.max(x), rg.min(x)])),
    "choices": lambda c, x, w: (rg.where(c > x, c * 0.5, c + w), c > w),
    "products": lambda c, x, w: (rg.matmul(rg.stack([c, x, w]) * 0.4, c), rg.matmul(rg.stack([c, x]), rg.stack([x, w, c]))),
    "matrices": lambda c, x, w: (
        rg.sum(rg.reshape(rg.expand_dims(c, axis=1) * x, (3, 3)).T * w, axis=0) * 0.3, rg.broadcast_to(x, (2, 3))
    ),
    "branches": lambda c, x, w: (rg.cond(c[0] > 0.7, lambda c: c * 0.5, lambda c: c + w, c), x * c),
    "inner loop": lambda c, x, w: rg.scan(lambda d, y: (rg.tanh(d + y), d * y), c, x * w),
    "inner while": lambda c, x, w: (rg.while_loop(lambda d: rg.sum(d) < 4, lambda d: d * 1.5 + x, c) * 0.1, c),
}  # fmt: skip


@needs_code
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BODIES)
def test_small_bodies_are_machine_code_as_a_whole(name, dtype, looked_at):
    rng = np.random.default_rng(3)
    w, xs, c = (rg.asarray(spread(rng, dtype, *shape)) for shape in ((3,), (7, 3), (3,)))
    body = BODIES[name]
    for reverse in (False, True):

        def f(w, xs, c, reverse=reverse):
            return rg.scan(lambda c, x: body(c, x, w), c, xs, reverse=reverse)

        close(rg.jit(f)(w, xs, c), f(w, xs, c), dtype)
        if "while" in name:
            continue

        def loss(w, xs, c, f=f):
            carry, ys = f(w, xs, c)
            return rg.sum(carry) + rg.sum(rg.astype(ys, c.dtype) ** 2)

        value, gradients = rg.jit(rg.value_and_grad(loss, (0, 1, 2)))(w, xs, c)
        wanted, wanted_gradients = rg.value_and_grad(loss, (0, 1, 2))(w, xs, c)
        close([value, *gradients], [wanted, *wanted_gradients], "float16" if dtype == "float32" else dtype)
    assert looked_at
    assert all(looked_at)


@needs_code
@pytest.mark.parametrize("dtype", ["int32", "int64", "bool", "float16", "uint8"])
def test_other_numbers_are_carried_and_stacked(dtype, looked_at):
    rng = np.random.default_rng(3)
    xs, c = rg.asarray(spread(rng, dtype, 5, 3)), rg.asarray(spread(rng, dtype, 3))
    body = (lambda c, x: (c ^ x, c & x)) if dtype in ("bool", "int32", "uint8") else (lambda c, x: (c + x, c * x))
    f = lambda xs, c: rg.scan(body, c, xs)  # noqa: E731
    close(rg.jit(f)(xs, c), f(xs, c), dtype)
    assert all(looked_at)


def runge_kutta(scan, theta, data, start):
    a, b, d, g = theta[0], theta[1], theta[2], theta[3]

    def field(s):
        x, y = s[0], s[1]
        return rg.stack([a * x - b * x * y, d * x * y - g * y])

    def step(s, target):
        k1 = field(s)
        k2 = field(s + 0.05 * k1)
        k3 = field(s + 0.05 * k2)
        k4 = field(s + 0.1 * k3)
        s = s + (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (0.1 / 6.0)
        return s, rg.sum((s - target) ** 2)

    return rg.sum(scan(step, start, data)[1])


@pytest.mark.parametrize("how", ["llvm", "numpy"])
def test_a_fit_of_a_differential_equation(how, monkeypatch):
    monkeypatch.setenv("RETROGRADE_COMPILE", how)
    rng = np.random.default_rng(0)
    given = [rg.asarray(x) for x in (np.array([1.1, 0.4, 0.1, 0.4]), rng.random((20, 2)) + 1, np.array([2.0, 1.0]))]

    def f(*args):
        return runge_kutta(rg.scan, *args)

    for taken in (rg.value_and_grad(f, (0, 1, 2)), rg.hessian(f)):
        found, wanted = rg.jit(taken)(*given), taken(*given)
        for x, y in zip(np.ravel(np.array(found, dtype=object)), np.ravel(np.array(wanted, dtype=object)), strict=True):
            for u, v in zip(x if isinstance(x, tuple) else (x,), y if isinstance(y, tuple) else (y,), strict=True):
                np.testing.assert_allclose(np.asarray(u, float), np.asarray(v, float), rtol=1e-9, atol=1e-9)


@needs_code
def test_bodies_that_are_not_small_run_turn_by_turn(looked_at):
    rng = np.random.default_rng(1)
    w, xs, c = (rg.asarray(rng.standard_normal(s) * 0.1) for s in ((80, 80), (4, 80), (80,)))

    def f(w, xs, c):
        carry, ys = rg.scan(lambda c, x: (rg.tanh(w @ c + x), rg.sum(c * c)), c, xs)
        return rg.sum(carry) + rg.sum(ys)

    value, gradients = rg.jit(rg.value_and_grad(f, (0, 1, 2)))(w, xs, c)
    wanted, wanted_gradients = rg.value_and_grad(f, (0, 1, 2))(w, xs, c)
    close([value, *gradients], [wanted, *wanted_gradients], "float64")
    assert looked_at
    assert not any(looked_at)


def test_a_branch_that_is_not_taken_need_not_end():
    def step(c, _):
        forever = lambda c: rg.while_loop(lambda d: d < 10, lambda d: d * 2, c)  # noqa: E731 - of what is not above 0
        return rg.cond(c > 0, forever, lambda c: c + 1, c), c

    f = lambda c: rg.scan(step, c, length=3)  # noqa: E731
    close(rg.jit(f)(rg.asarray(-1.0)), f(rg.asarray(-1.0)), "float64")


def test_what_a_turn_of_products_gives_is_kept_and_not_computed_again():
    f = rg.jit(rg.grad(lambda w: rg.sum(rg.scan(lambda c, _: (rg.tanh(w @ c), None), w[0], length=3)[0])))
    graph = f.lower(rg.eye(3)).graph
    (backward,) = [e.params["loop"] for e in graph.equations if e.prim.name == "scan" and "backwards" in e.params["loop"].name]
    assert "tanh" not in {e.prim.name for e in backward.graph.equations}


@needs_code
def test_arrays_that_lie_otherwise_are_put_in_order():
    f = rg.jit(lambda xs, c: rg.scan(lambda c, x: (c + x, c * x), c, xs))
    rng = np.random.default_rng(2)
    for xs in (rng.random((3, 5)).T, rng.random((10, 3))[::2], rng.random((5, 3))[::-1]):
        c = rng.random(6)[::2]
        wanted = c.copy()
        carry, ys = f(xs, c)
        for x, y in zip(xs, np.asarray(ys)):
            np.testing.assert_array_equal(y, wanted * x)
            wanted = wanted + x
        np.testing.assert_array_equal(np.asarray(carry), wanted)


def test_the_text_shows_the_loop():
    text = rg.jit(lambda x: rg.scan(lambda c, _: (rg.sin(c), c), x, length=50)).lower(rg.asarray(0.5)).text()
    assert text.count(" = sin(") == 2  # as it was traced, and after the passes
    assert "scan(x0, loop=50 times)" in text
    if machine.available():
        assert "define void @loop(" in text


def test_an_operation_of_graphs_says_what_it_is_given_wrongly():
    loop = nested.Loop(rg.jit(lambda c: c * 2).lower(rg.zeros(3)).graph, 0, 1, 4)
    with pytest.raises(ValueError, match=r"operand 0 is float64\[2\]"):
        nested.scan.prim.infer([nested.Aval((2,), np.dtype(float))], {"loop": loop})
