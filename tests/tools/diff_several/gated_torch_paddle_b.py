import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(20)
gate, value, out = nn.Linear(5, 9), nn.Linear(5, 9), nn.Linear(9, 2)
for layer in (gate, value, out):
    layer.weight.set_value((rng.standard_normal(tuple(layer.weight.shape)[::-1]) * 0.5).T.astype("float32"))
    layer.bias.set_value((rng.standard_normal(tuple(layer.bias.shape)) * 0.2).astype("float32"))
x = paddle.to_tensor(rng.standard_normal((11, 5)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((11, 2)).astype("float32"))
opt = paddle.optimizer.Adam(0.02, epsilon=1e-3, parameters=[p for l in (gate, value, out) for p in l.parameters()])
for _ in range(2):
    g = nn.functional.softmax(gate(x))  # parts 1
    v = paddle.tanh(value(x))
    h = g * v
    p = out(h)
    loss = nn.functional.mse_loss(p, y)  # parts 2
    loss.backward()
    opt.step()  # parts 3
    opt.clear_grad()
