"""LSTM and GRU layers as generated code: what NumPy computes step by step, and the derivative in double precision."""

import tracemalloc

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.jit import products, recurrent
from retrograde.dialects import torch
from retrograde.learn.layers import recurrent as layers
from retrograde.ops import contraction, recurrent_layers
from retrograde.ops import recurrent as pointwise

from .same_bits import same_bits

pytestmark = pytest.mark.skipif(
    not recurrent.suited(recurrent.LEAST), reason="needs llvmlite and a processor that code is generated for"
)
rng = np.random.default_rng(6)
GATES = {"lstm": 4, "gru": 3}


def operands(kind, steps, batch, n, biased):
    gates = GATES[kind] * n
    states = [(batch, n)] * (2 if kind == "lstm" else 1)
    *scaled, w = (rng.normal(size=shape).astype(np.float32) for shape in [(steps, batch, gates), *states, (gates, n)])
    return [*scaled, w / np.float32(np.sqrt(n)), rng.normal(size=gates).astype(np.float32) if biased else None]


def layer(kind, given, backwards):
    return getattr(recurrent_layers, f"{kind}_layer")(*given, backwards=backwards)


def pulled(kind, g, outs, given, backwards):
    rule = getattr(recurrent_layers, f"_{kind}_pull")
    found = rule((True,) * len(given), g, outs, *given, backwards=backwards)
    return [x for x, operand in zip(found, given) if operand is not None]


@pytest.fixture
def generated(monkeypatch):
    """Generated code for layers of every size; the names of what was called."""
    monkeypatch.setattr(recurrent, "LEAST", 0)
    monkeypatch.setattr(recurrent, "SHORT", 0)
    calls = []
    for name in ("lstm", "lstm_pull", "gru", "gru_pull"):
        function = getattr(recurrent, name)
        monkeypatch.setattr(
            recurrent, name, lambda *a, function=function, name=name: (calls.append(name), function(*a))[1]
        )
    return calls


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(
    "shape", [(5, 3, 7), (4, 2, 16), (3, 5, 33), (1, 4, 20), (9, 1, 48), (2, 31, 80), (2, 3, 130)], ids=str
)
@pytest.mark.parametrize("kind", list(GATES))
def test_as_numpy(monkeypatch, generated, kind, shape, biased, backwards):
    given = operands(kind, *shape, biased)
    g = [rng.normal(size=shape).astype(np.float32) for _ in range(2)]
    cotangents = [(g[0], g[1], None), (g[0], None, None), (None, g[1], None)] if kind == "lstm" else [(g[0], None)]
    outs = layer(kind, given, backwards)
    results = [pulled(kind, x, outs, given, backwards) for x in cotangents]
    assert generated == [kind, *[f"{kind}_pull"] * len(cotangents)]
    monkeypatch.setattr(recurrent, "LEAST", 1 << 60)
    wide = [None if x is None else x.astype(np.float64) for x in given]
    exact = layer(kind, wide, backwards)
    for found, expected in zip(outs, exact, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=3e-6)
    for x, found in zip(cotangents, results, strict=True):
        g_wide = [None if a is None else a.astype(np.float64) for a in x]
        for a, b in zip(found, pulled(kind, g_wide, exact, wide, backwards), strict=True):
            assert a.shape == b.shape
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=4e-5)


@pytest.mark.parametrize("kind", list(GATES))
def test_the_bits_do_not_depend_on_the_number_of_threads(generated, kind):
    given = operands(kind, 4, 13, 40, True)
    outs = same_bits(lambda: layer(kind, given, False))
    g = rng.normal(size=(4, 13, 40)).astype(np.float32)
    zeros = (None,) * (len(outs) - 1)
    same_bits(lambda: tuple(pulled(kind, (g, *zeros), outs, given, False)))


def test_saturated_and_unusual_gates(generated):
    values = np.array([0, -0.0, 1e-30, 20, -20, 90, -90, 200, -200, np.inf, -np.inf, np.nan], np.float32)
    gates = np.repeat(values[:, None], 4, axis=1)[None]
    zeros = np.zeros((len(values), 1), np.float32)
    out, cells, _ = layer("lstm", (gates, zeros, zeros + 1, np.zeros((4, 1), np.float32), None), False)
    assert generated
    with np.errstate(over="ignore"):
        sigmoid = 1 / (1 + np.exp(-values.astype(np.float64)))
    expected = sigmoid + sigmoid * np.tanh(values)
    np.testing.assert_allclose(cells[0, :, 0], expected, rtol=1e-6, atol=1e-44)
    np.testing.assert_allclose(out[0, :, 0], sigmoid * np.tanh(expected), rtol=1e-6, atol=1e-44)


def test_small_layers_and_double_precision_are_left_to_numpy():
    assert not recurrent.suited(recurrent.LEAST - 1)
    assert not recurrent.suited(recurrent.LEAST, np.zeros(2))


def test_a_cell_for_the_whole_batch_is_broadcast(monkeypatch):
    gates, h, c, w, b = operands("lstm", 3, 4, 8, True)
    expected = recurrent_layers.lstm_layer(gates, h, np.repeat(c[:1], 4, 0), w, b, backwards=False)
    monkeypatch.setattr(recurrent, "LEAST", 0)
    found = recurrent_layers.lstm_layer(gates, h, c[:1].copy(), w, b, backwards=False)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-6)


@pytest.mark.parametrize("shut", [-200, -np.inf])
def test_a_shut_gate_lets_nothing_through(generated, shut):
    gates = np.array([[[0, shut, 0, 0]] * 2], np.float32)
    c, w = np.full((2, 1), 1e38, np.float32), np.zeros((4, 1), np.float32)
    _, cells, _ = recurrent_layers.lstm_layer(gates, np.zeros_like(c), c, w, None, backwards=False)
    assert cells.tolist() == [[[0], [0]]]


def test_one_number_of_state_loses_no_nan(generated):
    zero, w = np.zeros((1, 1), np.float32), np.full((4, 1), np.nan, np.float32)
    out, _, _ = recurrent_layers.lstm_layer(np.zeros((1, 1, 4), np.float32), zero, zero, w, None, backwards=False)
    assert np.isnan(out).all()


def from_input(kind, steps, batch, n, features):
    """Operands of a layer's states, and of the layer itself, from an input whose sequences come first in memory."""
    _, *first, w, b = operands(kind, steps, batch, n, True)
    x = rng.normal(size=(batch, steps, features)).astype(np.float32).transpose(1, 0, 2)
    w_in, b_in = (rng.normal(size=s).astype(np.float32) / 8 for s in ((len(w), features), len(w)))
    gates = contraction.project(x, w_in)
    biases = (b,) if kind == "lstm" else (b_in, b)
    return (x, *first, w_in, w, *biases), (gates if kind == "lstm" else gates + b_in, *first, w, b)


def states(kind, given, backwards, **options):
    found = getattr(recurrent_layers, f"{kind}_states")(*given, backwards=backwards, **options)
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("least", "many"), [(0, 0), (0, 1 << 60), (1 << 60, 0)], ids=["inside", "before", "numpy"])
@pytest.mark.parametrize("kind", list(GATES))
def test_states_from_the_input_have_the_bits_of_the_layer(monkeypatch, kind, least, many, backwards):
    monkeypatch.setattr(recurrent, "LEAST", least)
    monkeypatch.setattr(recurrent, "MANY", many)
    given, gates = from_input(kind, 5, 31, 37, 300)  # a product that generated code sums in two parts
    *expected, _kept = layer(kind, gates, backwards)
    found = states(kind, given, backwards, **({"every": True} if kind == "lstm" else {}))
    if many or products.generates("f"):
        assert [x.tobytes() for x in found] == [x.tobytes() for x in expected]
    else:  # BLAS adds in another order
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, atol=3e-6)
    if kind == "lstm":
        out, last = states(kind, given, backwards, every=False)
        assert out.tobytes() == found[0].tobytes()
        assert last.tobytes() == found[1][0 if backwards else -1].tobytes()


@pytest.mark.parametrize("kind", list(GATES))
def test_weights_of_other_sizes_are_not_read_beyond_their_end(monkeypatch, kind):
    monkeypatch.setattr(recurrent, "LEAST", 0)
    given, _ = from_input(kind, 5, 31, 37, 20)
    options = {"every": False} if kind == "lstm" else {}
    for k, x in enumerate(given):
        cut = [*given[:k], x[..., :-1] if x.ndim == 1 else x[:-1, ..., :-1], *given[k + 1 :]]
        with pytest.raises((ValueError, IndexError)):
            states(kind, cut, False, **options)


@pytest.mark.parametrize("kind", list(GATES))
def test_the_bits_of_states_do_not_depend_on_the_number_of_threads(kind):
    given, _ = from_input(kind, 4, 61, 40, 50)
    same_bits(lambda: states(kind, given, False, **({"every": False} if kind == "lstm" else {})))


@pytest.mark.parametrize("kind", list(GATES))
def test_without_gradients_the_gates_of_all_steps_are_never_there_at_once(kind):
    steps, batch, n = 60, 40, 64
    net = getattr(torch.nn, kind.upper())(32, n)
    x = torch.rand(steps, batch, 32)
    with torch.no_grad():
        net(x)
        tracemalloc.start()
        try:
            net(x)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 4 * steps * batch * n * 2  # the states are half of it, the gates would be three or four times as much


@pytest.mark.parametrize("kind", list(GATES))
def test_activations_are_kept_where_something_is_recorded(monkeypatch, kind):
    called = []
    for name in ("layer", "states"):
        op = getattr(layers, f"{kind}_{name}")
        monkeypatch.setattr(layers, f"{kind}_{name}", lambda *a, op=op, name=name, **p: (called.append(name), op(*a, **p))[1])
    x, h, *weights = (rng.normal(size=shape) for shape in [(4, 2, 3), (2, 5), (GATES[kind] * 5, 3), (GATES[kind] * 5, 5)])
    state, w = (h, h) if kind == "lstm" else (h,), layers.Weights(*weights)

    def run(w_hidden):
        return layers.layer(kind, x, state, w._replace(hidden=w_hidden))[0]

    plain = run(w.hidden)
    leaf = torch.tensor(w.hidden, requires_grad=True)
    taped = run(leaf)
    with torch.no_grad():
        off = run(leaf)
    rg.jvp(run, (w.hidden,), (w.hidden,))
    assert called == ["states", "layer", "states", "layer"]
    assert taped.detach().numpy().tobytes() == off.numpy().tobytes() == plain.tobytes()


@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)], ids=str)
def test_either_bias_of_an_lstm_may_be_missing(given):
    x, h = rng.normal(size=(4, 2, 3)), rng.normal(size=(2, 5))
    biases = [rng.normal(size=20) if there else None for there in given]
    w = layers.Weights(rng.normal(size=(20, 3)), rng.normal(size=(20, 5)), *biases)
    found, _ = layers.layer("lstm", x, (h, h), w)
    state = h, h
    for t, expected in enumerate(found):
        state = layers.cell("lstm", x[t], state, w)
        np.testing.assert_allclose(expected, state[0], rtol=1e-12)


@pytest.mark.parametrize("shape", [(1,), (40,), (3, 15), (3, 16), (5, 17), (2, 3, 33)], ids=str)
@pytest.mark.parametrize("kind", list(GATES))
def test_steps_as_numpy(monkeypatch, kind, shape):
    monkeypatch.setattr(recurrent, "LEAST_STEP", 1)
    wide = *shape[:-1], GATES[kind] * shape[-1]
    given = [4 * rng.normal(size=s) for s in ([wide, shape] if kind == "lstm" else [wide, wide, shape])]
    given = [x.astype(np.float32) for x in given]
    given[0] = np.flip(np.ascontiguousarray(np.flip(given[0])))  # negative strides
    op, kernel = getattr(pointwise, f"{kind}_pointwise"), getattr(recurrent, f"{kind}_step")
    assert kernel(*given) is not None
    assert kernel(*given[:-1], given[-1].astype(np.float64)) is None
    assert kernel(*(x[..., :-1] for x in given[:-1]), given[-1]) is None
    found, expected = op(*given), op(*(x.astype(np.float64) for x in given))
    pairs = zip(found, expected, strict=True) if kind == "lstm" else [(found, expected)]
    for a, b in pairs:
        assert a.dtype == np.float32
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=3e-6)


@pytest.mark.parametrize("kind", list(GATES))
def test_the_bits_of_steps_do_not_depend_on_the_number_of_threads(kind):
    gates, *rest = (rng.normal(size=(64, n)).astype(np.float32) for n in (GATES[kind] * 130, 130))
    own = [] if kind == "lstm" else [gates[::-1]]
    same_bits(lambda: getattr(recurrent, f"{kind}_step")(gates, *own, *rest))
    assert getattr(recurrent, f"{kind}_step")(gates, *own, *rest) is not None


def test_saturated_and_unusual_gates_of_steps(monkeypatch):
    monkeypatch.setattr(recurrent, "LEAST_STEP", 1)
    values = np.array([0, -0.0, 1e-30, 20, -20, 90, -90, 200, -200, np.inf, -np.inf, np.nan], np.float32)
    out, cells = pointwise.lstm_pointwise(np.repeat(values[:, None], 4, axis=1), np.ones((len(values), 1), np.float32))
    with np.errstate(over="ignore"):
        sigmoid = 1 / (1 + np.exp(-values.astype(np.float64)))
    expected = sigmoid + sigmoid * np.tanh(values)
    np.testing.assert_allclose(cells[:, 0], expected, rtol=1e-6, atol=1e-44)
    np.testing.assert_allclose(out[:, 0], sigmoid * np.tanh(expected), rtol=1e-6, atol=1e-44)
