"""`torch.distributed.tensor`: tensors divided between processes."""

from ._several import offer

offer(globals())
