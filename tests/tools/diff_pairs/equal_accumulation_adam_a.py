import paddle
import paddle.nn as nn

paddle.seed(9)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = paddle.optimizer.Adam(learning_rate=0.01, parameters=net.parameters())
x, y = paddle.randn([12, 4]), paddle.randint(0, 3, [12])
for _ in range(2):
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
    opt.clear_grad()
