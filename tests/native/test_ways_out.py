"""Where tensors become plain arrays, numbers or copies: right, or an error that names the remedy; nothing is lost in silence."""

import array
import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograde as rg

V = np.array([1.0, 2.0, 3.0])
Function = Callable[[Any], Any]


def on_the_tape(f: Function) -> Any:
    return f(rg.asarray(V, requires_grad=True))


def in_jvp(f: Function) -> Any:
    return rg.jvp(f, (V,), (V,))[1]


def in_grad(f: Function) -> Any:
    return rg.grad(lambda x: (f(x) * 1.0).sum())(V)


def in_vmap(f: Function) -> Any:
    return rg.vmap(f)(np.stack([V, V]))


MODES = [on_the_tape, in_jvp, in_grad, in_vmap]


def stored(x: Any) -> np.ndarray:
    a = np.zeros(2)
    a[0] = x[0]
    return a


def stored_complex(x: Any) -> np.ndarray:
    a = np.zeros(2, complex)
    a[1] = (x * 1j)[0]
    return a


def stored_rows(x: Any) -> np.ndarray:
    a = np.zeros((2, 3))
    a[1] = x
    return a


CONVERSIONS: dict[str, Function] = {
    "array": lambda x: np.array(x), "asarray": lambda x: np.asarray(x), "list": lambda x: np.array([x[0], x[1]]),
    "full": lambda x: np.full(2, x[0]), "arange": lambda x: np.arange(x[0]), "r_": lambda x: np.r_[x, 1.0],
    "c_": lambda x: np.c_[x, x], "float32": lambda x: np.float32(x[0]), "complex128": lambda x: np.complex128(x[0]),
    "fromiter": lambda x: np.fromiter(x, float), "from_dlpack": lambda x: np.from_dlpack(x),
    "array.array": lambda x: np.array(array.array("d", x)), "fsum": lambda x: math.fsum(x), "element": stored,
    "complex element": stored_complex, "row": stored_rows, "numpy": lambda x: x.numpy(),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)
@pytest.mark.parametrize("name", CONVERSIONS)
def test_a_plain_array_is_refused(name: str, mode: Callable[[Function], Any]) -> None:
    with pytest.raises((rg.GradError, rg.UnsupportedError, BufferError, ValueError)) as caught:
        mode(CONVERSIONS[name])
    error: Any = caught.value
    if isinstance(error, ValueError) and error.__cause__ is not None:  # NumPy's own error around ours
        error = error.__cause__
    assert "detach().numpy()" in str(error) or (mode is in_vmap and "vmap" in str(error)), error


def test_the_message_names_the_function() -> None:
    with pytest.raises(rg.GradError, match=r"np\.full"):
        on_the_tape(lambda x: np.full(2, x[0]))
    special = pytest.importorskip("scipy.special")
    with pytest.raises(rg.GradError, match=r"scipy\.special\.softmax"):
        on_the_tape(special.softmax)


@pytest.mark.parametrize("mode", [on_the_tape, in_jvp, in_grad], ids=lambda mode: mode.__name__)
def test_ways_out_stay_open(mode: Callable[[Function], Any]) -> None:
    def f(x: Any) -> Any:
        assert float(x[1]) == x[1].item() == 2.0 == complex(x[1])
        assert int(x[1]) == 2
        assert bool(x[1])
        assert x.tolist() == [float(v) for v in x] == list(map(float, x)) == [1.0, 2.0, 3.0]
        assert "1." in str(x)
        assert f"{x[0]:.1f}" == "1.0"
        mask = np.zeros(2, bool)
        mask[0] = x[0]  # a truth value has no derivative to lose
        assert mask[0]
        np.testing.assert_array_equal(x.detach().numpy(), V)
        return x

    mode(f)


def test_constants_are_converted_inside_transforms() -> None:
    def f(x: Any) -> Any:
        assert np.asarray(rg.ones(2)).sum() == 2.0
        assert np.asarray(x > 1).sum() == 2
        a = np.zeros(2)
        a[0] = rg.asarray(3.0)
        return x.sum() * a[0]

    np.testing.assert_array_equal(in_grad(f).numpy(), [3.0, 3.0, 3.0])
    np.testing.assert_array_equal(in_jvp(f).numpy(), 18.0)


def test_what_a_function_returns_as_a_constant_has_derivative_zero() -> None:
    x = rg.asarray(V)
    for constant in (np.ones(2), rg.ones(2), 1.0, np.float64(1.0), 2):
        f = lambda x, constant=constant: constant  # noqa: E731
        out, tangent = rg.jvp(f, (x,), (x,))
        assert isinstance(out, rg.Tensor)
        assert not np.any(tangent.numpy())
        assert not np.any(rg.jacfwd(f)(x).numpy())
        assert not np.any(rg.jacrev(f)(x).numpy())
        assert rg.jacrev(f)(x).shape == (*np.shape(constant), 3)
        if out.dtype.kind == "f":
            assert not np.any(rg.linearize(f, x)[1](x).numpy())
        assert not np.any(rg.vjp(f, x)[1](constant)[0].numpy())
    assert not np.any(rg.hessian(lambda x: 1.0)(x).numpy())
    for transform in (lambda f: rg.jvp(f, (x,), (x,)), lambda f: rg.vjp(f, x), lambda f: rg.jacrev(f)(x)):
        with pytest.raises(TypeError, match="returned str"):
            transform(lambda x: "x")


def test_hvp_takes_generators() -> None:
    x = rg.asarray(V)
    found = rg.hvp(lambda x: (x**3).sum(), (v for v in [x]), (v for v in [x]))
    np.testing.assert_allclose(found.numpy(), 6 * V * V)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])[0], np.copy, rg.Tensor.copy])
def test_copies_inside_transforms_keep_their_history(duplicate: Function) -> None:
    def f(x: Any) -> Any:
        y = duplicate(x)
        y[0] = y[0] * 3.0  # memory of its own
        return (x * y).sum()

    expected = 2 * V * [3, 1, 1]
    np.testing.assert_allclose(rg.grad(f)(V).numpy(), expected)
    np.testing.assert_allclose(rg.jvp(f, (V,), (np.ones(3),))[1].numpy(), expected.sum())
    np.testing.assert_allclose(rg.vmap(rg.grad(f))(np.stack([V, V]))[1].numpy(), expected)
    np.testing.assert_allclose(rg.grad(lambda x: duplicate(x * x).sum())(V).numpy(), 2 * V)


def test_a_constant_copied_inside_a_transform_may_be_written_there() -> None:
    c = rg.zeros(3)

    def f(x: Any) -> Any:
        a = copy.deepcopy(c)
        a[1] = x[0] * x[1]
        return a.sum()

    np.testing.assert_allclose(rg.grad(f)(V).numpy(), [2.0, 1.0, 0.0])
    assert not np.any(c.numpy())


def test_copies_on_the_everyday_tape() -> None:
    x = rg.asarray(V, requires_grad=True)
    for duplicate in (copy.copy, copy.deepcopy):
        y = duplicate(x)
        with rg.no_grad():
            y[0] = 5.0
        assert x[0] == 1.0
        x.grad = None
        (duplicate(x) * duplicate(x * x)).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 3 * V * V)
    y = pickle.loads(pickle.dumps(x))  # a leaf of its own: there may be no other in that process
    assert y.is_leaf
    assert y.requires_grad
    np.testing.assert_array_equal(y.detach().numpy(), V)
    with pytest.raises(rg.GradError, match="pickle"):
        pickle.dumps(x * 2)
    with pytest.raises(rg.GradError, match="pickle"):
        rg.grad(lambda x: len(pickle.dumps(x)) * x.sum())(V)
    assert pickle.loads(pickle.dumps(rg.asarray(V)))[1] == 2.0


def test_elements_written_into_tensors() -> None:
    def f(x: Any) -> Any:
        a = rg.zeros(3)
        a[0] = x[0] ** 2 + 5 * x[0]
        for k in range(1, 3):
            a[k] = x[k] ** 2
        return a.sum()

    expected = 2 * V + [5, 0, 0]
    np.testing.assert_allclose(rg.grad(f)(V).numpy(), expected)
    np.testing.assert_allclose(rg.jvp(f, (V,), (np.ones(3),))[1].numpy(), expected.sum())
    np.testing.assert_allclose(rg.vmap(rg.grad(f))(V[None])[0].numpy(), expected)
    x = rg.asarray(V, requires_grad=True)
    f(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), expected)
