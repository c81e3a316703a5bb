import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(6)
encode, mean, spread, decode = nn.Linear(7, 10), nn.Linear(10, 2), nn.Linear(10, 2), nn.Linear(2, 7)
for layer in (encode, mean, spread, decode):
    for p in layer.parameters():
        p.set_value((rng.standard_normal(tuple(p.shape)[::-1]) * 0.4).T.astype("float32"))
x = paddle.to_tensor(rng.random((8, 7)).astype("float32"))
noise = paddle.to_tensor(rng.standard_normal((8, 2)).astype("float32"))
h = nn.functional.leaky_relu(encode(x))  # parts 1
mu, logvar = mean(h), spread(h)
std = paddle.exp(logvar)  # parts 2
z = mu + noise * std
out = nn.functional.sigmoid(decode(z))
fit = nn.functional.binary_cross_entropy(out, x, reduction="sum")
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()  # parts 3
loss = fit + kl
loss.backward()
