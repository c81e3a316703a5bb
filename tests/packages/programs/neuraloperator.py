"""neuraloperator: a Fourier neural operator and a tensorised one trained on maps, H1 and Lp losses."""
# packages: neuraloperator==2.0.0, tensorly==0.10.0, tensorly-torch==0.5.0, torch-harmonics==0.9.3
# needs: opt-einsum, configmypy, zencfg, h5py, ruamel.yaml, scipy, matplotlib, requests, tqdm
import torch
from neuralop import H1Loss, LpLoss
from neuralop.models import FNO, TFNO

torch.manual_seed(0)
grid = torch.linspace(0, 1, 16)
phase = torch.rand(8, 1, 1)
field = torch.sin(6.28 * (grid.view(1, 16, 1) + phase)) * torch.cos(6.28 * grid.view(1, 1, 16))
x, y = field.unsqueeze(1), field.cumsum(-1).unsqueeze(1) / 16
for name, model in {
    "fno": FNO(n_modes=(6, 6), in_channels=1, out_channels=1, hidden_channels=12, n_layers=2),
    "tfno": TFNO(
        n_modes=(6, 6),
        in_channels=1,
        out_channels=1,
        hidden_channels=12,
        n_layers=2,
        factorization="tucker",
        rank=0.4,
        implementation="factorized",
    ),
}.items():
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-4)
    h1, l2 = H1Loss(d=2), LpLoss(d=2, p=2)
    for _step in range(5):
        out = model(x)
        loss = h1(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, sum(p.numel() for p in model.parameters()), f"{loss.item():.5f}", f"{l2(out, y).item():.5f}")
with torch.no_grad():
    fine = torch.nn.functional.interpolate(x, size=(24, 24), mode="bilinear")
    torch.manual_seed(1)
    model = FNO(n_modes=(6, 6), in_channels=1, out_channels=1, hidden_channels=12, n_layers=2)
    print(tuple(model(fine).shape), f"{model(fine).mean().item():.6f}")
