"""Selective checkpoints: which operators' results are kept, by PyTorch's names for them."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import make, shape_of
from ....transform.selective import Selection
from .._tensor import Tensor
from ..ops import OpOverload, OpOverloadPacket, aten


class CheckpointPolicy(enum.Enum):
    """What is done with an operator's result in a selective checkpoint."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_RECOMPUTED = (CheckpointPolicy.MUST_RECOMPUTE, CheckpointPolicy.PREFER_RECOMPUTE)


class SelectiveCheckpointContext:
    """What a policy is told: whether the function is being computed again."""

    def __init__(self, *, is_recompute: bool) -> None:
        self.is_recompute = is_recompute


_PRODUCTS = {(2, 2): "mm", (2, 1): "mv", (1, 1): "dot"}

_ATEN = {
    "project": "mm", "affine": "addmm", "add_matmul": "addmm", "add": "add.Tensor", "subtract": "sub.Tensor",
    "multiply": "mul.Tensor", "divide": "div.Tensor", "floor_divide": "floor_divide", "power": "pow.Tensor_Tensor",
    "power_by": "pow.Tensor_Scalar", "negative": "neg", "absolute": "abs", "convolve": "convolution", "softmax": "_softmax",
    "log_softmax": "_log_softmax", "nll_loss": "nll_loss_forward", "normalize": "native_layer_norm",
    "normalize_by": "native_batch_norm", "attention": "_scaled_dot_product_flash_attention_for_cpu",
    "sum": "sum.dim_IntList", "mean": "mean.dim", "reshape": "view", "transpose": "permute", "broadcast_to": "expand",
    "concatenate": "cat", "copy": "clone", "cast": "_to_copy", "getitem": "slice.Tensor", "dropout": "native_dropout",
    "gather": "gather", "index": "index.Tensor", "max_pool": "max_pool2d_with_indices", "avg_pool": "avg_pool2d",
}  # fmt: skip
"""The operator (and its overload) that a primitive is in PyTorch, where that is not its own name."""


def operator_of(prim: Any, arrays: tuple[Any, ...]) -> OpOverload:
    """The operator for which an operation stands."""
    name = _ATEN.get(prim.name, prim.name)
    if name == "matmul":
        name = _PRODUCTS.get((len(shape_of(arrays[0])), len(shape_of(arrays[1]))), "bmm")
    name, _, overload = name.partition(".")
    return getattr(aten.named(name), overload or "default")  # type: ignore[no-any-return]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[Any, Any]:  # fmt: skip
    """The contexts that `checkpoint(context_fn=...)` wants, in which the results of chosen operators are kept.

    policy_fn_or_list: a list of operators (`torch.ops.aten.mm.default`) whose results are kept, or a function
    `policy(ctx, op, *args, **kwargs)` that gives a CheckpointPolicy, or a truth for whether to keep. An operation of this
    library stands for one operator: `linear` is mm or addmm, and what is one operation here (a normalisation) comes as one.

    Examples
    --------
    >>> import functools
    >>> import retrograde.dialects.torch as torch
    >>> from retrograde.dialects.torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> keep = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> w = torch.ones(2, 2, requires_grad=True)
    >>> checkpoint(lambda w: (w @ w).sin().sum(), w, use_reentrant=False, context_fn=keep).backward()
    >>> w.grad
    tensor([[-1.6646, -1.6646],
            [-1.6646, -1.6646]])
    """
    policy = policy_fn_or_list
    if isinstance(policy, (list, tuple, set, frozenset)):
        kept = set()
        for op in policy:
            if not isinstance(op, OpOverload):
                remedy = f"; give one of its overloads, {op}.default" if isinstance(op, OpOverloadPacket) else ""
                raise ValueError(
                    f"create_selective_checkpoint_contexts: wanted operators such as aten.mm.default, got {op!r}{remedy}"
                )
            kept.add(op)
        decide: Callable[..., Any] = lambda ctx, op, *args: op in kept  # noqa: E731
    elif callable(policy):
        decide = policy
    else:
        raise TypeError(f"create_selective_checkpoint_contexts: wanted a function or a list, got {type(policy).__name__}")
    context = SelectiveCheckpointContext(is_recompute=False)

    def chosen(prim: Any, arrays: tuple[Any, ...]) -> bool:
        found = decide(context, operator_of(prim, arrays), *(make(Tensor, np.asarray(a)) for a in arrays))
        return found not in _RECOMPUTED if isinstance(found, CheckpointPolicy) else bool(found)

    selection = Selection(chosen, allow_cache_entry_mutation, Tensor)
    return selection.first(), selection.again()
