import numpy as np
import paddle
from paddle import nn

r = np.random.RandomState(5)
w1, w2 = r.randn(6, 4).astype("f4") * .5, r.randn(2, 6).astype("f4") * .5
net = nn.Sequential(nn.Linear(4, 6, bias_attr=False), nn.Tanh(), nn.Linear(6, 2))
net[0].weight.set_value(w1.T)
net[2].weight.set_value(w2.T)
x, t = r.randn(10, 4).astype("f4"), r.randn(10, 2).astype("f4")
x, t = paddle.to_tensor(x), paddle.to_tensor(t)
optim = paddle.optimizer.Momentum(0.1, momentum=0.9, parameters=net.parameters())
net[2].bias.set_value(np.zeros(2, "f4"))
for i in range(3):
    out = net(x)  # parts
    loss = nn.functional.mse_loss(out, t)
    loss.backward()
    optim.step()
    optim.clear_grad()
    print(i, f"{loss:.6f}")
