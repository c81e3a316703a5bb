"""Attention in blocks of its weights: values and gradients for every mask, empty operands, half precision."""

import numpy as np
import pytest

from retrograde.ops import attention as module
from retrograde.ops.attention import attention

rng = np.random.default_rng(8)

FRONT = {"one": (), "many": (3,), "heads": (2, 3), "more": (2, 1, 3)}
MASKS = {  # the axes in front of the mask: how many of the operands' last ones, and whether they are 1
    "none": None, "common": (0, False), "spread": (1, True), "of each": (3, False),
}  # fmt: skip


def numbers(*shape, dtype=np.float64):
    return rng.normal(size=shape).astype(dtype)


def operands(front, mask, kind, dtype=np.float64):
    q, k, v = (numbers(*front, *end, dtype=dtype) for end in ((5, 4), (7, 4), (7, 3)))
    if mask is None:
        return q, k, v, None
    axes, spread = mask
    lead = front[max(0, len(front) - axes) :]
    shape = (*((1,) * len(lead) if spread else lead), 5, 7)
    return q, k, v, rng.random(shape) > 0.4 if kind == "b" else numbers(*shape, dtype=dtype)


def spelt_out(q, k, v, mask, scale):
    scores = q @ k.swapaxes(-1, -2) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype.kind == "b" else scores + mask
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
    return np.nan_to_num(weights), v


@pytest.mark.parametrize("budget", [1, 300, 900, 1 << 22])
@pytest.mark.parametrize("kind", "bf")
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("front", FRONT)
def test_blocks(monkeypatch, front, mask, kind, budget):
    monkeypatch.setattr(module, "BUDGET", budget)
    q, k, v, given = operands(FRONT[front], MASKS[mask], kind)
    if kind == "b" and given is not None:
        given[..., 2, :] = False  # a row that is masked entirely
    weights, _ = spelt_out(q, k, v, given, 0.7)
    np.testing.assert_allclose(attention(q, k, v, given, scale=0.7), weights @ v, atol=1e-14)
    g = numbers(*q.shape[:-1], 3)
    needs = (True, True, True, given is not None and kind == "f")
    dq, dk, dv, dmask = attention.prim.vjp(needs, g, None, q, k, v, given, scale=0.7)
    dw = g @ v.swapaxes(-1, -2)
    ds = weights * (dw - (dw * weights).sum(-1, keepdims=True))
    np.testing.assert_allclose(dv, weights.swapaxes(-1, -2) @ g, atol=1e-13)
    np.testing.assert_allclose(dq, ds @ k * 0.7, atol=1e-13)
    np.testing.assert_allclose(dk, ds.swapaxes(-1, -2) @ q * 0.7, atol=1e-13)
    if needs[3]:
        np.testing.assert_allclose(summed(dmask, given.shape), summed(ds, given.shape), atol=1e-13)


def summed(x, shape):
    """The sum over the axes along which an array of a shape was repeated."""
    x = x.sum(tuple(range(x.ndim - len(shape))))
    return x.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def test_one_cotangent_alone():
    q, k, v, mask = operands((2, 3), (0, False), "f")
    g = numbers(2, 3, 5, 3)
    whole = attention.prim.vjp((True,) * 4, g, None, q, k, v, mask, scale=1.0)
    for i in range(4):
        needs = tuple(j == i for j in range(4))
        found = attention.prim.vjp(needs, g, None, q, k, v, mask, scale=1.0)
        assert [x is None for x in found] == [j != i for j in range(4)]
        np.testing.assert_array_equal(found[i], whole[i])


@pytest.mark.parametrize("empty", ["first", "targets", "sources", "width"])
def test_nothing_there(empty):
    n, targets, sources, width = (0 if empty == name else 2 for name in ("first", "targets", "sources", "width"))
    q, k, v = np.ones((n, targets, width)), np.ones((n, sources, width)), np.ones((n, sources, 3))
    for mask in (None, np.ones((targets, sources), bool)):
        out = attention(q, k, v, mask, scale=1.0)
        np.testing.assert_array_equal(out, np.ones((n, targets, 3)) * bool(sources))
        found = attention.prim.vjp((True, True, True, False), out, None, q, k, v, mask, scale=1.0)
        assert [x.shape for x in found[:3]] == [q.shape, k.shape, v.shape]


def test_not_a_number_stays():
    q, k, v = np.ones((1, 2, 2), np.float32), np.ones((1, 3, 2), np.float32), np.ones((1, 3, 1), np.float32)
    q[0, 0, 0] = np.nan
    out = attention(q, k, v, np.array([[True, False, True], [False, False, False]]), scale=1.0)
    np.testing.assert_array_equal(out[0, :, 0], [np.nan, 0])


def test_half_precision_is_computed_in_single():
    q, k, v, mask = operands((2, 3), (0, False), "f", np.float16)
    wide = [x.astype(np.float32) for x in (q, k, v, mask)]
    out = attention(q, k, v, mask, scale=0.5)
    assert out.dtype == np.float16
    np.testing.assert_array_equal(out, attention(*wide, scale=0.5).astype(np.float16))
    found = attention.prim.vjp((True,) * 4, out, None, q, k, v, mask, scale=0.5)
    expected = attention.prim.vjp((True,) * 4, out.astype(np.float32), None, *wide, scale=0.5)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == np.float16
        np.testing.assert_array_equal(x, y.astype(np.float16))
