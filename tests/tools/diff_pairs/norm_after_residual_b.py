import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(502)
V, D, T, H = 12, 16, 8, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x):
        n = x.shape[0]
        q, k, v = (t.view(n, T, H, D // H).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-1, -2) * (D // H) ** -0.5
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -1e9)
        y = scores.softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(n, T, D))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attn = Attention()
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return self.ln2(x + self.mlp(x))  # parts


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Parameter(torch.zeros(T, D))
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.ln = nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln(x))


model = LM()
def rename(n):
    return n.replace("in_proj_", "qkv.").replace("out_proj", "proj").replace("pos.weight", "pos")
shapes = {}
for b in range(2):
    shapes |= {f"blocks.{b}.attn.in_proj_weight": (48, 16), f"blocks.{b}.attn.out_proj.weight": (16, 16),
               f"blocks.{b}.mlp.0.weight": (64, 16), f"blocks.{b}.mlp.2.weight": (16, 64)}
shapes |= {"head.weight": (12, 16), "pos.weight": (8, 16), "tok.weight": (12, 16)}
own = dict(model.named_parameters())
with torch.no_grad():
    for n in sorted(shapes):
        own[rename(n)].copy_(torch.tensor(rng.normal(0, 0.15, shapes[n])))
    for b in model.blocks:
        b.attn.qkv.bias.zero_()
        b.attn.proj.bias.zero_()

with torch.no_grad():
    for n, p in model.named_parameters():
        if p.ndim == 1:
            p.fill_(1.0 if 'ln' in n and 'weight' in n else 0.0)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), weight_decay=0.1)
for step in range(8):
    for group in opt.param_groups:
        group["lr"] = 3e-3 * min(1.0, (step + 1) / 10)
    ids = torch.tensor((rng.integers(0, V, (6, 1)) + np.arange(T + 1)) % V)
    loss = F.nll_loss(F.log_softmax(model(ids[:, :-1]), -1).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    norm = torch.sqrt(sum((p.grad ** 2).sum() for p in model.parameters()))
    for p in model.parameters():
        p.grad.mul_((1.0 / (norm + 1e-6)).clamp(max=1.0))
    opt.step()
print(loss.item())
