import numpy as np
import torch

rng = np.random.default_rng(3)
weight = torch.tensor(rng.standard_normal((5, 4)).astype("float32"), requires_grad=True)
x = torch.tensor(rng.standard_normal((7, 5)).astype("float32"))
product = x @ weight
hidden = torch.tanh(product) * product.mean()
loss = hidden.square().sum()
loss.backward()
