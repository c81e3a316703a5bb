"""nflows: a masked autoregressive flow and a coupling spline fitted for 12 steps, samples of both."""
# packages: nflows==0.14
# needs: matplotlib, tensorboard, tqdm
import torch
from nflows.distributions.normal import StandardNormal
from nflows.flows.base import Flow
from nflows.nn.nets import ResidualNet
from nflows.transforms import (
    ActNorm,
    CompositeTransform,
    LULinear,
    MaskedAffineAutoregressiveTransform,
    PiecewiseRationalQuadraticCouplingTransform,
    ReversePermutation,
)  # fmt: skip

torch.manual_seed(0)
angle = 3.14159 * torch.rand(128)
data = torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(128, 2)


def fit(name, transforms):
    flow = Flow(CompositeTransform(transforms), StandardNormal([2]))
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
    for step in range(12):
        optimizer.zero_grad()
        loss = -flow.log_prob(data).mean()
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.6f}")
    with torch.no_grad():
        samples, logs = flow.sample_and_log_prob(4)
    print(name, "samples", [f"{v:.4f}" for v in samples.flatten().tolist()])
    print(name, "densities", [f"{v:.4f}" for v in logs.tolist()])


fit("maf", [t for _ in range(3) for t in (ReversePermutation(2), MaskedAffineAutoregressiveTransform(2, hidden_features=16))])
mask = torch.tensor([1, 0])
coupling = [
    PiecewiseRationalQuadraticCouplingTransform(
        mask if i % 2 else 1 - mask, lambda n_in, n_out: ResidualNet(n_in, n_out, hidden_features=16), tails="linear",
        tail_bound=3.0,
    )
    for i in range(2)
]
fit("spline", [ActNorm(2), LULinear(2, identity_init=True), *coupling])
