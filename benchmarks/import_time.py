"""What `import retrograde` and its dialects cost on top of NumPy: medians over fresh interpreters.

The budgets are 0.10 s for retrograde and 0.25 s for a dialect. It reports and does not judge: on a busy machine
the figures grow. `python benchmarks/import_time.py [--repeat N]`
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

STEPS = {
    "python alone": "pass",
    "import numpy": "import numpy",
    "import retrograde": "import retrograde",
    **{
        f"{dialect} dialect": f"import retrograde; retrograde.activate('{dialect}'); import {dialect}"
        for dialect in ("torch", "paddle", "mindspore")
    },
}

# With bytecode kept, as where packages are installed: otherwise every start compiles what has been edited.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(statement: str) -> float:
    """The time of one fresh interpreter that runs a statement."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=15, help="interpreters started for each step")
    repeat = parser.parse_args().repeat
    times: dict[str, list[float]] = {step: [] for step in STEPS}
    for _ in range(repeat + 1):
        for step, statement in STEPS.items():  # in turn, so that a busy moment meets every step
            times[step].append(seconds(statement))
    median = {step: statistics.median(t[1:]) for step, t in times.items()}  # the first round fills the file cache
    for step, value in median.items():
        print(f"{step:20s} {value:.3f} s")
    print(f"retrograde over numpy  {median['import retrograde'] - median['import numpy']:+.3f} s (budget 0.10)")
    for step in STEPS:
        if step.endswith("dialect"):
            print(f"{step} over numpy {median[step] - median['import numpy']:+.3f} s, "
                  f"over retrograde {median[step] - median['import retrograde']:+.3f} s (budget 0.25)")


if __name__ == "__main__":
    main()
