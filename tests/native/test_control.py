"""`scan`, `while_loop` and `cond`: what they give, with their derivatives of all kinds, is what the loop written out gives."""

import functools

import numpy as np
import pytest

import retrograde as rg
from retrograde import GradError, ShapeError, UnsupportedError

W, XS, C0 = np.array([0.3, 0.2]), np.linspace(0.1, 1.0, 6).reshape(3, 2), np.array([0.5, 0.2])


@pytest.fixture(autouse=True)
def verified(monkeypatch):
    monkeypatch.setenv("RETROGRADE_VERIFY", "1")


def written_out(f, init, xs, length=None, *, reverse=False, checkpoint_every=None):
    """What scan says, of arrays along a first axis."""
    carry, found = init, []
    order = range(xs.shape[0])
    for t in reversed(order) if reverse else order:
        carry, y = f(carry, xs[t])
        found.append(y)
    return carry, rg.stack(found[::-1] if reverse else found)


def turn(w, c, x):
    return rg.tanh(w * c + x) * 0.9, rg.sum(c * c) * w[0] + x[1]


def loss(scan, w, xs, c0, **options):
    carry, ys = scan(lambda c, x: turn(w, c, x), c0, xs, **options)
    return rg.sum(carry) + rg.sum(ys * ys)


def arrays():
    return rg.asarray(W), rg.asarray(XS), rg.asarray(C0)


def close(found, wanted, tolerance=1e-12):
    pairs = [x if isinstance(x, tuple) else (x,) for x in (found, wanted)]
    for x, y in zip(*pairs, strict=True):
        if isinstance(x, tuple):
            close(x, y, tolerance)
        else:
            np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=tolerance, atol=tolerance)


WAYS = [
    {}, {"reverse": True}, {"checkpoint_every": 1}, {"checkpoint_every": 2}, {"checkpoint_every": 2, "reverse": True},
    {"checkpoint_every": 7},
]  # fmt: skip
DERIVATIVES = {
    "value": lambda f: f,
    "gradient": lambda f: rg.grad(f, (0, 1, 2)),
    "second gradient": lambda f: rg.grad(lambda *a: rg.sum(rg.grad(f)(*a) ** 2), (0, 1, 2)),
    "third gradient": lambda f: rg.grad(lambda w, *a: rg.sum(rg.grad(lambda w: rg.sum(rg.grad(f)(w, *a)))(w))),
    "tangent": lambda f: lambda *a: rg.jvp(f, a, a),
    "tangent of the gradient": lambda f: lambda *a: rg.jvp(rg.grad(f), a, a),
    "gradient of the tangent": lambda f: rg.grad(lambda *a: rg.jvp(f, a, a)[1], (0, 1, 2)),
    "batch": lambda f: lambda w, xs, c0: rg.vmap(f, in_axes=(0, None, None))(rg.stack([w, w * 2]), xs, c0),
    "batch of all": lambda f: lambda w, xs, c0: rg.vmap(rg.grad(f), in_axes=(None, 1, 0))(
        w, rg.stack([xs, xs * 2], axis=1), rg.stack([c0, c0 * 3])
    ),
    "hessian": lambda f: lambda w, xs, c0: rg.hessian(lambda w: f(w, xs, c0))(w),
}


CASES = [(what, options) for what in DERIVATIVES for options in (WAYS if what in ("value", "gradient") else WAYS[0::3])]


@pytest.mark.parametrize(("what", "options"), CASES, ids=str)
def test_a_scan_is_the_loop_written_out(what, options):
    with_scan = DERIVATIVES[what](functools.partial(loss, rg.scan, **options))
    wanted = DERIVATIVES[what](functools.partial(loss, written_out, **options))(*arrays())
    close(with_scan(*arrays()), wanted)
    close(rg.jit(with_scan)(*arrays()), wanted)


def test_the_gradient_is_the_numerical_one():
    f = functools.partial(loss, rg.scan)
    found = rg.jit(rg.grad(f, (0, 1, 2)))(*arrays())
    given = [W, XS, C0]
    for k, g in enumerate(found):
        for i in np.ndindex(given[k].shape):
            plus, minus = [x.copy() for x in given], [x.copy() for x in given]
            plus[k][i] += 1e-6
            minus[k][i] -= 1e-6
            slope = (float(f(*map(rg.asarray, plus))) - float(f(*map(rg.asarray, minus)))) / 2e-6
            assert abs(slope - float(g[i])) < 1e-7


def test_gradients_from_outside_of_a_compiled_scan():
    wanted = rg.grad(functools.partial(loss, written_out), (0, 1, 2))(*arrays())
    compiled = rg.jit(functools.partial(loss, rg.scan))
    given = [x.requires_grad_() for x in arrays()]
    for _ in range(2):
        compiled(*given).backward()
        close(tuple(x.grad for x in given), wanted)
        for x in given:
            x.grad = None
    w, xs, c0 = arrays()
    close(rg.vmap(rg.grad(compiled), in_axes=(0, None, None))(rg.stack([w, w]), xs, c0), rg.stack([wanted[0]] * 2))


def test_the_graph_has_the_loop_once_and_not_its_turns():
    text = rg.jit(rg.grad(functools.partial(loss, rg.scan))).lower(*arrays()).text()
    assert text.count("tanh(") < 8
    assert "scan(" in text
    assert "3 times from the end" in text
    assert "body:" in text


def test_containers_and_lengths():
    def f(a):
        def step(c, x):
            return {"p": c["p"] + x["u"], "q": [c["q"][0] * 2]}, (None, {"y": x["v"] * c["p"]})

        return rg.scan(step, {"p": a, "q": [a]}, {"u": rg.asarray([1.0, 2.0]), "v": rg.asarray([3.0, 4.0])})

    for g in (f, rg.jit(f)):
        carry, (nothing, ys) = g(rg.asarray(1.0))
        assert (carry["p"].tolist(), carry["q"][0].tolist(), nothing, ys["y"].tolist()) == (4.0, 4.0, None, [3.0, 8.0])
    doubled = lambda a: rg.scan(lambda c, x: (c * 2, (c, x)), a, length=3)  # noqa: E731
    for g in (doubled, rg.jit(doubled)):
        carry, (ys, nothing) = g(rg.asarray(1.0))
        assert (carry.tolist(), ys.tolist(), nothing) == (8.0, [1.0, 2.0, 4.0], None)


def test_no_turn_at_all():
    f = lambda c, xs: rg.scan(lambda c, x: (c * x, (c, x > 0)), c, xs)  # noqa: E731
    for g in (f, rg.jit(f)):
        carry, (y, z) = g(rg.asarray(2.0), rg.zeros((0, 2))[:, 0])
        assert (carry.tolist(), y.shape, z.dtype) == (2.0, (0,), rg.bool)
    assert rg.jit(rg.grad(lambda c, xs: f(c, xs)[0]))(rg.asarray(2.0), rg.zeros(0)).tolist() == 1.0


def test_whole_numbers_and_truths_are_carried():
    def f(x):
        def step(c, _):
            n, total, seen = c
            return (n + 1, total + x * rg.astype(n, x.dtype), seen | (n > 1)), n * n

        return rg.scan(step, (rg.asarray(0), x, rg.asarray(False)), length=4)

    for g in (f, rg.jit(f)):
        (n, total, seen), squares = g(rg.asarray(0.5))
        assert (n.tolist(), total.tolist(), seen.tolist(), squares.tolist()) == (4, 3.5, True, [0, 1, 4, 9])
    assert rg.jit(rg.grad(lambda x: f(x)[0][1]))(rg.asarray(0.5)).tolist() == 7.0


def test_loops_in_loops():
    def f(a, xs):
        def outer(c, x):
            inner, ys = rg.scan(lambda d, y: (rg.sin(d) * y + a, d * y), c, x)
            return rg.cond(inner > 0.5, lambda z: z * 0.5, lambda z: z + a, inner), rg.sum(ys)

        carry, ys = rg.scan(outer, a, xs)
        return carry + rg.sum(ys)

    given = rg.asarray(0.5), rg.asarray(np.linspace(0.2, 1.3, 12).reshape(3, 4))
    for how in (lambda f: f, rg.grad, lambda f: rg.grad(rg.grad(f)), lambda f: rg.value_and_grad(f, (0, 1))):
        close(rg.jit(how(f))(*given), how(f)(*given))


def test_gradients_and_batches_taken_inside_the_body():
    def f(a):
        def step(c, _):
            slope = rg.grad(lambda z: rg.sum(rg.vmap(lambda y: y * y * a[0])(z)))(c)
            return c - 0.1 * slope, rg.jvp(rg.sin, (c,), (a,))[1]

        carry, ys = rg.scan(step, a, length=3)
        return rg.sum(carry) + rg.sum(ys)

    x = rg.asarray([0.7, -0.4])
    close(rg.jit(rg.value_and_grad(f))(x), rg.value_and_grad(f)(x))


def test_what_is_cut_off_stays_cut_off():
    def f(a):
        def step(c, _):
            with rg.no_grad():
                free = c * 3
            return c * free, c

        return rg.scan(step, a, length=2)[0]

    x = rg.asarray(1.5)
    close(rg.jit(rg.grad(f))(x), rg.grad(f)(x))
    with pytest.raises(UnsupportedError, match=r"no_grad\(\) inside the function"):
        rg.jit(rg.grad(rg.grad(f)))(x)


def test_values_made_inside_may_be_written():
    def f(a):
        def step(c, _):
            z = rg.zeros(2)
            z[0] = c
            z[1] = 2.0
            one = c * 1
            one += 1
            return rg.sum(z) + one, z

        return rg.scan(step, a, length=3)

    close(rg.jit(f)(rg.asarray(1.0)), f(rg.asarray(1.0)))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("f", "error", "says"),
    [
        (lambda x: rg.scan(lambda c, e: (rg.stack([c, c]), e), x, x[None]), ShapeError, r"shape \(\), and .* one of \(2,\)"),
        (lambda x: rg.scan(lambda c, e: (rg.astype(c, rg.float32), e), x, x[None]), TypeError, "dtype float64, and .* float32"),
        (lambda x: rg.scan(lambda c, e: ((c, c), e), x, x[None]), ValueError, "structure"),
        (lambda x: rg.scan(lambda c, e: c, x, x[None]), TypeError, "a pair"),
        (lambda x: rg.scan(lambda c, e: (c, e), x, (rg.zeros(2), rg.zeros(3))), ShapeError, "2, 3 elements"),
        (lambda x: rg.scan(lambda c, e: (c, e), x, rg.zeros(2), length=3), ShapeError, "length is 3"),
        (lambda x: rg.scan(lambda c, e: (c, e), x, x), ShapeError, "no axis"),
        (lambda x: rg.scan(lambda c, e: (c, e), x), ValueError, "length says"),
        (lambda x: rg.scan(lambda c, e: (c, e), x, length=-1), ValueError, "non-negative"),
        (lambda x: rg.scan(lambda c, e: (c, e), x, length=3, checkpoint_every=0), ValueError, "checkpoint_every"),
        (lambda x: rg.scan(lambda c, e: (c, e), {"a": "b"}, length=3), TypeError, "init holds str"),
        (lambda x: rg.scan(lambda c, e: (c, "y"), x, length=3), TypeError, "str"),
        (lambda x: rg.while_loop(lambda c: c < 3, lambda c: rg.stack([c, c]), x), ShapeError, "the carry has the shape"),
        (lambda x: rg.while_loop(lambda c: rg.stack([c, c]) < 3, lambda c: c, x), TypeError, "one truth"),
        (lambda x: rg.cond(rg.stack([x, x]) > 0, rg.sin, rg.cos, x), TypeError, "one truth"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(f, error, says, compiled):
    with pytest.raises(error, match=says):
        (rg.jit(f) if compiled else f)(rg.asarray(1.0))


def test_branches_of_different_results_are_refused():
    for other, error in ((lambda x: (x, x), ValueError), (lambda x: rg.stack([x, x]), ShapeError)):
        with pytest.raises(error, match="cond"):
            rg.jit(lambda x, other=other: rg.cond(x > 0, rg.sin, other, x))(rg.asarray(1.0))


def test_the_body_asks_for_no_elements_and_changes_nothing_outside():
    x, kept = rg.asarray(1.0), rg.asarray([1.0, 2.0])

    def writes(c, _):
        kept[0] = 5.0
        return c, c

    with pytest.raises(UnsupportedError, match="make the tensor part of what is carried"):
        rg.jit(lambda a: rg.scan(writes, a, length=3))(x)
    assert kept.tolist() == [1.0, 2.0]

    def made_before(a):
        made = rg.zeros(2)

        def step(c, _):
            made[0] = 7.0
            return c, c

        return rg.scan(step, a, length=3), made

    with pytest.raises(UnsupportedError, match="changes a tensor from outside"):
        rg.jit(made_before)(x)

    def writes_into_the_outer_carry(c, _):
        def step(d, _):
            c.__setitem__(0, 7.0)
            return d * 2, None

        return rg.scan(step, c * 1, length=2)[0], None

    with pytest.raises(UnsupportedError, match="changes a tensor from outside"):
        rg.jit(lambda a: rg.scan(writes_into_the_outer_carry, a, length=3))(rg.asarray([1.0, 2.0]))
    for asks in (lambda c, _: (c if c > 0 else -c, c), lambda c, _: (c * c.item(), c)):
        with pytest.raises(UnsupportedError, match=r"where\(\) or cond\(\)"):
            rg.jit(lambda a, asks=asks: rg.scan(asks, a, length=3))(x)


def test_while_loop():
    w = rg.asarray([0.3, 0.2])
    f = lambda x: rg.while_loop(lambda c: rg.sum(c[0]) < 100.0, lambda c: (c[0] * 3 + w[0], c[1] + 1), (x, 0))  # noqa: E731
    x = rg.asarray([0.5, 0.2])
    close(rg.jit(f)(x), f(x))
    g = lambda x: f(x)[0]  # noqa: E731
    close(rg.jit(lambda x: rg.jvp(g, (x,), (x,)))(x), rg.jvp(g, (x,), (x,)))
    rows = rg.asarray(XS)
    wanted = rg.stack([g(row) for row in (rows[0], rows[1], rows[2])])
    close(rg.vmap(g)(rows), wanted)
    close(rg.jit(rg.vmap(g))(rows), wanted)
    tangent = lambda x: rg.jvp(g, (x,), (x,))[1]  # noqa: E731
    close(rg.vmap(tangent)(rows), rg.stack([tangent(row) for row in (rows[0], rows[1], rows[2])]))
    with pytest.raises(GradError, match="use scan"):
        rg.jit(rg.grad(lambda x: rg.sum(g(x))))(x)


def test_cond():
    w = rg.asarray([1.5, 0.2])
    f = lambda x: rg.sum(rg.cond(x[0] > 0, lambda c: rg.sin(c) * w[0], lambda c: c * c * w, x) ** 2)  # noqa: E731
    for x in (rg.asarray([0.5, 0.2]), rg.asarray([-0.5, 0.2])):
        for how in (lambda f: f, rg.grad, rg.hessian, lambda f: lambda z: rg.jvp(f, (z,), (z,))):
            close(rg.jit(how(f))(x), how(f)(x))
    rows = rg.asarray(XS - 0.6)
    for how in (lambda f: f, rg.grad):
        wanted = rg.stack([how(f)(row) for row in (rows[0], rows[1], rows[2])])
        close(rg.vmap(how(f))(rows), wanted)
        close(rg.jit(rg.vmap(how(f)))(rows), wanted)

        def of_one_choice(x, y, how=how):
            return how(lambda y: rg.cond(x > 0, f, rg.sum, y))(y)

        close(rg.jit(rg.vmap(of_one_choice, in_axes=(None, 0)))(rg.asarray(1.0), rows), wanted)
    assert rg.cond(True, lambda x: x + 1, lambda x: x, rg.asarray(1.0)).tolist() == 2.0


def test_compiled_loops_do_not_share_memory_with_what_they_are_given():
    x = rg.asarray([1.0, 2.0])
    f = rg.jit(lambda x: (rg.scan(lambda c, _: (c, c), x, length=2), rg.cond(x[0] > 0, lambda x: x, lambda x: -x, x)))
    (carry, ys), chosen = f(x)
    carry += 1
    chosen += 1
    assert x.tolist() == [1.0, 2.0]
    assert ys.tolist() == [[1.0, 2.0]] * 2
