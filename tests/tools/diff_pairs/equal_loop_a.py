import torch

torch.manual_seed(36)
cell = torch.nn.RNN(3, 4, batch_first=True)
x = torch.randn(2, 5, 3)
states, _ = cell(x)
states.pow(2).sum().backward()
