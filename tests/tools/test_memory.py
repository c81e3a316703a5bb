"""`rg.memory`: what a graph keeps alive, against NumPy's sizes and what the interpreter frees."""

import gc
import tracemalloc

import numpy as np
import pytest

import retrograde as rg
from retrograde.tools.graph.memory import shown

N = 50_000


def test_bytes_are_those_that_are_freed_with_the_graph():
    x = rg.asarray(np.linspace(0.1, 1.0, N), requires_grad=True)
    tracemalloc.start()
    try:
        y = rg.sum(rg.exp(rg.sin(x)) * rg.sqrt(x))
        gc.collect()
        told = rg.memory(y)
        before = tracemalloc.get_traced_memory()[0]
        del y
        gc.collect()
        freed = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert told.total == 2 * 8 * N  # exp's result, which multiply keeps, too, and that of sqrt
    assert told.of_leaves == 8 * N  # sin keeps x
    assert freed == pytest.approx(told.total, abs=20_000)  # nodes and small objects beside it


def test_memory_that_is_shared_counts_once():
    x = rg.asarray(np.ones((100, 10)), requires_grad=True)
    h = rg.exp(x)
    y = rg.sum(h * h) + rg.sum(rg.sin(h)) + rg.sum(rg.reshape(h, (1000,)) * rg.reshape(h, (10, 100))[0, 0])
    told = rg.memory(y)
    assert told.by_operation()["exp"] == 8000
    assert told.total < 8000 + 100  # views of it, and what multiplies, bring nothing but single numbers


def test_lines_operations_and_the_peak_where_it_was_watched():
    x = rg.asarray(np.ones(1000), requires_grad=True)
    with rg.watch():
        big = rg.exp(x)
        z = rg.sum(rg.sin(big) + rg.tanh(big))
        large = rg.asarray(np.ones(500)) * 2.0
        del large
        rg.sqrt(rg.asarray(np.ones(100)))
    told = rg.memory(z)
    lines = told.by_line()
    assert all(place.startswith("test_memory.py:") for place in lines)
    assert told.by_operation() == {"exp": 8000, "tanh": 8000}
    assert sum(lines.values()) == told.total == 16_000
    assert told.peak is not None
    assert 3 * 8000 <= told.peak <= 5 * 8000  # exp, sin, tanh and their sum were there together
    assert sum(size for _, _, size in told.at_peak) == told.peak
    text = str(told)
    assert text.startswith("15.6 KiB kept for derivatives")
    assert "exp, 1 array" in text
    assert "at the peak" in text


def test_what_a_backward_pass_has_freed_is_said():
    x = rg.asarray(np.ones(100), requires_grad=True)
    y = rg.sum(rg.exp(x))
    y.backward()
    told = rg.memory(y)
    assert (told.total, told.freed > 0) == (0, True)
    assert "a backward pass has freed them" in str(told)


def test_a_value_without_history_keeps_nothing():
    assert rg.memory(rg.asarray([1.0])).total == 0
    with pytest.raises(TypeError, match="wanted a tensor, got ndarray"):
        rg.memory(np.ones(3))


def test_bytes_are_written_as_people_read_them():
    assert [shown(x) for x in (0, 1023, 1536, 5 << 20, 3 << 30)] == ["0 B", "1023 B", "1.5 KiB", "5.0 MiB", "3.0 GiB"]
