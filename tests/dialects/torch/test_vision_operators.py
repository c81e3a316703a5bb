"""torch.ops.torchvision against the same computed place by place, and the derivatives against numerical ones."""

import math

import numpy as np
import pytest

from retrograde.dialects import torch
from retrograde.dialects.torch.autograd import gradcheck

vision = torch.ops.torchvision


def image(*shape):
    torch.manual_seed(0)
    return torch.randn(*shape, dtype=torch.float64)


ROIS = torch.tensor([[0, 1.3, 2.0, 6.4, 7.5], [1, 0.0, 0.0, 7.0, 4.0], [0, -2.0, 3.0, 3.0, 11.0]], dtype=torch.float64)


def bilinear(plane, y, x):
    """Of a plane at a point: zero beyond a place outside, the edge within it."""
    height, width = plane.shape
    if y < -1 or y > height or x < -1 or x > width:
        return 0.0
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    y0, x0 = int(y), int(x)
    y1, x1 = min(y0 + 1, height - 1), min(x0 + 1, width - 1)
    top = plane[y0, x0] * (1 - (x - x0)) + plane[y0, x1] * (x - x0)
    return top * (1 - (y - y0)) + (plane[y1, x0] * (1 - (x - x0)) + plane[y1, x1] * (x - x0)) * (y - y0)


def aligned(data, rois, scale, bins, ratio, shift, least, channel=lambda c, p, q: c, channels=None):
    out = np.zeros((len(rois), channels or data.shape[1], bins, bins))
    for k, (b, *ends) in enumerate(rois):
        x1, y1, x2, y2 = (e * scale - shift for e in ends)
        w, h = (x2 - x1, y2 - y1) if least is None else (max(x2 - x1, least), max(y2 - y1, least))
        rows, columns = (ratio, ratio) if ratio > 0 else (math.ceil(h / bins), math.ceil(w / bins))
        for c in range(out.shape[1]):
            for p in range(bins):
                for q in range(bins):
                    samples = [
                        bilinear(data[int(b), channel(c, p, q)], y1 + (p + (i + 0.5) / rows) * h / bins,
                                 x1 + (q + (j + 0.5) / columns) * w / bins)
                        for i in range(rows) for j in range(columns)
                    ]  # fmt: skip
                    out[k, c, p, q] = np.mean(samples) if samples else 0
    return out


@pytest.mark.parametrize("scale, ratio, half", [(1.0, 2, False), (0.5, 2, True), (1.0, -1, False), (0.7, -1, True)])
def test_means_of_regions(scale, ratio, half):
    x = image(2, 3, 8, 9)
    found = vision.roi_align(x, ROIS, scale, 3, 3, ratio, half)
    wanted = aligned(x.numpy(), ROIS.tolist(), scale, 3, ratio, 0.5 if half else 0.0, None if half else 1.0)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert gradcheck(lambda x: vision.roi_align(x, ROIS, scale, 2, 2, ratio, half), x[:, :1].clone().requires_grad_())


def test_means_of_regions_by_channel():
    x = image(2, 8, 8, 9)
    found, of = vision.ps_roi_align(x, ROIS, 1.0, 2, 2, 2)
    wanted = aligned(x.numpy(), ROIS.tolist(), 1.0, 2, 2, 0.5, None, lambda c, p, q: (c * 2 + p) * 2 + q, 2)
    np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)
    assert of[0].flatten().tolist() == list(range(8))
    found, _ = vision.ps_roi_pool(x, torch.tensor([[0, 1.0, 1, 5, 5]], dtype=torch.float64), 1.0, 2, 2)
    np.testing.assert_allclose(found[0, 1, 1, 0].item(), x[0, 6, 3:5, 1:3].mean().item())


def test_largest_of_regions():
    x = image(2, 3, 8, 9)
    found, places = vision.roi_pool(x, ROIS, 1.0, 2, 2)
    part = x[0, :, 2:9, 1:7]  # corners rounded to (1, 2) and (6, 8): seven rows, clipped to six, and six columns
    assert torch.equal(found[0, :, 0, 0], part[:, :4, :3].amax((1, 2)))
    assert torch.equal(found[0, :, 1, 1], part[:, 3:, 3:].amax((1, 2)))
    assert x[0, 0].flatten()[places[0, 0, 0, 0].long()] == found[0, 0, 0, 0]
    empty, nowhere = vision.roi_pool(x, torch.tensor([[0, 20.0, 20, 24, 24]], dtype=torch.float64), 1.0, 2, 2)
    assert (empty.abs().sum().item(), nowhere.unique().tolist()) == (0.0, [-1])
    assert gradcheck(lambda x: vision.roi_pool(x, ROIS, 1.0, 2, 2)[0], x[:, :1].clone().requires_grad_())


def test_boxes_that_overlap():
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 28], [21, 20, 30, 30]])
    scores = torch.tensor([0.9, 0.8, 0.7, 0.95])
    assert vision.nms(boxes, scores, 0.5).tolist() == [3, 0]
    assert vision.nms(boxes, scores, 0.75).tolist() == [3, 0, 1, 2]
    assert vision.nms(boxes[:0], scores[:0], 0.5).tolist() == []
    with pytest.raises(RuntimeError, match="score"):
        vision.nms(boxes, scores[:2], 0.5)


@pytest.mark.parametrize("groups, offset_groups, stride", [(1, 1, 1), (2, 2, 2)])
def test_convolutions_beside_the_grid(groups, offset_groups, stride):
    x, w, b = image(2, 4, 6, 7), image(4, 4 // groups, 3, 3), image(4)
    size = (2, offset_groups * 18, (6 + 2 - 3) // stride + 1, (7 + 2 - 3) // stride + 1)
    rest = (stride, stride, 1, 1, 1, 1, groups, offset_groups)
    ones = torch.ones(2, offset_groups * 9, *size[2:], dtype=torch.float64)
    straight = torch.nn.functional.conv2d(x, w, b, stride, 1, 1, groups)
    found = vision.deform_conv2d(x, w, torch.zeros(size, dtype=torch.float64), ones, b, *rest, True)
    np.testing.assert_allclose(found.numpy(), straight.numpy(), atol=1e-12)
    moved = vision.deform_conv2d(x, w, torch.ones(size, dtype=torch.float64), ones * 0.5, b * 0, *rest, True)
    wanted = torch.nn.functional.conv2d(torch.nn.functional.pad(x, (0, 2, 0, 2)), w, None, stride, 0, 1, groups) * 0.5
    np.testing.assert_allclose(moved.numpy(), wanted[..., : size[2], : size[3]].numpy(), atol=1e-12)
    if stride == 1:
        small = x[:, :, :4, :4].clone().requires_grad_()
        offset = (image(2, 18, 4, 4) * 0.3 + 0.05).requires_grad_()
        mask = image(2, 9, 4, 4).requires_grad_()
        call = lambda x, w, o, m: vision.deform_conv2d(x, w, o, m, b, *rest, True).sum(1)  # noqa: E731
        assert gradcheck(call, (small, w.clone().requires_grad_(), offset, mask))


def test_compiled_code_for_pytorch_is_refused():
    torch.ops.load_library("/somewhere/torchvision/_C.so")
    with pytest.raises(OSError, match="custom_op"):
        torch.ops.load_library("/somewhere/other/_C.so")
    with pytest.raises(NotImplementedError, match="quantised"):
        vision.qnms()
