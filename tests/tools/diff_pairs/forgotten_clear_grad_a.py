import numpy as np
import torch

rng = np.random.default_rng(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.Tanh(), torch.nn.Linear(6, 3))
with torch.no_grad():
    for parameter, shape in zip(model.parameters(), [(4, 6), (6,), (6, 3), (3,)]):
        start = rng.standard_normal(shape).astype("float32") / 2
        parameter.copy_(torch.tensor(start.T))
x = torch.tensor(rng.standard_normal((8, 4)).astype("float32"))
labels = torch.tensor(rng.integers(0, 3, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(3):
    optimizer.zero_grad()  # parts
    loss = torch.nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()
