"""segmentation-models-pytorch: Unet, FPN and DeepLabV3+ with ResNet and MobileNet encoders trained by Dice, metrics."""
# packages: segmentation-models-pytorch==0.6.0, timm==1.0.31, torchvision==0.28.0
# needs: huggingface_hub, numpy, pillow, safetensors, tqdm, pyyaml
# note: Trained in float64, in which both sides agree: FPN's encoder normalises eight values of a channel, and in float32
# note: PyTorch's own loss changes by 3 % where the images change by the last bit.
# note: PyTorch's side ran without the registration of torchvision's native operators, which its wheel at hand does not load.
import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 64, 64).double()
y = torch.randint(0, 3, (2, 64, 64))
for kind, encoder in (
    ("Unet", "resnet18"),
    ("FPN", "mobilenet_v2"),
    ("DeepLabV3Plus", "resnet18"),
    ("Linknet", "resnet18"),
):
    net = getattr(smp, kind)(encoder, encoder_weights=None, classes=3, in_channels=3).double()
    optimizer, criterion = torch.optim.SGD(net.parameters(), lr=0.01), smp.losses.DiceLoss("multiclass")
    net.train()
    for _ in range(2):
        loss = criterion(net(x), y) + smp.losses.FocalLoss("multiclass")(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(kind, f"{loss.item():.5f}")
counts = smp.metrics.get_stats(net(x).argmax(1), y, mode="multiclass", num_classes=3)
print(f"{smp.metrics.iou_score(*counts, reduction='micro').item():.2f}")
for loss in (
    smp.losses.JaccardLoss("multiclass"),
    smp.losses.LovaszLoss("multiclass"),
    smp.losses.TverskyLoss("multiclass"),
):
    print(type(loss).__name__, f"{loss(torch.linspace(-1, 1, 24576).sin().reshape(2, 3, 64, 64), y).item():.6f}")
