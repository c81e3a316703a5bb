"""Attention in blocks of its weights: values and gradients for every mask, empty operands, half precision, generated code."""

import numpy as np
import pytest

from retrograde.backend.jit import attention as generated
from retrograde.backend.jit import llvm
from retrograde.ops import attention as module
from retrograde.ops.attention import attention

from .same_bits import same_bits

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
    np.testing.assert_allclose(attention(q, k, v, given, scale=0.7, causal=False), weights @ v, atol=1e-14)
    g = numbers(*q.shape[:-1], 3)
    needs = (True, True, True, given is not None and kind == "f")
    dq, dk, dv, dmask = attention.prim.vjp(needs, g, None, q, k, v, given, scale=0.7, causal=False)
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
    whole = attention.prim.vjp((True,) * 4, g, None, q, k, v, mask, scale=1.0, causal=False)
    for i in range(4):
        needs = tuple(j == i for j in range(4))
        found = attention.prim.vjp(needs, g, None, q, k, v, mask, scale=1.0, causal=False)
        assert [x is None for x in found] == [j != i for j in range(4)]
        np.testing.assert_array_equal(found[i], whole[i])


@pytest.mark.parametrize("empty", ["first", "targets", "sources", "width"])
def test_nothing_there(empty):
    n, targets, sources, width = (0 if empty == name else 2 for name in ("first", "targets", "sources", "width"))
    q, k, v = np.ones((n, targets, width)), np.ones((n, sources, width)), np.ones((n, sources, 3))
    for mask in (None, np.ones((targets, sources), bool)):
        out = attention(q, k, v, mask, scale=1.0, causal=False)
        np.testing.assert_array_equal(out, np.ones((n, targets, 3)) * bool(sources))
        found = attention.prim.vjp((True, True, True, False), out, None, q, k, v, mask, scale=1.0, causal=False)
        assert [x.shape for x in found[:3]] == [q.shape, k.shape, v.shape]


def test_not_a_number_stays():
    q, k, v = np.ones((1, 2, 2), np.float32), np.ones((1, 3, 2), np.float32), np.ones((1, 3, 1), np.float32)
    q[0, 0, 0] = np.nan
    out = attention(q, k, v, np.array([[True, False, True], [False, False, False]]), scale=1.0, causal=False)
    np.testing.assert_array_equal(out[0, :, 0], [np.nan, 0])


def test_half_precision_is_computed_in_single():
    q, k, v, mask = operands((2, 3), (0, False), "f", np.float16)
    wide = [x.astype(np.float32) for x in (q, k, v, mask)]
    out = attention(q, k, v, mask, scale=0.5, causal=False)
    assert out.dtype == np.float16
    np.testing.assert_array_equal(out, attention(*wide, scale=0.5, causal=False).astype(np.float16))
    found = attention.prim.vjp((True,) * 4, out, None, q, k, v, mask, scale=0.5, causal=False)
    expected = attention.prim.vjp((True,) * 4, out.astype(np.float32), None, *wide, scale=0.5, causal=False)
    for x, y in zip(found, expected, strict=True):
        assert x.dtype == np.float16
        np.testing.assert_array_equal(x, y.astype(np.float16))


# ------------------------------------------------------------------------------------------ without a mask, and causal


SIZES = {  # targets, sources, width, width of the values
    "tiny": (1, 1, 1, 1), "few": (5, 7, 4, 3), "whole": (64, 64, 32, 32), "more targets": (33, 20, 1, 17),
    "chunks": (70, 530, 17, 40), "long": (300, 300, 8, 80),
}  # fmt: skip


def by_hand(q, k, v, g, scale, causal):
    """The result and the cotangents of q, k and v, in double precision."""
    q, k, v, g = (x.astype(np.float64) for x in (q, k, v, g))
    mask = np.tri(q.shape[-2], k.shape[-2], dtype=bool) if causal else None
    weights, _ = spelt_out(q, k, v, mask, scale)
    dw = g @ v.swapaxes(-1, -2)
    ds = weights * (dw - (dw * weights).sum(-1, keepdims=True)) * scale
    return weights @ v, ds @ k, ds.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ g


def all_of(q, k, v, g, scale, causal):
    out = attention(q, k, v, None, scale=scale, causal=causal)
    return out, *attention.prim.vjp((True, True, True, False), g, out, q, k, v, None, scale=scale, causal=causal)[:3]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES)
def test_without_a_mask(size, dtype, causal):
    targets, sources, width, depth = SIZES[size]
    q, k, v, g = (
        numbers(2, 3, *end, dtype=dtype) for end in ((targets, width), (sources, width), (sources, depth), (targets, depth))
    )  # fmt: skip
    for found, wanted in zip(all_of(q, k, v, g, 0.3, causal), by_hand(q, k, v, g, 0.3, causal), strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, rtol=0, atol=60 * np.finfo(dtype).eps * max(np.abs(wanted).max(), 0.1))


@pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
@pytest.mark.parametrize("causal", [False, True])
def test_generated_code_and_numpy_agree(monkeypatch, causal):
    q, k, v, g = (numbers(2, *end) for end in ((40, 16), (40, 16), (40, 16), (40, 16)))
    ours = all_of(q, k, v, g, 0.5, causal)
    assert generated.attended(q, k, v, 0.5, causal) is not None
    for name in ("attended", "pulled"):
        monkeypatch.setattr(module.blocks, name, lambda *args: None)
    for found, other in zip(ours, all_of(q, k, v, g, 0.5, causal), strict=True):
        np.testing.assert_allclose(found, other, atol=1e-14)


def test_every_layout_of_the_operands():
    """As layers have them: heads split off by views, gradients that were spread, numbers backwards."""
    whole = numbers(2, 20, 3, 4, 8)
    q, k, v = (whole[:, :, i].swapaxes(1, 2) for i in range(3))
    g = np.broadcast_to(numbers(1, 1, 20, 1), (2, 4, 20, 8))
    columns = q.swapaxes(2, 3).copy().swapaxes(2, 3)
    for given in ((q, k, v, g), (q[..., ::-1], k[..., ::-1], v[:, :, ::-1], g), (columns, k, v, g)):
        for found, wanted in zip(all_of(*given, 0.3, True), by_hand(*given, 0.3, True), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-13)


def test_what_comes_later_does_not_reach_back():
    q, k, v = numbers(1, 50, 8), numbers(1, 50, 8), numbers(1, 50, 8)
    before = attention(q, k, v, None, scale=0.5, causal=True)
    v[:, 40:] = np.nan
    k[:, 40:] = np.inf
    after = attention(q, k, v, None, scale=0.5, causal=True)
    np.testing.assert_array_equal(after[:, :40], before[:, :40])
    assert np.isnan(after[:, 40:]).all()


def test_scores_far_apart():
    """Weights that are 0 or 1, and scores that no exponential reaches."""
    for dtype in (np.float32, np.float64):
        q = np.full((1, 40, 1), 30, dtype)
        k = np.arange(0, 4000, 100, dtype=dtype).reshape(1, 40, 1)
        v = np.arange(40, dtype=dtype).reshape(1, 40, 1)
        out = attention(q, k, v, None, scale=1.0, causal=True)
        np.testing.assert_array_equal(out[0, :, 0], v[0, :, 0])


def test_the_bits_do_not_depend_on_the_number_of_threads():
    few = numbers(1, 300, 16, dtype=np.float32)  # one pair of long matrices, whose targets are shared out
    many = numbers(6, 2, 70, 16, dtype=np.float32)
    for x in (few, many):
        for causal in (False, True):
            same_bits(lambda x=x, causal=causal: all_of(x, x, x, x, 0.2, causal))
