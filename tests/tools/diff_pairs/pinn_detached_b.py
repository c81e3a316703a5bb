import itertools

import numpy as np
import paddle

paddle.set_default_dtype("float64")
rng = np.random.default_rng(2)
sizes = [2, 10, 10, 1]
layers = []
for a, b in itertools.pairwise(sizes):
    w = rng.standard_normal((a, b)) / np.sqrt(a)
    layers.append(paddle.nn.Linear(a, b, weight_attr=paddle.nn.initializer.Assign(w)))
parameters = [l.weight for l in layers] + [l.bias for l in layers]


def net(x, t):
    h = paddle.concat([x, t], axis=1)
    for layer in layers[:-1]:
        h = paddle.tanh(layer(h))
    return layers[-1](h)


nu = 0.01 / np.pi
optimizer = paddle.optimizer.Adam(learning_rate=1e-3, parameters=parameters)
for _step in range(3):
    x = paddle.to_tensor(rng.uniform(-1, 1, (20, 1)), stop_gradient=False)
    t = paddle.to_tensor(rng.uniform(0, 1, (20, 1)), stop_gradient=False)
    value = net(x, t)
    u_x, u_t = paddle.grad(value, [x, t], create_graph=True)
    u_xx, = paddle.grad(u_x, x, create_graph=True)
    residual = u_t + value.detach() * u_x - nu * u_xx  # parts
    x0 = paddle.to_tensor(rng.uniform(-1, 1, (10, 1)))
    start = net(x0, paddle.zeros_like(x0)) + paddle.sin(np.pi * x0)
    loss = paddle.mean(paddle.square(residual)) + paddle.mean(paddle.square(start))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(float(loss))
paddle.set_default_dtype("float32")
