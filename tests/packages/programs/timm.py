"""timm: seven image models forward, feature maps, one training step each of three, schedules."""
# packages: timm==1.0.31, torchvision==0.28.0
# needs: pyyaml, huggingface_hub, safetensors, pillow
import timm
import torch
from timm.data import Mixup
from timm.loss import LabelSmoothingCrossEntropy, SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler

torch.manual_seed(0)
images = torch.randn(2, 3, 64, 64)
for name, options in {
    "resnet18": {},
    "vit_tiny_patch16_224": {"img_size": 64},
    "efficientnet_b0": {},
    "convnext_atto": {},
    "mobilenetv3_small_100": {},
    "swin_tiny_patch4_window7_224": {"img_size": 64, "window_size": 2},
    "mixer_s32_224": {"img_size": 64},
}.items():
    torch.manual_seed(1)
    model = timm.create_model(name, pretrained=False, num_classes=5, **options).eval()
    with torch.no_grad():
        out = model(images)
    print(name, sum(p.numel() for p in model.parameters()), [f"{v:.6f}" for v in out[0].tolist()])
features = timm.create_model("resnet18", features_only=True, out_indices=(1, 3)).eval()
print([tuple(f.shape) for f in features(images)], features.feature_info.channels())
targets = torch.tensor([1, 3])
for name, options in {"resnet18": {}, "vit_tiny_patch16_224": {"img_size": 64}, "convnext_atto": {}}.items():
    torch.manual_seed(2)
    model = timm.create_model(name, num_classes=5, **options).train()
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    schedule = CosineLRScheduler(optimizer, t_initial=10, warmup_t=2, warmup_lr_init=1e-4)
    for step in range(2):
        loss = LabelSmoothingCrossEntropy(0.1)(model(images), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step(step + 1)
        print(name, step, f"{loss.item():.5f}", f"{optimizer.param_groups[0]['lr']:.6f}")
mixed, soft = Mixup(mixup_alpha=1.0, prob=0.0, label_smoothing=0.1, num_classes=5)(images, targets)
print(f"{mixed.sum().item():.4f}", f"{SoftTargetCrossEntropy()(mixed.mean((2, 3)).repeat(1, 2)[:, :5], soft).item():.6f}")
