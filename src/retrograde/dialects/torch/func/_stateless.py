"""`functional_call` and `stack_module_state`: modules as functions of their parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....core.value import Value
from ..._shared.guard import kind_of


def _owner(module: Any, name: str) -> tuple[Any, str]:
    """The submodule that holds a parameter or buffer, and the name it has there."""
    path, _, last = name.rpartition(".")
    return (module.get_submodule(path) if path else module), last


def _check_absent(op: str, module: Any, name: str) -> None:
    """Raise where a name, which is no parameter's or buffer's, stands for something else in the module, which would stay."""
    if not name:
        raise KeyError(f"{op}: a parameter's name is empty")
    holder, last = _owner(module, name)
    found = getattr(holder, last, None)
    if isinstance(found, Value):
        raise RuntimeError(f"{op}: {name!r} is computed from other parameters; give those")
    if found is not None:
        raise TypeError(f"{op}: {name!r} is a {kind_of(found)} in the module, no parameter or buffer")


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other parameters and buffers than its own, which stay as they are.

    Names that the module has not are left aside; with `strict` they raise RuntimeError, as do missing ones.
    """
    from ..nn.modules.module import Module

    if not isinstance(module, Module):
        raise TypeError(f"functional_call: module must be a torch.nn.Module, got {kind_of(module)}")
    dicts = parameter_and_buffer_dicts
    parts = (dicts,) if isinstance(dicts, dict) else dicts
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, dict) for part in parts):
        raise ValueError(
            f"functional_call: parameter_and_buffer_dicts must be a dict or a list of dicts, got {kind_of(dicts)}"
        )
    given: dict[str, Any] = {}
    for part in parts:
        for name, x in part.items():
            if name in given:
                raise ValueError(f"functional_call: {name!r} is given twice")
            given[name] = x
    put = dicts if isinstance(dicts, dict) else {}
    with replaced("functional_call", module, given, put, tie_weights=tie_weights, strict=strict):
        arguments: Sequence[Any] = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))


@contextlib.contextmanager
def replaced(
    op: str, module: Any, tensors: dict[str, Any], put: dict[str, Any], *, tie_weights: bool, strict: bool
) -> Iterator[None]:
    """A context in which a module has other parameters and buffers; what it has not is left aside, or refused if `strict`.

    What has come into their place meanwhile is in `put` afterwards, for the names that it has.
    """
    given = dict(tensors)
    own: dict[str, Any] = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    unknown = [name for name in given if name not in own]
    if strict and unknown:
        raise RuntimeError(f"{op}: the module has no parameter or buffer {', '.join(map(repr, unknown))}")
    for name in unknown:
        _check_absent(op, module, name)
        del given[name]
    if tie_weights:
        tied: dict[int, Any] = {}
        for name, x in given.items():
            if tied.setdefault(id(own[name]), x) is not x:
                raise ValueError(f"{op}: {name!r} is one tensor with another parameter, and got another value")
        given.update({name: tied[id(x)] for name, x in own.items() if name not in given and id(x) in tied})
    if strict and set(own) - set(given):
        raise RuntimeError(f"{op}: missing with strict=True: {', '.join(sorted(set(own) - set(given)))}")
    before = []
    try:
        for name, x in given.items():
            holder, last = _owner(module, name)
            table = holder._parameters if last in holder._parameters else holder._buffers
            before.append((table, last, table[last]))
            table[last] = x
        yield
    finally:
        for (table, last, x), name in zip(reversed(before), reversed(given)):
            if name in put and last in table:
                put[name] = table[last]
            table[last] = x


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several like modules, stacked along a new first dimension."""
    from ..nn.modules.module import Module

    models = list(models) if isinstance(models, Iterable) else models
    if not isinstance(models, list) or not all(isinstance(model, Module) for model in models):
        raise TypeError(f"stack_module_state: models must be modules in a list, got {kind_of(models)}")
    if not models:
        raise RuntimeError("stack_module_state: at least one model is needed")
    if len({(type(m), m.training) for m in models}) > 1:
        raise RuntimeError("stack_module_state: the models must be of one class and all in training, or all in evaluation")
    from ....ops.structural import stack

    def together(tables: Sequence[dict[str, Any]], leaf: bool) -> dict[str, Any]:
        result = {}
        for name in tables[0]:
            if leaf and len({table[name].requires_grad for table in tables}) > 1:
                raise RuntimeError(f"stack_module_state: {name!r} wants a gradient in some of the models and in others not")
            column: list[Value] = [table[name].detach() for table in tables]
            stacked: Any = stack(*column, axis=0)
            result[name] = stacked.requires_grad_(tables[0][name].requires_grad) if leaf else stacked
        return result

    return (
        together([dict(m.named_parameters()) for m in models], True),
        together([dict(m.named_buffers()) for m in models], False),
    )
