"""`torch.autograd.graph`: nodes, saved-tensor hooks, hooks over several tensors, gradient edges."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ...._state import state
from ....core.node import Slot
from ....tape.hooks import Handle
from ..._shared.custom_functions import saved_tensors_hooks
from .. import _graph_nodes
from .._graph_nodes import GradFn as Node
from .._tensor import Tensor
from ._entry import GradientEdge


class save_on_cpu(saved_tensors_hooks):
    """Keep saved tensors on the CPU, where this dialect has them anyway."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda x: x, lambda x: x)


class disable_saved_tensors_hooks:
    """Inside, saved-tensor hooks are refused with this message."""

    def __init__(self, error_message: str) -> None:
        self._message = error_message

    def __enter__(self) -> None:
        if state.saved_hooks:
            raise RuntimeError(self._message)
        self._before, state.saved_hooks_disabled = state.saved_hooks_disabled, self._message

    def __exit__(self, *exception: object) -> None:
        state.saved_hooks_disabled = self._before


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge along which the gradient of a tensor flows; raises RuntimeError when it wants none."""
    edge = tensor._node
    if edge is None:
        raise RuntimeError("get_gradient_edge: this tensor does not require grad")
    if type(edge) is Slot:
        return GradientEdge(_graph_nodes.shown(edge), edge.index)
    return GradientEdge(_graph_nodes.shown(edge), 0)


def _drop(table: dict[int, Any], key: int) -> None:
    table.pop(key, None)


class _MultiHandle:
    """Removes all hooks of `register_multi_grad_hook`."""

    def __init__(self, handles: Sequence[Handle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> _MultiHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> _MultiHandle:
    """Call `fn` once per backward pass: with the list of gradients when all that will come have come ("all"), or with
    the first that comes ("any")."""
    if mode not in ("all", "any"):
        raise ValueError(f"register_multi_grad_hook: mode must be 'all' or 'any', got {mode!r}")
    lock = threading.Lock()
    gathered: dict[int, dict[int, Any]] = {}

    def hook_for(index: int) -> Callable[[Tensor], None]:
        def hook(g: Tensor) -> None:
            from ....tape import engine

            run = engine.current_run()
            with lock:
                found = gathered.setdefault(run.number, {})
                first = not found
                found[index] = g
            if mode == "any":
                if first:
                    fn(g)
                run.at_end(functools.partial(_drop, gathered, run.number))
                return
            if first:
                def finish() -> None:
                    got = gathered.pop(run.number, None)
                    if got is not None:
                        fn([got.get(i) for i in range(len(tensors))])

                run.at_end(finish)
            if len(found) == len(tensors):
                gathered.pop(run.number)
                fn([found[i] for i in range(len(tensors))])

        return hook

    return _MultiHandle([x.register_hook(hook_for(i)) for i, x in enumerate(tensors)])


class allow_mutation_on_saved_tensors:
    """Not offered: changing a saved tensor in place stays an error."""

    def __init__(self) -> None:
        raise NotImplementedError(
            "allow_mutation_on_saved_tensors is not part of retrograde's torch dialect; change a clone() of the tensor"
        )


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Note an in-place change that autograd could not see."""
    from ....tape import mutation

    for x in (tensor,) if isinstance(tensor, Tensor) else tensor:
        mutation.note(x._a)


__all__ = [
    "GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip
