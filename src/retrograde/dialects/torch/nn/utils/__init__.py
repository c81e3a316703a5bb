"""`torch.nn.utils`: helpers around parameters and modules."""
