import numpy as np
import paddle

rng = np.random.default_rng(1)
model = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.Tanh(), paddle.nn.Linear(6, 3))
for parameter, shape in zip(model.parameters(), [(4, 6), (6,), (6, 3), (3,)]):
    parameter.set_value(rng.standard_normal(shape).astype("float32") / 2)
x = paddle.to_tensor(rng.standard_normal((8, 4)).astype("float32"))
labels = paddle.to_tensor(rng.integers(0, 3, 8))
optimizer = paddle.optimizer.AdamW(0.01, parameters=model.parameters(), weight_decay=0.1)
for _ in range(3):
    loss = paddle.nn.functional.cross_entropy(model(x), labels)
    loss.backward()
    optimizer.step()  # parts
    optimizer.clear_grad()
