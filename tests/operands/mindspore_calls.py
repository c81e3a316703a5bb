"""MindSpore's calls for the replay: those of mindspore_calls.txt.

`python -m operands.mindspore_calls`, in the folder tests/ and an environment that has MindSpore, writes mindspore.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from operands import expressions, replay


def framework(ms: Any) -> replay.Framework:
    """MindSpore, or its dialect."""

    def tensors(found: Any) -> Iterator[Any]:
        if isinstance(found, ms.Tensor):
            yield found
        elif isinstance(found, (tuple, list)):
            for part in found:
                yield from tensors(part)

    def call(function: Callable[..., Any], arrays: Sequence[np.ndarray]) -> Any:
        xs = [ms.Tensor(a) for a in arrays]
        floating = tuple(i for i, a in enumerate(arrays) if a.dtype.kind == "f")

        def outputs(*given: Any) -> Any:
            return tuple(y for y in tensors(function(*given)))

        results = [np.asarray(y.asnumpy()) for y in outputs(*xs)]

        def pull(weights: Sequence[np.ndarray]) -> list[Any]:
            sens = tuple(ms.Tensor(w.astype(y.dtype)) for w, y in zip(weights, results))
            found = ms.ops.GradOperation(get_all=True, sens_param=True)(outputs)(*xs, sens)
            return [g.asnumpy() if i in floating else None for i, g in enumerate(found)]

        return results, pull

    names = {"ms": ms, "ops": ms.ops, "nn": ms.nn, "mint": ms.mint, "mnp": ms.numpy, "T": ms.Tensor}
    return replay.Framework(names, call)


KERNELS_LACK = ("RuntimeError", "AttributeError", "TypeError")
"""What MindSpore raises where it has no kernel for a CPU: such calls are left out, since the dialect goes on there."""

if __name__ == "__main__":
    import mindspore
    import mindspore.mint
    import mindspore.numpy

    path = replay.HERE / "mindspore.jsonl"
    arrays, calls = expressions.read(replay.HERE / "mindspore_calls.txt")
    replay.record(framework(mindspore), arrays, calls, path)
    first, *found = path.read_text().splitlines(keepends=True)
    kept = [line for line in found if not {"error", "gradient_error"} & {*(r := json.loads(line))}
            or r.get("error", r.get("gradient_error")) not in KERNELS_LACK]  # fmt: skip
    path.write_text("".join([first, *kept]))
    print(f"{len(found) - len(kept)} of them left out")
