"""torchvision: box operations, transforms v2 on tensors, datasets from folders, image grids."""
# packages: torchvision==0.28.0
# needs: pillow
# note: The wheel of torchvision that was at hand needs CUDA and does not load beside this PyTorch: there nms and roi_align
# note: were written in Python for the comparison of models, and roi_pool, ps_roi_align and deform_conv2d have only our own tests.
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torchvision import datasets, ops, tv_tensors, utils
from torchvision.transforms import v2

torch.manual_seed(0)
boxes = torch.tensor([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 28], [21, 20, 30, 30]], dtype=torch.float32)
scores = torch.tensor([0.9, 0.8, 0.7, 0.95])
print(ops.nms(boxes, scores, 0.5).tolist(), ops.batched_nms(boxes, scores, torch.tensor([0, 1, 0, 0]), 0.5).tolist())
print([f"{v:.6f}" for v in ops.box_iou(boxes, boxes).flatten().tolist()][:6], ops.box_area(boxes).tolist())
print([f"{v:.6f}" for v in ops.generalized_box_iou(boxes[:2], boxes[2:]).flatten().tolist()])
features = torch.randn(1, 2, 12, 12, requires_grad=True)
rois = torch.tensor([[0, 1.5, 2.0, 8.0, 9.5], [0, 0.0, 0.0, 11.0, 6.0]])
for name, out in {
    "align": ops.roi_align(features, rois, (3, 3), 1.0, 2),
    "aligned": ops.roi_align(features, rois, 3, 0.5, -1, True),
    "pool": ops.roi_pool(features, rois, (3, 3), 1.0),
    "ps": ops.ps_roi_align(torch.cat([features] * 9, 1)[:, :18], rois, 3, 1.0, 2),
    "deform": ops.deform_conv2d(features, torch.randn(1, 18, 10, 10) * 0.5, torch.randn(3, 2, 3, 3)),
}.items():
    (grad,) = torch.autograd.grad(out.square().sum(), features)
    print(name, tuple(out.shape), f"{out.sum().item():.5f}", f"{grad.norm().item():.5f}")
loss = ops.sigmoid_focal_loss(torch.randn(5), torch.tensor([0.0, 1, 1, 0, 1]), reduction="mean")
print(f"{loss.item():.6f}", f"{ops.complete_box_iou_loss(boxes[:2], boxes[2:], reduction='sum').item():.6f}")
image = tv_tensors.Image(torch.randint(0, 256, (3, 20, 30), dtype=torch.uint8))
inside = tv_tensors.BoundingBoxes(boxes[:2], format="XYXY", canvas_size=(20, 30))
pipeline = v2.Compose(
    [
        v2.RandomResizedCrop((16, 16), antialias=True),
        v2.RandomHorizontalFlip(0.5),
        v2.ColorJitter(0.3, 0.3),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize([0.5] * 3, [0.25] * 3),
    ]
)
out, moved = pipeline(image, inside)
print(
    type(out).__name__,
    type(moved).__name__,
    tuple(out.shape),
    f"{out.mean().item():.5f}",
    [f"{v:.4f}" for v in moved[0].tolist()],
)
for name, change in {
    "rotate": v2.functional.rotate(image, 25.0),
    "affine": v2.functional.affine(image, 10.0, [1, 2], 1.2, [3.0, 0.0]),
    "equalize": v2.functional.equalize(image),
    "blur": v2.functional.gaussian_blur(image, [3, 3]),
    "resize": v2.functional.resize(image, [10, 12]),
    "gray": v2.functional.rgb_to_grayscale(image),
}.items():
    print(name, tuple(change.shape), f"{change.float().mean().item():.5f}")
with tempfile.TemporaryDirectory() as folder:
    for i in range(6):
        path = Path(folder, "ab"[i % 2], f"{i}.png")
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(np.full((8, 8, 3), 20 * i, np.uint8)).save(path)
    data = datasets.ImageFolder(folder, v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)]))
    batch, labels = next(iter(torch.utils.data.DataLoader(data, 4, shuffle=True)))
    print(data.classes, labels.tolist(), [f"{v:.5f}" for v in batch.mean((1, 2, 3)).tolist()])
fake = datasets.FakeData(3, (3, 8, 8), 4, v2.Compose([v2.PILToTensor()]))
print([(tuple(x.shape), int(y)) for x, y in fake], tuple(utils.make_grid(batch, nrow=2).shape))
