"""`make bench`: retrograde against PyTorch eager and HIPS autograd, in one run; ratios of medians.

    python -m benchmarks [--quick] [--torch-python PATH]

A peer is timed where an interpreter has it: this one, or the one that --torch-python (or RETROGRADE_TORCH_PYTHON)
names. For each workload the frameworks take turns in short rounds, and the ratio is the median over the rounds, so
that a busy machine slows both sides of a ratio alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = {"chain": 0.5, "chain, both wanted": 0.5, "pinn": 1.0, "mlp": 1.0, "conv": 2.5}


class Worker:
    """A process with one framework loaded."""

    def __init__(self, framework: str, python: str) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        if python == sys.executable:
            environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), environment.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), framework], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment,
        )  # fmt: skip
        self.workloads: list[str] = self._read()["workloads"]

    def _read(self) -> dict:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"a benchmark worker ended with status {self.process.wait()}")
        return json.loads(line)

    def time(self, name: str, seconds: float) -> float:
        """The median time of one step."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name} {seconds}\n")
        self.process.stdin.flush()
        return self._read()["median"]


def has(python: str, module: str) -> bool:
    """Whether an interpreter can import a module."""
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", probe], cwd="/", check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", help="comma-separated workloads")
    parser.add_argument("--torch-python", default=os.environ.get("RETROGRADE_TORCH_PYTHON", sys.executable))
    options = parser.parse_args()
    rounds, seconds = (5, 0.1) if options.quick else (15, 0.3)
    workers = {"retrograde": Worker("retrograde", sys.executable), "native": Worker("native", sys.executable)}
    for peer in ("torch", "autograd"):
        if has(options.torch_python, peer):
            workers[peer] = Worker(peer, options.torch_python)
        else:
            print(f"{peer} is not installed for {options.torch_python}: not compared")
    names = options.only.split(",") if options.only else workers["retrograde"].workloads
    print(f"{'workload':22s} {'retrograde':>12s} {'torch':>12s} {'ratio':>7s}  target")
    for name in names:
        times: dict[str, list[float]] = {}
        taking_part = [w for w in workers if name in workers[w].workloads]
        for _ in range(rounds):
            for framework in taking_part:
                times.setdefault(framework, []).append(workers[framework].time(name, seconds))
        row = f"{name:22s} {statistics.median(times['retrograde']) * 1e6:9.1f} us "
        if "torch" in times:
            ratio = statistics.median(a / b for a, b in zip(times["retrograde"], times["torch"]))
            row += f"{statistics.median(times['torch']) * 1e6:9.1f} us {ratio:7.2f}"
            row += f"  {TARGETS[name]}" if name in TARGETS else ""
        print(row)
        if "autograd" in times:
            for ours in ("retrograde", "native"):
                ratio = statistics.median(a / b for a, b in zip(times[ours], times["autograd"]))
                print(f"{'':4s}{ours} over HIPS autograd {statistics.median(times['autograd']) * 1e6:8.1f} us "
                      f"{ratio:15.2f}  0.35")
    return 0


if __name__ == "__main__":
    sys.exit(main())
