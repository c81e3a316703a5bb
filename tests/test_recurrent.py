"""LSTM layers as generated code: what NumPy computes step by step, and the derivative in double precision."""

import numpy as np
import pytest

from retrograde.backend.jit import recurrent
from retrograde.ops import recurrent_layers

pytestmark = pytest.mark.skipif(
    not recurrent.suited(recurrent.LEAST), reason="needs llvmlite and a processor with AVX2 and FMA"
)
rng = np.random.default_rng(6)


def operands(steps, batch, n, biased):
    shapes = [(steps, batch, 4 * n), (batch, n), (batch, n), (4 * n, n)]
    scaled = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    scaled[3] /= np.float32(np.sqrt(n))
    return [*scaled, rng.normal(size=4 * n).astype(np.float32) if biased else None]


def pulled(g, outs, given, backwards):
    found = recurrent_layers._lstm_pull((True,) * 5, g, outs, *given, backwards=backwards)
    return [x for x, operand in zip(found, given) if operand is not None]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("shape", [(5, 3, 7), (4, 2, 16), (3, 5, 33), (1, 4, 20), (9, 1, 48)], ids=str)
def test_as_numpy(monkeypatch, shape, biased, backwards):
    given = operands(*shape, biased)
    g = [rng.normal(size=shape).astype(np.float32) for _ in range(2)]
    monkeypatch.setattr(recurrent, "LEAST", 0)
    calls = []
    for name in ("lstm", "lstm_pull"):
        function = getattr(recurrent, name)
        monkeypatch.setattr(recurrent, name, lambda *a, function=function: (calls.append(1), function(*a))[1])
    outs = recurrent_layers.lstm_layer(*given, backwards=backwards)
    cotangents = [pulled(x, outs, given, backwards) for x in ((g[0], g[1]), (g[0], None), (None, g[1]))]
    assert len(calls) == 4
    monkeypatch.setattr(recurrent, "LEAST", 1 << 60)
    wide = [None if x is None else x.astype(np.float64) for x in given]
    exact = recurrent_layers.lstm_layer(*wide, backwards=backwards)
    for found, expected in zip(outs, exact, strict=True):
        np.testing.assert_allclose(found, expected, atol=3e-6)
    for x, found in zip(((g[0], g[1]), (g[0], None), (None, g[1])), cotangents, strict=True):
        g_wide = [None if a is None else a.astype(np.float64) for a in x]
        for a, b in zip(found, pulled(g_wide, exact, wide, backwards), strict=True):
            assert a.shape == b.shape
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5)


def test_saturated_and_unusual_gates(monkeypatch):
    monkeypatch.setattr(recurrent, "LEAST", 0)
    values = np.array([0, -0.0, 1e-30, 20, -20, 90, -90, 200, -200, np.inf, -np.inf, np.nan], np.float32)
    gates = np.repeat(values[:, None], 4, axis=1)[None]
    zeros = np.zeros((len(values), 1), np.float32)
    out, cells = recurrent_layers.lstm_layer(gates, zeros, zeros + 1, np.zeros((4, 1), np.float32), None, backwards=False)
    with np.errstate(over="ignore"):
        sigmoid = 1 / (1 + np.exp(-values.astype(np.float64)))
    expected = sigmoid + sigmoid * np.tanh(values)
    np.testing.assert_allclose(cells[0, :, 0], expected, rtol=1e-6, atol=1e-44)
    np.testing.assert_allclose(out[0, :, 0], sigmoid * np.tanh(expected), rtol=1e-6, atol=1e-44)


def test_small_layers_and_double_precision_are_left_to_numpy():
    assert not recurrent.suited(recurrent.LEAST - 1)
    assert not recurrent.suited(recurrent.LEAST, np.zeros(2))


def test_a_cell_for_the_whole_batch_is_broadcast(monkeypatch):
    gates, h, c, w, b = operands(3, 4, 8, True)
    expected = recurrent_layers.lstm_layer(gates, h, np.repeat(c[:1], 4, 0), w, b, backwards=False)
    monkeypatch.setattr(recurrent, "LEAST", 0)
    found = recurrent_layers.lstm_layer(gates, h, c[:1].copy(), w, b, backwards=False)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6)


@pytest.mark.parametrize("shut", [-200, -np.inf])
def test_a_shut_gate_lets_nothing_through(monkeypatch, shut):
    monkeypatch.setattr(recurrent, "LEAST", 0)
    gates = np.array([[[0, shut, 0, 0]] * 2], np.float32)
    c, w = np.full((2, 1), 1e38, np.float32), np.zeros((4, 1), np.float32)
    _, cells = recurrent_layers.lstm_layer(gates, np.zeros_like(c), c, w, None, backwards=False)
    assert cells.tolist() == [[[0], [0]]]


def test_one_number_of_state_loses_no_nan(monkeypatch):
    monkeypatch.setattr(recurrent, "LEAST", 0)
    zero, w = np.zeros((1, 1), np.float32), np.full((4, 1), np.nan, np.float32)
    out, _ = recurrent_layers.lstm_layer(np.zeros((1, 1, 4), np.float32), zero, zero, w, None, backwards=False)
    assert np.isnan(out).all()
