import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class VAE(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, 12)
        self.mu = nn.Linear(12, 3)
        self.log_var = nn.Linear(12, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 10), nn.Sigmoid())

    def forward(self, x, noise):
        h = F.relu(self.encoder(x))
        mu, log_var = self.mu(h), self.log_var(h)
        std = paddle.exp(log_var / 2)
        z = mu + std * noise
        return self.decoder(z), mu, log_var


rng = np.random.default_rng(11)
model = VAE()
for parameter in model.parameters():
    shape = parameter.shape[::-1]
    parameter.set_value((rng.standard_normal(shape) * 0.3).T.astype("float32"))
data = paddle.to_tensor((rng.random((16, 10)) > 0.5).astype("float32"))
optimizer = paddle.optimizer.Adam(1e-2, parameters=model.parameters())
for _step in range(3):
    noise = paddle.to_tensor(rng.standard_normal((16, 3)).astype("float32"))
    output, mu, log_var = model(data, noise)
    bce = F.binary_cross_entropy(output, data, reduction="none").sum(axis=1)
    kl = 0.5 * (mu ** 2 + paddle.exp(log_var) - 1 - log_var).sum(axis=1)
    loss = paddle.mean(bce + kl)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
