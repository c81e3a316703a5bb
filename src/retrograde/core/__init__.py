"""Floor 2: values, nodes, primitives, and `bind`, the one place where an operation is evaluated and recorded."""
