import paddle

paddle.seed(0)
x = paddle.to_tensor([[1.0, 2.0], [0.0, 0.0]], stop_gradient=False)
length = paddle.sum(x, axis=1, keepdim=True)
share = x / length  # begins here
loss = paddle.mean(share * share)
loss.backward()
