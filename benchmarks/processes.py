"""What more processes gain: python benchmarks/processes.py [N ...]. Data-parallel training on 1, 2, ... processes, a thread each.

For each network samples a second beside one process's, with the batch of each process kept and with the whole batch kept; those
of as many processes that exchange no gradients, which no exchange can be better than; the share of a step in which backward waits
for gradients of other processes; the machine's bytes a second in `all_reduce` by size; and the steps' times beside what the model
of docs/processes.md makes of those.
RETROGRADE_TORCH_PYTHON names an interpreter that has PyTorch, whose figures on gloo stand beside.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = '''
import json, os, sys, time
import torch, torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank, count = dist.get_rank(), dist.get_world_size()
if hasattr(os, "sched_setaffinity"):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
whole, steps, apart = sys.argv[1] == "whole", int(sys.argv[2]), sys.argv[3] == "apart"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.LayerNorm(64), nn.LayerNorm(64)
        self.mix, self.out = nn.Linear(64, 192), nn.Linear(64, 64)
        self.mlp = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = (y.reshape(n, t, 4, 16).transpose(1, 2) for y in self.mix(self.a(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, t, 64))
        return x + self.mlp(self.b(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(128, 64), nn.Embedding(64, 64)
        self.blocks, self.end = nn.Sequential(*[Block() for _ in range(3)]), nn.Linear(64, 128)

    def forward(self, x):
        return self.end(self.blocks(self.token(x) + self.place(torch.arange(64)))).flatten(0, 1)


def mlp(n):
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 10)), torch.randn(n, 784), torch.randint(0, 10, (n,))


def gpt(n):
    return GPT(), torch.randint(0, 128, (n, 64)), torch.randint(0, 128, (n * 64,))


found = {}
for name, make, batch in (("MLP 784-1024-10 at 512", mlp, 512), ("GPT at 8 x 64", gpt, 8)):
    model, x, y = make(batch // count if whole else batch)
    if not apart:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    waited = [0.0]
    reducer = getattr(model, "_reducer", None)
    if reducer is not None:  # of this package
        end = reducer._end

        def timed():
            begun = time.perf_counter()
            end()
            waited[0] += time.perf_counter() - begun

        reducer._end = timed
    times = []
    for k in range(steps + 5):
        dist.barrier()
        begun, before = time.perf_counter(), waited[0]
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if k >= 5:
            times.append((time.perf_counter() - begun, waited[0] - before))
    times.sort()
    step, wait = times[len(times) // 2]
    found[name] = {"samples": len(y) * count / step, "wait": wait / step if reducer is not None else None,
                   "step": times[len(times) // 10][0], "bytes": sum(4 * p.numel() for p in model.parameters())}
rates = {}
if count > 1 and not apart:
    for power in range(12, 27, 2):
        t = torch.ones(1 << power >> 2)
        dist.all_reduce(t)
        spans = []
        for _ in range(20):
            dist.barrier()
            begun = time.perf_counter()
            dist.all_reduce(t)
            spans.append(time.perf_counter() - begun)
        rates[1 << power] = (1 << power) / sorted(spans)[len(spans) // 10]  # a fast one: the machine's, not its other users'
if rank == 0:
    print(json.dumps([found, rates]), flush=True)
dist.destroy_process_group()
'''


def predicted(alone: float, size: int, rates: dict[str, float], count: int, cores: int) -> tuple[float, float]:
    """The least and the longest time of a step on `count` processes, as docs/processes.md models it.

    That of one process, as often as processes share a core, and the time to reduce `size` bytes, of which backward, two thirds
    of a step, hides what it can, or nothing.
    """
    spans = sorted((int(n), int(n) / rate) for n, rate in rates.items())
    reduce = float(np.interp(size, *zip(*spans)))
    compute = alone * max(1.0, count / cores)
    return compute + max(spans[0][1], reduce - compute * 2 / 3), compute + reduce


def run(path: str, count: int, whole: bool, steps: int, apart: bool = False) -> list:
    """What the program finds on so many processes of this package. apart: without exchanging gradients."""
    given = ["whole" if whole else "each", str(steps), "apart" if apart else "together"]
    command = [sys.executable, "-m", "retrograde", "run", "--processes", str(count), path, *given]
    return json.loads(subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout)


def theirs(python: str, path: str, count: int, whole: bool, steps: int) -> list:
    """What it finds on so many processes of PyTorch."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    jobs = []
    for rank in range(count):
        env = {**ENVIRONMENT, "RANK": str(rank), "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        command = [python, path, "whole" if whole else "each", str(steps), "together"]
        jobs.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
    said = [job.communicate(timeout=300)[0] for job in jobs]
    return json.loads(said[0])


ENVIRONMENT = {
    **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "RETROGRADE_NUM_THREADS": "1",
}  # fmt: skip


def main(counts: list[int]) -> None:
    """Print the table."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    modelled: list[str] = []
    peer = os.environ.get("RETROGRADE_TORCH_PYTHON")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(PROGRAM)
        for whole in (False, True):
            print("the whole batch kept" if whole else "each process's batch kept")
            table = {n: [run(path, n, whole, 30) for _ in range(3)] for n in (1, *counts)}
            lone = {n: [run(path, n, whole, 30, True) for _ in range(3)] for n in counts}
            beside = {n: [theirs(peer, path, n, whole, 30) for _ in range(3)] for n in (1, *counts)} if peer else {}
            for name in table[1][0][0]:
                alone = statistics.median(x[0][name]["samples"] for x in table[1])
                line = f"  {name:26s} 1: {alone:9.0f} samples/s"
                for n in counts:
                    rate = statistics.median(x[0][name]["samples"] for x in table[n])
                    waits = statistics.median(x[0][name]["wait"] for x in table[n])
                    ceiling = statistics.median(x[0][name]["samples"] for x in lone[n])
                    line += f"   {n}: {rate:9.0f} ({rate / alone:.2f} of at most {ceiling / alone:.2f}), waiting {waits:.0%}"
                    if not whole:
                        one = statistics.median(x[0][name]["step"] for x in table[1])
                        least, longest = predicted(one, table[n][-1][0][name]["bytes"], table[n][-1][1], n, cores)
                        found = statistics.median(x[0][name]["step"] for x in table[n])
                        modelled.append(f"  {name}, {n}: {found * 1000:.1f} ms, the model says {least * 1000:.1f} to "
                                        f"{longest * 1000:.1f}")  # fmt: skip
                print(line)
                if beside:
                    rates = [statistics.median(x[0][name]["samples"] for x in beside[n]) for n in (1, *counts)]
                    print(f"  {'PyTorch, gloo':26s} " + "   ".join(f"{n}: {r:9.0f}" for n, r in zip((1, *counts), rates)))
        for n in counts:
            rates = table[n][-1][1].items()
            print(f"all_reduce between {n}, GB/s: " + ", ".join(f"{int(b) >> 10} KiB {r / 1e9:.2f}" for b, r in rates))
    print(f"a step on {cores} cores, of which one process's batch takes one:", *modelled, sep="\n")


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or [2])
