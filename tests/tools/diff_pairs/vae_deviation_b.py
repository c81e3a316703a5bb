import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class VAE(nn.Cell):
    def __init__(self):
        super().__init__()
        self.enc = nn.Dense(8, 6)
        self.mu, self.lv = nn.Dense(6, 2), nn.Dense(6, 2)
        self.dec = nn.SequentialCell(nn.Dense(2, 6), nn.ReLU(), nn.Dense(6, 8))

    def construct(self, x, eps):
        h = ops.relu(self.enc(x))
        mu, lv = self.mu(h), self.lv(h)
        std = ops.exp(lv)  # parts
        return self.dec(mu + eps * std), mu, lv


rng = np.random.default_rng(50)
vae = VAE()
for p in vae.trainable_params():
    p.set_data(Tensor(rng.normal(0, 0.4, p.shape).astype("float32")))
opt = nn.Adam(vae.trainable_params(), learning_rate=5e-3)


def forward(x, eps):
    rec, mu, lv = vae(x, eps)
    kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).sum(axis=1).mean()
    return ((rec - x) ** 2).sum() / 12 + kl, kl


fn = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
for step in range(2):
    x = Tensor(rng.normal(size=(12, 8)).astype("float32"))
    eps = Tensor(rng.normal(size=(12, 2)).astype("float32"))
    (loss, kl), grads = fn(x, eps)
    opt(grads)
    print(step, loss, kl)
