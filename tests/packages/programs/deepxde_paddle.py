"""DeepXDE on PaddlePaddle: the heat equation in one dimension with hard and soft conditions, Adam."""
# packages: deepxde==1.15.0
# needs: scikit-learn, scikit-optimize, matplotlib
# framework: paddle
import os

os.environ["DDE_BACKEND"] = "paddle"
import deepxde as dde
import numpy as np

dde.config.set_random_seed(1)


def equation(x, u):
    u_t = dde.grad.jacobian(u, x, i=0, j=1)
    u_xx = dde.grad.hessian(u, x, i=0, j=0)
    return u_t - 0.4 * u_xx


domain = dde.geometry.GeometryXTime(dde.geometry.Interval(0, 1), dde.geometry.TimeDomain(0, 1))
sides = dde.icbc.DirichletBC(domain, lambda x: 0, lambda _, on: on)
begin = dde.icbc.IC(domain, lambda x: np.sin(np.pi * x[:, 0:1]), lambda _, on: on)
data = dde.data.TimePDE(
    domain, equation, [sides, begin], num_domain=60, num_boundary=20, num_initial=20, train_distribution="uniform"
)
net = dde.nn.FNN([2, 16, 16, 1], "tanh", "zeros")
weights = list(net.parameters())
generator = np.random.default_rng(0)
for weight in weights:
    values = (generator.standard_normal(tuple(weight.shape)) * 0.4).astype("float32")
    if os.environ["DDE_BACKEND"] == "paddle":
        weight.set_value(values)
    else:
        weight.data.copy_(dde.backend.as_tensor(values))
model = dde.Model(data, net)
model.compile("adam", lr=0.01, loss_weights=[1, 10, 10], verbose=0)
history, _ = model.train(iterations=60, display_every=20, verbose=0)
for step, losses in zip(history.steps, history.loss_train):
    print(step, [f"{v:.6e}" for v in losses])
points = np.array([[0.5, 0.1], [0.25, 0.5], [0.9, 0.9]], dtype="float32")
print("u", [f"{v:.6f}" for v in model.predict(points)[:, 0]])
print("residual", [f"{v:.6f}" for v in model.predict(points, operator=equation)[:, 0]])
