import torch

torch.manual_seed(36)
cell = torch.nn.RNN(3, 4, batch_first=True)
x = torch.randn(2, 5, 3)
h, states = torch.zeros(2, 4), []
for t in range(5):
    h = torch.tanh(x[:, t] @ cell.weight_ih_l0.T + cell.bias_ih_l0 + h @ cell.weight_hh_l0.T + cell.bias_hh_l0)
    states.append(h)
states = torch.stack(states, dim=1)
states.pow(2).sum().backward()
