"""pytorch-crf: a conditional random field on an LSTM's scores trained with masks, decoded by Viterbi."""
# packages: pytorch-crf==0.7.2
import torch
from torch import nn
from torchcrf import CRF

torch.manual_seed(0)
words, tags = torch.randint(0, 30, (4, 9)), torch.randint(0, 5, (4, 9))
mask = torch.arange(9)[None] < torch.tensor([[9], [7], [4], [8]])
embed, lstm, score, crf = (
    nn.Embedding(30, 8),
    nn.LSTM(8, 6, bidirectional=True, batch_first=True),
    nn.Linear(12, 5),
    CRF(5, batch_first=True),
)
optimizer = torch.optim.Adam([p for m in (embed, lstm, score, crf) for p in m.parameters()], lr=0.05)
for step in range(6):
    emissions = score(lstm(embed(words))[0])
    loss = -crf(emissions, tags, mask=mask, reduction="token_mean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", crf.decode(emissions, mask)[1])
print([f"{v:.6f}" for v in crf.transitions.grad[0].tolist()], crf)
