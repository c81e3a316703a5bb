"""`paddle.vision.ops`: boxes, and features read beside a grid; all figures are PaddlePaddle 3's."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from retrograde.dialects import paddle

ops = paddle.vision.ops
T = paddle.to_tensor


def some(*shape: int, scale: float = 1.0, stop_gradient: bool = True) -> Any:
    n = int(np.prod(shape))
    return T((np.sin(np.arange(n) * 1.7) * scale).reshape(shape).astype(np.float32), stop_gradient=stop_gradient)


def whole(x: Any) -> Any:
    return T(x, dtype="int32")


PRIOR = T([[0.0, 0, 10, 12], [3, 4, 20, 30]])
BOXES = T([[[0.0, 0, 4, 4], [1, 1, 5, 5], [6, 6, 9, 9]]])
MARKS = T([[[0.1, 0.2, 0.3], [0.9, 0.8, 0.7]]])
REGIONS = T([[0.0, 0, 200, 220], [0, 0, 10, 10], [0, 0, 500, 600]])
ANCHORS = T([[[[0.0, 0, 8, 8]], [[2, 2, 12, 14]]]])
SCALES = [0.1, 0.1, 0.2, 0.2]


def _distributed() -> Any:
    parts, restore, counts = ops.distribute_fpn_proposals(REGIONS, 2, 5, 4, 224, rois_num=whole([2, 1]))
    return (*parts, restore, *counts)


CALLS: dict[str, tuple[Callable[[], Any], Any]] = {
    "yolo_box": (
        lambda: ops.yolo_box(some(1, 7, 1, 2), whole([[32, 40]]), [10, 13], 2, 0.3, 32),
        [[4.878, 10.7385, 15.122, 17.1949, 27.644, 5.5776, 39, 12.5839], [0.1943, 0.5135, 0.2767, 0.2827]],
    ),
    "prior_box": (
        lambda: ops.prior_box(some(1, 1, 1, 2), some(1, 3, 20, 30), [10.0], [20.0], [2.0], flip=True, clip=True),
        [[0.0833, 0.25, 0.4167, 0.75, 0.0143, 0.3232, 0.4857, 0.6768, 0.1321, 0.1464, 0.3679, 0.8536, 0.0143, 0.1464,
         0.4857, 0.8536, 0.5833, 0.25, 0.9167, 0.75, 0.5143, 0.3232, 0.9857, 0.6768, 0.6321, 0.1464, 0.8679, 0.8536,
         0.5143, 0.1464, 0.9857, 0.8536], [0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2,
         0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2]],
    ),
    "encoded": (
        lambda: ops.box_coder(PRIOR, SCALES, T([[1.0, 1, 8, 9]]), box_normalized=False),
        [[-0.9091, -1.1538, -1.5923, -1.8386, -4.1667, -4.6296, -4.0547, -5.4931]],
    ),
    "decoded": (
        lambda: ops.box_coder(PRIOR, SCALES, some(1, 2, 4), "decode_center_size"),
        [[0.2491, 2.2042, 9.7509, 12.1758, 4.9503, 7.5878, 19.7297, 30.5643]],
    ),
    "matrix_nms": (
        lambda: ops.matrix_nms(BOXES, MARKS, 0.3, 0.2, 4, 5, use_gaussian=True, return_index=True),
        [[1, 0.9, 0, 0, 4, 4, 1, 0.7, 6, 6, 9, 9, 1, 0.589, 1, 1, 5, 5], [3], [0, 2, 1]],
    ),
    "distribute": (
        _distributed,
        [[0, 0, 10, 10], [0, 0, 200, 220], [], [0, 0, 500, 600], [1, 0, 2], [1, 0], [1, 0], [0, 0], [0, 1]],
    ),
    "proposals": (
        lambda: ops.generate_proposals(
            T([[[[0.5, 0.9]]]]), some(1, 4, 1, 2), T([[20.0, 25]]), ANCHORS, paddle.full([1, 2, 1, 4], 0.5), return_rois_num=True
        ),
        [[4.5048, 0, 19.4118, 6.8499, 0, 0.1589, 9.121, 5.7968], [0.9, 0.5], [2]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_boxes(name: str) -> None:
    call, wanted = CALLS[name]
    found = call()
    for part, figures in zip(found if isinstance(found, tuple) else [found], wanted, strict=True):
        assert np.allclose(part.numpy().ravel(), figures, atol=1e-3)


DEFORMED = [
    [-0.1327, -0.4188, 0.4554, -0.0631, 0.3267, 0.0611, 0.289, -0.2918],
    [0.1416, 0.1341, 0.426, -0.4381, 0.0791, 1.089, -0.0605, -0.222, 0.0573, 0.2274, 0.0952, 0.2337, -0.3487, 0.1066,
     0.9452, -0.0505, -0.2196, 0.5568],
    [0, 0.4289, 0, 0.3321, 0, 0.4377, 0, -0.5286, -0.0022, 0.5223, 0.0193, 0.192, -0.1019, -0.4402, 0.0198, -0.0775,
     0.0593, 0.0148, 0.0887, 0, -0.1689, -0.2285, -0.1834, 0, -0.0092, 0.0628, 0.3359, 0, -0.2775, 0.0322, 0.2283, 0],
    [0.6911, 0.4848, -0.1433, 0.102, -0.4621, -0.6685, 0.2469, -0.0627, 0.5513, 0.4696, -0.5217, 0.1156, -0.3936,
     -0.5732, 0.6722, 0.0793],
    [0.0107, -0.3541, 0, -0.2193, 0.1031, 0.1228, -0.0154, -0.0578, -0.047, -0.3661, 0.1064, 0, 0.1509, -0.2924, 0.2337,
     0],
]  # fmt: skip
"""The result and the gradients of x, offset, weight and mask."""


def test_convolutions_beside_the_grid() -> None:
    shapes = ((1, 2, 3, 3), 1.0), ((1, 8, 2, 2), 1.5), ((2, 2, 2, 2), 1.0), ((1, 4, 2, 2), 1.0)
    x, offset, weight, mask = (some(*shape, scale=scale, stop_gradient=False) for shape, scale in shapes)
    out = ops.deform_conv2d(x, offset, weight, mask=mask)
    (out * some(*out.shape)).sum().backward()
    for found, wanted in zip((out, x.grad, offset.grad, weight.grad, mask.grad), DEFORMED, strict=True):
        assert np.allclose(found.numpy().ravel(), wanted, atol=1e-3)
    layer = ops.DeformConv2D(2, 3, 2, padding=1)
    still = layer(x, paddle.zeros([1, 8, 4, 4]))
    assert np.allclose(still.numpy(), paddle.nn.functional.conv2d(x, layer.weight, layer.bias, padding=1).numpy(), atol=1e-5)
    for wrong in (lambda: layer(x, paddle.zeros([1, 8, 3, 3])), lambda: ops.deform_conv2d(x, offset, some(2, 1, 2, 2))):
        with pytest.raises(ValueError):
            wrong()


def test_each_part_of_a_region_has_channels_of_its_own() -> None:
    x = some(1, 8, 4, 4, stop_gradient=False)
    out = ops.PSRoIPool(2)(x, T([[0.0, 0, 3, 3], [1, 0, 2, 2]]), whole([2]))
    out.backward(some(*out.shape))
    assert np.allclose(out.numpy().ravel(), [
        0.5711, 0.184, -0.0042, -0.4676, 0.0302, 0.4849, 0.5856, 0.5858, 0.8951, -0.5115, 0.3101, -0.7877, -0.6953,
         0.957, 0.7129, -0.1954
    ], atol=1e-3)  # fmt: skip
    assert (x.grad * x).sum().item() == pytest.approx((out * some(*out.shape)).sum().item(), rel=1e-4)
    with pytest.raises(ValueError):
        ops.psroi_pool(some(1, 6, 4, 4), T([[0.0, 0, 3, 3]]), whole([1]), 2)


def test_images_are_read_and_decoded(tmp_path: Any) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pixels, file = np.full((4, 5, 3), 200, np.uint8), io.BytesIO()
    pillow.fromarray(pixels).save(file, "JPEG")
    (tmp_path / "x.jpg").write_bytes(file.getvalue())
    raw = ops.read_file(str(tmp_path / "x.jpg"))
    assert raw.dtype is paddle.uint8
    assert ops.decode_jpeg(raw).shape == [3, 4, 5]
    assert ops.decode_jpeg(raw, "gray").shape == [1, 4, 5]
