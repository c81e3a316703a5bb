"""Floor 7: the compiler. `jit` traces a function into a graph (graph.py) and runs it as generated code."""

from .jit import jit

__all__ = ["jit"]
