import numpy as np
import paddle

rng = np.random.default_rng(3)
weight = paddle.to_tensor(rng.standard_normal((5, 4)).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.standard_normal((7, 5)).astype("float32"))
hidden = paddle.nn.functional.gelu(x @ weight)  # parts
loss = hidden.square().sum()
loss.backward()
