"""zuko: MAF, neural spline and continuous flows, conditional, fitted by maximum likelihood, samples with gradients."""
# packages: zuko==1.6.0
import torch
import zuko

torch.manual_seed(0)
context = torch.randn(64, 1)
x = torch.cat([context.sin(), context**2], 1) + 0.2 * torch.randn(64, 2)
flows = {
    "maf": zuko.flows.MAF(features=2, context=1, transforms=2, hidden_features=(16, 16)),
    "nsf": zuko.flows.NSF(features=2, context=1, transforms=2, hidden_features=(16, 16)),
    "cnf": zuko.flows.CNF(features=2, context=1, hidden_features=(16,)),
    "gf": zuko.flows.GF(features=2, context=1, transforms=2, hidden_features=(16,)),
}
for name, flow in flows.items():
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-3)
    for step in range(4):
        loss = -flow(context).log_prob(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(name, step, f"{loss.item():.6f}")
    if name != "gf":
        with torch.no_grad():
            print(name, [f"{v:.5f}" for v in flow(context[:2]).sample((2,)).flatten().tolist()])
drawn = flows["nsf"](context[:3]).rsample((4,))
energy = drawn.square().sum()
energy.backward()
print("energy", f"{energy.item():.5f}", f"{next(flows['nsf'].parameters()).grad.norm().item():.6f}")
mixture = zuko.distributions.Mixture(
    torch.distributions.Normal(torch.tensor([-1.0, 1.0]), torch.tensor([0.5, 1.0])), logits=torch.tensor([0.0, 0.3])
)
print("mixture", [f"{v:.6f}" for v in mixture.log_prob(torch.tensor([0.0, 0.5])).tolist()])
box = zuko.distributions.BoxUniform(torch.zeros(2), torch.ones(2) * 2)
print("box", f"{box.log_prob(torch.ones(2)).item():.6f}", f"{box.entropy().item():.6f}")
