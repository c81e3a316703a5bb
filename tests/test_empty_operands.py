"""Operands without elements: derivatives have the operands' shapes, in both modes, and those of other operands are right."""

from __future__ import annotations

import numpy as np
import pytest

import retrograde as rg
from retrograde.ops.recurrent_layers import gru_layer, lstm_layer

EINSUMS = [
    ("ij->i", (2, 0)), ("ij->", (2, 0)), ("ij,k->k", (2, 0), (3,)), ("ij,jk->i", (2, 3), (3, 0)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("ii->i", (0, 0)), ("ijk->", (2, 0, 3)), ("ij,ij->j", (1, 0), (2, 0)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=str)
def test_einsum(case):
    subscripts, *shapes = case
    operands = tuple(np.ones(shape) for shape in shapes)
    every = tuple(range(len(operands)))
    gradients = rg.grad(lambda *xs: rg.sum(rg.einsum(subscripts, *xs)), argnums=every)(*operands)
    assert [g.shape for g in gradients] == shapes
    assert all(np.all(np.asarray(g) == 0) for g in gradients)  # each sum is over nothing, or multiplied by one that is
    value, tangent = rg.jvp(lambda *xs: rg.einsum(subscripts, *xs), operands, operands)
    assert tangent.shape == value.shape


@pytest.mark.parametrize("layer,gates,states", [(lstm_layer, 4, 2), (gru_layer, 3, 1)])
def test_recurrent_layers_of_an_empty_batch(layer, gates, states):
    n, steps = 3, 4
    operands = [
        np.ones((steps, 0, gates * n)),
        *[np.ones((0, n))] * states,
        np.ones((gates * n, n)),
        np.ones(gates * n),
    ]

    def total(*xs):
        out = layer(*xs, backwards=False)
        return rg.sum(out[0] if isinstance(out, tuple) else out)

    gradients = rg.grad(total, argnums=tuple(range(len(operands))))(*operands)
    assert [g.shape for g in gradients] == [x.shape for x in operands]
    assert not any(np.any(np.asarray(g)) for g in gradients)
