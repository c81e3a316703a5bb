import numpy as np
import paddle

rng = np.random.default_rng(47)
params = [paddle.create_parameter(list(s), "float32", default_initializer=paddle.nn.initializer.Assign(
    rng.normal(0, 0.5, s).astype("float32"))) for s in ((1, 8), (8,), (8, 1), (1,))]


def net(p, x):
    return paddle.tanh(x @ p[0] + p[1]) @ p[2] + p[3]


def mse(p, x, y):
    return ((net(p, x) - y) ** 2).mean()


opt = paddle.optimizer.SGD(0.05, parameters=params)
for it in range(2):
    meta = 0.0
    for _task in range(2):
        phase = rng.uniform(0, 3)
        x = paddle.to_tensor(rng.uniform(-3, 3, (10, 1)).astype("float32"))
        y = paddle.sin(x + phase)
        grads = paddle.grad(mse(params, x[:5], y[:5]), params)  # parts
        fast = [p - 0.1 * g for p, g in zip(params, grads)]
        meta = meta + mse(fast, x[5:], y[5:])
    meta.backward()
    opt.step()
    opt.clear_grad()
    print(it, float(meta))
