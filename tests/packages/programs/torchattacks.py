"""torchattacks: eight attacks on a convolution network."""
# packages: torchattacks==3.5.1, torchvision==0.28.0
# needs: numpy, pillow, tqdm, requests, scipy
import torch
import torchattacks
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 64, 5)
).eval()
x, y = torch.rand(4, 3, 16, 16), torch.randint(0, 5, (4,))
for attack in (
    torchattacks.FGSM(net, eps=8 / 255),
    torchattacks.PGD(net, eps=8 / 255, alpha=2 / 255, steps=4),
    torchattacks.BIM(net, steps=4),
    torchattacks.MIFGSM(net, steps=4),
    torchattacks.CW(net, c=1, steps=5, lr=0.01),
    torchattacks.PGDL2(net, eps=0.5, steps=4),
    torchattacks.DeepFool(net, steps=5),
    torchattacks.TPGD(net, steps=3),
):
    adv = attack(x, y)
    print(
        type(attack).__name__,
        f"{(adv - x).norm().item():.5f}",
        f"{nn.functional.cross_entropy(net(adv), y).item():.5f}",
    )
