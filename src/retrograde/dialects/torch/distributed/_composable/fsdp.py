"""`torch.distributed._composable.fsdp`: modules divided between processes."""

from .._several import offer

offer(globals())
