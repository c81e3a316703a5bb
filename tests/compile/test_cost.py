"""What `f.cost` counts: operations by the sizes of operands, bytes that kernels move, kernels, peak memory."""

import importlib
import pkgutil

import numpy as np
import pytest

import retrograde as rg
import retrograde.compile.loops.nested  # whose records stand in the table, too
import retrograde.dialects.torch as torch
import retrograde.ops
from retrograde.compile import cost, jit
from retrograde.compile.emit import machine
from retrograde.compile.graph import Equation, Variable
from retrograde.core.aval import Aval
from retrograde.core.primitive import PRIMITIVES

F = torch.nn.functional

for module in pkgutil.walk_packages(retrograde.ops.__path__, "retrograde.ops."):
    importlib.import_module(module.name)


def ones(*shape, dtype=np.float32):
    return torch.tensor(np.ones(shape, dtype))


@pytest.mark.parametrize(
    ("f", "shapes", "count"),
    [
        (lambda x: x * 2 + 1, [(5, 7)], 2 * 35),
        (lambda x: torch.exp(x), [()], 1),
        (lambda x: x.sum(), [(5, 7)], 35),
        (lambda x: x.t().reshape(-1), [(5, 7)], 0),
        (lambda x, y: x @ y, [(5, 7), (7, 3)], 2 * 5 * 7 * 3),
        (lambda x, y: x @ y, [(2, 5, 7), (2, 7, 3)], 2 * 2 * 5 * 7 * 3),
        (lambda x, w, b: F.linear(x, w, b), [(5, 7), (3, 7), (3,)], 2 * 5 * 7 * 3 + 15),
        (lambda x, y: torch.einsum("ij,jk->ik", x, y), [(5, 7), (7, 3)], 2 * 5 * 7 * 3),
        (lambda x, w: F.conv2d(x, w), [(2, 4, 8, 8), (6, 4, 3, 3)], 2 * 2 * 6 * 6 * 6 * 4 * 9),
        (lambda x, w: F.conv2d(x, w, groups=2), [(2, 4, 8, 8), (6, 2, 3, 3)], 2 * 2 * 6 * 6 * 6 * 2 * 9),
        (lambda x: torch.linalg.inv(x), [(6, 6)], 2 * 6**3),
    ],
)
def test_operations_are_counted_by_size(f, shapes, count):
    found = jit(f).cost(*[ones(*shape) for shape in shapes]).operations
    assert found == count


def test_whole_numbers_count_for_nothing():
    assert jit(lambda n: n * 2 + n.sum()).cost(torch.arange(6)).operations == 0


def test_a_gradient_of_a_product_is_two_more():
    x, w = ones(5, 7), ones(7, 3)
    w.requires_grad_()
    x.requires_grad_()

    def step(x, w):
        return torch.autograd.grad((x @ w).square().sum(), [x, w])

    assert jit(step).cost(x, w).operations == pytest.approx(3 * 2 * 5 * 7 * 3, rel=0.2)


@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
def test_what_is_fused_moves_operands_and_results_alone():
    found = jit(lambda x: torch.tanh(torch.exp(x) * 2 + 1)).cost(ones(1000))
    assert len(found.kernels) == 1
    assert found.bytes == 2 * 4000
    assert found.peak_memory == 4000


def test_peak_memory_is_what_is_there_at_the_same_time(monkeypatch):
    monkeypatch.setenv("RETROGRADE_COMPILE", "numpy")
    found = jit(lambda x: torch.sin(torch.exp(torch.tanh(x))).sum()).cost(ones(1000))
    assert found.peak_memory == 2 * 4000
    assert [k.what.partition(" ")[0] for k in found.kernels] == ["tanh", "exp", "sin", "sum"]


def test_it_is_a_table_to_read():
    text = str(jit(lambda x, w: torch.softmax(x @ w, -1)).cost(ones(64, 256), ones(256, 512)))
    assert "16.8 M" in text
    assert "operations" in text.splitlines()[0]
    assert "bytes at most" in text.splitlines()[-1]


def test_every_record_is_counted():
    for prim in PRIMITIVES.values():
        if prim.kind == "data_dependent":
            continue
        for operands, params in prim.samples():
            inputs = [None if x is None else Variable(x.shape, x.dtype) for x in operands]
            out = prim.infer([None if x is None else Aval(x.shape, x.dtype) for x in operands], params)
            outputs = [Variable(a.shape, a.dtype) for a in (out if prim.multi else (out,))]
            count = cost.operations(Equation(prim, inputs, params, outputs))
            assert type(count) is int
            assert count >= 0


def test_the_names_in_the_table_are_those_of_records():
    assert set(cost.COUNTS) <= set(PRIMITIVES)


def test_the_cost_of_a_network_is_that_of_its_products():
    net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    found = jit(lambda x: net(x)).cost(ones(64, 784))
    assert found.operations == pytest.approx(2 * 64 * (784 * 256 + 256 * 10), rel=0.01)
    assert rg.jit(lambda x: x).cost(ones(3)).operations == 0


@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
def test_what_is_computed_tile_by_tile_counts_for_all_tiles():
    x, w = rg.ones((4096, 32), dtype=rg.float32), rg.ones((32, 32), dtype=rg.float32)
    found = jit(lambda x, w: rg.sum(rg.tanh(rg.tanh(x @ w) @ w))).cost(x, w)
    assert "tiles" in str(found)
    assert found.operations == 2 * 2 * 4096 * 32 * 32 + 3 * 4096 * 32


def test_a_loop_counts_its_turns_and_a_choice_its_longer_branch():
    w, xs = rg.ones((4, 4)), rg.ones((10, 4))
    assert jit(lambda xs, w: rg.scan(lambda c, x: (rg.tanh(c @ w + x), None), xs[0], xs)[0]).cost(xs, w).operations == 10 * 40
    found = jit(lambda x: rg.while_loop(lambda c: rg.sum(c) < 100, lambda c: c * 2, x)).cost(rg.ones(3))
    assert found.operations == 3 + 3 + 1
    assert "one turn" in str(found)
    chosen = jit(lambda x: rg.cond(rg.sum(x) > 0, lambda y: rg.exp(y) * 2, lambda y: y, x)).cost(rg.ones(3))
    assert sum(k.operations for k in chosen.kernels if k.what.startswith("cond")) == 6
