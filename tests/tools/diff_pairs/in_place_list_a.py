import torch

torch.manual_seed(42)
weight = torch.randn(3, 3)
gain = torch.randn(3, requires_grad=True)
state, states = torch.randn(3), []
for _ in range(4):
    state = state + weight @ torch.tanh(state)  # parts
    states.append(state)
loss = (torch.stack(states) * gain).sum()
loss.backward()
