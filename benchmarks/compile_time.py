"""What the first call of a compiled function costs, and how much memory: `rg.jit` on a machine that has never compiled it (an
empty cache) and on one that has, beside jax.jit and torch.compile, each in a fresh interpreter.

The time of a first call is that of the call less one steady call, tracing included; of `rg.jit` also what is beyond tracing.
The memory is what the process holds at most during the first call, above what it held before. The rows are those of
compiled.py; of a training step it is the first three calls, of which the dialect runs some both ways.

    python benchmarks/compile_time.py [--rounds N] [--torch-python PATH] [--jax-python PATH] [NAME ...]
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CALLS = 6
"""The calls after the first that a steady one is the median of."""


def now() -> float:
    """Seconds: of the processor, for this process and what it has started, where it is held to one thread; else what pass."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        return time.perf_counter()
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + others.ru_utime + others.ru_stime


def held() -> tuple[int, int]:
    """The KiB that the process holds, and that it has held at most."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return int(lines["VmRSS"].split()[0]), int(lines["VmHWM"].split()[0])


def child(framework: str, name: str) -> None:
    """Run a row and print what it took."""
    sys.path.insert(0, str(HERE))
    import compiled

    step = compiled.builders(framework)[name]()
    tracing = []
    if framework == "native":
        from retrograde.compile import pipeline

        inner = pipeline.compiled

        def timed(graph):
            begin = now()
            try:
                return inner(graph)
            finally:
                tracing.append(now() - begin)

        pipeline.compiled = timed
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the most that the process has held begins anew
    before, _ = held()
    taken = []  # the dialect runs a step both ways at first
    for _ in range(3 if name.endswith(" step") and framework == "native" else 1):
        begin = now()
        step()
        taken.append(now() - begin)
    _, most = held()
    later = []
    for _ in range(CALLS):
        begin = now()
        step()
        later.append(now() - begin)
    steady = statistics.median(later)
    print(json.dumps({
        "first": 1e3 * (sum(taken) - len(taken) * steady), "beyond": 1e3 * sum(tracing), "memory": (most - before) / 1024,
        "steady": 1e3 * steady,
    }))  # fmt: skip


def measured(python: str, framework: str, name: str, cache: str) -> dict[str, float] | str:
    """What `child` prints, in a fresh interpreter with a cache; or why it failed."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "inductor")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as what is installed, our modules have their bytecode beside them
    environment["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no processes that are left waiting, whose time is never known
    if python == sys.executable:
        environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), environment.get("PYTHONPATH", "")])
    command = [python, str(Path(__file__).resolve()), "--child", framework, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    for line in reversed(done.stdout.splitlines()):
        if line.startswith("{"):
            found: dict[str, float] = json.loads(line)
            return found
    reason = done.stderr.strip().splitlines()
    return reason[-1] if reason else f"status {done.returncode}"


def several(python: str, framework: str, name: str, rounds: int, filled: bool = False) -> dict[str, float] | str:
    """The medians over fresh interpreters, each with an empty cache or all with one that is filled."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(-(framework == "native"), rounds + filled):  # ours once before: its bytecode may have to be written
            result = measured(python, framework, name, folder if filled else os.path.join(folder, str(k)))
            if isinstance(result, str):
                return result
            if k >= filled:
                found.append(result)
    return {key: statistics.median(result[key] for result in found) for key in found[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of the rows; all by default")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    for peer in ("torch", "jax"):
        parser.add_argument(f"--{peer}-python", default=os.environ.get(f"RETROGRADE_{peer.upper()}_PYTHON"))
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    sys.path.insert(0, str(HERE))
    import compiled

    sides = [("empty", sys.executable, "native", False), ("filled", sys.executable, "native", True)]
    for peer, framework in (("jax", "jax"), ("torch", "torch.compile")):
        if path := getattr(options, f"{peer}_python"):
            sides.append((framework, path, framework, False))
    print("first call, in ms less a steady one (rg.jit: of that beyond tracing); MiB at most")
    for name in options.names or [*compiled.PROGRAMS, "gpt step", "convolution step"]:
        print(f"{name:18s}", end="")
        for label, python, framework, filled in sides:
            rounds = 1 if framework == "torch.compile" else options.rounds
            found = several(python, framework, name, rounds, filled)
            if isinstance(found, str):
                print(f"  {label} fails: {found[:60]}", end="", flush=True)
                continue
            beyond = f" ({found['beyond']:.1f})" if framework == "native" else ""
            print(f"  {label} {found['first']:.1f}{beyond} ms {found['memory']:.0f} MiB", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
