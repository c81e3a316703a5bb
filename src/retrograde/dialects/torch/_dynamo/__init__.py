"""`torch._dynamo`: the names by which packages speak to PyTorch's compiler; `torch.compiler` answers for most of them."""

from __future__ import annotations

import types as _types
from typing import Any as _Any

from .. import compiler as _compiler
from .._api import attributes as _attributes
from .._optimized_module import OptimizedModule
from ..compiler import allow_in_graph, disable, is_compiling, reset, set_stance

config = _types.SimpleNamespace(
    cache_size_limit=8, recompile_limit=8, accumulated_cache_size_limit=256, suppress_errors=False, verbose=False,
    capture_scalar_outputs=False, capture_dynamic_output_shape_ops=False, assume_static_by_default=True,
    automatic_dynamic_shapes=True, inline_inbuilt_nn_modules=True, optimize_ddp=True,
)  # fmt: skip
"""Settings that are remembered and change nothing."""


def optimize(backend: _Any = "inductor", *, nopython: bool = False, dynamic: bool | None = None, **_: _Any) -> _Any:
    """`torch.compile` as a decorator."""
    return lambda model: _compiler.compile(model, backend=backend, fullgraph=nopython, dynamic=dynamic)


def disallow_in_graph(fn: _Any) -> _Any:
    """The function itself, which `torch.compile` leaves as it is."""
    return disable(fn)


def graph_break(msg: str = "") -> None:
    """Nothing: a function is traced whole, or runs as it is."""


def mark_dynamic(t: _Any, index: _Any, **_: _Any) -> None:
    """Nothing: sizes that vary are noticed when they do."""


maybe_mark_dynamic = mark_static = mark_static_address = mark_unbacked = mark_dynamic


def assume_constant_result(fn: _Any) -> _Any:
    """The function itself."""
    return fn


def export(*args: _Any, **kwargs: _Any) -> _Any:
    """Raises NotImplementedError: `torch.fx.symbolic_trace` gives graphs here."""
    raise NotImplementedError(
        "torch._dynamo.export: retrograde's torch dialect traces no bytecode; torch.fx.symbolic_trace gives graphs"
    )


def explain(*args: _Any, **kwargs: _Any) -> _Any:
    """Raises NotImplementedError: `retrograde.compile_report()` says what was compiled."""
    raise NotImplementedError("torch._dynamo.explain: retrograde.compile_report() says what was compiled, and why not")


__getattr__ = _attributes(globals(), "eval_frame", "utils")
