import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

rng = np.random.default_rng(68)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 5)
        self.conv2 = nn.Conv1d(5, 4, 2, pad_mode="valid", has_bias=True)
        self.conv3 = nn.Conv1d(5, 4, 3, pad_mode="valid", has_bias=True)
        self.fc = nn.Dense(8, 3)

    def construct(self, words):
        e = self.emb(words).transpose(0, 2, 1)
        h = [ops.tanh(c(e)).max(axis=-1) for c in (self.conv2, self.conv3)]  # parts 1
        h = ops.cat(h[::-1], 1)  # parts 2
        return self.fc(h)


net = Net()
for p in net.trainable_params():
    shape = p.shape if p.ndim < 4 else (p.shape[0], p.shape[1], p.shape[3])
    p.set_data(Tensor((rng.normal(size=shape) * 0.5).astype(np.float32).reshape(p.shape)))
words = Tensor(rng.integers(1, 15, (6, 9)).astype(np.int32))
y = Tensor(rng.integers(0, 3, 6).astype(np.int32))
opt = nn.Adagrad(net.trainable_params(), accum=0.0, learning_rate=0.05)


def forward(words, y):
    return ops.cross_entropy(net(words), y, label_smoothing=0.1)  # parts 3


step = ms.value_and_grad(forward, None, opt.parameters)
for _ in range(2):
    loss, grads = step(words, y)
    opt(grads)  # parts 4
