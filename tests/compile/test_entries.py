"""Where the dialects compile: modules, layers, cells, and the modes and switches around them."""

import copy
import pickle

import numpy as np
import pytest
from test_trace import numbers, same, tensor

import retrograde as rg
import retrograde.dialects.mindspore as mindspore
import retrograde.dialects.paddle as paddle
import retrograde.dialects.torch as torch
from retrograde.compile import compile_report


def rows(name):
    return [f for f in compile_report().to_dict()["functions"] if f["name"] == name]


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x):
        return torch.tanh(self.layer(x)).detach()


def test_a_compiled_module_runs_from_its_trace_and_copies_make_their_own():
    net = torch.compile(Net())
    for seed in range(4):
        net(tensor((4, 3), seed))
    assert rows("Net.forward")[-1]["compiled_calls"] == 2
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        with torch.no_grad():
            other.layer.weight.mul_(2)
        for seed in range(4):
            x = tensor((4, 3), seed)
            same([other(x)._a], [other._orig_mod(x)._a])
            same([net(x)._a], [net._orig_mod(x)._a])
    assert "_orig_mod.layer.weight" in net.state_dict()


def test_methods_are_compiled_for_each_object():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        @torch.compile
        def of(self, x):
            return x * self.scale

    a, b = Scaled(2), Scaled(3)
    for _ in range(4):
        assert (a.of(torch.ones(1)).item(), b.of(torch.ones(1)).item()) == (2, 3)


def test_a_function_that_is_not_to_be_compiled_is_left_alone():
    def f(x):
        return x

    assert torch.compile(torch.compiler.disable(f)) is f
    assert torch.compile(f, backend="eager") is f
    assert not torch.compiler.is_compiling()


def test_is_compiling_says_so_inside():
    said = []
    torch.compile(lambda x: said.append(torch.compiler.is_compiling()) or x)(torch.ones(1))
    assert True in said


def test_paddles_layers_and_functions():
    net = paddle.jit.to_static(paddle.nn.Linear(3, 2))
    plain = copy.deepcopy(net)
    f = paddle.jit.to_static(lambda x: (x * 2).sum())
    with paddle.no_grad():
        for seed in range(4):
            x = paddle.to_tensor(numbers((4, 3), seed))
            same([net(x)._a], [plain(x)._a])
            same([f(x)._a], [2 * x._a.sum()])
    assert rows("Linear.forward")[-2]["compiled_calls"] == 2
    paddle.jit.enable_to_static(False)
    try:
        calls = rows("Linear.forward")[-2]["compiled_calls"]
        net(paddle.to_tensor(numbers((4, 3))))
        assert rows("Linear.forward")[-2]["compiled_calls"] == calls
    finally:
        paddle.jit.enable_to_static(True)
    g = paddle.jit.not_to_static(lambda x: x)
    assert paddle.jit.to_static(g) is g


def test_mindspores_functions_cells_and_graph_mode():
    x = mindspore.Tensor(np.arange(3, dtype=np.float32))
    f = mindspore.jit(lambda x: x * x + 1)
    cell = mindspore.nn.Dense(3, 2)
    want = cell(x.reshape((1, 3)))._a
    for _ in range(4):
        assert f(x).asnumpy().tolist() == [1, 2, 5]
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    try:
        for _ in range(4):
            same([cell(x.reshape((1, 3)))._a], [want])
    finally:
        mindspore.set_context(mode=mindspore.PYNATIVE_MODE)
    assert rows("Dense.construct")


@pytest.mark.parametrize("entry", [lambda f: torch.compile(f, fullgraph=True), rg.jit])
def test_a_whole_graph_is_asked_for(entry):
    with pytest.raises(rg.UnsupportedError, match=r"test_entries\.py"):
        entry(lambda x: x if x.sum() > 0 else -x)(torch.ones(2))


@pytest.mark.parametrize("where", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 1, 1)])
def test_gradients_of_gradients_of_mindspores_functions_whichever_of_them_is_compiled(where):
    inner, middle, outer = (mindspore.jit if on else (lambda f: f) for on in where)
    ops, w = mindspore.ops, mindspore.Tensor([2.0])
    f = inner(lambda x, y: x * x * y * w)
    derivative = middle(lambda x, y: ops.GradOperation()(f)(x, y) * y)
    both = outer(lambda x, y: ops.GradOperation(get_all=True)(derivative)(x, y))
    for _ in range(4):
        found = both(mindspore.Tensor([3.0]), mindspore.Tensor([4.0]))
        assert [g.asnumpy().tolist() for g in found] == [[64.0], [96.0]]


def test_a_compiled_construct_with_a_derivative_of_its_own():
    class Net(mindspore.nn.Cell):
        @mindspore.jit
        def construct(self, x):
            return x * x

        def bprop(self, x, out, dout):
            return (3 * dout,)

    assert float(mindspore.ops.GradOperation()(Net())(mindspore.Tensor(2.0))) == 3.0
