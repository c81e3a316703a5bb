"""`torch.compile` and `torch.compiler`: functions and modules are compiled by `retrograde.compile`."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from ..._state import LOOKED_AT, state
from . import _autocast, _dtype
from ._api import api
from ._dtype import get_default_dtype
from .nn.modules import _module_hooks

_BACKENDS = ("inductor", "eager", "aot_eager", "cudagraphs", "onnxrt", "tvm")
_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


def _ambient() -> Any:
    """What the dialect's functions depend on besides what they are given."""
    return get_default_dtype(), state.mark, len(_module_hooks.GLOBAL)


def _steady() -> Any:
    """Where to look whether that, and `_in_autocast`, are as they were: there is no mark where nobody looks at results."""
    return (vars(_dtype), "_default"), (LOOKED_AT, None), (_module_hooks.GLOBAL, None), (_autocast.INSIDE, None)


@api(method=False)
def compile(
    model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: Any =
    "inductor", mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """The function, or a module around the one given, compiled: the same results, traced once where that is shown to be the
    same, deferred elsewhere (`retrograde.compile_report()` says which).

    Raises UnsupportedError, when it is called, for what cannot be traced with `fullgraph=True`.
    """
    if model is None:
        return lambda f: compile(
            f, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )
    if mode not in _MODES:
        raise RuntimeError(f"compile: mode must be one of {', '.join(map(str, _MODES))}, got {mode!r}")
    if mode is not None and options is not None:
        raise RuntimeError("compile: give either mode or options, not both")
    if callable(backend) or (backend not in _BACKENDS and not disable):
        raise NotImplementedError(
            f"compile: retrograde's compiler is the only backend there is (the names {', '.join(_BACKENDS)} are taken for it), "
            f"got {backend!r}"
        )
    if disable or backend == "eager" or getattr(model, "_not_compiled", False):
        return model
    if hasattr(model, "named_modules"):
        from ._optimized_module import OptimizedModule

        return model if isinstance(model, OptimizedModule) else OptimizedModule(model, fullgraph, dynamic)
    return compiled(model, whole=fullgraph, dynamic=dynamic)


def compiled(f: Callable[..., Any], **options: Any) -> Any:
    """A function of the dialect's compiled; see `Compiled` in compile/compiled.py."""
    from ...compile.compiled import Compiled  # 10 ms, for programs that compile

    if isinstance(f, Compiled):
        return f
    return Compiled(f, ambient=_ambient, plain=_in_autocast, steady=_steady, **options)


def _in_autocast() -> bool:
    """A region keeps what it has cast, for longer than a trace lasts."""
    return _autocast.state.enabled


def is_compiling() -> bool:
    """Whether a function that is to be compiled is running: traced, deferred, or as it is to see what it does."""
    trace, compiled = (sys.modules.get(f"retrograde.compile.{name}") for name in ("trace.trace", "compiled"))
    if compiled is not None and threading.get_ident() in compiled.ALONE:
        return True
    return trace is not None and bool(trace.tracing())


def is_dynamo_compiling() -> bool:
    """The same."""
    return is_compiling()


def disable(fn: Any = None, recursive: bool = True, **_: Any) -> Any:
    """The function itself, which `torch.compile` leaves as it is."""
    if fn is None:
        return lambda f: disable(f)
    fn._not_compiled = True
    return fn


def allow_in_graph(fn: Any) -> Any:
    """The function itself: what it computes is always part of the graph."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself."""
    return fn


class set_stance:
    """How compiled functions are to run, as a statement, a context or a decorator: what they give is the same in all of them.

    Raises NotImplementedError for "fail_on_recompile", which is about compiling that does not happen here.
    """

    def __init__(
        self, stance: str = "default", *, skip_guard_eval_unsafe: bool = False, force_backend: Any = None
    ) -> None:
        if stance == "fail_on_recompile":
            raise NotImplementedError(
                "set_stance: 'fail_on_recompile' is not offered; compile_report() says what was compiled"
            )

    def __call__(self, fn: Any) -> Any:
        return fn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *found: Any) -> None:
        pass


def is_exporting() -> bool:
    """Whether a program is being exported: never."""
    return False


def reset() -> None:
    """Nothing: what is compiled belongs to the functions."""
