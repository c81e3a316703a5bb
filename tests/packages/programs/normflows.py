"""normflows: a RealNVP and a neural spline flow fitted to two moons, samples and densities."""
# packages: normflows==1.7.3
# note: the first batch sets ActNorm's shift so that the mean behind it is 0, and the gradient of the shift is that mean:
# note: nothing but rounding, of which Adam's first step makes its whole rate. PyTorch differs as much from itself where the
# note: data are scaled by 1.000001.
import normflows as nf
import torch

torch.manual_seed(0)
target = nf.distributions.TwoMoons()


def fit(name, layers, rate):
    model = nf.NormalizingFlow(nf.distributions.base.DiagGaussian(2), layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5)
    for step in range(12):
        x = torch.randn(64, 2) * 0.5 + torch.tensor([1.0, 0.0])
        optimizer.zero_grad()
        loss = model.forward_kld(x)
        loss.backward()
        optimizer.step()
        print(name, step, f"{loss.item():.6f}")
    model.eval()
    samples, logs = model.sample(4)
    print(name, "samples", [f"{v:.4f}" for v in samples.flatten().tolist()])
    print(name, "densities", [f"{v:.4f}" for v in model.log_prob(samples).tolist()])
    print(name, "reverse", f"{logs.mean().item():.4f}")


layers = []
for _i in range(6):
    layers.append(nf.flows.AffineCouplingBlock(nf.nets.MLP([1, 32, 32, 2], init_zeros=True)))
    layers.append(nf.flows.Permute(2, mode="swap"))
    layers.append(nf.flows.ActNorm(2))
fit("realnvp", layers, 1e-3)
layers = []
for _ in range(3):
    layers += [nf.flows.AutoregressiveRationalQuadraticSpline(2, 1, 16), nf.flows.LULinearPermute(2)]
fit("spline", layers, 1e-3)
print("moons", [f"{v:.5f}" for v in target.log_prob(torch.randn(4, 2)).tolist()])
