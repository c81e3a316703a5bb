import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(502)
V, D, T, H = 12, 16, 8, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attn = nn.MultiheadAttention(D, H, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.ln = nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(T))
        mask = nn.Transformer.generate_square_subsequent_mask(T)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.ln(x))


model = LM()
with torch.no_grad():
    for _n, p in sorted(model.named_parameters()):
        if p.ndim > 1:
            p.copy_(torch.tensor(rng.normal(0, 0.15, tuple(p.shape))))
with torch.no_grad():
    for n, p in model.named_parameters():
        if p.ndim == 1:
            p.fill_(1.0 if 'ln' in n and 'weight' in n else 0.0)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 10))
for _step in range(8):
    ids = torch.tensor((rng.integers(0, V, (6, 1)) + np.arange(T + 1)) % V)
    logits = model(ids[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), ids[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
print(loss.item())
