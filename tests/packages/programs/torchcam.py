"""torchcam: class activation maps by seven methods."""
# packages: torchcam==0.5.0
# needs: numpy, pillow, matplotlib
import torch
from torch import nn
from torchcam.methods import CAM, GradCAM, GradCAMpp, LayerCAM, ScoreCAM, SmoothGradCAMpp, XGradCAM

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 4)
).eval()
x = torch.rand(1, 3, 20, 20)
for method in (GradCAM, GradCAMpp, XGradCAM, LayerCAM, SmoothGradCAMpp):
    with method(net, "3") as extractor:
        out = net(x.requires_grad_())
        (m,) = extractor(out.squeeze(0).argmax().item(), out)
        print(method.__name__, tuple(m.shape), f"{m.sum().item():.5f} {m.max().item():.5f}")
for options in ((CAM, {"fc_layer": "6"}), (ScoreCAM, {"batch_size": 3})):
    with options[0](net, "3", **options[1]) as extractor:
        with torch.no_grad():
            out = net(x)
        (m,) = extractor(1, out)
        print(options[0].__name__, f"{m.sum().item():.5f}")
