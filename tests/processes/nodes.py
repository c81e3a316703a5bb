"""Run on four processes of one machine, of which two and two say that they are on one: who shares memory, and training."""

import os
import runpy
from pathlib import Path

from mpi4py import MPI

from retrograde.backend import processes


class OnTwo:
    """A communicator whose even and odd halves do not share memory."""

    def __init__(self, comm):
        self._comm = comm
        self.size, self.rank, self.Allreduce = comm.size, comm.rank, comm.Allreduce

    def Split_type(self, kind):
        assert kind == MPI.COMM_TYPE_SHARED
        return self._comm.Split(MPI.COMM_WORLD.rank // 2)


opened = processes.open_staging
processes.open_staging = lambda comm, mpi: opened(OnTwo(comm), mpi)
world = processes.world()
assert world._staging is None
for ranks in ((0, 1), (2, 3), (1, 2)):
    group = processes.group(ranks)
    if group.rank >= 0:
        assert (group._staging is not None) == (ranks != (1, 2)), ranks
    world.barrier().wait()
runpy.run_path(str(Path(__file__).parent / os.environ.get("PROGRAM", "training.py")), run_name="__main__")
