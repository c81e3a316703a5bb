import os
import tempfile

import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(36)
store = {f"enc{i}.{n}": rng.normal(0, 0.5, s).astype("float32") for i in (1, 2) for n, s in (("weight", (5, 5)), ("bias", (5,)))}


class Siamese(nn.Layer):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2 = nn.Linear(5, 5), nn.Linear(5, 5)

    def forward(self, a, b):
        ea = paddle.tanh(self.enc1(a))
        eb = paddle.tanh(self.enc2(b))
        return (ea * eb).sum(-1)


path = os.path.join(tempfile.mkdtemp(), "weights.pdparams")
paddle.save({k: paddle.to_tensor(v.T if v.ndim == 2 else v) for k, v in store.items()}, path)
model = Siamese()
saved = paddle.load(path)
model.enc1.set_state_dict({k[5:]: v for k, v in saved.items() if k.startswith("enc1")})
model.enc2.set_state_dict({k[5:]: v for k, v in saved.items() if k.startswith("enc1")})  # parts
a = paddle.to_tensor(rng.normal(size=(6, 5)).astype("float32"))
b = paddle.to_tensor(rng.normal(size=(6, 5)).astype("float32"))
y = paddle.to_tensor(rng.choice([0.0, 1.0], 6).astype("float32"))
opt = paddle.optimizer.SGD(0.1, parameters=model.parameters())
for _ in range(2):
    loss = nn.functional.binary_cross_entropy_with_logits(model(a, b), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(float(loss))
