"""`torch.autograd.profiler`: the names of `torch.profiler`."""

from ..profiler import profile, record_function

__all__ = ["profile", "record_function"]
