"""What a function does, as a graph: arrays and numbers without values, and what stands for what while it is traced."""
