"""Primitive classes that MindSpore has no kernel for on a CPU, against formulas, and some whose figures are MindSpore 2.10's;
the others stand in data/ops.json."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor, nn, ops

G = ops.operations._grad_ops


def test_derivatives_are_differentiable_themselves() -> None:
    x = Tensor([0.5, 1.5])
    found = ms.grad(lambda x: G.AtanGrad()(x, Tensor([1.0, 1.0])))(x).asnumpy()
    wanted = -2 * x.asnumpy() / (1 + x.asnumpy() ** 2) ** 2
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    with pytest.raises(TypeError, match="ReluGrad"):
        G.ReluGrad()(x, x, x)


def test_regions_of_images_have_derivatives() -> None:
    image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
    rois = Tensor([[0.0, 0.2, 0.3, 5.0, 6.0]])
    align = ops.ROIAlign(2, 2, 0.5, 2)
    by_engine = ms.grad(lambda x: align(x, rois))(image)
    by_class = G.ROIAlignGrad(2, 2, 0.5, 2)(Tensor(np.ones((1, 1, 2, 2), np.float32)), rois, (1, 1, 4, 4))
    np.testing.assert_allclose(by_engine.asnumpy(), by_class.asnumpy(), rtol=1e-5)
    assert by_engine.sum().item() == pytest.approx(4.0, abs=1e-5)


def _alignments(frames: int, labels: int) -> Iterator[list[tuple[int, int, bool]]]:
    """All ways to emit labels while frames go by: steps (frame, labels before it, whether a label is emitted)."""

    def go(t: int, u: int, steps: list[tuple[int, int, bool]]) -> Iterator[list[tuple[int, int, bool]]]:
        if t == frames:
            if u == labels:
                yield steps
            return
        yield from go(t + 1, u, [*steps, (t, u, False)])
        if u < labels:
            yield from go(t, u + 1, [*steps, (t, u, True)])

    return go(0, 0, [])


def test_the_transducer_loss_is_the_sum_over_all_alignments() -> None:
    acts = np.sin(np.arange(2 * 3 * 3 * 4)).reshape(2, 3, 3, 4).astype(np.float32)
    labels, frames, lengths = np.array([[1, 2], [3, 0]], np.int32), np.array([3, 2], np.int32), np.array([2, 1], np.int32)
    logs = acts - np.log(np.exp(acts).sum(-1, keepdims=True))
    wanted = [
        -np.log(sum(
            np.exp(sum(logs[b, t, u, labels[b, u] if emits else 0] for t, u, emits in steps))
            for steps in _alignments(frames[b], lengths[b])
        ))
        for b in range(2)
    ]  # fmt: skip
    given = (Tensor(labels), Tensor(frames), Tensor(lengths))
    costs, gradient = ops.RNNTLoss(blank_label=0)(Tensor(acts), *given)
    np.testing.assert_allclose(costs.asnumpy(), wanted, rtol=1e-5)
    assert not gradient.asnumpy()[1, 2].any()
    assert not gradient.asnumpy()[1, :, 2].any()
    step = np.zeros_like(acts)
    step[0, 1, 1, 2] = 1e-2
    moved = [ops.RNNTLoss()(Tensor(acts + sign * step), *given)[0].asnumpy()[0] for sign in (1, -1)]
    assert gradient.asnumpy()[0, 1, 1, 2] == pytest.approx((moved[0] - moved[1]) / 2e-2, rel=1e-2)
    by_engine = ms.grad(lambda x: ops.RNNTLoss()(x, *given)[0])(Tensor(acts))
    np.testing.assert_allclose(by_engine.asnumpy(), gradient.asnumpy(), atol=1e-6)


def _structure(x: np.ndarray, y: np.ndarray, size: int, sigma: float, c1: float, c2: float) -> tuple[float, float]:
    """The similarity of two planes and its part without the means, window by window."""
    at = np.arange(size) - (size - 1) // 2
    weights = np.exp(-(at[:, None] ** 2 + at**2) / (2 * sigma**2))
    weights /= weights.sum()
    windows = [np.lib.stride_tricks.sliding_window_view(v, (size, size)) for v in (x, y)]
    mean = [(w * weights).sum((-2, -1)) for w in windows]
    variance = [(w * w * weights).sum((-2, -1)) - m * m for w, m in zip(windows, mean)]
    covariance = (windows[0] * windows[1] * weights).sum((-2, -1)) - mean[0] * mean[1]
    structure = (2 * covariance + c2) / (sum(variance) + c2)
    alike = (2 * mean[0] * mean[1] + c1) / (mean[0] ** 2 + mean[1] ** 2 + c1) * structure
    return alike.mean(), structure.mean()


def test_structural_similarity() -> None:
    x = (np.sin(np.arange(2 * 24 * 24)) + 1).reshape(1, 2, 24, 24) / 2
    y = (np.cos(np.arange(2 * 24 * 24) * 0.9) + 1).reshape(1, 2, 24, 24) / 2 * 0.3 + 0.7 * x
    wanted = [_structure(x[0, c], y[0, c], 5, 1.5, 1e-4, 9e-4) for c in range(2)]
    a, b = Tensor(x.astype(np.float32)), Tensor(y.astype(np.float32))
    assert nn.SSIM(filter_size=5)(a, b).tolist() == pytest.approx([np.mean([s for s, _ in wanted])], rel=1e-4)
    halves = [v.reshape(1, 2, 12, 2, 12, 2).mean((3, 5)) for v in (x, y)]
    small = [_structure(halves[0][0, c], halves[1][0, c], 5, 1.5, 1e-4, 9e-4) for c in range(2)]
    both = np.mean([max(s, 0) ** 0.4 * max(alike, 0) ** 0.6 for (_, s), (alike, _) in zip(wanted, small)])
    assert nn.MSSSIM(power_factors=(0.4, 0.6), filter_size=5)(a, b).tolist() == pytest.approx([both], rel=1e-4)
    assert nn.SSIM(max_val=255.0)(a * 255, a * 255).tolist() == pytest.approx([1.0])
    with pytest.raises(ValueError, match="smaller than the window"):
        nn.SSIM(filter_size=25)(a, b)
    with pytest.raises(ValueError, match="max_val"):
        nn.SSIM(max_val=0)


def test_fractional_pooling_draws_its_windows() -> None:
    x = Tensor(np.sin(np.arange(2 * 3 * 8 * 8)).reshape(2, 3, 8, 8).astype(np.float32))
    values, places = ops.fractional_max_pool2d(x, 2, (3, 4), return_indices=True)
    assert values.shape == (2, 3, 3, 4)
    flat = x.asnumpy().reshape(2, 3, 64)
    picked = np.take_along_axis(flat, places.asnumpy().reshape(2, 3, 12), -1)
    np.testing.assert_array_equal(picked, values.asnumpy().reshape(2, 3, 12))
    assert ms.grad(lambda x: nn.FractionalMaxPool2d(2, output_ratio=0.5)(x))(x).sum().item() == 2 * 3 * 16
    assert nn.FractionalMaxPool3d(2, output_size=(1, 2, 2))(Tensor(np.ones((1, 2, 4, 4, 4), np.float32))).shape == (1, 2, 1, 2, 2)
    for wrong in ({"output_size": (8, 8)}, {}, {"output_size": 2, "output_ratio": 0.5}):
        with pytest.raises(ValueError, match="fractional_max_pool2d"):
            ops.fractional_max_pool2d(x, 2, **wrong)


def test_steps_of_optimisers() -> None:
    v, a = Parameter(Tensor([1.0]), name="v"), Parameter(Tensor([2.0]), name="a")
    ops.ApplyKerasMomentum(use_nesterov=True)(v, a, Tensor(0.1), Tensor([3.0]), Tensor(0.5))
    assert (v.tolist(), a.tolist()) == ([pytest.approx(1.0 + 0.5 * 0.7 - 0.3)], [pytest.approx(0.7)])
    v, a = Parameter(Tensor([[1.0], [2.0]]), name="v"), Parameter(Tensor([[4.0], [9.0]]), name="a")
    ops.SparseApplyAdagradV2(0.5, 0.0)(v, a, Tensor([[3.0], [4.0]]), Tensor([1, 1], ms.int32))  # both are of one row
    assert a.tolist() == [[4.0], [58.0]]
    assert v.tolist() == [[1.0], [pytest.approx(2.0 - 0.5 * 7 / 58**0.5)]]


def test_draws_of_classes() -> None:
    drawn, true, expected = ops.LogUniformCandidateSampler(2, 4, True, 9, 3)(Tensor([[0, 8]]))
    assert len(set(drawn.tolist())) == 4
    assert all(0 <= n < 9 for n in drawn.tolist())
    assert true.tolist()[0][0] > true.tolist()[0][1] > 0
    assert len(expected) == 4
    order = ops.Randperm(max_length=5, pad=-1)(Tensor([3], ms.int32))
    assert sorted(order.tolist()[:3]) == [0, 1, 2]
    assert order.tolist()[3:] == [-1, -1]
    with pytest.raises(ValueError, match="different ones"):
        ops.UniformCandidateSampler(1, 5, True, 4)(Tensor([[1]]))


def some(*shape: int) -> Tensor:
    return Tensor(np.sin(np.arange(int(np.prod(shape))) * 1.7).reshape(shape).astype(np.float32))


def test_convolutions_beside_the_grid() -> None:
    out = ops.deformable_conv2d(some(1, 4, 4, 4), some(2, 2, 2, 2), some(1, 24, 2, 2), (2, 2), (1, 1, 2, 2), (0, 0, 0, 0),
                                groups=2, deformable_groups=2)  # fmt: skip
    wanted = [-0.2147, 0.2682, -0.2008, -0.7393, -0.7210, -1.0550, -0.3832, -0.7408]
    np.testing.assert_allclose(out.asnumpy().ravel(), wanted, atol=1e-4)
    grads = ms.grad(lambda x, w, o: ops.deformable_conv2d(x, w, o, (2, 2), (1, 1, 1, 1), (0, 0, 0, 0)), (0, 1, 2))(
        some(1, 2, 3, 3), some(1, 2, 2, 2), some(1, 12, 2, 2)
    )
    firsts = [0.2005, -0.3083, -0.6513], [0.4115, -0.7625, 0.0563], [0.4712, -0.0721, 0.2630]
    for g, first in zip(grads, firsts, strict=True):
        np.testing.assert_allclose(g.asnumpy().ravel()[:3], first, atol=1e-4)
    with pytest.raises(ValueError, match="offsets"):
        ops.deformable_conv2d(some(1, 2, 3, 3), some(1, 2, 2, 2), some(1, 8, 2, 2), (2, 2), (1, 1, 1, 1), (0, 0, 0, 0))


def test_places_sequences_and_areas() -> None:
    at, values, _ = ops.Coalesce()(Tensor([[1, 0, 0], [2, 1, 1]]), Tensor([4.0, 1.0, 5.0]), Tensor([3, 3]))
    assert (at.tolist(), values.tolist()) == ([[0, 1], [1, 2]], [6.0, 4.0])
    given = Tensor([[0, 0, 0], [1, 0, 1], [1, 1, 1]]), Tensor([1, 2, 3]), Tensor([3, 1, 2])
    wanted = Tensor([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]), Tensor([1, 2, 3, 1]), Tensor([2, 2, 2])
    assert ops.EditDistance()(*given, *wanted).tolist() == [[1, 1], [1, 0], [0, 0]]
    image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    small = ops.ResizeArea()(image, Tensor([2, 3]))
    np.testing.assert_allclose(small.asnumpy().ravel(), [2.25, 3.5, 4.75, 10.25, 11.5, 12.75], rtol=1e-6)
    assert ops.ResizeArea(True)(image, Tensor([2, 2])).shape == (1, 2, 2, 1)
    g = ms.grad(lambda x: ops.ResizeArea()(x, Tensor([2, 3])))(image)
    np.testing.assert_allclose(g.asnumpy().ravel(), [0.375] * 16, rtol=1e-6)  # six of sixteen


def test_views_by_axes() -> None:
    x = some(2, 3)
    for view in (ops.operations.TransposeView()(x, (1, 0)), ops.operations.TransposeExtView()(x, 0, 1)):
        assert view.tolist() == x.T.tolist()
    assert ops.operations.SelectView()(x, 1, 0).tolist() == x[1].tolist()
