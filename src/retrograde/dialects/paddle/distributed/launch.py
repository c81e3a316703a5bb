"""`paddle.distributed.launch`: starts several processes of a script, as one MPI job."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from ....backend import launch


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Start the processes, and become what waits for them."""
    parser = argparse.ArgumentParser(prog="paddle.distributed.launch", description="Start processes of a program as one MPI job.")
    parser.add_argument("--nproc_per_node", type=int, default=None, help="how many processes (default: one for each core)")
    for name in ("master", "nnodes", "rank", "log_level", "log_dir", "run_mode", "job_id", "devices", "gpus", "ips", "host"):
        parser.add_argument(f"--{name}", default=None)
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    given = parser.parse_args(args)
    if given.nnodes not in (None, "1"):
        raise SystemExit(
            "paddle.distributed.launch: this starts processes on this machine; several machines are started by their MPI: "
            "mpiexec --hostfile HOSTS -n N retrograde run SCRIPT"
        )
    chosen = given.devices or given.gpus
    count = given.nproc_per_node or (len(chosen.split(",")) if chosen else os.cpu_count() or 1)
    launch.become(launch.command(
        count, [sys.executable, "-m", "retrograde", "run", given.training_script, *given.training_script_args]
    ))  # fmt: skip


if __name__ == "__main__":
    main()
