import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, words, dim):
        super().__init__()
        self.embedding = nn.Embedding(words, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, words, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        h, _ = self.rnn(self.embedding(tokens))
        return self.head(h)


rng = np.random.default_rng(12)
words, dim = 13, 6
model = Model(words, dim)
with torch.no_grad():
    for _name, p in model.named_parameters():
        p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * 0.5))
tokens = rng.integers(1, words, (4, 8))
tokens[:, 6:] = 0
tokens = torch.tensor(tokens)
decay = [p for p in model.parameters() if p.ndim > 1]
rest = [p for p in model.parameters() if p.ndim == 1]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}], lr=5e-3)
for _step in range(3):
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # parts
    print(loss.item())
