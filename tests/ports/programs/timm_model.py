"""timm: a model by name, the loss of four images and its gradients, in training or evaluation mode."""
# packages: timm==1.0.31, torchvision==0.28.0
# needs: pyyaml, huggingface_hub, safetensors, pillow
import json
import sys

import numpy as np
import timm
import torch

name, mode, size, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
torch.manual_seed(0)
model = timm.create_model(name, num_classes=10, **options)
with torch.no_grad():
    for p in (p for p in model.parameters() if p.ndim < 2):  # zeros and ones hide what is done with them
        p.add_(0.02 * torch.randn_like(p))
model.train(mode == "train")
rng = np.random.default_rng(0)
images = torch.from_numpy(rng.standard_normal((4, 3, size, size)).astype("float32"))
labels = torch.from_numpy(rng.integers(0, 10, 4))
loss = torch.nn.functional.cross_entropy(model(images), labels)
loss.backward()
