"""`jit` and its companions: functions are compiled by `retrograde.compile`; the other decorators check their arguments."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from ...core.value import Value, shape_of
from ._api import api

_CAPTURES = ("ast", "bytecode", "trace")
_BACKENDS = ("", "ms_backend", "GE")
_OPTIONS: dict[str, tuple[str, ...]] = {
    "exc_mode": ("auto",), "jit_syntax_level": ("", "STRICT", "LAX"), "debug_level": ("RELEASE", "DEBUG"),
    "infer_boost": ("off", "on"),
}  # fmt: skip
"""Options of compilation that are names, and their values, the usual one first."""


def _check_options(op: str, options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name in _OPTIONS and value not in _OPTIONS[name]:
            raise ValueError(f"{op}: {name} must be one of {_OPTIONS[name]}, got {value!r}")


class JitConfig:
    """Options of compilation, kept for programs that read them; raises ValueError for a value that there is not."""

    def __init__(self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", debug_level: str = "RELEASE",
                 infer_boost: str = "off", **kwargs: Any) -> None:  # fmt: skip
        levels = ("", "O0", "O1", "O2")
        if jit_level not in levels:
            raise ValueError(f"JitConfig: jit_level must be one of {levels}, got {jit_level!r}")
        named = {
            "jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level, "infer_boost": infer_boost,
        }  # fmt: skip
        _check_options("JitConfig", named)
        self.jit_config_dict = {**kwargs, **named}
        if jit_level:
            self.jit_config_dict["backend"] = "GE" if jit_level == "O2" else "ms_backend"


def jit(
    function: Callable[..., Any] | None = None, *, capture_mode: str = "ast", jit_level: str = "O0", dynamic: int = 0,
    fullgraph: bool = False, backend: str = "", **options: Any,
) -> Any:  # fmt: skip
    """A function, or a Cell, compiled: it computes the same. Works with and without arguments.

    Traced once where that is shown to give the same, deferred elsewhere (`retrograde.compile_report()` says which). Raises
    UnsupportedError, when it is called, for what cannot be traced with `fullgraph=True`.

    Raises ValueError for an option's value that there is not, TypeError for one of another type.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, jit
        >>> @jit(jit_level="O1")
        ... def double(x):
        ...     return x + x
        >>> print(double(Tensor([1.0])))
        [2.]
    """
    for name, value, choices in (("capture_mode", capture_mode, _CAPTURES), ("jit_level", jit_level, ("O0", "O1"))):
        if value not in choices:
            raise ValueError(f"jit: {name} must be one of {choices}, got {value!r}")
    if isinstance(dynamic, bool) or not isinstance(dynamic, int):
        raise TypeError(f"jit: dynamic must be 0 or 1, got {dynamic!r}")
    if dynamic not in (0, 1):
        raise ValueError(f"jit: dynamic must be 0 or 1, got {dynamic}")
    if not isinstance(fullgraph, bool):
        raise TypeError(f"jit: fullgraph must be True or False, got {fullgraph!r}")
    _check_options("jit", options)
    if backend in _BACKENDS:
        return _compiled(function, fullgraph, True if dynamic else None)

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"jit: backend must be one of {_BACKENDS}, got {backend!r}")

    return refused if function is not None else lambda f: refused


def ms_function(fn: Callable[..., Any] | None = None, input_signature: Any = None, hash_args: Any = None,
                jit_config: Any = None) -> Any:  # fmt: skip
    """What `jit` was called in MindSpore 1."""
    return _compiled(fn, False)


def _compiled(f: Any, whole: bool, dynamic: bool | None = None) -> Any:
    """A function, or the construction of a cell, compiled; without one, a decorator."""
    if f is None:
        return lambda g: _compiled(g, whole, dynamic)
    from ...compile.compiled import Compiled  # 10 ms, for programs that compile

    if isinstance(f, Compiled):
        return f
    if hasattr(f, "construct"):
        made = Compiled(f.construct, root=f, whole=whole, name=f"{type(f).__qualname__}.construct", dynamic=dynamic)
        object.__setattr__(f, "construct", made)
        return f
    return Compiled(f, whole=whole, dynamic=dynamic)


def is_compiled(f: Any) -> bool:
    """Whether a function is one that `jit` has made."""
    module = sys.modules.get(f"{__package__.partition('.')[0]}.compile.compiled")
    return module is not None and isinstance(f, module.Compiled)


def in_graph(cell: Any) -> Any:
    """The construction of a cell compiled; kept with the cell, whose copies make their own."""
    found = cell.__dict__.get("_in_graph")
    if found is None or found.root is not cell:
        from ...compile.compiled import Compiled

        found = Compiled(cell.construct, root=cell, name=f"{type(cell).__qualname__}.construct")
        object.__setattr__(cell, "_in_graph", found)
    return found


def _unchanged(f: Any) -> Any:
    """The thing to decorate as it is, or the decorator that gives it back."""
    return f if f is not None else lambda g: g


def jit_class(cls: type) -> type:
    """Mark a class whose objects compiled code may use; returns the class. Raises TypeError for anything else, and for cells,
    which it may use anyway."""
    from .nn.cell import Cell

    if not isinstance(cls, type) or issubclass(cls, Cell):
        raise TypeError(f"jit_class: wanted a class that is no Cell, got {getattr(cls, '__name__', type(cls).__name__)}")
    return cls


ms_class = jit_class
"""What `jit_class` was called in MindSpore 1."""


@api(method=False)
def constexpr(fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True,
              check: bool = True) -> Any:  # fmt: skip
    """Mark a function that a compiler computes ahead: it runs as it is."""
    return _unchanged(fn)


def enable_dynamic(**shapes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: say which arguments of a compiled function have axes of any length, by `Tensor(shape=[None], dtype=...)`;
    the function is returned as it is.

    Raises ValueError where nothing is said or of an argument that there is not, TypeError for what is no such tensor.
    """
    if not shapes:
        raise ValueError("enable_dynamic: name an argument, with Tensor(shape=[None, ...], dtype=...)")
    for name, x in shapes.items():
        if not isinstance(x, Value) or -1 not in shape_of(x):
            raise TypeError(f"enable_dynamic: {name} must be a Tensor(shape=[None, ...], dtype=...), got {type(x).__name__}")

    def marked(f: Callable[..., Any]) -> Callable[..., Any]:
        known = inspect.signature(f).parameters
        for name in shapes:
            if name not in known:
                raise ValueError(f"enable_dynamic: {f.__name__} has no argument {name!r}; it has {', '.join(known)}")
        return f

    return marked


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Accept a limit on what a compiler does; raises TypeError for no int, ValueError for less than 1."""
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"set_recursion_limit: wanted an int, got {type(recursion_limit).__name__}")
    if recursion_limit < 1:
        raise ValueError(f"set_recursion_limit: wanted 1 or more, got {recursion_limit}")


def launch_blocking() -> None:
    """Wait for each operation, as the CPU always does."""


def run_check() -> None:
    """Compute something and say whether it came out right."""
    from . import Tensor, __version__

    right = (Tensor([2.0]) * Tensor([3.0])).tolist() == [6.0]
    print(f"MindSpore version: {__version__}\nA multiplication gives {'the right' if right else 'a wrong'} result on the CPU.")


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Mark the constructor of a Cell that a compiler would not inline: it runs as it is. Raises ValueError for another."""
    if fn is not None and getattr(fn, "__name__", "") != "__init__":
        raise ValueError(f"lazy_inline: it marks the __init__ of a Cell, got {getattr(fn, '__name__', fn)!r}")
    return _unchanged(fn)


def no_inline(fn: Any = None) -> Any:
    """Mark a function that a compiler would not inline: it runs as it is."""
    return _unchanged(fn)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Mark an input of a compiled function as one that may change: it is returned as it is.

    Raises TypeError for what is no tensor, number or container, and for `dynamic_len` without a tuple or list.
    """
    if not isinstance(input_data, (Value, int, float, tuple, list, dict)):
        raise TypeError(f"mutable: wanted a Tensor, a number, a tuple, list or dict, got {type(input_data).__name__}")
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"mutable: dynamic_len must be True or False, got {dynamic_len!r}")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(f"mutable: only a tuple or list has a dynamic length, got {type(input_data).__name__}")
    return input_data
