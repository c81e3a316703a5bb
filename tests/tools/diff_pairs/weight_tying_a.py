import torch

torch.manual_seed(0)
enc = torch.nn.Linear(4, 4, bias=False)
dec = torch.nn.Linear(4, 4, bias=False)
dec.weight = enc.weight
x = torch.randn(8, 4)
loss = (dec(torch.tanh(enc(x))) - x).pow(2).mean()  # parts
loss.backward()
