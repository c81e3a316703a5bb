"""What lies inside operations (retrograde.tools.diff.inside): the results of the operations are among it; steps in words."""

import importlib
import pkgutil

import numpy as np
import pytest

import retrograde as rg
import retrograde.ops
from retrograde import _state
from retrograde.core.bind import bind_general
from retrograde.core.primitive import PRIMITIVES
from retrograde.tools.diff.events import Returned, Update
from retrograde.tools.diff.inside import _STEPS, is_known, values_inside
from retrograde.tools.diff.optimisers import steps_differ
from retrograde.tools.diff.record import Recorder
from retrograde.tools.diff.replay import Changes, Replay
from retrograde.tools.diff.values import Values
from retrograde.tools.diff.wide import Twins, WideRecorder

for module in pkgutil.iter_modules(retrograde.ops.__path__):
    importlib.import_module(f"retrograde.ops.{module.name}")

ENDS = ("affine", "add_matmul", "gru_pointwise", "lstm_pointwise", "normalize", "normalize_by", "softmax", "logsumexp", "std",
        "var")  # fmt: skip
"""Operations whose result itself is among what lies inside."""
LAYERS = ("gru_layer", "lstm_layer", "rnn_layer")


def samples(name):
    for sample in PRIMITIVES[name].samples():
        yield [None if x is None else np.asarray(x) for x in sample.operands], sample.params


def held(result, inside):
    return any(x.size == result.size and np.allclose(x.reshape(result.shape), result, atol=1e-6) for x in inside)


def evaluated(name, operands, params):
    out = PRIMITIVES[name].kernel(np, *operands, **params)
    return [np.asarray(y) for y in out] if isinstance(out, tuple) else [np.asarray(out)]


@pytest.mark.parametrize("name", sorted(_STEPS))
def test_every_known_operation_is_one_and_can_be_looked_into(name):
    assert is_known(name)
    assert name in PRIMITIVES
    assert any(values_inside(name, params, operands) for operands, params in samples(name))


@pytest.mark.parametrize("name", ENDS)
def test_the_result_is_among_the_values(name):
    for operands, params in samples(name):
        inside = values_inside(name, params, operands)
        if inside:
            assert all(held(y, inside) for y in evaluated(name, operands, params)), (name, params)


@pytest.mark.parametrize("name", LAYERS)
def test_every_step_of_a_layer_is_among_the_values(name):
    for operands, params in samples(name):
        inside = values_inside(name, params, operands)
        assert all(held(step, inside) for y in evaluated(name, operands, params) for step in y)


def test_what_is_not_known_has_nothing_inside():
    assert values_inside("exp", {}, [np.ones(3)]) == []
    assert values_inside("std", {"axes": (0,)}, [np.ones(3)]) == []


def test_optimisers_with_a_rate_of_zero_are_compared():
    def step(**options):
        return Update("adam", (), (), 0, 1, (), {"betas": (0.9, 0.999), **options}, "adam")

    corrected = step(eps=1e-08, lr=0.0, step=1.0)
    folded = step(eps=1e-08, lr=0.01)
    assert "lr=" in steps_differ(corrected, folded)
    assert "lr=" in steps_differ(step(eps=1e-08, lr=0.01, step=1.0), step())


def test_twins_share_memory_as_arrays_do():
    twins, a = Twins(), np.zeros((2, 3, 4), np.float32).transpose(1, 0, 2)
    twins.put(a[1], np.full((2, 4), 0.1))
    assert twins.exact(a)
    assert np.array_equal(twins.of(a.T)[:, :, 1], np.full((4, 2), 0.1))
    assert not twins.of(a)[0].any()
    twins.put(a[1, :, ::-1], None)
    assert not twins.exact(a)


def test_what_is_saved_of_memory_that_is_written_has_all_digits():
    recorder = WideRecorder()
    with _state.observe(recorder):
        x = rg.asarray(np.linspace(-1, 1, 7, dtype=np.float32), requires_grad=True)
        h = rg.sin(x)
        h **= 3
        h.sum().backward()
    record = recorder.record()
    replay = Replay(record, Changes(), Values(record), widened=True, everything=True)
    for v, new in replay.new.items():
        assert np.abs(new - Values(record).array(v)).max() < 1e-14


def test_memory_that_is_filled_bit_by_bit_has_a_twin():
    twins = Twins()
    a = np.zeros((2, 3), np.int32).view(np.float32)
    twins.put(a, np.full((2, 3), 0.1))
    assert twins.exact(a)
    assert np.array_equal(twins.of(a[1]), np.full(3, 0.1))


OTHERWISE = {"unique", "cond", "scan", "while_loop"}
"""Equal elements may be others there; code of loops is for one dtype, and a program is looked at without it."""


@pytest.mark.parametrize("name", sorted(set(PRIMITIVES) - OTHERWISE))
def test_every_operation_is_followed_in_double_precision(name):
    for operands, params in samples(name):
        if not any(x is not None and x.dtype.kind == "f" for x in operands):
            continue
        recorder = WideRecorder()
        with _state.observe(recorder):
            given = [x if x is None or x.dtype.kind != "f" else rg.asarray(x.astype(np.float32)) * 1.0000001 for x in operands]
            out = bind_general(PRIMITIVES[name], [x if x is None else rg.asarray(x) for x in given], params)
        for y in out if isinstance(out, tuple) else (out,):
            a = np.asarray(y)
            assert a.dtype != np.float32 or recorder._twins.exact(y._a)


def test_gradients_that_are_single_numbers_have_all_their_digits():
    recorder = WideRecorder()
    with _state.observe(recorder):
        x, scale = rg.asarray(np.ones(3, np.float32), requires_grad=True), rg.asarray(np.float32(2), requires_grad=True)
        (rg.sum(x) / 9 + scale / 7).backward()
    assert np.array_equal(recorder._twins.of(x.grad._a), np.full(3, 1 / 9))
    assert recorder._twins.of(scale.grad._a) == 1 / 7


def test_a_returned_gradient_that_is_a_single_number_is_known_where_it_is_read():
    recorder = Recorder()
    with _state.observe(recorder):
        x = rg.asarray(np.float32(2), requires_grad=True)
        (g,) = rg.autograd.grad(x * x / 9, [x])
        g * 0.1
    (returned,) = [e for e in recorder.events if isinstance(e, Returned)]
    assert recorder.events[-1].ins[0] == returned.outs[0]


def test_comparisons_that_double_precision_changes_are_reported():
    recorder = WideRecorder()
    with _state.observe(recorder):
        x = rg.asarray(np.float32(0.1))
        assert not bool(x + 0.2 > 0.3)
    assert [name for _, _, name in recorder.turned] == ["greater"]
    (remark,) = recorder.remarks()
    assert "greater at line" in remark
