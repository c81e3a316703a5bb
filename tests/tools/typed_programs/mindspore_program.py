"""What an editor knows of a program for MindSpore that has the stubs; see torch_program.py."""

import mindspore as ms
from mindspore import nn, ops

x = ops.ones((3, 4), ms.float32)
reveal_type(x)  # mindspore.common.tensor.Tensor
reveal_type((2 * x + 1).mean(0))  # mindspore.common.tensor.Tensor
reveal_type(ops.relu(x))  # mindspore.common.tensor.Tensor
reveal_type(ops.cat([x, x]))  # mindspore.common.tensor.Tensor
reveal_type(nn.Dense(4, 2).construct(x))  # mindspore.common.tensor.Tensor
