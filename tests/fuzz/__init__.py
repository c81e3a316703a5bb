"""Random programs on this library and on PyTorch or jax, compared value by value: `python -m tests.fuzz`."""
