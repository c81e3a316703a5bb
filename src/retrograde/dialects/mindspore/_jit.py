"""`jit` and its companions. Functions run eagerly: the decorators check their arguments and return what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._api import api

_LEVELS, _CAPTURES = ("O0", "O1", "O2"), ("ast", "bytecode", "trace")


class JitConfig:
    """Options of compilation, kept for programs that read them; raises ValueError for a level that there is not."""

    def __init__(self, jit_level: str = "", exc_mode: str = "auto", jit_syntax_level: str = "", debug_level: str = "RELEASE",
                 infer_boost: str = "off", **kwargs: Any) -> None:  # fmt: skip
        if jit_level not in ("", *_LEVELS):
            raise ValueError(f"JitConfig: jit_level must be one of {_LEVELS}, got {jit_level!r}")
        self.jit_config_dict = {
            "jit_level": jit_level, "exc_mode": exc_mode, "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level, "infer_boost": infer_boost, **kwargs,
        }  # fmt: skip


def jit(
    function: Callable[..., Any] | None = None, *, capture_mode: str = "ast", jit_level: str = "O0", dynamic: int = 0,
    fullgraph: bool = False, backend: str = "", **options: Any,
) -> Any:  # fmt: skip
    """Mark a function (or a Cell) to be compiled: it computes the same, eagerly. Works with and without arguments.

    Raises ValueError for a capture mode or level that there is not.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, jit
        >>> @jit(jit_level="O1")
        ... def double(x):
        ...     return x + x
        >>> print(double(Tensor([1.0])))
        [2.]
    """
    if capture_mode not in _CAPTURES:
        raise ValueError(f"jit: capture_mode must be one of {_CAPTURES}, got {capture_mode!r}")
    if jit_level not in _LEVELS:
        raise ValueError(f"jit: jit_level must be one of {_LEVELS}, got {jit_level!r}")
    return _unchanged(function)


def ms_function(fn: Callable[..., Any] | None = None, input_signature: Any = None, hash_args: Any = None,
                jit_config: Any = None) -> Any:  # fmt: skip
    """What `jit` was called in MindSpore 1."""
    return _unchanged(fn)


def _unchanged(f: Any) -> Any:
    """The thing to decorate as it is, or the decorator that gives it back."""
    return f if f is not None else lambda g: g


def jit_class(cls: type) -> type:
    """Mark a class whose objects compiled code may use; returns the class. Raises TypeError for anything else."""
    if not isinstance(cls, type):
        raise TypeError(f"jit_class: wanted a class, got {type(cls).__name__}")
    return cls


ms_class = jit_class
"""What `jit_class` was called in MindSpore 1."""


@api(method=False)
def constexpr(fn: Any = None, get_instance: bool = True, name: str | None = None, reuse_result: bool = True,
              check: bool = True) -> Any:  # fmt: skip
    """Mark a function that a compiler computes ahead: it runs as it is."""
    return _unchanged(fn)


def run_check() -> None:
    """Compute something and say whether it came out right."""
    from . import Tensor, __version__

    right = (Tensor([2.0]) * Tensor([3.0])).tolist() == [6.0]
    print(f"MindSpore version: {__version__}\nA multiplication gives {'the right' if right else 'a wrong'} result on the CPU.")


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Mark the constructor of a Cell that a compiler would not inline: it runs as it is."""
    return _unchanged(fn)


def no_inline(fn: Any = None) -> Any:
    """Mark a function that a compiler would not inline: it runs as it is."""
    return _unchanged(fn)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Mark an input of a compiled function as one that may change: it is returned as it is."""
    return input_data
