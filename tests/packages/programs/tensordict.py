"""tensordict: nested dicts of tensors indexed, stacked, applied, as a class, through modules with keys."""
# packages: tensordict==0.15.3
# needs: numpy, cloudpickle, packaging, orjson, importlib_metadata, pyvers
import torch
from tensordict import TensorDict, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn

torch.manual_seed(0)
data = TensorDict({"a": torch.randn(4, 3), "nested": {"b": torch.arange(8.0).view(4, 2)}}, batch_size=[4])
print(data["nested", "b"].sum().item(), data[1:3].batch_size, data.shape, sorted(map(str, data.keys(True, True))))
stacked = torch.stack([data, data.clone().zero_()])
print(
    stacked.batch_size,
    f"{stacked['a'].sum().item():.6f}",
    stacked.reshape(8).batch_size,
    torch.cat([data, data]).batch_size,
)
doubled = data.apply(lambda x: 2 * x)
print(f"{doubled['a'].norm().item():.6f}", (data + data == doubled).all(), data.flatten_keys(".").keys())
data["nested", "c"] = torch.ones(4, 1)
print(data.exclude("a").select(("nested", "c")), data.unsqueeze(-1).batch_size, data.to_dict()["nested"]["c"].tolist())


@tensorclass
class Sample:
    image: torch.Tensor
    label: torch.Tensor


samples = Sample(image=torch.randn(5, 2, 2), label=torch.arange(5), batch_size=[5])
print(samples[2:4].label.tolist(), samples.batch_size, f"{samples.image.sum().item():.6f}")
net = TensorDictSequential(
    TensorDictModule(nn.Linear(3, 8), in_keys=["a"], out_keys=["hidden"]),
    TensorDictModule(nn.Sequential(nn.Tanh(), nn.Linear(8, 1)), in_keys=["hidden"], out_keys=["out"]),
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(4):
    loss = (net(data.clone())["out"] - data["nested", "b"].sum(-1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
params = TensorDict.from_module(net)
print(sorted(params.keys(True, True), key=str), f"{sum(p.norm() for p in params.values(True, True)).item():.6f}")
with params.apply(lambda p: p.detach() * 0).to_module(net):
    print(net(data.clone())["out"].abs().sum().item())
