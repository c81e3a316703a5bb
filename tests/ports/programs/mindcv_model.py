"""MindCV: a model by name, the loss of four images and its gradients, in training or evaluation mode."""
# packages: mindcv==0.3.0
# needs: pyyaml, tqdm, pillow
# framework: mindspore
import json
import sys

import mindcv
import mindspore
import numpy as np

name, mode, size, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
mindspore.set_seed(0)
model = getattr(mindcv.models, name)(num_classes=10, **options)
model.set_train(mode == "train")
rng = np.random.default_rng(0)
images = mindspore.Tensor(rng.standard_normal((4, 3, size, size)).astype("float32"))
labels = mindspore.Tensor(rng.integers(0, 10, 4).astype("int32"))


def loss_of(x, y):
    return mindspore.ops.cross_entropy(model(x), y)


loss, gradients = mindspore.value_and_grad(loss_of, None, model.trainable_params())(images, labels)
