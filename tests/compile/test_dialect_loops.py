"""Loops and choices of the dialects: what PyTorch, PaddlePaddle and MindSpore print, eagerly and compiled."""

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.dialects.mindspore import ops
from retrograde.dialects.torch import _higher_order_ops as higher

nn = paddle.static.nn


def compiled_calls(f):
    name = getattr(f, "__name__", "")
    rows = [row for row in rg.compile_report().to_dict()["functions"] if row["name"].endswith(name)]
    return rows[-1]["compiled_calls"]


def test_torch_cond():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    double, less = lambda x: x * 2, lambda x: x - 1
    for pred in (x.sum() > 0, True, torch.tensor([False]), torch.tensor(1)):
        wanted = [2.0, 4.0] if bool(pred) else [0.0, 1.0]
        assert torch.cond(pred, double, less, (x,)).tolist() == wanted
    assert torch.cond(torch.tensor(True), lambda: x * 2, lambda: x).tolist() == [2.0, 4.0]
    assert torch.cond(torch.tensor(True), lambda d: d["a"], lambda d: d["a"] * 2, ({"a": x},)) is x
    for bad in (
        lambda: torch.cond(torch.tensor([True, False]), double, less, (x,)), lambda: torch.cond(x[0] > 0, 3, less, (x,)),
        lambda: torch.cond(x[0] > 0, double, less, x), lambda: torch.cond(x[0] > 0, double, less, (x, 3)),
        lambda: torch.cond("x", double, less, (x,)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="cond"):
            bad()
    mapped = torch.vmap(lambda x: torch.cond(x.sum() > 2, double, less, (x,)))
    assert mapped(torch.tensor([1.0, 3.0])).tolist() == [0.0, 6.0]


def test_torch_while_loop():
    y, n = torch.tensor([1.0, 2.0]), torch.tensor(0)
    going, turn = lambda i, x: i < 3, lambda i, x: (i + 1, x * 2)
    for carried in ((n, y), [n, y], (0, y)):
        i, x = higher.while_loop(going, turn, carried)
        assert (int(i), x.tolist()) == (3, [8.0, 16.0])
    assert isinstance(higher.while_loop(going, lambda i, x: [i + 1, x], (n, y)), list)
    assert higher.while_loop(lambda x: x.sum() < 10, lambda x: x * 2, (y,)).tolist() == [4.0, 8.0]
    for bad in (
        lambda: higher.while_loop(going, lambda i, x: (i + 1,), (n, y)), lambda: higher.while_loop(3, turn, (n, y)),
        lambda: higher.while_loop(going, lambda i, x: (i + 1, x.sum()), (n, y)), lambda: higher.while_loop(going, turn, y),
        lambda: higher.while_loop(lambda x: x.sum(), lambda x: (x,), (y,)),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="while_loop"):
            bad()
    z = torch.tensor([1.0, 2.0], requires_grad=True)
    higher.while_loop(going, lambda i, x: (i + 1, x * x), (n, z))[1].sum().backward()
    assert z.grad.tolist() == [8.0, 1024.0]


def test_torch_scan():
    x = torch.arange(6.0).reshape(2, 3)
    carry, ys = higher.scan(lambda c, x: (c + x, c * x), torch.zeros(2), x, dim=1)
    assert (carry.tolist(), ys.tolist()) == ([3.0, 12.0], [[0.0, 0.0, 2.0], [0.0, 12.0, 35.0]])
    carry, ys = higher.scan(lambda c, x: (c + x, c.clone()), torch.tensor(1.0), torch.tensor([1.0, 2.0, 3.0]), reverse=True)
    assert (carry.tolist(), ys.tolist()) == (7.0, [6.0, 4.0, 1.0])
    for bad in (
        lambda: higher.scan(lambda c, x: (c + x, c), torch.zeros(3), x[:0]), lambda: higher.scan(3, torch.zeros(3), x),
        lambda: higher.scan(lambda c, x: (c.sum() + x, c), torch.zeros(()), x), lambda: higher.scan(lambda c, x: (c, x), 0.0, x),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="scan"):
            bad()


def test_compiled_torch_functions_have_loops_and_draws():
    def looped(x, w):
        y = torch.cond(x.sum() > 0, lambda x: x * w, lambda x: x - 1, (x,))
        i, z = higher.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * 2), (torch.tensor(0), x.detach()))
        c, s = higher.scan(lambda c, x: (c * w + x, c + torch.randn(2) + x), torch.zeros(2), torch.stack([x, x, y]))
        return y.sum() + z.sum() * i + (c * c).sum() + (s * s).sum()

    found = []
    compiled = torch.compile(looped, fullgraph=True)
    for f in (looped, compiled, compiled, compiled, compiled):
        x, w = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(2.0, requires_grad=True)
        torch.manual_seed(0)
        out = f(x, w)
        out.backward()
        found.append([out.item(), *x.grad.tolist(), w.grad.item(), torch.rand(1).item()])
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-5)
    assert compiled_calls(looped) >= 2


def test_a_gradient_through_a_while_loop_of_a_compiled_torch_function():
    @torch.compile
    def through(x):
        return higher.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * x), (torch.tensor(0), x))[1].sum()

    for _ in range(3):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        through(x).backward()
        assert x.grad.tolist() == [8.0, 1024.0]
    assert compiled_calls(through) == 0


def test_paddle():
    @paddle.jit.to_static
    def chosen(x):
        return nn.cond(x.sum() > 2, lambda: x * 2, lambda: x - 1)

    @paddle.jit.to_static
    def looped(x):
        return nn.while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x * 2], [paddle.zeros([1], "int64"), x])

    for _ in range(4):
        for numbers, wanted, slope in (([1.0, 2.0], [2.0, 4.0], [2.0, 2.0]), ([0.5, 1.0], [-0.5, 0.0], [1.0, 1.0])):
            x = paddle.to_tensor(numbers, stop_gradient=False)
            y = chosen(x)
            assert y.tolist() == wanted
            assert paddle.grad(y.sum(), x)[0].tolist() == slope
        i, z = looped(paddle.to_tensor([1.0, 2.0]))
        assert (i.tolist(), z.tolist()) == ([3], [8.0, 16.0])
    assert compiled_calls(chosen) >= 2
    assert compiled_calls(looped) >= 2
    assert nn.cond(paddle.to_tensor(False), lambda: 1) is None


def test_mindspore():
    x = mindspore.Tensor(np.array([1.0, 2.0], np.float32))

    def counted(x):
        return ops.ForiLoop()(0, 3, lambda i, c: c * 2 + i, x)

    def going(x):
        return ops.WhileLoop()(lambda c: c.sum() < 10, lambda c: c * 2, x)

    def scanned(x):
        return ops.Scan()(lambda c, e: (c + e, c * e), x, [x, x, x])

    for f, wanted in ((counted, [12.0, 20.0]), (going, [4.0, 8.0])):
        compiled = mindspore.jit(f)
        for g in (f, compiled, compiled, compiled, compiled):
            assert g(x).asnumpy().tolist() == wanted
        assert compiled_calls(f) >= 2
    compiled = mindspore.jit(scanned)
    for g in (scanned, compiled, compiled, compiled, compiled):
        carry, ys = g(x)
        assert carry.asnumpy().tolist() == [4.0, 8.0]
        assert isinstance(ys, list)
        assert [y.asnumpy().tolist() for y in ys] == [[1.0, 4.0], [2.0, 8.0], [3.0, 12.0]]
    assert ops.Scan()(lambda c, e: (c + e, c * e), 1, [1, 2, 3]) == (7, [1, 4, 12])
    power = mindspore.grad(mindspore.jit(lambda x: ops.ForiLoop()(0, 3, lambda i, c: c * x, x).sum()))
    np.testing.assert_allclose(power(x).asnumpy(), [4.0, 32.0])
    table = [1.0, 10.0, 100.0]  # a list wants the number of the turn
    summed = mindspore.jit(lambda x: ops.ForiLoop()(0, 3, lambda i, c: c + table[i], x))
    assert summed(x).asnumpy().tolist() == [112.0, 113.0]
