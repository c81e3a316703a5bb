"""Graphs are freed by reference counting, chains are as long as memory allows, steps leave nothing behind."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import retrograde.dialects.torch as torch


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_dropped_graph_is_freed_at_once(no_collector, create_graph):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x * x
    (g,) = torch.autograd.grad(y, x, torch.ones(2), create_graph=create_graph)
    watched = [weakref.ref(t) for t in (y._node, y._a, g._a)]
    if create_graph:
        watched.append(weakref.ref(g._node))
    del y, g
    assert [w() for w in watched] == [None] * len(watched)


def test_a_gradient_with_history_in_grad_makes_no_cycle(no_collector):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x * x
    y.backward(torch.ones(2), create_graph=True)
    node = weakref.ref(y._node)
    del y, x
    assert node() is None


def test_a_custom_function_is_freed_at_once(no_collector):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            out = x * x
            ctx.save_for_backward(x, out)
            return out

        @staticmethod
        def backward(ctx, g):
            x, _ = ctx.saved_tensors
            return g * x * 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x)
    node = weakref.ref(y._node)
    del y
    assert node() is None


def test_a_long_chain_runs_and_is_freed():
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([1.0])
    y = x
    for _ in range(100_000):  # a million in benchmarks: the recursion limit is far below either
        y = y * w
    y.backward(torch.ones(1))
    del y
    assert x.grad.numpy().tolist() == [1.0]


def test_a_long_chain_has_a_second_derivative():
    x = torch.tensor([1.0], requires_grad=True)
    y = x
    for _ in range(2_000):
        y = y * x
    (g,) = torch.autograd.grad(y, x, torch.ones(1), create_graph=True)
    (h,) = torch.autograd.grad(g, x, torch.ones(1))
    assert h.numpy().tolist() == [2001.0 * 2000.0]


STEPS = """
import resource
import retrograde.dialects.torch as torch
w = torch.ones(64, 64, requires_grad=True)
x = torch.ones(64, 64)
def step():
    loss = (x * w * w * x)
    loss.backward(torch.ones(64, 64))
    with torch.no_grad():
        w.sub_(w.grad * 1e-3)
    w.grad = None
for _ in range(100):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(2000):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not hasattr(resource, "RUSAGE_SELF"), reason="no resource usage on this system")
def test_steps_leave_memory_where_it_was():
    out = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True, timeout=120)
    kilobytes = int(out.stdout) / (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 1024


def test_threads_on_separate_graphs_and_one_leaf_lose_nothing():
    shared = torch.zeros(8, requires_grad=True)
    results: list[float] = []
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            own = torch.full((8,), float(seed), requires_grad=True)
            for _ in range(200):
                (own * own + shared * 2.0).backward(torch.ones(8))
            results.append(float(own.grad.numpy()[0]) / (400.0 * seed))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k + 1,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert results == [1.0] * 8
    np.testing.assert_array_equal(shared.grad.numpy(), np.full(8, 8 * 200 * 2.0))


def test_grad_mode_belongs_to_the_thread():
    seen: list[bool] = []
    with torch.no_grad():
        t = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        t.start()
        t.join()
        assert not torch.is_grad_enabled()
    assert seen == [True]
