import paddle

x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
y = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
a = paddle.atan2(y, x)  # begins here
(a * a).sum().backward()
print(x.grad)
