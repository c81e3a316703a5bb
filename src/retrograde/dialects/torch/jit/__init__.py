"""`torch.jit`: functions and modules run as they are, which is what a script of them computes; nothing is serialised."""

from __future__ import annotations

import functools as _functools
import warnings as _warnings
from collections.abc import Callable as _Callable
from typing import Any as _Any
from typing import Final

from ..._shared.registry import defined as _defined
from .._api import attributes as _attributes
from .._grad_modes import no_grad as _no_grad
from .._tensor import Tensor as _Tensor
from ..nn.modules.module import Module as _Module


@_functools.cache
def _say_once(name: str) -> None:
    _warnings.warn(
        f"torch.jit.{name} compiles nothing in retrograde's torch dialect: the function runs as it is", stacklevel=3
    )


def script(obj: _Any, optimize: _Any = None, _frames_up: int = 0, _rcb: _Any = None, example_inputs: _Any = None) -> _Any:
    """The function, class or module itself; says once that nothing is compiled."""
    _say_once("script")
    return obj


def trace(func: _Any, example_inputs: _Any = None, *args: _Any, **kwargs: _Any) -> _Any:
    """The function or module itself, run once on the example inputs; says once that nothing is compiled.

    Python control flow stays alive in it, where PyTorch's trace keeps the branches that the example took.
    """
    _say_once("trace")
    if example_inputs is not None:
        with _no_grad():
            func(*((example_inputs,) if isinstance(example_inputs, _Tensor) else tuple(example_inputs)))
    return func


def _itself(fn: _Any = None, **_: _Any) -> _Any:
    """The function itself."""
    return fn if fn is not None else _itself


export = ignore = unused = script_method = interface = script_if_tracing = freeze = optimize_for_inference = _itself
_script_if_tracing = _itself


class TracerWarning(Warning):
    """The category of warnings about what a trace cannot see; none is given here."""


class Error(RuntimeError):
    """What compiled code would raise; never raised here."""


class Attribute:
    """A value with a type for a compiler; here the value counts."""

    def __new__(cls, value: _Any, type: _Any) -> _Any:
        return value


def trace_module(mod: _Any, inputs: dict[str, _Any], *args: _Any, **kwargs: _Any) -> _Any:
    """The module itself, each method named in `inputs` run once; says once that nothing is compiled."""
    for name, given in inputs.items():
        trace(getattr(mod, name), given)
    return mod


def _overload(func: _Any) -> _Any:
    """The function itself: a signature that a compiled form would have as well, whose body is never called."""
    return func


_overload_method = _overload


def is_scripting() -> bool:
    """Whether compiled code runs: never."""
    return False


def is_tracing() -> bool:
    """Whether a trace is being taken: never."""
    return False


def annotate(the_type: _Any, the_value: _Any) -> _Any:
    """The value."""
    return the_value


def isinstance(obj: _Any, target_type: _Any) -> bool:
    """Whether an object is of a type, generic ones such as `list[int]` judged by their container."""
    import builtins
    import typing

    return builtins.isinstance(obj, typing.get_origin(target_type) or target_type)


_SAVED = "save state_dict() with torch.save, and load it into a module built by its class"


def _unsupported(name: str, remedy: str = _SAVED) -> _Callable[..., _Any]:
    def function(*args: _Any, **kwargs: _Any) -> _Any:
        raise NotImplementedError(f"torch.jit.{name}: retrograde's torch dialect has no TorchScript; {remedy}")

    return _defined(name, function, "Raises NotImplementedError: there are no TorchScript files here.")


class ScriptModule(_Module):
    """What a compiled module would be; there are none, so nothing is an instance of it but what derives from it."""


class ScriptFunction:
    """What a compiled function would be; there are none."""


save, load = _unsupported("save"), _unsupported("load")
_get_trace_graph = _unsupported("_get_trace_graph", "torch.fx.symbolic_trace gives the graph of a module")

__getattr__ = _attributes(globals(), "annotations")
