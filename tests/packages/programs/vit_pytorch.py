"""vit-pytorch: ViT, SimpleViT, CaiT, DeepViT, CvT and NesT, two training steps of each."""
# packages: vit-pytorch==1.26.11, torchvision==0.28.0, torch-einops-utils==0.2.0
# needs: einops
# note: PyTorch's side ran without the registration of torchvision's native operators, which its wheel at hand does not load.
import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cvt import CvT
from vit_pytorch.deepvit import DeepViT
from vit_pytorch.nest import NesT

torch.manual_seed(0)
common = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 32, "heads": 2, "mlp_dim": 48}
nets = {
    "ViT": ViT(depth=2, **common),
    "SimpleViT": SimpleViT(depth=2, **common),
    "DeepViT": DeepViT(depth=2, **common),
    "CaiT": CaiT(depth=2, cls_depth=1, **common),
    "CvT": CvT(
        num_classes=5, s1_emb_dim=8, s2_emb_dim=16, s2_depth=1, s2_heads=2, s3_emb_dim=16, s3_depth=1, s3_heads=2
    ),
    "NesT": NesT(image_size=32, patch_size=4, dim=16, heads=2, num_hierarchies=2, block_repeats=(1, 1), num_classes=5),
}
x, y = torch.randn(3, 3, 32, 32), torch.tensor([0, 4, 2])
for name, net in nets.items():
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(
        name,
        f"{loss.item():.6f}",
        f"{sum(p.grad.abs().sum() for p in net.parameters() if p.grad is not None).item():.5f}",
    )
