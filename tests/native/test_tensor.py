"""The native Tensor: operators, methods, conversions, views and in-place changes, saving, the tape's options."""

import io
import math
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import retrograde as rg


def close(x: Any, y: Any) -> None:
    np.testing.assert_allclose(x.numpy() if isinstance(x, rg.Tensor) else x, y, rtol=1e-10, atol=1e-12)


def leaf(*numbers: float) -> rg.Tensor:
    return rg.asarray(list(numbers), requires_grad=True)


# ------------------------------------------------------------------------------------------ operators and conversion


def test_python_numbers_take_the_tensors_dtype() -> None:
    for dtype in (rg.float16, rg.float32, rg.float64, rg.bfloat16):
        x = rg.ones(2, dtype=dtype)
        for y in (x + 1, 2.5 * x, x / 3, 1 - x, x**2, 2**x, x // 2, x % 2, -x, abs(x)):
            assert y.dtype == dtype
    x = rg.ones(2, dtype=rg.int8)
    assert (x + 1).dtype == rg.int8
    assert (x + 1.0).dtype == rg.float64
    assert (x / 2).dtype == rg.float64
    assert (rg.ones(2, dtype=rg.float32) + 1j).dtype == rg.complex64
    with pytest.raises(OverflowError):
        x + 1000


def test_operators_refuse_what_has_no_meaning() -> None:
    x, b = rg.ones(2), rg.asarray([True, False])
    z = rg.ones(1, dtype=rg.complex64)
    for f in (lambda: x + "a", lambda: x + [1, 2], lambda: x @ 2.0, lambda: x & x, lambda: b - b, lambda: -b,
              lambda: ~x, lambda: z < 1, lambda: x << 1):  # fmt: skip
        with pytest.raises(TypeError):
            f()
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711 - the operator is what is tested
    with pytest.raises(ValueError, match="negative power"):
        rg.asarray([2]) ** -1
    with pytest.raises(ValueError, match="do not broadcast"):
        rg.ones(2) + rg.ones(3)
    with pytest.raises(ValueError, match="matmul"):
        rg.ones((2, 3)) @ rg.ones((2, 3))


def test_the_other_operand_may_define_the_operator() -> None:
    class Other:
        def __radd__(self, other: Any) -> str:
            return "other"

        def __rmatmul__(self, other: Any) -> str:
            return "other"

    assert rg.ones(2) + Other() == "other"
    assert rg.ones(2) @ Other() == "other"


def test_conversion() -> None:
    x = rg.asarray([[1.5, 2.5]])
    assert x.tolist() == [[1.5, 2.5]]
    assert x[0, 1].item() == 2.5
    assert x.item(0, 1) == 2.5
    assert float(x[0, 0]) == 1.5
    assert int(x[0, 1]) == 2
    assert f"{x[0, 0]:.3f}" == "1.500"
    assert len(x) == 1
    assert [row.tolist() for row in x] == [[1.5, 2.5]]
    assert 2.5 in x
    assert list(range(5))[rg.asarray(1) : rg.asarray(3)] == [1, 2]
    for f in (bool, float, int):
        with pytest.raises(TypeError, match="one element"):
            f(rg.ones(2))
    with pytest.raises(TypeError):
        len(rg.asarray(1.0))
    with pytest.raises(TypeError):
        iter(rg.asarray(1.0))
    assert hash(x) != hash(rg.asarray([[1.5, 2.5]]))
    assert np.asarray(x, dtype=np.float32).dtype == np.float32


def test_repr() -> None:
    assert repr(rg.asarray([1.0, 2.5])) == "Tensor([1. , 2.5])"
    assert repr(rg.asarray([1], dtype=rg.int8)) == "Tensor([1], dtype=int8)"
    assert repr(leaf(1.0)) == "Tensor([1.], requires_grad=True)"
    seen: list[str] = []
    rg.vmap(lambda x: (seen.append(repr(x)), x)[1])(rg.ones(2))
    assert "Batched" in seen[0]


def test_elements_inside_vmap_have_no_value() -> None:
    def branch(x: Any) -> Any:
        return x if x > 0 else -x

    with pytest.raises(rg.UnsupportedError, match="where"):
        rg.vmap(branch)(rg.ones(3))
    with pytest.raises(rg.UnsupportedError, match="vmap"):
        rg.vmap(lambda x: x[x > 0])(rg.ones((3, 2)))
    close(rg.grad(branch)(-2.0), -1.0)  # where there is one value, Python may look at it
    close(rg.jvp(branch, (-2.0,), (1.0,))[1], -1.0)


def test_methods() -> None:
    a = np.arange(6.0).reshape(2, 3)
    x = rg.asarray(a)
    close(x.sum(0), a.sum(0))
    close(x.mean(axis=1, keepdims=True), a.mean(axis=1, keepdims=True))
    close(x.reshape(3, 2), a.reshape(3, 2))
    close(x.reshape((3, -1)), a.reshape(3, 2))
    close(x.transpose(), a.T)
    close(x.transpose(1, 0), a.T)
    close(x.astype(rg.float32), a)
    close(x.std(correction=1), a.std(ddof=1))
    close(x.cumsum(1), a.cumsum(1))
    close(x.cumsum(), a.cumsum())
    close(x.cumprod(0), a.cumprod(0))
    close(x.flatten(), a.ravel())
    close(x.ravel(), a.ravel())
    close(x.clip(1, 4), a.clip(1, 4))
    close(x.round(), a)
    close(x.swapaxes(0, 1), a.T)
    close(x.dot(x.T), a @ a.T)
    close(x.repeat(2, axis=0), a.repeat(2, axis=0))
    close(x.argmax(1), a.argmax(1))
    close(x.copy(), a)
    assert x.all().item() is False
    assert x.nbytes == 48
    y = rg.asarray([3.0, 1.0, 2.0])
    y.sort()
    close(y, [1, 2, 3])
    y.fill(7)
    close(y, [7, 7, 7])


def test_what_numpy_takes_the_namespace_takes() -> None:
    x = rg.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert rg.zeros_like(x, shape=(3,)).shape == (3,)
    assert rg.full_like(x, 2, shape=(1,), dtype=rg.int8).dtype == rg.int8
    assert [g.shape for g in rg.meshgrid(x[0], x[1], x[0], sparse=True)] == [(1, 2, 1), (2, 1, 1), (1, 1, 2)]
    assert rg.concat([x, x], dtype=rg.float32).dtype == rg.stack([x, x], dtype=rg.float32).dtype == rg.float32
    assert rg.permute_dims(rg.ones((2, 3, 4))).shape == (4, 3, 2)
    close(abs(rg.linalg.qr(x, mode="r")), abs(rg.linalg.qr(x).R.numpy()))
    close(rg.linalg.svd(x, compute_uv=False), rg.linalg.svd(x).S.numpy())
    assert rg.can_cast(rg.float64, rg.float32, "same_kind")
    with pytest.raises(TypeError, match="einsum: subscripts are a string"):
        rg.einsum(x, [0, 1])


@pytest.mark.parametrize("f", [rg.sin, rg.add, rg.floor, rg.zeros, rg.max, rg.argmax, rg.linalg.inv, rg.fft.fft])
def test_functions_are_found_by_name(f: Any) -> None:
    """As pickling looks them up, for another process."""
    assert pickle.loads(pickle.dumps(f)) is f


def test_sequences_of_tensors() -> None:
    x = leaf(1.0, 2.0)
    y = rg.asarray([[x[0], x[1] * 2], [3.0, x[0] * x[1]]])
    close(y.detach(), [[1, 4], [3, 2]])
    y.sum().backward()
    close(x.grad, [1 + 2, 2 + 1])
    with pytest.raises(ValueError, match="different shapes"):
        rg.asarray([x, x[0]])
    with pytest.raises(TypeError, match="object"):
        rg.asarray(object())


# ------------------------------------------------------------------------------------------ views and in-place changes


def test_views_share_and_record() -> None:
    x = leaf(1.0, 2.0, 3.0, 4.0)
    y = x * 1
    view = y.reshape(2, 2).T[0]
    view *= 10
    close(y.detach(), [10, 2, 30, 4])
    y.sum().backward()
    close(x.grad, [10, 1, 10, 1])


def test_writing_through_rows() -> None:
    y = rg.zeros((2, 3))
    for i, row in enumerate(y):
        row[...] = i + 1
    close(y, [[1, 1, 1], [2, 2, 2]])
    w = leaf(2.0)
    z = w * rg.ones((2, 3))
    row = next(iter(z))
    with pytest.raises(rg.GradError, match="several"):
        row *= 2.0


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "imod"])
def test_in_place_operators_record(name: str) -> None:
    import operator

    def f(x: Any, y: Any) -> Any:
        z = x * 1.0
        z = getattr(operator, name)(z, y)
        return z.sum()

    def g(x: Any, y: Any) -> Any:
        return getattr(operator, name[1:])(x, y).sum()

    x, y = rg.asarray([1.5, 2.5]), rg.asarray([1.2, 0.7])
    for ours, theirs in zip(rg.grad(f, argnums=(0, 1))(x, y), rg.grad(g, argnums=(0, 1))(x, y)):
        close(ours, theirs.numpy())


def test_a_changed_value_is_noticed() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    y[0] = 5.0
    with pytest.raises(rg.MutationError, match="changed in place"):
        z.backward()
    a = rg.asarray([1.0, 2.0])
    z = (x * a).sum()
    a += 1
    with pytest.raises(rg.MutationError):
        z.backward()
    assert x.grad is None


def test_in_place_refusals() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(rg.GradError, match="leaf"):
        x += 1
    i = rg.asarray([1, 2])
    with pytest.raises(TypeError, match="int64"):
        i += 0.5
    with pytest.raises(TypeError):
        i /= 2
    with pytest.raises(ValueError, match="shape"):
        i += rg.ones((2, 2), dtype=rg.int64)
    with pytest.raises(rg.GradError, match="expanded"):
        rg.broadcast_to(rg.zeros(1), (3,))[0] = 1.0
    assert i.tolist() == [1, 2]


def test_masks_written_inside_vmap() -> None:
    def f(x: Any) -> Any:
        y = x * 1
        y[x < 0] = 0.0
        return y

    close(rg.vmap(f)(np.array([[-1.0, 2.0], [3.0, -4.0]])), [[0, 2], [3, 0]])
    close(rg.grad(lambda x: f(x).sum())(rg.asarray([-1.0, 2.0])), [0, 1])


# ------------------------------------------------------------------------------------------ the tape's options


def test_options_of_grad() -> None:
    x, y, unused = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(0.0)
    z = (x * x * y).sum()
    (gx,) = rg.autograd.grad(z, [x], retain_graph=True)
    close(gx, [6, 16])
    assert x.grad is None
    with pytest.raises(rg.GradError, match="not used"):
        rg.autograd.grad(z, unused, retain_graph=True)
    assert rg.autograd.grad(z, [unused], allow_unused=True, retain_graph=True) == (None,)
    close(rg.autograd.grad(z, [unused], materialize_grads=True, retain_graph=True)[0], [0.0])
    (gx,) = rg.autograd.grad(z, [x], only_inputs=False, retain_graph=True)
    close(gx, [6, 16])
    close(y.grad, [1, 4])
    assert x.grad is None
    w = x * 3
    total = (w * w).sum() + (x * y).sum()
    (g,) = rg.autograd.grad(total, [x], no_grad_vars=[w], retain_graph=True)
    close(g, [3, 4])
    (g,) = rg.autograd.grad(total, [x])
    close(g, [18 + 3, 36 + 4])
    with pytest.raises(rg.FreedGraphError, match="retain_graph"):
        rg.autograd.grad(total, [x])


def test_cotangents() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.raises(rg.GradError, match="shape"):
        rg.autograd.grad(y, x)
    close(rg.autograd.grad(y, x, np.array([1.0, 10.0]), retain_graph=True)[0], [2, 40])
    with pytest.raises(rg.GradError, match="shape"):
        rg.autograd.grad(y, x, rg.ones(3), retain_graph=True)
    with pytest.raises(rg.GradError, match="2 entries"):
        rg.autograd.grad(y, x, [None, None], retain_graph=True)
    (rows,) = rg.autograd.grad(y, x, np.eye(2), is_grads_batched=True, retain_graph=True)
    close(rows, np.diag([2.0, 4.0]))
    close(rg.autograd.grad([y.sum(), y[0]], x)[0], [4, 4])
    with pytest.raises(TypeError, match="outputs"):
        rg.autograd.grad(1.0, x)
    with pytest.raises(rg.GradError, match="does not require grad"):
        rg.autograd.grad(rg.ones(()), x)


def test_higher_orders_on_the_tape() -> None:
    x = rg.asarray(0.5, requires_grad=True)
    y = rg.exp(x * 2)
    for k in range(1, 5):
        (y,) = rg.autograd.grad(y, x, create_graph=True)
        close(y.detach(), 2**k * math.exp(1.0))


def test_backward_accumulates() -> None:
    x = leaf(1.0, 2.0)
    for _ in range(2):
        (x * x).sum().backward()
    close(x.grad, [4, 8])
    x.grad = None
    y = x * 2
    y.retain_grad()
    seen: list[Any] = []
    handle = y.register_hook(lambda g: (seen.append(g), g * 10)[1])
    (y * y).sum().backward(inputs=[x, y])
    close(seen[0], [4, 8])
    close(x.grad, [80, 160])
    handle.remove()
    with pytest.raises(ValueError, match="shape"):
        x.grad = rg.ones(3)
    with pytest.raises(TypeError):
        x.grad = 3.0
    with pytest.raises(rg.GradError, match="does not require grad"):
        rg.ones(()).backward()


def test_requires_grad() -> None:
    x = rg.ones(2)
    assert x.requires_grad_() is x
    assert x.is_leaf
    y = x * 2
    assert not y.is_leaf
    with pytest.raises(RuntimeError, match="detach"):
        y.requires_grad_(False)
    assert not y.detach().requires_grad
    assert not x.requires_grad_(False).requires_grad
    with pytest.raises(TypeError, match="int64"):
        rg.asarray([1]).requires_grad_()
    with rg.no_grad():
        assert not (leaf(1.0) * 2).requires_grad
        with rg.enable_grad():
            assert (leaf(1.0) * 2).requires_grad
            assert rg.is_grad_enabled()

    @rg.no_grad()
    def f(z: Any) -> Any:
        return z * 2

    assert not f(leaf(1.0)).requires_grad
    again = rg.asarray(leaf(1.0) * 2, requires_grad=True)
    assert again.is_leaf


def test_threads() -> None:
    shared = rg.asarray(np.ones(8), requires_grad=True)

    def work() -> None:
        for _ in range(50):
            rg.sum(rg.sin(shared) * 0 + shared).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    close(shared.grad, np.full(8, 200.0))


# ------------------------------------------------------------------------------------------ keeping


def test_saving(tmp_path: Any) -> None:
    tensors = {
        "w": rg.asarray(np.arange(6.0).reshape(2, 3).T), "b": rg.asarray([1, 2], dtype=rg.int8),
        "empty": rg.zeros((0, 3)), "half": rg.asarray([1.5], dtype=rg.bfloat16), "flag": rg.asarray(True),
        "z": rg.asarray([1j], dtype=rg.complex64), "leaf": leaf(1.0),
    }  # fmt: skip
    path = tmp_path / "tensors.safetensors"
    rg.save(path, tensors, {"by": "a test"})
    found = rg.load(path)
    assert set(found) == set(tensors)
    for name, x in tensors.items():
        assert found[name].dtype == x.dtype
        assert found[name].shape == x.shape
        np.testing.assert_array_equal(found[name].numpy(), x.detach().numpy())
    found["w"][0, 0] = 9.0  # memory of its own
    for bad, message in (({"a": [1]}, "list"), ({1: rg.ones(1)}, "string"), ({"a": rg.asarray([1j])}, "complex128")):
        with pytest.raises(TypeError, match=message):
            rg.save(io.BytesIO(), bad)
