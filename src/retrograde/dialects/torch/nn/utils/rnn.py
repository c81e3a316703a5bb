"""`torch.nn.utils.rnn`: sequences of different lengths, packed step by step or padded to one length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .....core.unwrap import concrete, unrecorded
from .....core.value import Value
from ...._shared.registry import defined
from ..._graph_nodes import show_as
from ..._promote import number_array
from ..._tensor import Tensor, beside, from_array

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _PackedFields(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None


class PackedSequence(_PackedFields):
    """The elements of several sequences step by step: all first elements, all second ones of those long enough..."""

    __slots__ = ()

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if unsorted_indices is None and sorted_indices is not None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences with the data converted; the orders go to its device, the sizes stay on the CPU."""
        data = self.data.to(*args, **kwargs)
        return self._replace(
            data=data,
            sorted_indices=None if self.sorted_indices is None else self.sorted_indices.to(data.device),
            unsorted_indices=None if self.unsorted_indices is None else self.unsorted_indices.to(data.device),
        )

    def cpu(self) -> PackedSequence:
        """The same sequences on the CPU."""
        return self.to("cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same sequences on a CUDA device."""
        return self.to(self.data.cuda(*args, **kwargs).device)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a CUDA device."""
        return bool(self.data.is_cuda)

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory: never."""
        return False

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"PackedSequence({fields})"


def _converted(name: str) -> Any:
    def function(self: PackedSequence) -> PackedSequence:
        return self._replace(data=getattr(self.data, name)())

    return defined(name, function, f"The same sequences, the data as `Tensor.{name}` gives it.")


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    setattr(PackedSequence, _name, _converted(_name))


def invert_permutation(permutation: Any) -> Any:
    """The permutation that undoes another; None for None."""
    if permutation is None:
        return None
    return beside(np.argsort(concrete("invert_permutation", permutation)).astype(np.int64), permutation)


def _lengths(op: str, lengths: Any) -> np.ndarray:
    array = np.asarray(concrete(op, lengths) if isinstance(lengths, Tensor) else lengths).astype(np.int64)
    if array.size == 0:
        raise RuntimeError(f"{op}: there must be at least one sequence")
    if (array <= 0).any():
        raise RuntimeError(f"{op}: every sequence needs at least one element, got lengths {array.tolist()}")
    return array


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch (time, batch, ...) of sequences of these lengths.

    Raises RuntimeError when `enforce_sorted` and the lengths do not descend, or one is not positive.
    """
    array = _lengths("pack_padded_sequence", lengths)
    order = None
    if enforce_sorted:
        if (np.diff(array) > 0).any():
            raise RuntimeError(
                "pack_padded_sequence: the lengths must be in descending order, got "
                f"{array.tolist()}; sort the batch, or pass enforce_sorted=False"
            )
    else:
        order = np.argsort(-array, kind="stable").astype(np.int64)
        array = array[order]
        input = input.index_select(0 if batch_first else 1, beside(order, input))
    if batch_first:
        input = input.transpose(0, 1)
    if len(array) != input.shape[1]:
        raise RuntimeError(f"pack_padded_sequence: {len(array)} lengths for a batch of {input.shape[1]}")
    if array[0] > input.shape[0]:
        raise RuntimeError(f"pack_padded_sequence: length {array[0]} exceeds the {input.shape[0]} steps of the input")
    from ... import cat

    sizes = (array[None, :] > np.arange(array[0])[:, None]).sum(1).astype(np.int64)
    data = show_as(cat([input[t, : int(n)] for t, n in enumerate(sizes)]), "PackPaddedSequenceBackward0")
    return PackedSequence(data, from_array(sizes), None if order is None else beside(order, data))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The packed sequences as a padded batch, and their lengths."""
    sizes = np.asarray(sequence.batch_sizes._a)
    steps, batch = len(sizes), int(sizes[0])
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"pad_packed_sequence: total_length {total_length} is less than the longest length {steps}"
            )
        steps = total_length
    lengths = (sizes[None, :] > np.arange(batch)[:, None]).sum(1).astype(np.int64)
    parts = sequence.data.split([int(n) for n in sizes], 0)
    padding = sequence.data.new_full((1, *sequence.data.shape[1:]), padding_value)
    from ... import cat, stack

    rows = []
    for part in parts:
        missing = batch - part.shape[0]
        rows.append(cat([part, padding.expand(missing, *padding.shape[1:])]) if missing else part)
    empty = padding.expand(batch, *padding.shape[1:])
    rows += [empty] * (steps - len(rows))
    output = show_as(stack(rows, 1 if batch_first else 0), "TransposeBackward0" if batch_first else "CopySlices")
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices
        return output.index_select(0 if batch_first else 1, order), from_array(lengths[concrete("pad_packed_sequence", order)])
    return output, from_array(lengths)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (length, ...) as one batch, filled up to the longest."""
    from ... import cat, stack

    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: padding_side must be 'left' or 'right', got {padding_side!r}")
    items = list(sequences)
    if not items:
        raise RuntimeError("pad_sequence: there must be at least one sequence")
    longest = max([x.shape[0] for x in items])
    arrays = unrecorded(items) if all(isinstance(x, Value) for x in items) else None
    if arrays and len({(a.dtype, a.shape[1:]) for a in arrays}) == 1:  # one copy of each, in a fifth of the time
        first = arrays[0]
        out = np.full((len(arrays), longest, *first.shape[1:]), number_array("pad_sequence", padding_value, first.dtype))
        for row, a in zip(out, arrays):
            row[slice(len(a)) if padding_side == "right" else slice(longest - len(a), None)] = a
        return from_array(out if batch_first else np.ascontiguousarray(out.swapaxes(0, 1)))
    rows = []
    for x in items:
        missing = longest - x.shape[0]
        if missing:
            padding = x.new_full((missing, *x.shape[1:]), padding_value)
            x = cat([x, padding] if padding_side == "right" else [padding, x])
        rows.append(x)
    return show_as(stack(rows, 0 if batch_first else 1), "CopySlices")


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded batch, each in its own length."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    steps = np.arange(batch.shape[1])
    return [row[beside(steps < n, batch)] for row, n in zip(batch, _lengths("unpad_sequence", lengths))]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences (length, ...) of different lengths."""
    lengths = [int(x.shape[0]) for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The packed sequences, each in its own length."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
