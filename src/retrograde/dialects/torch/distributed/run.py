"""`torch.distributed.run`, which `torchrun` is: starts several processes of a script or module, as one MPI job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NoReturn

from ..._shared.between import launcher, parsed, start

_ACCEPTED = (
    "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf", "--max-restarts", "--monitor-interval", "--start-method",
    "--role", "--log-dir", "-r", "--redirects", "-t", "--tee", "--local-ranks-filter", "--node-rank", "--master-addr",
    "--master-port", "--local-addr", "--logs-specs",
)  # fmt: skip
"""Options that say how the processes find each other, and how failures are logged, which is MPI's business here."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Start the processes, and become what waits for them."""
    parser = launcher("torchrun")
    parser.add_argument("--nnodes", default="1", help="1: further machines are the MPI launcher's business")
    parser.add_argument("--nproc-per-node", "--nproc_per_node", default="1", help="how many processes, or cpu or auto")
    parser.add_argument("--standalone", action="store_true")
    for name in _ACCEPTED:
        parser.add_argument(*{name, "--" + name[2:].replace("-", "_") if name.startswith("--") else name}, default=None)
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("--no-python", "--no_python", action="store_true")
    given = parsed(parser, args)
    per_node = given.nproc_per_node
    start(os.cpu_count() or 1 if per_node in ("cpu", "auto", "gpu") else int(per_node), given)


run = main

if __name__ == "__main__":
    main()
