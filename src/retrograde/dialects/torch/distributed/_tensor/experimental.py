"""`torch.distributed._tensor.experimental`: what may change of divided tensors."""

from .._several import offer

offer(globals())
