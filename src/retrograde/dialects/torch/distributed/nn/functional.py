"""`torch.distributed.nn.functional`: collective operations that gradients pass through.

Each process differentiates the sum of what all of them compute; all of them have to run the backward pass.
"""

from __future__ import annotations

from typing import Any

from .....ops import collectives
from ... import distributed as dist
from ..._api import attributes
from ..._joining import stack
from ..._shape import reshape

_LINEAR = {dist.ReduceOp.SUM: "sum", dist.ReduceOp.AVG: "mean"}


def _members(name: str, group: Any) -> Any:
    found = dist._within(name, None if group is dist.group.WORLD else group)
    if found is None:
        raise RuntimeError(f"{name}: this process is not in the group")
    return found._members


def _linear(name: str, op: Any) -> str:
    if op not in _LINEAR:
        raise RuntimeError(f"{name}: gradients pass through sums and means between processes, got {op}")
    return _LINEAR[op]


def all_reduce(tensor: Any, op: Any = dist.ReduceOp.SUM, group: Any = None) -> Any:
    """The sum, or mean, of the tensors of all processes."""
    return collectives.all_reduce(tensor, group=_members("all_reduce", group), how=_linear("all_reduce", op))


def reduce(tensor: Any, dst: int, op: Any = dist.ReduceOp.SUM, group: Any = None) -> Any:
    """The sum of the tensors of all processes for process `dst`, zeros for the others."""
    members = _members("reduce", group)
    if _linear("reduce", op) == "mean":
        return reduce(tensor, dst, group=group) / members.size
    return collectives.reduce(tensor, group=members, root=members.root("reduce", dst))


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """The tensor of process `src`."""
    members = _members("broadcast", group)
    return collectives.broadcast(tensor, group=members, root=members.root("broadcast", src))


def all_gather(tensor: Any, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes."""
    return tuple(collectives.all_gather(tensor, group=_members("all_gather", group)).unbind(0))


def gather(tensor: Any, dst: int = 0, group: Any = None) -> tuple[Any, ...]:
    """The tensors of all processes for process `dst`, zeros for the others."""
    members = _members("gather", group)
    return tuple(collectives.gather(tensor, group=members, root=members.root("gather", dst)).unbind(0))


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """One of the tensors of process `src` for each process."""
    members = _members("scatter", group)
    return collectives.scatter(stack(list(tensors)), group=members, root=members.root("scatter", src))


def reduce_scatter(output: Any, input_list: Any, op: Any = dist.ReduceOp.SUM, group: Any = None) -> Any:
    """The lists of all processes combined, and of the result this process's entry."""
    members = _members("reduce_scatter", group)
    found = collectives.reduce_scatter(stack(list(input_list)), group=members)
    return found / members.size if _linear("reduce_scatter", op) == "mean" else found


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> tuple[Any, ...]:
    """Of each process's list the entry that is meant for this one; all entries have one shape."""
    return tuple(collectives.all_to_all(stack(list(input_tensor_list)), group=_members("all_to_all", group)).unbind(0))


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Any:
    """As `all_to_all`, of a tensor whose first axis is divided evenly."""
    members = _members("all_to_all_single", group)
    if output_split_sizes or input_split_sizes:
        raise NotImplementedError("all_to_all_single: gradients pass through even splits here; leave the split sizes out")
    parts = reshape(input, (members.size, input.shape[0] // members.size, *input.shape[1:]))
    return reshape(collectives.all_to_all(parts, group=members), tuple(output.shape))


def _all_gather_base(output_tensor: Any, input_tensor: Any, group: Any = None) -> Any:
    """The tensors of all processes in one, along its first axis or a new one."""
    return reshape(collectives.all_gather(input_tensor, group=_members("all_gather", group)), tuple(output_tensor.shape))


__getattr__ = attributes(globals())
