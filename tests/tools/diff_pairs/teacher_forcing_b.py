import torch
from torch import nn

torch.manual_seed(3)
enc, dec = nn.GRU(3, 6), nn.GRUCell(6, 6)
emb, out = nn.Embedding(9, 6), nn.Linear(6, 9)
params = [p for m in (enc, dec, emb, out) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
src, tgt = torch.randn(4, 5, 3), torch.randint(0, 9, (4, 5))
for _ in range(2):
    _, h = enc(src)
    h = h[0]
    tok = torch.zeros(5, dtype=torch.long)
    loss = 0
    for t in range(4):
        h = dec(emb(tok), h)
        logits = out(h)
        loss = loss + nn.functional.cross_entropy(logits, tgt[t])
        tok = logits.argmax(1)  # parts
    opt.zero_grad()
    loss.backward()
    opt.step()
