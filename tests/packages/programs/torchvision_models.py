"""torchvision: nine classifiers, a segmentation and two detection models, features extracted, one training step."""
# packages: torchvision==0.28.0
# needs: pillow
# note: The wheel of torchvision that was at hand needs CUDA and does not load beside this PyTorch: there nms and roi_align
# note: were written in Python for the comparison of models, and roi_pool, ps_roi_align and deform_conv2d have only our own tests.
import torch
import torchvision
from torchvision.models import get_model
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

torch.manual_seed(0)
images = torch.rand(2, 3, 64, 64)
for name in (
    "resnet18",
    "mobilenet_v2",
    "mobilenet_v3_small",
    "efficientnet_b0",
    "shufflenet_v2_x0_5",
    "squeezenet1_1",
    "densenet121",
    "regnet_y_400mf",
    "convnext_tiny",
):
    torch.manual_seed(1)
    model = get_model(name, weights=None, num_classes=5).eval()
    with torch.no_grad():
        print(name, [f"{v:.6f}" for v in model(images)[0].tolist()])
torch.manual_seed(2)
vit = torchvision.models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=5).eval()
print("vit", [f"{v:.6f}" for v in vit(images[:, :, :32, :32])[0].tolist()])
net = get_model("resnet18", weights=None, num_classes=5)
print(get_graph_node_names(net)[1][:6])
features = create_feature_extractor(net.eval(), {"layer1.0.relu": "early", "layer4": "late"})
with torch.no_grad():
    print({k: (tuple(v.shape), f"{v.mean().item():.6f}") for k, v in features(images).items()})
net.train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for step in range(3):
    loss = torch.nn.functional.cross_entropy(net(images), torch.tensor([1, 4]), label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.5f}")
torch.manual_seed(3)
segmenter = get_model("lraspp_mobilenet_v3_large", weights=None, weights_backbone=None, num_classes=4).eval()
with torch.no_grad():
    print("segmentation", f"{segmenter(images)['out'].mean().item():.6f}")
torch.manual_seed(4)
options = {"weights": None, "weights_backbone": None, "num_classes": 3, "min_size": 64, "max_size": 64}
for name in ("fasterrcnn_mobilenet_v3_large_320_fpn", "retinanet_resnet50_fpn"):
    detector = get_model(name, **options)
    targets = [{"boxes": torch.tensor([[5.0, 6.0, 40.0, 50.0]]), "labels": torch.tensor([1])}] * 2
    losses = detector(list(images), targets)
    sum(losses.values()).backward()
    print(name, {k: f"{v.item():.4f}" for k, v in losses.items()})
    with torch.no_grad():
        found = detector.eval()(list(images))[0]
    print(len(found["boxes"]), [f"{v:.3f}" for v in found["scores"][:3].tolist()])
