"""`torch.distributed._composable`: parallelism that wraps modules where they are."""

from .._several import offer

offer(globals())
