"""TensorLy with its PyTorch backend: CP, Tucker and tensor-train decompositions, a factorised tensor differentiated."""
# packages: tensorly==0.10.0
# needs: numpy, scipy
import tensorly as tl
import torch
from tensorly.decomposition import parafac, tensor_train, tucker
from tensorly.tenalg import mode_dot

tl.set_backend("pytorch")
torch.manual_seed(0)
x = torch.einsum("ir,jr,kr->ijk", torch.rand(5, 2), torch.rand(6, 2), torch.rand(4, 2)).double()
for f, options in (
    (parafac, {"rank": 2, "init": "svd", "n_iter_max": 50}),
    (tucker, {"rank": [2, 2, 2]}),
    (tensor_train, {"rank": [1, 3, 3, 1]}),
):
    found = f(x, **options)
    whole = {parafac: tl.cp_to_tensor, tucker: tl.tucker_to_tensor, tensor_train: tl.tt_to_tensor}[f](found)
    print(f.__name__, f"{tl.norm(whole - x).item():.3f}", f"{whole.sum().item():.6f}")
core = tl.tensor(torch.randn(2, 2, 2, dtype=torch.float64), requires_grad=True)
factors = [tl.tensor(torch.randn(n, 2, dtype=torch.float64), requires_grad=True) for n in x.shape]
optimizer = torch.optim.Adam([core, *factors], lr=0.05)
for step in range(6):
    loss = tl.norm(tl.tucker_to_tensor((core, factors)) - x, 2) + 0.01 * core.pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
print(f"{mode_dot(x, torch.ones(3, 6, dtype=torch.float64), 1).sum().item():.6f}", tl.unfold(x, 1).shape)
