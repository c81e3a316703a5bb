"""`torch.fx.passes.infra`: what passes have in common."""
