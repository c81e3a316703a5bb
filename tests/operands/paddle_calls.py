"""PaddlePaddle's calls for the replay: those of paddle_calls.txt.

`python -m operands.paddle_calls`, in the folder tests/ and an environment that has PaddlePaddle, writes paddle.jsonl.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from operands import expressions, replay


def framework(paddle: Any) -> replay.Framework:
    """PaddlePaddle, or its dialect."""

    def tensors(found: Any) -> Iterator[Any]:
        if isinstance(found, paddle.Tensor):
            yield found
        elif isinstance(found, (tuple, list)):
            for part in found:
                yield from tensors(part)

    def call(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> Any:
        xs = [paddle.to_tensor(a, stop_gradient=a.dtype.kind != "f") for a in arrays]
        ys = list(tensors(function(*xs)))

        def pull(weights: Sequence[np.ndarray]) -> list[Any]:
            pairs = [(y, paddle.to_tensor(w)) for y, w in zip(ys, weights) if not y.stop_gradient]
            wanted = [x for x in xs if not x.stop_gradient]
            if not pairs or not wanted:
                return [None] * len(xs)
            ends, seeds = zip(*pairs)
            found = iter(paddle.grad(list(ends), wanted, list(seeds), allow_unused=True))
            return [g.numpy() if not x.stop_gradient and (g := next(found)) is not None else None for x in xs]

        return [np.asarray(y.detach().numpy()) for y in ys], pull

    return replay.Framework({"paddle": paddle, "F": paddle.nn.functional, "nn": paddle.nn}, call)


if __name__ == "__main__":
    import paddle

    replay.record(framework(paddle), *expressions.read(replay.HERE / "paddle_calls.txt"), replay.HERE / "paddle.jsonl")
