"""Floor 7: the compiler. `jit` traces a function into a graph (graph.py) and runs it as generated code."""

from .compiled import report as compile_report
from .control import cond, scan, while_loop
from .jit import jit
from .minify import compile_minify

__all__ = ["compile_minify", "compile_report", "cond", "jit", "scan", "while_loop"]
