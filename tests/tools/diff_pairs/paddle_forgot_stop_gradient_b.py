import paddle

w = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
b = paddle.to_tensor([0.5, 0.5, 0.5])
x = paddle.to_tensor([2.0, 3.0, 4.0])
y = (w * x + b).sum()  # parts
y.backward()
print(w.grad, b.grad)
