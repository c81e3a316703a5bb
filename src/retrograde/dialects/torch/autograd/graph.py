"""`torch.autograd.graph`: nodes, saved-tensor hooks, hooks over several tensors, gradient edges."""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...._state import Observer, observe, state
from ....core.node import Slot
from ....core.value import make
from ....tape.hooks import Handle
from ..._shared import custom_functions
from .. import _graph_nodes
from .._graph_nodes import GradFn as Node
from .._tensor import Tensor
from ._entry import GradientEdge


class saved_tensors_hooks(custom_functions.saved_tensors_hooks):
    """Inside, tensors saved for the backward pass are kept as `pack_hook(tensor)` and restored by `unpack_hook`; not in what a
    transform of torch.func differentiates in reverse."""

    def __enter__(self) -> None:
        if state.tape is not None:
            raise RuntimeError(
                f"saved_tensors_hooks: {state.tape.name} of torch.func keeps what it saves to itself; enter the hooks where "
                "backward() is used, or leave them out"
            )
        super().__enter__()


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
                run.at_end.append(functools.partial(_drop, gathered, run.number))
                return
            if first:
                def finish() -> None:
                    got = gathered.pop(run.number, None)
                    if got is not None:
                        fn([got.get(i) for i in range(len(tensors))])

                run.at_end.append(finish)
            if len(found) == len(tensors):
                gathered.pop(run.number)
                fn([found[i] for i in range(len(tensors))])

        return hook

    return _MultiHandle([x.register_hook(hook_for(i)) for i, x in enumerate(tensors)])


class _Kept:
    """An array that an operation saved under `allow_mutation_on_saved_tensors`."""

    __slots__ = ("array", "cls", "__weakref__")

    def __init__(self, x: Tensor) -> None:
        self.array, self.cls = x._a, type(x)._result


class _AllowMutationOnSavedContext(Observer):
    """Copies what operations have saved before memory that it shares is written."""

    def __init__(self) -> None:
        self._kept: weakref.WeakSet[_Kept] = weakref.WeakSet()
        self._open = True

    def clear(self) -> None:
        """Forget what has been saved: from now on it is not watched any more."""
        self._kept.clear()

    def pack(self, x: Tensor) -> _Kept:
        """What stands for a saved tensor in its node."""
        kept = _Kept(x)
        self._kept.add(kept)
        return kept

    def unpack(self, kept: _Kept) -> Tensor:
        """The tensor as it was when it was saved; raises AssertionError outside of the context."""
        if not self._open:
            raise AssertionError(
                "this graph was recorded under allow_mutation_on_saved_tensors(); run its backward pass inside as well"
            )
        return make(kept.cls, kept.array)

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        """Copies at once the few arrays that saved-tensor hooks do not see: masks, and those in tuples."""
        if node is not None and node.saved:
            node.saved = tuple(_copied(x) for x in node.saved)

    def assigning(self, target: Any, new: Any) -> None:
        """Copies what shares memory with an array that is about to be written."""
        if type(target) is np.ndarray:
            for kept in list(self._kept):
                if type(kept.array) is np.ndarray and np.may_share_memory(kept.array, target):
                    kept.array = kept.array.copy()

    def reading(self, array: Any) -> None:
        """The same for an array that is changed by what it holds."""
        self.assigning(array, None)

    def writing(self, array: Any) -> None:
        """The same for an array of which some is written."""
        self.assigning(array, None)

    def updating(self, rule: str, columns: Any, options: Any) -> None:
        """The same for the parameters and states of an optimiser."""
        for column in columns:
            for array in column or ():
                self.assigning(array, None)

    def arriving(self, run: Any, target: Any, g: Any) -> None:
        """The same for a leaf's gradient, to which another one is about to be added."""
        if target._grad is not None:
            self.assigning(target._grad._a, None)

    def close(self) -> None:
        """The end of the context."""
        self._open = False
        self.clear()


def _copied(x: Any) -> Any:
    if type(x) is tuple:
        return tuple(_copied(part) for part in x)
    return x.copy() if type(x) is np.ndarray else x


_allowing = threading.local()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Inside, tensors that operations have saved may be changed in place: they are copied first where that is needed.

    Raises RuntimeError where such contexts are nested. The backward pass has to run inside too.
    """
    if getattr(_allowing, "entered", False):
        raise RuntimeError("allow_mutation_on_saved_tensors: these contexts cannot be nested; leave the outer one first")
    context = _AllowMutationOnSavedContext()
    _allowing.entered = True
    try:
        with saved_tensors_hooks(context.pack, context.unpack), observe(context):
            yield context
    finally:
        _allowing.entered = False
        context.close()


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Note an in-place change that autograd could not see."""
    from ....tape import mutation

    for x in (tensor,) if isinstance(tensor, Tensor) else tensor:
        mutation.note(x._a)


__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge",
    "increment_version", "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip
