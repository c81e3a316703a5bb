"""`torch.distributed.device_mesh`: processes in rows and columns."""

from ._several import offer

offer(globals())
