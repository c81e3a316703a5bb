import numpy as np
import paddle

x = paddle.to_tensor(np.random.default_rng(2).standard_normal((16, 4)).astype("float32") * 3 + 1)
norm = paddle.nn.BatchNorm1D(4, momentum=0.1)
loss = norm(x).pow(3).mean()  # parts
loss.backward()
norm.eval()
print(norm(x).mean())
