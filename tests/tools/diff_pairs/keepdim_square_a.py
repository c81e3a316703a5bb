import numpy as np
import paddle

rng = np.random.default_rng(23)
n = 6
adjacency = (rng.random((n, n)) > 0.5).astype("float32")
adjacency = np.maximum(adjacency, adjacency.T) + np.eye(n, dtype="float32")
A = paddle.to_tensor(adjacency)
W1 = paddle.to_tensor(rng.normal(0, 0.5, (4, 8)).astype("float32"), stop_gradient=False)
W2 = paddle.to_tensor(rng.normal(0, 0.5, (8, 3)).astype("float32"), stop_gradient=False)
X = paddle.to_tensor(rng.normal(size=(n, 4)).astype("float32"))
y = paddle.to_tensor(rng.integers(0, 3, n))
degree = A.sum(axis=1, keepdim=True)
A_hat = A / degree  # parts
for step in range(3):
    H = paddle.nn.functional.relu(A_hat @ X @ W1)
    Z = A_hat @ H @ W2
    loss = paddle.nn.functional.cross_entropy(Z, y)
    g1, g2 = paddle.grad(loss, [W1, W2])
    W1 = (W1 - 0.3 * g1).detach()
    W2 = (W2 - 0.3 * g2).detach()
    W1.stop_gradient = W2.stop_gradient = False
    print(step, float(loss))
