import itertools

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(5)


def network(*sizes):
    layers = []
    for a, b in itertools.pairwise(sizes):
        layer = nn.Linear(a, b)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(rng.standard_normal((b, a)) * 0.4))
            layer.bias.zero_()
        layers += [layer, nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


generator = network(4, 8, 2)
critic = network(2, 8, 1)
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(6, 1), torch.zeros(6, 1)
for _step in range(2):
    real = torch.tensor(rng.standard_normal((6, 2)) + 2, dtype=torch.float32)
    z = torch.tensor(rng.standard_normal((6, 4)), dtype=torch.float32)
    fake = generator(z)

    opt_d.zero_grad()
    loss_d = bce(critic(real), ones) + bce(critic(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()

    opt_g.zero_grad()
    loss_g = bce(critic(fake), ones)
    loss_g.backward()
    opt_g.step()
    print(loss_d.item(), loss_g.item())
