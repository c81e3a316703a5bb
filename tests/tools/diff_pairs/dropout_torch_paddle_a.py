import numpy as np
import torch

rng = np.random.default_rng(4)
weight = torch.tensor(rng.standard_normal((5, 4)).astype("float32"), requires_grad=True)
x = torch.tensor(rng.standard_normal((7, 5)).astype("float32"))
out = torch.nn.functional.dropout(x @ weight, 0.5, training=False)  # parts
(out**2).mean().backward()
