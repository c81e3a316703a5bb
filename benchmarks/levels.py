"""What an operation costs on the everyday tape, inside `grad`, and inside `grad` of `grad`: python benchmarks/levels.py.

Microseconds per multiplication of two 4-vectors, recorded (not pulled back): the least of several repetitions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import thread_time
from typing import Any

import retrograde as rg

COUNT = 300


def products(x: Any) -> tuple[Any, float]:
    """The last of a chain of multiplications, and the seconds of one."""
    y = x
    begin = thread_time()
    for _ in range(COUNT):
        y = y * x
    return y, (thread_time() - begin) / COUNT


def within(levels: int, seconds: list[float]) -> Callable[[Any], Any]:
    """The chain under so many `grad`s."""

    def innermost(x: Any) -> Any:
        y, one = products(x)
        seconds.append(one)
        return rg.sum(y)

    f = innermost
    for _ in range(levels):
        f = (lambda inner: lambda x: rg.sum(rg.grad(inner)(x)))(f)
    return f


def main() -> None:
    repeat = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    x = rg.asarray([1.0, 1.0, 1.0, 1.0])
    everyday = min(products(rg.asarray([1.0, 1.0, 1.0, 1.0], requires_grad=True))[1] for _ in range(repeat))
    print(f"everyday tape        {everyday * 1e6:6.2f} us")
    for levels, name in ((1, "inside grad"), (2, "inside grad of grad"), (3, "three grads deep")):
        seconds: list[float] = []
        for _ in range(repeat if levels < 3 else 3):
            within(levels, seconds)(x)
        print(f"{name:20} {min(seconds) * 1e6:6.2f} us  {min(seconds) / everyday:5.2f} times")


if __name__ == "__main__":
    main()
