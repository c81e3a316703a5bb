"""`make bench`: each dialect of retrograde against its framework, and against HIPS autograd, in one run; ratios of medians.

    python -m benchmarks [--quick] [--only NAMES] [--torch-python PATH] [--paddle-python PATH] [--mindspore-python PATH]
    python -m benchmarks --operations [--quick] [--only BEGINNINGS] [--torch-python PATH]
    python -m benchmarks --compiled [--quick] [--only BEGINNINGS] [--torch-python PATH] [--jax-python PATH]

A peer is timed where an interpreter has it: this one, or the one that the option (or RETROGRADE_TORCH_PYTHON,
RETROGRADE_PADDLE_PYTHON, RETROGRADE_MINDSPORE_PYTHON) names; HIPS autograd is looked for beside PyTorch. For each workload
retrograde and its peer take turns in short rounds, and the ratio is the median over the rounds, so that a busy machine
slows both sides of a ratio alike. Each is timed twice: held to one thread, and with as many threads as it takes by itself
("all cores": the ratio that a user of an idle machine sees). With --operations it is single operations of the torch dialect, by
how many numbers they have, and whole networks: means of each group, and what is behind PyTorch. With --compiled it is functions
with their gradients, and training steps: how many times longer PyTorch eager, torch.compile and jax.jit take than `rg.jit`.
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
TARGETS = {
    "chain": 0.5, "chain, both wanted": 0.5, "pinn": 1.0, "mlp": 1.0, "conv": 2.5, "paddle.grad chain": 0.2,
    "mindspore.value_and_grad mlp": 0.5,
}  # fmt: skip
PEERS = "torch", "torch.compile", "jax"
GOALS = {
    "elementwise 1e6": (8, 4, 5), "elementwise 1e4": (10, 10, 8), "chain of 100": (200, 50, 5), "rows": (4, 2.5, 2.5),
    "mlp 64": (1.7, 1.9, 1.7), "mlp 512": (1.15, 1.35, 1.1), "second derivative": (3, 2, 1.7), "gpt step": (2, 2, 2.3),
    "convolution step": (2, 3.5, 3),
}  # fmt: skip
"""How many times longer the peers are to take."""
OUTSIDE = "retrograde.torch.compile"
FRAMEWORKS = ("torch", "paddle", "mindspore")
AUTOGRAD = "retrograde over HIPS autograd", "native over HIPS autograd"
THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"


class Worker:
    """A process with one framework, or one dialect of retrograde, loaded; held to one thread unless `all_cores`."""

    def __init__(self, framework: str, python: str, *, all_cores: bool = False, module: str = "workloads") -> None:
        environment = {name: value for name, value in os.environ.items() if name not in THREADS}
        if not all_cores:
            environment |= dict.fromkeys(THREADS, "1")
            environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        if python == sys.executable:
            environment["PYTHONPATH"] = os.pathsep.join([str(HERE.parent / "src"), environment.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), framework, module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment, stderr=subprocess.DEVNULL if python != sys.executable else None,
        )  # fmt: skip
        self.workloads: list[str] = self._read()["workloads"]
        self.framework = framework
        self.failed: set[str] = set()

    def _read(self) -> dict:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):  # frameworks greet on standard output, too
                return json.loads(line)
        raise SystemExit(f"a benchmark worker ended with status {self.process.wait()}")

    def time(self, name: str, seconds: float) -> float | None:
        """The median time of one step; None where the peer cannot run it."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name} {seconds}\n")
        self.process.stdin.flush()
        found = self._read()
        if found["median"] is None and name not in self.failed:
            self.failed.add(name)
            print(f"{name}: {self.framework} fails: {found['problem']}")
        return found["median"]


def has(python: str, module: str) -> bool:
    """Whether an interpreter can import a module."""
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    return subprocess.run([python, "-c", probe], cwd="/", check=False).returncode == 0


def in_turns(name: str, workers: dict[str, Worker], rounds: int, seconds: float) -> dict[str, list[float]]:
    """The medians of each worker that has the workload, round by round."""
    taking_part = {who: worker for who, worker in workers.items() if name in worker.workloads}
    times: dict[str, list[float]] = {who: [] for who in taking_part}
    for _ in range(rounds):
        for who, worker in taking_part.items():
            found = worker.time(name, seconds)
            if found is not None:
                times[who].append(found)
    return times


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median over the rounds of the quotient of two times."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


def compared(times: dict[str, list[float]]) -> str:
    """What retrograde takes, and where the framework has the workload what that takes, and the ratio."""
    parts = [f"{statistics.median(times[who]) * 1e6:9.1f} us" for who in ("ours", "theirs") if who in times]
    return " ".join(parts + ([f"{ratio(times['ours'], times['theirs']):7.2f}"] if "theirs" in times else []))


BEHIND = 1.25


def operations(python: str, beginnings: tuple[str, ...], rounds: int, seconds: float) -> int:
    """Compare single operations with PyTorch: ratios on one thread, then on all cores."""
    if not has(python, "torch"):
        print(f"torch is not installed for {python}: not compared")
        return 0
    for all_cores in (False, True):
        sides = {"ours": ("retrograde.torch", sys.executable), "theirs": ("torch", python)}
        workers = {who: Worker(*side, all_cores=all_cores, module="operations") for who, side in sides.items()}
        groups: dict[str, dict[str, float]] = {}
        for name in workers["ours"].workloads:
            if name.startswith(beginnings):
                times = in_turns(name, workers, rounds, seconds)
                kind, _, group = name.rpartition(" ")
                groups.setdefault(group, {})[kind] = ratio(times["ours"], times["theirs"])
        print("all cores" if all_cores else "one thread")
        for group, ratios in groups.items():
            behind = [f"{name} {r:.2f}" for name, r in sorted(ratios.items(), key=lambda pair: -pair[1]) if r > BEHIND]
            mean = statistics.geometric_mean(ratios.values())
            print(f"    {group:9s} {len(ratios):3d}  mean {mean:.2f}  above {BEHIND}: {', '.join(behind) or 'none'}", flush=True)
    return 0


def compiled(pythons: dict[str, str], beginnings: tuple[str, ...], rounds: int, seconds: float) -> int:
    """Compare `rg.jit` with PyTorch eager, torch.compile, jax.jit: the peers' times over ours, one thread, then all cores."""
    present = {peer: python for peer in PEERS if has(python := pythons[peer.partition(".")[0]], peer.partition(".")[0])}
    for peer in pythons.keys() - present.keys():
        print(f"{peer} is not installed for {pythons[peer]}: not compared")
    for all_cores in (False, True):
        workers = {"ours": Worker("native", sys.executable, all_cores=all_cores, module="compiled")}
        workers[OUTSIDE] = Worker(OUTSIDE, sys.executable, all_cores=all_cores, module="compiled")
        for peer, python in present.items():
            workers[peer] = Worker(peer, python, all_cores=all_cores, module="compiled")
        print("all cores" if all_cores else "one thread")
        for name in workers["ours"].workloads:
            if name.startswith(beginnings):
                times = in_turns(name, workers, rounds, seconds)
                if not times["ours"]:
                    continue
                row = f"    {name:20s} {statistics.median(times['ours']) * 1e6:10.1f} us"
                for goal, peer in zip(GOALS[name], PEERS):
                    if peer in times:
                        wanted = 0.7 * goal if all_cores else goal
                        found = f"{ratio(times[peer], times['ours']):6.2f}" if times[peer] else " fails"
                        row += f"   {peer} {found} (wanted {wanted:.3g})"
                if times[OUTSIDE]:
                    row += f"   torch dialect's torch.compile {ratio(times[OUTSIDE], times['ours']):5.2f} of ours"
                print(row, flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--only", help="comma-separated workloads")
    parser.add_argument("--operations", action="store_true", help="single operations of the torch dialect instead")
    parser.add_argument("--compiled", action="store_true", help="compiled functions with their gradients instead")
    for framework in (*FRAMEWORKS, "jax"):
        variable = f"RETROGRADE_{framework.upper()}_PYTHON"
        parser.add_argument(f"--{framework}-python", default=os.environ.get(variable, sys.executable))
    options = parser.parse_args()
    rounds, seconds = (5, 0.1) if options.quick else (15, 0.3)
    chosen = options.only.split(",") if options.only else None
    if options.operations:
        return operations(options.torch_python, tuple(chosen or ("",)), 3 if options.quick else 9, seconds / 5)
    if options.compiled:
        pythons = {"torch": options.torch_python, "jax": options.jax_python}
        return compiled(pythons, tuple(chosen or ("",)), 5 if options.quick else 11, seconds)
    print(f"{'':30s} {'one thread':>33s} {'all cores':>34s}")
    sides = f"{'retrograde':>12s} {'framework':>12s} {'ratio':>7s}"
    print(f"{'workload':30s} {sides}  {sides}  target for one thread")
    for framework in FRAMEWORKS:
        python = getattr(options, f"{framework}_python")
        workers = {"ours": Worker(f"retrograde.{framework}", sys.executable)}
        on_all_cores = {}
        names = [name for name in workers["ours"].workloads if chosen is None or name in chosen]
        if not names:
            continue
        peers = [framework, "autograd"] if framework == "torch" else [framework]
        for peer in peers:
            if has(python, peer):
                workers["theirs" if peer == framework else peer] = Worker(peer, python)
                if peer == framework:
                    ours = Worker(f"retrograde.{framework}", sys.executable, all_cores=True)
                    on_all_cores = {"ours": ours, "theirs": Worker(framework, python, all_cores=True)}
            else:
                print(f"{peer} is not installed for {python}: not compared")
        if "autograd" in workers:
            workers["native"] = Worker("native", sys.executable)
        for name in names:
            times = in_turns(name, workers, rounds, seconds)
            row = f"{name:30s} {compared(times)}"
            if "theirs" in times:
                row += f"  {compared(in_turns(name, on_all_cores, rounds, seconds))}  {TARGETS.get(name, '')}"
            print(row.rstrip(), flush=True)
            for label, who in zip(AUTOGRAD, ("ours", "native")):
                if "autograd" in times:
                    peer_time = statistics.median(times["autograd"]) * 1e6
                    quotient = ratio(times[who], times["autograd"])
                    print(f"    {label:39s} {peer_time:9.1f} us {quotient:7.2f}  0.35")
    return 0


if __name__ == "__main__":
    sys.exit(main())
