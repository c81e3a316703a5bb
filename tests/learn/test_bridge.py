"""Update rules run on the values of a dialect: in place on NumPy's arrays, by operations everywhere else."""

import numpy as np
import pytest

import retrograde as rg
from retrograde.core.value import make
from retrograde.learn import accumulating, blocks, bridge, updates


class Value(rg.Tensor):
    pass


def value(*numbers, dtype=np.float64):
    return make(Value, np.array(numbers, dtype))


def columns(*state):
    """Fresh parameters, gradients and state: two of each."""
    return [[value(1.0, -2.0), value(0.5, 4.0)], [value(0.3, -0.2), value(-1.0, 2.0)],
            *([value(*s), value(*s)] for s in state)]  # fmt: skip


RULES = [
    (updates.sgd, [(0.1, 0.2)], {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    (updates.adam, [(0.1, 0.2), (0.3, 0.4), (0.2, 0.9)], {"step": 3, "lr": 0.1, "weight_decay": 0.1}),
    (updates.adamax, [(0.1, 0.2), (0.3, 0.4)], {"step": 2, "lr": 0.1}),
    (updates.radam, [(0.1, 0.2), (0.3, 0.4)], {"step": 9, "lr": 0.1, "decoupled": True, "weight_decay": 0.1}),
    (accumulating.adagrad, [(0.1, 0.2)], {"step": 2, "lr": 0.1, "lr_decay": 0.1}),
    (accumulating.adadelta, [(0.1, 0.2), (0.3, 0.4)], {"lr": 0.1, "maximize": True}),
    (accumulating.rmsprop, [(0.1, 0.2), (0.3, 0.4), (0.1, 0.1)], {"lr": 0.1, "momentum": 0.9}),
    (accumulating.rprop, [(0.1, 0.2), (0.3, 0.4)], {}),
    (accumulating.asgd, [(0.1, 0.2)], {"eta": 0.1, "mu": 0.5}),
]


@pytest.mark.parametrize(("rule", "state", "options"), RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_recorded_updates_give_what_those_in_place_give(rule, state, options):
    plain, recorded = columns(*state), columns(*state)
    bridge.update(rule, *plain, **options)
    for g in recorded[1]:
        g.requires_grad_()
    bridge.update(rule, *recorded, recorded=True, **options)
    for ours, theirs in zip(plain, recorded):
        for x, y in zip(ours, theirs):
            np.testing.assert_allclose(x._a, y._a, rtol=1e-12)
            assert x._node is None
    if rule is not accumulating.rprop:
        assert all(p._node is not None for p in recorded[0])


def test_a_recorded_update_is_differentiated_in_rate_and_gradient():
    p, g, lr = value(1.0, -2.0), value(0.3, -0.2), value(0.1).requires_grad_()
    g.requires_grad_()
    bridge.update(updates.sgd, [p], [g], recorded=True, lr=lr)
    d_g, d_lr = rg.autograd.grad(rg.sum(p * p), [g, lr])
    np.testing.assert_allclose(d_g._a, -0.1 * 2 * p._a)
    np.testing.assert_allclose(d_lr._a, [-np.sum(2 * p._a * g._a)])


def test_a_rate_of_another_dtype_takes_the_parameters():
    p, g = value(1.0, dtype=np.float32), value(0.5, dtype=np.float32).requires_grad_()
    bridge.update(updates.sgd, [p], [g], recorded=True, lr=value(0.1).requires_grad_())
    assert p._a.dtype == np.float32


def test_the_tape_is_told():
    p = value(2.0).requires_grad_()
    y = p * p
    bridge.update(updates.sgd, [p], [value(1.0)], lr=0.5)
    with pytest.raises(RuntimeError, match="changed"):
        rg.autograd.grad(y, [p])


def test_inside_transforms_the_update_is_made_functional():
    def stepped(g):
        p = bridge.full_like(g, 1.0)
        bridge.update(updates.adam, [p], [g], [bridge.zeros_like(g)], [bridge.zeros_like(g)], step=1, lr=0.1)
        return p

    g = np.array([[0.3, -0.2], [1.0, 2.0]])
    np.testing.assert_allclose(np.asarray(rg.vmap(stepped)(rg.asarray(g))._a), 1 - 0.1 * np.sign(g), rtol=1e-6)


def test_batches_keep_equal_counts_together():
    entries = [("a", "ga", {"m": 1}, (3.0, 0.5)), ("b", "gb", {"m": 2}, (4.0, 0.5)), ("c", "gc", {"m": 3}, (3.0, 0.5))]
    first, second = bridge.batches(entries)
    assert (first.step, first.counters, first.params, first.grads) == (3.0, (0.5,), ["a", "c"], ["ga", "gc"])
    assert first.column("m") == [1, 3]
    assert second.params == ["b"]
    assert bridge.advance(value(2.0)) == 3.0


def test_other_arrays_are_refused_by_name():
    with pytest.raises(NotImplementedError, match="list"):
        blocks.run(updates._sgd, ([[1.0]], [[1.0]], None), (0.1, None, None, None), False, False, False, False)
