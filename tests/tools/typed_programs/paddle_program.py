"""What an editor knows of a program for PaddlePaddle that has the stubs; see torch_program.py."""

import paddle
import paddle.nn.functional as F
from paddle import nn

x = paddle.rand([3, 4])
reveal_type(x)  # paddle.Tensor
reveal_type((2 * x + 1).mean(axis=0))  # paddle.Tensor
reveal_type(F.relu(x))  # paddle.Tensor
reveal_type(paddle.concat([x, x]))  # paddle.Tensor
reveal_type(x.backward())  # None
reveal_type(x.grad)  # paddle.Tensor | None
reveal_type(nn.Linear(4, 2).forward(x))  # paddle.Tensor
