"""`paddle.distributed.launch`: starts several processes of a script, as one MPI job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

from ..._shared.between import launcher, parsed, start


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Start the processes, and become what waits for them."""
    parser = launcher("paddle.distributed.launch")
    parser.add_argument("--nproc_per_node", type=int, default=None, help="how many processes (default: one for each core)")
    for name in ("master", "nnodes", "rank", "log_level", "log_dir", "run_mode", "job_id", "devices", "gpus", "ips", "host"):
        parser.add_argument(f"--{name}", default=None)
    given = parsed(parser, args)
    chosen = given.devices or given.gpus
    start(given.nproc_per_node or (len(chosen.split(",")) if chosen else os.cpu_count() or 1), given)


if __name__ == "__main__":
    main()
