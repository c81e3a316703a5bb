"""Captum: integrated gradients, DeepLift, SHAP, GradCAM, occlusion, layer conductance, influence of features."""
# packages: captum==0.9.0
# needs: matplotlib, numpy, packaging, tqdm
import numpy as np
import torch
from captum.attr import (
    DeepLift,
    FeatureAblation,
    GradientShap,
    GuidedBackprop,
    InputXGradient,
    IntegratedGradients,
    LayerConductance,
    LayerGradCam,
    NoiseTunnel,
    Occlusion,
    Saliency,
    ShapleyValueSampling,
    visualization,
)
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 8), nn.ReLU(), nn.Linear(8, 3)
).eval()
x = torch.randn(2, 1, 8, 8)
base = torch.zeros_like(x)
target = torch.tensor([0, 2])


def show(name, a):
    print(name, tuple(a.shape), f"{a.sum().item():.5f}", f"{a.norm().item():.5f}")


show("saliency", Saliency(model).attribute(x, target=target))
show("input x gradient", InputXGradient(model).attribute(x, target=target))
attributions, delta = IntegratedGradients(model).attribute(
    x, base, target=target, n_steps=20, return_convergence_delta=True
)
show("integrated", attributions)
print([f"{abs(v) < 0.1}" for v in delta.tolist()])
show("deeplift", DeepLift(model).attribute(x, base, target=target))
show("guided", GuidedBackprop(model).attribute(x, target=target))
torch.manual_seed(1)
np.random.seed(1)
show(
    "gradient shap", GradientShap(model).attribute(x, torch.cat([base, base + 0.1]), target=target, n_samples=4, stdevs=0.0)
)
show("gradcam", LayerGradCam(model, model[0]).attribute(x, target=target))
show("conductance", LayerConductance(model, model[4]).attribute(x, target=target, n_steps=10))
show("occlusion", Occlusion(model).attribute(x, sliding_window_shapes=(1, 4, 4), strides=(1, 2, 2), target=target))
mask = torch.arange(64).view(1, 1, 8, 8) // 16
show("ablation", FeatureAblation(model).attribute(x, target=target, feature_mask=mask))
show("shapley", ShapleyValueSampling(model).attribute(x, target=target, feature_mask=mask, n_samples=3))
show("smooth", NoiseTunnel(Saliency(model)).attribute(x, target=target, nt_samples=3, stdevs=0.0))
figure, _ = visualization.visualize_image_attr(
    attributions[0].permute(1, 2, 0).detach().numpy(), method="heat_map", use_pyplot=False
)
print(len(figure.axes))
