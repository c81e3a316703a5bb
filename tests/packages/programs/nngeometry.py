"""nngeometry: the Fisher matrix of a network in five representations."""
# packages: nngeometry==0.4
# needs: tqdm
import torch
from nngeometry.metrics import FIM
from nngeometry.object import PMatBlockDiag, PMatDense, PMatDiag, PMatEKFAC, PMatKFAC, PVector
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(3 * 16, 4))
loader = DataLoader(TensorDataset(torch.randn(20, 1, 6, 6), torch.randint(0, 4, (20,))), batch_size=10)
v = PVector.from_model(net)
for kind in (PMatDense, PMatBlockDiag, PMatKFAC, PMatEKFAC, PMatDiag):
    F = FIM(model=net, loader=loader, representation=kind, device="cpu", variant="classif_logits")
    print(
        kind.__name__,
        f"{F.trace().item():.6f} {F.vTMv(v).item():.6f} {F.frobenius_norm().item() if kind is not PMatEKFAC else 0:.6f}",
    )
