import numpy as np
import torch

rng = np.random.default_rng(7)
I, H, T, N = 3, 4, 5, 2
def f32(*s):
    return rng.normal(size=s).astype("float32") * 0.5
weights = {"weight_ih_l0": f32(4 * H, I), "weight_hh_l0": f32(4 * H, H), "bias_ih_l0": f32(4 * H), "bias_hh_l0": f32(4 * H)}
lstm = torch.nn.LSTM(I, H)
lstm.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
head = torch.nn.Linear(H, 1)
head.weight.data = torch.from_numpy(f32(1, H))
head.bias.data.zero_()
x = torch.from_numpy(f32(T, N, I))
y = torch.from_numpy(f32(N, 1))

out, (h, c) = lstm(x)
loss = torch.nn.functional.mse_loss(head(out[-1]), y)
loss.backward()
print(loss.item())
for n, p in lstm.named_parameters():
    print(n, p.grad.norm().item())
