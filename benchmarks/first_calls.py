"""What the first call of an operation that uses generated code costs, and its first backward pass: on a machine that has never
translated it (an empty cache) and on one that has, each in a fresh interpreter.

The budget is 0.15 s of CPU time for a call. It reports and does not judge: on a busy machine the figures grow.
`python benchmarks/first_calls.py [NAME ...]`
"""

import argparse
import os
import subprocess
import sys
import tempfile

SET_UP = """
import time
import numpy as np, retrograde
retrograde.activate("torch")
import torch, torch.nn.functional as F
r = np.random.default_rng(0)
def normal(*shape, dtype=np.float32):
    return torch.from_numpy(r.standard_normal(shape).astype(dtype)).requires_grad_()
def milliseconds(call):
    start = time.process_time()
    return call(), 1e3 * (time.process_time() - start)
x, w, b = normal(64, 256), normal(256), normal(256)
double = np.float64
lstm = torch.nn.LSTM(16, 40)
"""

CALLS = {
    "erf": ("x", "torch.erf(x)"),
    "gelu": ("x", "F.gelu(x)"),
    "softmax": ("x", "torch.softmax(x, -1)"),
    "layer_norm": ("x", "F.layer_norm(x, (256,), w, b)"),
    "batch_norm": ("normal(8, 6, 20, 20)", "F.batch_norm(x, None, None, training=True)"),
    "group_norm": ("normal(8, 6, 20, 20)", "F.group_norm(x, 2)"),
    "conv2d": ("(normal(8, 6, 20, 20), normal(16, 6, 5, 5))", "F.conv2d(*x, padding=2)"),
    "conv2d float64": ("(normal(8, 6, 20, 20, dtype=double), normal(16, 6, 5, 5, dtype=double))", "F.conv2d(*x, padding=2)"),
    "matmul": ("normal(128, 128)", "x @ x"),
    "matmul float64": ("normal(128, 128, dtype=double)", "x @ x"),
    "lstm": ("normal(8, 32, 16)", "lstm(x)[0]"),
}


def measured(operand: str, call: str, cache: str) -> tuple[float, float]:
    """CPU milliseconds of the first call and of its backward pass in a fresh interpreter with a cache."""
    program = (
        f"{SET_UP}x = {operand}\ny, first = milliseconds(lambda: {call})\n"
        "total = y.sum()\nprint(first, milliseconds(total.backward)[1])"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": cache}
    done = subprocess.run([sys.executable, "-c", program], check=True, env=environment, capture_output=True, text=True)
    first, backward = map(float, done.stdout.split())
    return first, backward


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(CALLS)}; all by default")
    names = parser.parse_args().names or CALLS
    print(f"{'ms of CPU time':16s} {'empty cache':>20s} {'from the cache':>20s}")
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            columns = ["{:9.0f} +{:9.0f}".format(*measured(*CALLS[name], cache)) for _ in range(2)]
        print(f"{name:16s} {columns[0]} {columns[1]}", flush=True)


if __name__ == "__main__":
    main()
