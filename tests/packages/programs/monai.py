"""MONAI: UNet and SegResNet in three dimensions trained with Dice losses, sliding windows, metrics, transforms."""
# packages: monai==1.6.1
# needs: numpy
import numpy as np
import torch
from monai.inferers import sliding_window_inference
from monai.losses import DiceCELoss, DiceLoss, FocalLoss, TverskyLoss
from monai.metrics import DiceMetric
from monai.networks.nets import SegResNet, UNet
from monai.transforms import Compose, NormalizeIntensity, RandFlip, Rotate90, ScaleIntensity

torch.manual_seed(0)
x = torch.randn(2, 1, 16, 16, 16)
y = (x > 0.5).long()
nets = [
    UNet(spatial_dims=3, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1),
    SegResNet(spatial_dims=3, in_channels=1, out_channels=2, init_filters=8, blocks_down=(1, 1), blocks_up=(1,)),
]
for net in nets:
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    criterion = DiceCELoss(to_onehot_y=True, softmax=True)
    for step in range(3):
        loss = criterion(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(type(net).__name__, step, f"{loss.item():.6f}")
out = nets[0].eval()(x).detach()
for criterion in (DiceLoss(sigmoid=True), FocalLoss(), TverskyLoss(sigmoid=True)):
    print(type(criterion).__name__, f"{criterion(out, torch.cat([1 - y, y], 1).float()).item():.6f}")
metric = DiceMetric(include_background=False)
metric(torch.nn.functional.one_hot(out.argmax(1), 2).movedim(-1, 1), torch.cat([1 - y, y], 1))
print(f"{metric.aggregate().item():.6f}")
with torch.no_grad():
    print(
        f"{sliding_window_inference(torch.randn(1, 1, 24, 24, 24), (16, 16, 16), 1, nets[0], overlap=0.5).mean().item():.6f}"
    )
chain = Compose([ScaleIntensity(), NormalizeIntensity(), Rotate90(), RandFlip(prob=1.0, spatial_axis=0)])
print(f"{np.asarray(chain(np.arange(24.0).reshape(1, 4, 6)))[0, 0].sum():.6f}")
