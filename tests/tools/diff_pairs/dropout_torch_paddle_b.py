import numpy as np
import paddle

rng = np.random.default_rng(4)
weight = paddle.to_tensor(rng.standard_normal((5, 4)).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.standard_normal((7, 5)).astype("float32"))
out = paddle.nn.functional.dropout(x @ weight, 0.5, training=False, mode="downscale_in_infer")  # parts
(out**2).mean().backward()
