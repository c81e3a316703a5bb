"""What dialects share above operations: modules, layers, losses, initial values, update rules; no dialect names."""
