import paddle

w = paddle.to_tensor([[0.5, -0.3], [0.2, 0.7]], stop_gradient=False)
x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
opt = paddle.optimizer.Momentum(0.01, 0.9, parameters=[w], use_nesterov=True)
for _ in range(3):
    loss = ((x @ w) ** 2).mean()
    loss.backward()
    opt.step()  # parts
    opt.clear_grad()
