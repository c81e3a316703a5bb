import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(8)
model = nn.Sequential(nn.Linear(5, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3))
for layer in (model[0], model[3]):
    shape = layer.weight.shape[::-1]
    layer.weight.set_value((rng.standard_normal(shape) * 0.5).T.astype("float32"))
    layer.bias.set_value(np.zeros(shape[0], "float32"))
shadow = [p.clone().detach() for p in model.parameters()]
data = rng.standard_normal((32, 5)).astype("float32")
labels = rng.integers(0, 3, 32)
scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=1, gamma=0.5)
optimizer = paddle.optimizer.Momentum(scheduler, 0.9, parameters=model.parameters(), use_nesterov=True)
accumulate = 2
for epoch in range(2):
    order = rng.permutation(32)
    for i in range(0, 32, 8):
        batch = order[i:i + 8]
        logits = model(paddle.to_tensor(data[batch]))
        target = nn.functional.label_smooth(nn.functional.one_hot(paddle.to_tensor(labels[batch]), 3), epsilon=0.1)
        loss = nn.functional.cross_entropy(logits, target, soft_label=True)
        loss = loss / accumulate
        loss.backward()
        if (i // 8 + 1) % accumulate == 0:
            optimizer.step()
            optimizer.clear_grad()
            with paddle.no_grad():
                shadow = [0.9 * e + 0.1 * p for e, p in zip(shadow, model.parameters())]
    scheduler.step()
    print(epoch, loss.item(), scheduler.get_lr())
