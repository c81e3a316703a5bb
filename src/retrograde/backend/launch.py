"""How processes are started together, and which of them this one is: through the MPI that is installed, with what it wants for
this machine."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from typing import NoReturn

from .._errors import UnsupportedError

_OF_LAUNCHERS = (  # Slurm's are the step's: a batch script has some of a job's, and is alone
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)  # fmt: skip
_LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def _started(environ: Mapping[str, str]) -> tuple[int, int] | None:
    return next(((int(environ[r]), int(environ[n])) for r, n in _OF_LAUNCHERS if r in environ and n in environ), None)


def started() -> tuple[int, int]:
    """The number of this process and how many there are, as an MPI's launcher or Slurm's says; (0, 1) without one."""
    return _started(os.environ) or (0, 1)


def describe(environ: MutableMapping[str, str] = os.environ) -> None:
    """Set what programs read of the process they are (RANK, WORLD_SIZE ...), where a launcher of MPI has started it and nothing
    else has set it."""
    found = _started(environ)
    if found is None:
        return
    rank, size = found
    environ.setdefault("RANK", str(rank))
    environ.setdefault("WORLD_SIZE", str(size))
    environ.setdefault("LOCAL_RANK", next((environ[n] for n in _LOCAL_RANKS if n in environ), "0"))
    environ.setdefault("LOCAL_WORLD_SIZE", next((environ[n] for n in _LOCAL_SIZES if n in environ), _tasks_here(environ)))
    environ.setdefault("MASTER_ADDR", "127.0.0.1")
    environ.setdefault("MASTER_PORT", "29500")


def _tasks_here(environ: Mapping[str, str]) -> str:
    """How many processes of a step Slurm has started on this machine, of what it says of all: 2(x3),1."""
    counts = []
    for part in environ.get("SLURM_STEP_TASKS_PER_NODE", "1").split(","):
        count, _, times = part.partition("(x")
        counts += [count] * int(times.rstrip(")") or 1)
    return counts[int(environ.get("SLURM_NODEID", 0))]


@functools.cache
def _launcher() -> tuple[str, bool]:
    """The launcher of an MPI, the one beside this interpreter first, and whether it is Open MPI's."""
    import shutil
    import subprocess

    beside = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    found = beside if os.access(beside, os.X_OK) else shutil.which("mpiexec")
    if found is None:
        raise UnsupportedError(
            "there is no mpiexec beside this Python nor on the PATH; pip install 'retrograde[mpi]' brings mpi4py and an MPI"
        )
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return found, "hydra" not in said.lower() and "mpich" not in said.lower()


_TOLD = ("RETROGRADE_", "OMP_", "OPENBLAS_", "MKL_", "PYTHON", "TORCH_DISTRIBUTED_DEBUG", "OMPI_MCA_")
"""What the names of variables begin with that processes on other machines are told, which Open MPI starts without."""


def command(count: int, program: Sequence[str], *, prefix: bool = False, hosts: str | None = None) -> list[str]:
    """What starts `count` processes of a program. prefix: whether lines that they print begin with their number. hosts: the
    machines on which they are started, each with how many of them, "a:2,b:2"; this one, where it is None.

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
        if hosts is not None:
            flags += ["--host", hosts]
            for name in sorted(name for name in os.environ if name.startswith(_TOLD)):
                flags += ["-x", name]
    else:
        if prefix:
            flags.append("-prepend-rank")
        if hosts is not None:
            flags += ["-hosts", hosts]
    return [launcher, *flags, *program]


_OF_MPI = ("OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPI_LOCAL")
_OF_OURS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def environment() -> dict[str, str]:
    """The environment of processes that are to be started, without what says which of some processes this one is. Settings of
    Open MPI's components are kept; of those that begin with OMPI, within a job its own, none."""
    kept = ("PRTE_MCA_", "PMIX_MCA_") if _started(os.environ) else ("PRTE_MCA_", "PMIX_MCA_", "OMPI_MCA_")
    return {
        k: v for k, v in os.environ.items() if k.startswith(kept) or (not k.startswith(_OF_MPI) and k not in _OF_OURS)
    }


def become(whole: Sequence[str]) -> NoReturn:
    """Let this process be a command from here on: signals and its status are its."""
    os.execve(whole[0], list(whole), environment())
