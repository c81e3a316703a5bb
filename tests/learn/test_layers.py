"""Layers on plain arrays and on values: against formulas written out, each sequence by itself, and numerical slopes."""

import math

import numpy as np
import pytest

import retrograde as rg
from retrograde._errors import ShapeError
from retrograde.learn import clipping, initialise, losses, running
from retrograde.learn.layers import attention, dropout, embedding, normalization, recurrent, reparametrise, windows

rng = np.random.default_rng(3)


def normal(*shape):
    return rng.standard_normal(shape)


def array(x):
    return np.asarray(getattr(x, "_a", x))


# ------------------------------------------------------------------------------------------ recurrent


def weights(mode, features, width, rows=1, directions=1, projection=0):
    gates, h, made = recurrent.GATES[mode] * width, projection or width, []
    for row in range(rows):
        n = features if row < directions else h * directions
        p = normal(projection, width) if projection else None
        made.append(recurrent.Weights(normal(gates, n), normal(gates, h), normal(gates), normal(gates), p))
    return made


def first_state(mode, rows, batch, width, projection=0):
    h = np.zeros((rows, batch, projection or width))
    return (h, np.zeros((rows, batch, width))) if mode == recurrent.LSTM else (h,)


@pytest.mark.parametrize("mode", recurrent.GATES)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_layer_is_its_cell_step_by_step(mode, backwards):
    x, (w,) = normal(4, 2, 3), weights(mode, 3, 5)
    state = tuple(normal(*s.shape[1:]) for s in first_state(mode, 1, 2, 5))
    output, last = recurrent.layer(mode, x, state, w, backwards)
    for t in range(3, -1, -1) if backwards else range(4):
        state = recurrent.cell(mode, x[t], state, w)
        np.testing.assert_allclose(output[t], state[0], rtol=1e-12)
    for a, b in zip(last, state):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(("mode", "projection"), [("lstm", 0), ("lstm", 2), ("gru", 0), ("tanh", 0), ("relu", 0)])
def test_sequences_of_several_lengths_are_each_by_itself(mode, projection):
    lengths = np.array([3, 5, 1])
    x, ws = normal(5, 3, 2), weights(mode, 2, 4, 4, 2, projection)
    state = first_state(mode, 4, 3, 4, projection)
    output, last = recurrent.stacked(mode, x, state, ws, directions=2, lengths=lengths)
    assert output.shape == (5, 3, 2 * (projection or 4))
    for b, n in enumerate(lengths):
        alone, end = recurrent.stacked(mode, x[:n, b : b + 1], tuple(s[:, b : b + 1] for s in state), ws, directions=2)
        np.testing.assert_allclose(output[:n, b], alone[:, 0], rtol=1e-12)
        assert not output[n:, b].any()
        for mine, theirs in zip(last, end):
            np.testing.assert_allclose(mine[:, b], theirs[:, 0], rtol=1e-12)
    order = np.argsort(-lengths)
    sizes = np.array([(lengths > t).sum() for t in range(5)])
    packed = np.concatenate([x[t, order[:n]] for t, n in enumerate(sizes)])
    rows, ends = recurrent.stacked_packed(mode, packed, sizes, tuple(s[:, order] for s in state), ws, directions=2)
    np.testing.assert_allclose(rows, np.concatenate([output[t, order[:n]] for t, n in enumerate(sizes)]), rtol=1e-12)
    np.testing.assert_allclose(ends[0], last[0][:, order], rtol=1e-12)


def test_an_empty_sequence_keeps_its_state():
    x, (w,) = normal(2, 2, 3), weights("gru", 3, 4)
    h = normal(2, 4)
    output, (last,) = recurrent.ragged_layer("gru", x, (h,), w, np.array([2, 0]))
    np.testing.assert_array_equal(last[1], h[1])
    assert not output[:, 1].any()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_gates_that_are_nearly_shut_keep_their_digits(dtype):
    shut = -8.0 if dtype == "float16" else -30.0
    gates = np.array([[shut, -shut, 20.0, -shut]], dtype)  # input, forget, cell, output
    zero = np.zeros((1, 1), dtype)
    want = 1 / (1 + math.exp(-shut))
    outputs, cells, _ = recurrent.lstm_layer(gates[None], zero, zero, np.zeros((4, 1), dtype), None, backwards=False)
    for h, c in ((outputs, cells), recurrent.lstm_pointwise(gates, zero)):
        assert h.dtype == c.dtype == dtype
        np.testing.assert_allclose([h.item(), c.item()], want, rtol=2e-3 if dtype == "float16" else 1e-6)


def test_stacks_are_differentiated_and_batched():
    x, ws, state = normal(3, 2, 2), weights("lstm", 2, 3, 2), first_state("lstm", 2, 2, 3)
    lengths = np.array([3, 2])

    def total(x):
        output, last = recurrent.stacked("lstm", x, state, ws, lengths=lengths)
        return rg.sum(output * output) + rg.sum(last[1])

    g = array(rg.grad(total)(rg.asarray(x)))
    d = normal(3, 2, 2) * 1e-6
    slope = (total(rg.asarray(x + d)) - total(rg.asarray(x - d))) / 2
    np.testing.assert_allclose(np.sum(g * d), array(slope), rtol=1e-6)
    hessian_row = array(rg.grad(lambda x: rg.sum(rg.grad(total)(x) * rg.asarray(d * 1e6)))(rg.asarray(x)))
    change = array(rg.grad(total)(rg.asarray(x + d))) - array(rg.grad(total)(rg.asarray(x - d)))
    np.testing.assert_allclose(hessian_row, change / 2e-6, rtol=1e-5, atol=1e-8)
    several = array(rg.vmap(total)(rg.asarray(np.stack([x, 2 * x]))))
    np.testing.assert_allclose(several, [array(total(rg.asarray(x))), array(total(rg.asarray(2 * x)))])


# ------------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (3, 1), (4, 2)])
def test_same_padding_gives_the_size_over_the_stride(kernel, dilation, stride):
    for n in range(1, 9):
        pads = windows.same_padding((n,), (kernel,), (stride,), (dilation,))
        assert windows.window_counts((n,), (kernel,), (stride,), pads, (dilation,)) == (-(-n // stride),)
        assert 0 <= pads[0][1] - pads[0][0] <= 1


def test_a_last_window_over_the_end():
    given = ((5,), (2,), (2,), ((0, 0),), (1,))
    assert windows.window_counts(*given) == (2,)
    assert windows.window_counts(*given, ceil_mode=True) == (3,)
    wide = ((4,), (2,), (3,), ((1, 1),), (1,))  # the last window would start in the padding after the input
    assert windows.window_counts(*wide, ceil_mode=True) == (2,)
    assert windows.window_counts(*wide, ceil_mode=True, drop_outside=False) == (3,)
    plan = windows.pooling("pool", (5,), (2,), (2,), ((0, 0),), (1,), True)
    assert plan["padding"] == ((0, 1),)
    x = np.arange(5.0)[None, None]
    np.testing.assert_array_equal(windows.max_pool(x, **plan)[0, 0], [1, 3, 4])
    np.testing.assert_array_equal(windows.avg_pool(x, **plan)[0, 0], [0.5, 2.5, 4])
    np.testing.assert_array_equal(windows.adaptive_avg_pool(x, (2,))[0, 0], [1, 3])
    np.testing.assert_array_equal(windows.adaptive_max_pool(x, (2,), True)[1][0, 0], [2, 4])


def test_what_does_not_fit_a_convolution():
    good = windows.convolution("conv", (1, 4, 5), (6, 2, 3), (6,), (1,), ((0, 0),), (1,), 2)
    assert good == {"stride": (1,), "padding": ((0, 0),), "dilation": (1,), "groups": 2}
    for x, w, b, groups, text in (
        ((1, 3, 5), (6, 2, 3), None, 2, "takes 4 channels"), ((1, 4, 2), (6, 2, 3), None, 2, "larger than the padded"),
        ((1, 4, 5), (6, 2, 3), (4,), 2, "bias must have shape"), ((1, 4, 5), (5, 2, 3), None, 2, "not divisible"),
    ):  # fmt: skip
        with pytest.raises(ShapeError, match=text):
            windows.convolution("conv", x, w, b, (1,), ((0, 0),), (1,), groups)
    plan = windows.transposed_convolution("conv", (1, 4, 5), (4, 3, 3), None, (2,), ((1, 1),), (1,), 1, (1,))
    assert plan["size"] == (10,)
    x = normal(2, 3, 4, 5)
    np.testing.assert_array_equal(windows.channels_first(windows.channels_last(x)), x)


# ------------------------------------------------------------------------------------------ the others


def test_batch_norm_moves_the_running_statistics():
    x = rg.asarray(normal(6, 2, 3))
    for correction in (0, 1):
        mean, var = rg.asarray(np.zeros(2)), rg.asarray(np.ones(2))
        out, *_ = normalization.batch_norm(
            x, None, None, (mean, var), training=True, share=0.1, eps=1e-5, correction=correction
        )
        np.testing.assert_allclose(array(mean), 0.1 * array(x).mean((0, 2)))
        np.testing.assert_allclose(array(var), 0.9 + 0.1 * array(x).var((0, 2), ddof=correction))
        np.testing.assert_allclose(array(out).mean((0, 2)), 0, atol=1e-12)
        fixed, *_ = normalization.batch_norm(x, None, None, (mean, var), training=False, share=0.1, eps=0.0)
        expected = (array(x) - array(mean)[:, None]) / np.sqrt(array(var))[:, None]
        np.testing.assert_allclose(array(fixed), expected)
    assert math.isnan(array(running.variance_of(rg.asarray([1.0]), 0.0, 1))[0])


def test_norms_over_axes():
    x = normal(2, 4, 3)
    rms = normalization.rms_norm(x, None, 2, 0.0)
    np.testing.assert_allclose(rms, x / np.sqrt((x * x).mean((1, 2), keepdims=True)))
    np.testing.assert_allclose(normalization.instance_norm(x, None, None, 0.0).std(2), 1)
    squares = np.stack([(x * x)[:, max(c - 1, 0) : c + 2].sum(1) / 3 for c in range(4)], 1)
    np.testing.assert_allclose(normalization.local_response_norm(x, 3, 2.0, 0.75, 1.0), x / (1 + 2 * squares) ** 0.75)


def test_attention():
    q, k, v = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6)
    mask = rng.random((2, 3, 5)) > 0.5
    mask[0, 0] = False
    out, w = attention.attend(q, k, v, mask)
    scores = np.where(mask, np.exp(q @ k.swapaxes(1, 2) / 2), 0)
    expected = scores / np.maximum(scores.sum(-1, keepdims=True), 1e-300)
    np.testing.assert_allclose(w, expected, rtol=1e-12)
    np.testing.assert_allclose(out, expected @ v, rtol=1e-12)
    assert not out[0, 0].any()
    g = rg.grad(lambda q: rg.sum(attention.attend(q, k, v, mask)[0]))(rg.asarray(q))
    assert np.isfinite(array(g)).all()
    out, w = attention.multi_head(q, k, v[..., :4], 2, np.tri(3, 5, dtype=bool))
    assert (out.shape, w.shape) == ((2, 3, 4), (2, 2, 3, 5))
    half, _ = attention.attend(q[..., :2], k[..., :2], v[..., :2], is_causal=True)
    np.testing.assert_allclose(out[..., :2], half, rtol=1e-12)


def test_dropout_keeps_the_mean():
    x, keep = rng.standard_normal((400, 500)) + 1, rng.random((400, 500)) < 0.7
    np.testing.assert_allclose(dropout.dropped(x, keep, 0.3).mean(), 1, atol=2e-2)
    np.testing.assert_array_equal(dropout.dropped(x, keep, 0.3, upscale=False), x * keep)
    assert not dropout.dropped(x, keep, 1.0).any()
    y = dropout.alpha_dropped(x - 1, keep, 0.3)
    np.testing.assert_allclose([y.mean(), y.std()], [0, 1], atol=2e-2)


def test_embedding_helpers():
    table = rg.asarray(np.array([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]]))
    embedding.renormalise("embedding", table, np.array([0, 1]), 1.0, 2.0)
    np.testing.assert_allclose(array(table), [[0.6, 0.8], [0.3, 0.4], [30, 40]], rtol=1e-6)
    np.testing.assert_array_equal(embedding.one_hot_rows(np.array([1, 3, -1]), 3, int), [[0, 1, 0], [0] * 3, [0] * 3])


def test_weights_made_of_others():
    v, g = normal(3, 4, 2), rng.random((3, 1, 1))
    w = reparametrise.weight_norm(v, g, 0)
    np.testing.assert_allclose(np.sqrt((w * w).sum((1, 2))), g[:, 0, 0])
    weight = normal(4, 3, 2)
    matrix = reparametrise.as_matrix(weight, 1)
    np.testing.assert_array_equal(matrix, weight.swapaxes(0, 1).reshape(3, 8))
    u, r = rg.asarray(normal(3)), rg.asarray(normal(8))
    reparametrise.power_iterations(rg.asarray(matrix), u, r, 200, 1e-12, left_first=True)
    scaled = reparametrise.spectral_norm(rg.asarray(weight), rg.asarray(matrix), u, r)
    np.testing.assert_allclose(array(scaled), weight / np.linalg.norm(matrix, 2))


def test_clipping():
    xs = [rg.asarray(np.array([3.0])), rg.asarray(np.array([0.0, 4.0], np.float32))]
    total = clipping.total_norm(xs)
    assert array(total) == 5.0
    clipping.clip_total_(xs, total, 1.0)
    np.testing.assert_allclose([*array(xs[0]), *array(xs[1])], [0.6, 0, 0.8], rtol=1e-6)
    clipping.clip_total_(xs, clipping.total_norm(xs), 10.0)
    np.testing.assert_allclose(array(xs[0]), 0.6)
    clipping.clip_(xs[1], -0.5, 0.5)
    np.testing.assert_allclose(array(xs[1]), [0, 0.5])


def test_initial_values():
    assert initialise.fans((6, 4, 3, 3)) == (36, 54)
    assert initialise.fans((4, 6), out_first=False) == (4, 6)
    q = initialise.orthogonal(normal(3, 5), 2.0)
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(3), atol=1e-12)
    x = initialise.truncated_normal(
        lambda mean, std: rng.normal(mean, std, 2000),
        lambda low, high: rng.uniform(low, high, 2000),
        0.0,
        1.0,
        1.0,
        3.0,
    )
    assert (x >= 1).all()
    assert (x <= 3).all()
    np.testing.assert_allclose(x.mean(), 1.51, atol=0.05)
    w = initialise.dirac((4, 2, 3), 2)
    assert [tuple(i) for i in np.argwhere(w)] == [(0, 0, 1), (1, 1, 1), (2, 0, 1), (3, 1, 1)]
    assert initialise.bilinear((1, 1, 4, 4))[0, 0, 0].tolist() == [0.0625, 0.28125, 0.375, 0.15625]  # as PaddlePaddle's drift


def test_losses_per_element():
    x, y = normal(3, 4), rng.random((3, 4)) * 3
    expected = [[math.exp(a) - b * a + (b * math.log(b) - b + 0.5 * math.log(2 * math.pi * b) if b > 1 else 0)
                 for a, b in zip(r, s)] for r, s in zip(x, y)]  # fmt: skip
    np.testing.assert_allclose(losses.poisson_nll(x, y, full=True), expected)
    np.testing.assert_allclose(losses.gaussian_nll(x, y, y, True, 0.1), 0.5 * (
        np.log(np.maximum(y, 0.1)) + (x - y) ** 2 / np.maximum(y, 0.1) + np.log(2 * np.pi)))  # fmt: skip
    np.testing.assert_allclose(losses.kl_divergence(x, y), y * (np.log(y) - x))
    assert losses.kl_divergence(x, np.zeros_like(y)).any() == 0
    near = y > 1
    np.testing.assert_allclose(losses.hinge_embedding(x, near, ~near, 1.0), np.where(near, x, np.maximum(1 - x, 0)))
    zeros, far = np.zeros_like(x), x - y  # at the distances x and y, and y - x from each other
    np.testing.assert_allclose(losses.triplet(x, zeros, far, distance=np.subtract, margin=1.0), np.maximum(x - y + 1, 0))
    swapped = np.maximum(x - np.minimum(y, y - x) + 1, 0)
    np.testing.assert_allclose(losses.triplet(x, zeros, far, distance=np.subtract, margin=1.0, swap=True), swapped)
    d_count = rg.grad(lambda y: rg.sum(losses.poisson_nll(x, y, full=True)))(rg.asarray(np.zeros((3, 4))))
    np.testing.assert_allclose(array(d_count), -x)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_as_one_operation_is_the_composition(is_causal):
    rng = np.random.default_rng(5)
    q, k, v = (rng.normal(size=shape) for shape in ((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2)))
    mask = np.where(np.tri(4, 6, dtype=bool), 0.0, -math.inf) if is_causal else None

    def composed(q, k, v):
        scores = q @ k.swapaxes(-1, -2) / math.sqrt(5)
        e = np.exp(scores if mask is None else scores + mask)
        return (e / e.sum(-1, keepdims=True)) @ v

    out, weights = attention.attend(q, k, v, is_causal=is_causal)
    np.testing.assert_allclose(out, composed(q, k, v), rtol=1e-12)
    np.testing.assert_allclose(weights @ v, out, rtol=1e-12)
    by_steps, _ = attention.attend(q, k, v, is_causal=is_causal, drop_weights=lambda w: w)
    np.testing.assert_allclose(out, by_steps, rtol=1e-12)

    def total(x, which, drop=None):
        given = [q, k, v]
        given[which] = x
        return rg.sum(attention.attend(*given, is_causal=is_causal, drop_weights=drop)[0] ** 2)

    for which, x in enumerate((q, k, v)):
        one, steps = (array(rg.grad(lambda x, *a: total(x, *a))(rg.asarray(x), which, drop)) for drop in (None, lambda w: w))
        np.testing.assert_allclose(one, steps, rtol=1e-10, atol=1e-12)
