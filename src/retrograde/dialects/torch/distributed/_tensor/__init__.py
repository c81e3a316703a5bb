"""`torch.distributed._tensor`: where older programs find tensors divided between processes."""

from .._several import offer

offer(globals())
