"""`torch.distributed.algorithms`: `join`."""
