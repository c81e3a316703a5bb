import numpy as np
import paddle

r = np.random.default_rng(0)
W, X, Y = (r.normal(size=s).astype("float32") for s in ((6, 5), (8, 6), (8, 5)))
w = paddle.create_parameter([6, 5], "float32")
w.set_value(W * np.float32(0.5))
x, y = paddle.to_tensor(X), paddle.to_tensor(Y)
o = paddle.optimizer.Adam(0.01, parameters=[w])
for _step in range(5):
    p = paddle.nn.functional.log_softmax(paddle.matmul(x, w))
    loss = -(p * paddle.nn.functional.softmax(y)).sum(-1).mean()
    loss.backward()
    o.step()
    o.clear_grad()
