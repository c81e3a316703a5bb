"""`functional_call` and `stack_module_state`: modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....core.value import Value


def _owner(module: Any, name: str) -> tuple[Any, str]:
    """The submodule that holds a parameter or buffer, and the name it has there."""
    path, _, last = name.rpartition(".")
    return (module.get_submodule(path) if path else module), last


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with other parameters and buffers than its own, which stay as they are.

    Names that the module has not are left aside; with `strict` they raise RuntimeError, as do missing ones.
    """
    given: dict[str, Any] = {}
    dicts = parameter_and_buffer_dicts
    for part in (dicts,) if isinstance(dicts, dict) else tuple(dicts):
        for name, x in part.items():
            if name in given:
                raise ValueError(f"functional_call: {name!r} is given twice")
            given[name] = x
    own: dict[str, Any] = dict(module.named_parameters(remove_duplicate=False))
    own.update(module.named_buffers(remove_duplicate=False))
    unknown = [name for name in given if name not in own]
    if strict and unknown:
        raise RuntimeError(f"functional_call: the module has no parameter or buffer {', '.join(map(repr, unknown))}")
    for name in unknown:
        del given[name]
    if strict and set(own) - set(given):
        raise RuntimeError(f"functional_call: missing with strict=True: {', '.join(sorted(set(own) - set(given)))}")
    if tie_weights:
        by_identity: dict[int, Any] = {id(own[name]): x for name, x in given.items()}
        for name, x in own.items():
            if name not in given and id(x) in by_identity:
                given[name] = by_identity[id(x)]
    replaced = []
    try:
        for name, x in given.items():
            holder, last = _owner(module, name)
            table = holder._parameters if last in holder._parameters else holder._buffers
            replaced.append((table, last, table[last]))
            table[last] = x
        arguments: Sequence[Any] = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for table, last, x in reversed(replaced):
            table[last] = x


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of several like modules, stacked along a new first dimension."""
    if not models:
        raise RuntimeError("stack_module_state: at least one model is needed")
    if len({(type(m), m.training) for m in models}) > 1:
        raise RuntimeError("stack_module_state: the models must be of one class and all in training, or all in evaluation")
    from ....ops.structural import stack

    def together(tables: Sequence[dict[str, Any]], leaf: bool) -> dict[str, Any]:
        result = {}
        for name in tables[0]:
            column: list[Value] = [table[name].detach() for table in tables]
            stacked: Any = stack(*column, axis=0)
            result[name] = stacked.requires_grad_(tables[0][name].requires_grad) if leaf else stacked
        return result

    return (
        together([dict(m.named_parameters()) for m in models], True),
        together([dict(m.named_buffers()) for m in models], False),
    )
