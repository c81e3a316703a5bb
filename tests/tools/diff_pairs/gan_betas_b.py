import itertools

import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(5)


def network(*sizes):
    layers = []
    for a, b in itertools.pairwise(sizes):
        w = (rng.standard_normal((b, a)) * 0.4).T.astype("float32")
        layers += [nn.Linear(a, b, weight_attr=nn.initializer.Assign(w)), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


G = network(4, 8, 2)
D = network(2, 8, 1)
opt_g = paddle.optimizer.Adam(2e-3, beta1=0.5, beta2=0.999, parameters=G.parameters())
opt_d = paddle.optimizer.Adam(2e-3, parameters=D.parameters())
bce = nn.BCEWithLogitsLoss()
for _step in range(2):
    real = paddle.to_tensor((rng.standard_normal((6, 2)) + 2).astype("float32"))
    z = paddle.to_tensor(rng.standard_normal((6, 4)).astype("float32"))
    fake = G(z)

    real_out = D(real)
    fake_out = D(fake.detach())
    loss_d = bce(real_out, paddle.ones_like(real_out)) + bce(fake_out, paddle.zeros_like(fake_out))
    loss_d.backward()
    opt_d.step()  # parts
    opt_d.clear_grad()

    out = D(fake)
    loss_g = bce(out, paddle.ones_like(out))
    loss_g.backward()
    opt_g.step()
    opt_g.clear_grad()
    opt_d.clear_grad()
    print(float(loss_d), float(loss_g))
