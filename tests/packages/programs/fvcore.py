"""fvcore: focal losses, box IoU losses, parameter schedulers, counts of parameters, precise batch norm."""
# packages: fvcore==0.1.5.post20221221, iopath==0.1.10
# needs: pyyaml, yacs, tqdm, termcolor, pillow, tabulate, numpy, portalocker
import torch
from fvcore.common.param_scheduler import CompositeParamScheduler, CosineParamScheduler, LinearParamScheduler
from fvcore.nn import (
    giou_loss,
    parameter_count,
    parameter_count_table,
    sigmoid_focal_loss,
    smooth_l1_loss,
    update_bn_stats,
)
from fvcore.nn.weight_init import c2_msra_fill, c2_xavier_fill
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(6, 4, requires_grad=True), torch.randint(0, 2, (6, 4)).float()
for alpha in (-1, 0.25):
    loss = sigmoid_focal_loss(x, y, alpha=alpha, gamma=2, reduction="mean")
    print(f"{loss.item():.7f}", f"{torch.autograd.grad(loss, x)[0].norm().item():.7f}")
a = torch.rand(5, 4, requires_grad=True)
boxes = torch.cat([a[:, :2], a[:, :2] + a[:, 2:] + 0.1], 1)
other = torch.tensor([[0.2, 0.1, 0.9, 1.2]]).expand(5, 4)
loss = giou_loss(boxes, other, reduction="sum") + smooth_l1_loss(boxes, other, beta=0.3, reduction="sum")
print(f"{loss.item():.6f}", f"{torch.autograd.grad(loss, a)[0].sum().item():.6f}")
net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 4, 3))
c2_msra_fill(net[0])
c2_xavier_fill(net[3])
print(dict(parameter_count(net)), parameter_count_table(net), sep="\n")
update_bn_stats(net, [torch.randn(4, 3, 9, 9) for _ in range(3)], 3)
print([f"{v:.6f}" for v in net[1].running_mean.tolist()])
schedule = CompositeParamScheduler(
    [LinearParamScheduler(0.1, 1), CosineParamScheduler(1, 0)], [0.3, 0.7], ["rescaled", "rescaled"]
)
print([f"{schedule(i / 10):.6f}" for i in range(10)])
