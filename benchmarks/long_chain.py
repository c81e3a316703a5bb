"""A chain of a million operations: recorded, pulled back and freed, in time linear in its length.

    python benchmarks/long_chain.py
"""

import time

import retrograde as rg


def main() -> None:
    w = rg.asarray([1.0])
    for n in (250_000, 500_000, 1_000_000):
        x = rg.asarray([1.0], requires_grad=True)
        start = time.perf_counter()
        y = x
        for _ in range(n):
            y = y * w
        recorded = time.perf_counter()
        y.backward(rg.asarray([1.0]))
        pulled = time.perf_counter()
        del y
        freed = time.perf_counter()
        per = 1e6 / n
        print(
            f"{n:9d} operations: recorded {(recorded - start) * per:.2f}, pulled back {(pulled - recorded) * per:.2f}, "
            f"freed {(freed - pulled) * per:.2f} us each"
        )


if __name__ == "__main__":
    main()
