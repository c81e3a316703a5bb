"""PaddleClas: a model by name, the loss of four images and its gradients, in training or evaluation mode."""
# packages: paddleclas==2.6.0
# needs: pyyaml, tqdm, pillow, requests, prettytable, scikit-learn, ujson, easydict, six, opencv-python-headless
# framework: paddle
import importlib.util
import json
import os
import sys

import numpy as np
import paddle

# The package's own __init__ loads an engine for deployment; its training scripts run from its folder, as here.
sys.path.insert(0, os.path.dirname(importlib.util.find_spec("paddleclas").origin))
from ppcls.arch import backbone
from ppcls.utils import logger

logger.init_logger()
name, mode, size, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), json.loads(sys.argv[4])
paddle.seed(0)
model = getattr(backbone, name)(class_num=10, **options)
if mode == "eval":
    model.eval()
rng = np.random.default_rng(0)
images = paddle.to_tensor(rng.standard_normal((4, 3, size, size)).astype("float32"))
labels = paddle.to_tensor(rng.integers(0, 10, 4))
loss = paddle.nn.functional.cross_entropy(model(images), labels)
loss.backward()
