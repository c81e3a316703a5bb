"""`torch.fx.passes.shape_prop`: the shapes and dtypes of all values of a graph, found by running it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._size import Size
from ..._tensor import Tensor
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What is known of a tensor."""

    shape: Size
    dtype: Any
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """What is known of a tensor."""
    from ... import channels_last, channels_last_3d, contiguous_format

    layouts = (contiguous_format, *((channels_last,) if result.ndim == 4 else ()), *(
        (channels_last_3d,) if result.ndim == 5 else ()))  # fmt: skip
    kept = next((m for m in layouts if result.is_contiguous(memory_format=m)), None) if include_contiguity else None
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), kept, False, {})


class ShapeProp(Interpreter):
    """Runs a graph and notes in each node's `meta` the `tensor_meta` and `type` of its value."""

    def __init__(self, gm: Any, fake_mode: Any = None) -> None:
        super().__init__(gm)

    def run_node(self, n: Node) -> Any:
        result = super().run_node(n)
        some = False

        def known(x: Any) -> Any:
            nonlocal some
            if isinstance(x, Tensor):
                some = True
                return _extract_tensor_metadata(x)
            return x

        found = map_aggregate(result, known)
        if some:
            n.meta["tensor_meta"] = found
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph on arguments; returns its result."""
        return super().run(*args)
