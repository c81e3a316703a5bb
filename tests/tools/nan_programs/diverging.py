import torch

w = torch.tensor(3.0, requires_grad=True)
optimiser = torch.optim.SGD([w], lr=0.5)
for _ in range(200):
    optimiser.zero_grad()
    loss = w**4  # begins here
    loss.backward()
    optimiser.step()
