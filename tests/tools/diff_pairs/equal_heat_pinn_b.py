import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

rng = np.random.default_rng(105)
W = [rng.normal(0, 0.7, s).astype("float32") for s in ((10, 2), (10,), (1, 10), (1,))]
net = nn.SequentialCell(nn.Dense(2, 10), nn.Tanh(), nn.Dense(10, 1))
for p, w in zip(net.trainable_params(), W):
    p.set_data(Tensor(w))
opt = nn.Adam(net.trainable_params(), learning_rate=1e-3)
points = rng.uniform(0, 1, (16, 2)).astype("float32")
x, t = Tensor(points[:, :1]), Tensor(points[:, 1:])


def u(x, t):
    return net(ops.concat((x, t), axis=1))


u_x = ms.grad(lambda x, t: u(x, t).sum(), 0)
u_t = ms.grad(lambda x, t: u(x, t).sum(), 1)
u_xx = ms.grad(lambda x, t: u_x(x, t).sum(), 0)


def loss_fn(x, t):
    return ops.square(u_t(x, t) - 0.3 * u_xx(x, t)).mean()


fn = ms.value_and_grad(loss_fn, None, opt.parameters)
for step in range(3):
    loss, grads = fn(x, t)
    opt(grads)
    print(step, loss)
