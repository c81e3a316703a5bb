"""Times workloads of one framework or dialect on request: a line `NAME SECONDS` on standard input, a JSON line per answer.

    worker.py FRAMEWORK [MODULE]        MODULE: workloads, or operations

Started by `python -m benchmarks` with the interpreter that has the framework; one worker runs at a time.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time
from pathlib import Path


def main() -> None:
    framework = sys.argv[1]
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    build = importlib.import_module(sys.argv[2] if len(sys.argv) > 2 else "workloads").builders(framework)
    steps = {}
    print(json.dumps({"workloads": list(build)}), flush=True)
    for line in sys.stdin:
        name, _, seconds = line.rpartition(" ")
        if name not in steps:
            steps[name] = build[name]()
        step = steps[name]
        times = []
        step()
        end = time.perf_counter() + float(seconds)
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        print(json.dumps({"median": statistics.median(times)}), flush=True)


if __name__ == "__main__":
    main()
