"""What a size costs that a compiled function has not met: its first call and its second, and a call of a size that came often.

Rows: elementwise work with its gradient; an MLP whose training step is as it is, with Adam; the same with the step compiled
whole; a transformer layer forward and backward. With
sizes that vary (the default), each size traced by itself (`dynamic=False`), and torch.compile where a Python has PyTorch: as it
is, and with `dynamic=True`. CPU time of one thread, medians over 12 sizes, with an empty cache.

    OMP_NUM_THREADS=1 python benchmarks/sizes.py [--torch-python PATH] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FIRST = 5
"""Calls with sizes that are left out, after which it is known that sizes vary."""
SIZES = 12
OFTEN = 40
"""Calls with one size after which it has come often."""


def now() -> float:
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def elementwise(torch, compiled):
    def f(x):
        return (torch.tanh(2 * x + 1) * torch.exp(-x * x) + torch.sin(x)).sum()

    g = compiled(f)

    def call(n):
        x = torch.randn(n, requires_grad=True)
        return lambda: g(x).backward()

    return call, 100_000


def mlp(torch, compiled, whole=False):
    nn = torch.nn
    net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(net.parameters())
    model = net if whole else compiled(net)

    def step(x, t):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), t)
        loss.backward()
        optimizer.step()

    run = compiled(step) if whole else step

    def call(n):
        x, t = torch.randn(n, 784), torch.arange(n) % 10
        return lambda: run(x, t)

    return call, 64


def step(torch, compiled):
    return mlp(torch, compiled, whole=True)


def transformer(torch, compiled):
    layer = torch.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    model = compiled(layer)

    def call(n):
        x = torch.randn(8, n, 64)

        def step():
            layer.zero_grad()
            (model(x) ** 2).sum().backward()

        return step

    return call, 32


ROWS = {"elementwise": elementwise, "mlp": mlp, "step": step, "transformer": transformer}


def child(framework: str, dynamic: bool | None, name: str) -> None:
    """Run a row and print its three times, in ms."""
    if framework == "retrograde":
        import retrograde.dialects.torch as torch
    else:
        import torch
    torch.manual_seed(0)
    call, size = ROWS[name](torch, lambda f: torch.compile(f, dynamic=dynamic))
    first, second = [], []
    for k, n in enumerate([size] * 3 + [size - 7, size - 5] + [size + 3 * j + 1 for j in range(SIZES)]):
        step = call(n)
        begin = now()
        step()
        middle = now()
        step()
        if k >= FIRST:
            first.append(middle - begin)
            second.append(now() - middle)
    often = []
    for k in range(2 * OFTEN):
        begin = now()
        step()
        if k >= OFTEN:
            often.append(now() - begin)
    print(json.dumps([1e3 * statistics.median(x) for x in (first, second, often)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", default=os.environ.get("RETROGRADE_TORCH_PYTHON"))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.child:
        framework, dynamic, name = options.child
        child(framework, {"None": None, "True": True, "False": False}[dynamic], name)
        return
    ways = [("retrograde", "None", sys.executable), ("retrograde", "False", sys.executable)]
    if options.torch_python:
        ways += [("torch", "None", options.torch_python), ("torch", "True", options.torch_python)]
    print(f"{'ms':12} {'':24} {'new size':>10} {'again':>10} {'often':>10}")
    for name in options.names or ROWS:
        for framework, dynamic, python in ways:
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "XDG_CACHE_HOME": cache, "TORCHINDUCTOR_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
                command = [python, str(Path(__file__).resolve()), "--child", framework, dynamic, name]
                done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
            how = f"{framework}, dynamic={dynamic}"
            if done.returncode:
                print(f"{name:12} {how:24} fails: {done.stderr.strip().splitlines()[-1][:80]}")
            else:
                print(f"{name:12} {how:24} " + " ".join(f"{x:10.3f}" for x in json.loads(done.stdout.splitlines()[-1])))


if __name__ == "__main__":
    main()
