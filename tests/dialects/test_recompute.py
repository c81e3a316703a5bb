"""Recomputing in the paddle and the mindspore dialect: functions that take gradients themselves."""

import numpy as np

from retrograde.dialects import mindspore, paddle

X = np.array([0.3, -0.7, 1.1], np.float32)


def test_paddle():
    x = paddle.to_tensor(X, stop_gradient=False)

    def f(v):
        (g,) = paddle.grad((v**3).sum(), v, create_graph=True)
        return (g * v).sum()

    (found,) = paddle.grad(paddle.distributed.fleet.utils.recompute(f, x), x)
    np.testing.assert_allclose(found.numpy(), 9 * X**2, rtol=1e-6)


def test_mindspore():
    class Net(mindspore.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = mindspore.Parameter(mindspore.Tensor(X + 1), name="w")

        def construct(self, x):
            return (mindspore.grad(lambda u: (u**3 * self.w).sum())(x) * x).sum()

    net = Net()
    net.recompute()
    dx, (dw,) = mindspore.grad(net, 0, weights=net.trainable_params())(mindspore.Tensor(X))
    np.testing.assert_allclose(dx.asnumpy(), 9 * X**2 * (X + 1), rtol=1e-5)
    np.testing.assert_allclose(dw.asnumpy(), 3 * X**3, rtol=1e-5)
