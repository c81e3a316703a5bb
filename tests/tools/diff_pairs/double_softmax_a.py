import torch
import torch.nn.functional as F

torch.manual_seed(46)
model = torch.nn.Linear(4, 3)
x, labels = torch.randn(8, 4), torch.randint(0, 3, (8,))
logits = model(x)
loss = F.cross_entropy(logits, labels)  # parts
loss.backward()
