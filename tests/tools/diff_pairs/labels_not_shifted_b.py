import torch
from torch import nn

torch.manual_seed(6)
emb, rnn, out = nn.Embedding(12, 6), nn.LSTM(6, 8, batch_first=True), nn.Linear(8, 12)
opt = torch.optim.Adam([p for m in (emb, rnn, out) for p in m.parameters()], lr=0.01)
seq = torch.randint(0, 12, (3, 9))
for _ in range(2):
    h, _ = rnn(emb(seq[:, :-1]))
    target = seq[:, :-1]  # parts
    loss = nn.functional.cross_entropy(out(h).transpose(1, 2), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
