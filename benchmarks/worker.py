"""Times workloads of one framework or dialect on request: a line `NAME SECONDS` on standard input, a JSON line per answer.

    worker.py FRAMEWORK [MODULE]        MODULE: workloads, operations, or compiled

Started by `python -m benchmarks` with the interpreter that has the framework; one worker runs at a time. Held to one thread
(OMP_NUM_THREADS=1) it is that thread's time that counts, and what passes elsewhere.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import time
from pathlib import Path

CLOCK = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter
SHORT = 1e-3
"""Seconds that are taken together where a step is shorter: a clock of the processor's time takes half a microsecond."""


def main() -> None:
    framework = sys.argv[1]
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    build = importlib.import_module(sys.argv[2] if len(sys.argv) > 2 else "workloads").builders(framework)
    steps = {}
    print(json.dumps({"workloads": list(build)}), flush=True)
    for line in sys.stdin:
        name, _, seconds = line.rpartition(" ")
        try:
            if name not in steps:
                steps[name] = build[name]()
                steps[name]()
            found = {"median": timed(steps[name], float(seconds))}
        except Exception as problem:
            found = {"median": None, "problem": f"{type(problem).__name__}: {str(problem).partition(chr(10))[0]}"}
        print(json.dumps(found), flush=True)


def timed(step, seconds: float) -> float:
    """The median time of a step."""
    start = CLOCK()
    step()
    many = max(1, int(SHORT / max(CLOCK() - start, 1e-7)))
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = CLOCK()
        for _ in range(many):
            step()
        times.append((CLOCK() - start) / many)
    return statistics.median(times)


if __name__ == "__main__":
    main()
