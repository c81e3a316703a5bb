"""`paddle.summary`: a table of a network's layers, found by running it once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...._state import grad_mode
from ....core.value import Value, shape_of
from .._dtype import as_dtype
from .._tensor import from_array
from ..nn.layer.container import LayerList, Sequential
from ..random import uniform_array


def _shapes(x: Any) -> Any:
    """The shapes of what a layer takes or gives, nested as it is; None for what is no tensor."""
    if isinstance(x, Value):
        return list(shape_of(x))
    return [_shapes(part) for part in x] if isinstance(x, (list, tuple)) else None


def _numel(shape: Any) -> int:
    if shape is None:
        return 0
    return math.prod(shape) if all(isinstance(n, int) for n in shape) else sum(map(_numel, shape))


def _inputs(input_size: Any, dtypes: Any) -> list[Any]:
    if isinstance(input_size, int):
        input_size = (input_size,)
    if not isinstance(input_size, (list, tuple)) or not input_size:
        raise TypeError(f"summary: input_size must be a shape or a list of shapes, got {input_size!r}")
    nested = isinstance(input_size[0], (list, tuple))
    sizes = [tuple(s) for s in input_size] if nested else [tuple(input_size)]
    given = [dtypes] * len(sizes) if dtypes is None or isinstance(dtypes, str) else list(dtypes)
    made = []
    for size, d in zip(sizes, given):
        if not all(n is None or isinstance(n, int) for n in size):
            raise TypeError(f"summary: a shape is made of ints, got {size}")
        shape = tuple(1 if n is None or n < 0 else n for n in size)
        array = uniform_array(shape, np.dtype(np.float32))
        made.append(from_array(array.astype(as_dtype("summary", d or "float32").np)))
    return made


def summary(net: Any, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, Any]:
    """Print the layers with the shapes they take and give and their parameters; returns the numbers of parameters.

    The network runs once, in evaluation mode, on `input` or on random tensors of `input_size`. Raises ValueError where
    neither is given.
    """
    if input is None and input_size is None:
        raise ValueError("summary: input_size or input is needed")
    if input is None:
        inputs: Any = _inputs(input_size, dtypes)
    else:
        inputs = list(input) if isinstance(input, (list, tuple)) else [input]
    rows: list[tuple[str, Any, Any, int]] = []
    seen: list[Any] = []

    def note(layer: Any, given: Any, out: Any) -> None:
        number = layer.full_name().rpartition("_")[2]
        count = sum(int(p.size) for p in layer._parameters.values() if p is not None)
        rows.append((f"{type(layer).__name__}-{int(number) + 1}", _shapes(given), _shapes(out), count))
        seen.append(layer)

    layers = net.sublayers() or [net]
    shown = [x for x in layers if type(x) not in (Sequential, LayerList)]
    handles = [x.register_forward_post_hook(note) for x in shown]
    modes = [(x, x.training) for x in net.sublayers(include_self=True)]
    try:
        net.eval()
        with grad_mode(False):
            net(*inputs) if not isinstance(input, dict) else net(**input)
    finally:
        for handle in handles:
            handle.remove()
        for layer, mode in modes:
            layer.training = mode
    return _print(rows, seen, sum(_numel(_shapes(x)) for x in inputs))


def _print(rows: list[tuple[str, Any, Any, int]], layers: list[Any], inputs: int) -> dict[str, Any]:
    table = [(name, str(given), str(out), f"{count:,}") for name, given, out, count in rows]
    widths = [max([least, *(len(r[i]) for r in table)]) for i, least in enumerate((15, 20, 20, 15))]
    line = "-" * (sum(widths) + 5)

    def row(cells: tuple[str, ...]) -> str:
        return " ".join(f"{cell:^{width}}" for cell, width in zip(cells, widths))

    total = sum(count for *_, count in rows)
    once = {id(x): x for x in layers}.values()
    trainable = sum(int(p.size) for x in once for p in x._parameters.values() if p is not None and not p.stop_gradient)
    sizes = {
        "Input size": inputs, "Forward/backward pass size": 2 * sum(_numel(out) for _, _, out, _ in rows),
        "Params size": total,
    }  # fmt: skip
    megabytes = {name: n * 4 / 1024**2 for name, n in sizes.items()}
    print(line)
    print(row(("Layer (type)", "Input Shape", "Output Shape", "Param #")))
    print("=" * len(line))
    for cells in table:
        print(row(cells))
    print("=" * len(line))
    print(
        f"Total params: {total:,}\nTrainable params: {trainable:,}\nNon-trainable params: {total - trainable:,}\n{line}"
    )
    for name, size in megabytes.items():
        print(f"{name} (MB): {size:.2f}")
    print(f"Estimated Total Size (MB): {sum(megabytes.values()):.2f}\n{line}\n")
    return {"total_params": np.int64(total), "trainable_params": np.int64(trainable)}
