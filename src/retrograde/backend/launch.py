"""How processes are started together: through the MPI that is installed, with what it wants for this machine."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from .._errors import UnsupportedError


@functools.cache
def _launcher() -> tuple[str, bool]:
    """The launcher of an MPI, the one beside this interpreter first, and whether it is Open MPI's."""
    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.access(beside, os.X_OK) else shutil.which("mpiexec")
    if found is None:
        raise UnsupportedError(
            "there is no mpiexec beside this Python nor on the PATH; pip install 'retrograde[mpi]' brings mpi4py and an MPI"
        )
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return found, "hydra" not in said.lower() and "mpich" not in said.lower()


def command(count: int, program: Sequence[str], *, prefix: bool = False) -> list[str]:
    """What starts `count` processes of a program. prefix: whether lines that they print begin with their number.

    More processes than cores are started as well, and by root where root asks for it, as in a container.
    Raises UnsupportedError without an MPI.
    """
    launcher, open_mpi = _launcher()
    flags = ["-n", str(count)]
    if open_mpi:
        flags += ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--allow-run-as-root")
        if prefix:
            flags += ["--output", "tag"]
    elif prefix:
        flags.append("-prepend-rank")
    return [launcher, *flags, *program]


_OF_MPI = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPI_LOCAL")
_OF_OURS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def environment() -> dict[str, str]:
    """The environment of processes that are to be started, without what says which of some processes this one is."""
    return {k: v for k, v in os.environ.items() if not k.startswith(_OF_MPI) and k not in _OF_OURS}


def become(whole: Sequence[str]) -> NoReturn:
    """Let this process be a command from here on: signals and its status are its."""
    os.execve(whole[0], list(whole), environment())
