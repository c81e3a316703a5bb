"""Several processes over MPI: collective operations, data-parallel training, what starts the processes and what ends them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from retrograde import UnsupportedError
from retrograde.backend import launch
from retrograde.backend.processes import Group
from retrograde.backend.staging import Staged
from retrograde.tools.cli import main

PROGRAMS = Path(__file__).parent / "processes"


def _has_mpi():
    try:
        launch.command(1, [])
        import mpi4py.MPI  # noqa: F401
    except (ImportError, RuntimeError, UnsupportedError):
        return False
    return True


together = pytest.mark.skipif(not _has_mpi(), reason="needs mpi4py and an MPI")
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "RETROGRADE_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(count, program, *flags, status=0, arguments=()):
    command = [sys.executable, "-m", "retrograde", "run", "--processes", str(count), *flags, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False)
    assert (done.returncode == 0) == (status == 0), done.stderr
    return done


@together
def test_collective_operations_of_three_processes():
    said = run(3, PROGRAMS / "collectives.py").stdout.splitlines()
    assert sorted(said) == [f"rank {k} is done" for k in range(3)]


@together
def test_training_on_one_two_and_four_processes():
    alone, two, again, four = (
        [float.fromhex(x) for x in run(n, PROGRAMS / "training.py").stdout.split()] for n in (1, 2, 2, 4)
    )
    assert len(alone) == 12
    assert sum(alone[8:]) < sum(alone[:4])
    np.testing.assert_allclose(two, alone, rtol=1e-5)
    np.testing.assert_allclose(four, alone, rtol=1e-5)
    assert two == again


@together
def test_a_restart_on_another_number_of_processes_goes_on_as_before(tmp_path):
    def losses(counts):
        def goes_on(n):
            return run(n, PROGRAMS / "restarting.py", arguments=[str(tmp_path / f"{counts}.pt")])

        return [float.fromhex(x) for n in counts for x in goes_on(n).stdout.split()]

    expected = losses([1, 1])
    assert len({*expected}) == 16  # the second half went on
    np.testing.assert_allclose(losses([2, 4]), expected, rtol=1e-4)



SLURM = {
    "SLURM_PROCID": "3", "SLURM_NTASKS": "5", "SLURM_LOCALID": "1", "SLURM_NODEID": "1", "SLURM_STEP_NUM_TASKS": "5",
    "SLURM_STEP_TASKS_PER_NODE": "2(x2),1",
}  # fmt: skip


def test_programs_are_told_what_slurm_says_of_them():
    environ = dict(SLURM)
    launch.describe(environ)
    wanted = {"RANK": "3", "WORLD_SIZE": "5", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2"}
    assert {name: environ[name] for name in wanted} == wanted
    environ = {**SLURM, "SLURM_PROCID": "4", "SLURM_LOCALID": "0", "SLURM_NODEID": "2"}
    launch.describe(environ)
    assert environ["LOCAL_WORLD_SIZE"] == "1"
    environ = {**SLURM, "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
    launch.describe(environ)  # mpiexec within a step
    assert (environ["RANK"], environ["WORLD_SIZE"], environ["LOCAL_WORLD_SIZE"]) == ("0", "2", "2")


def test_a_batch_script_of_slurm_is_alone():
    environ = {name: value for name, value in SLURM.items() if "STEP" not in name}
    launch.describe(environ)
    assert "RANK" not in environ


@together
def test_a_launcher_that_has_not_told_the_mpi_is_an_error(tmp_path):
    program = tmp_path / "alone.py"
    program.write_text("import torch.distributed as dist\ndist.init_process_group()\nprint('not reached')\n")
    command = [sys.executable, "-m", "retrograde", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**ENVIRONMENT, **SLURM}, check=False)
    assert done.returncode
    assert not done.stdout
    assert "started as 3 of 5" in done.stderr
    assert "0 of 1" in done.stderr
    assert "--mpi=pmix" in done.stderr


@together
def test_a_process_that_dies_ends_the_others_with_its_traceback(tmp_path):
    program = tmp_path / "dies.py"
    program.write_text(
        "import torch.distributed as dist\ndist.init_process_group()\nif dist.get_rank() == 1:\n    raise KeyError('lost')\n"
        "dist.barrier()\nprint('not reached')\n"
    )
    done = run(2, program, "--prefix", status=1)
    assert "not reached" not in done.stdout
    assert "KeyError: 'lost'" in done.stderr
    assert "process 1 of 2" in done.stderr
    assert "dies.py" in done.stderr


@together
def test_spawned_processes_are_connected_and_tell_what_they_raise(tmp_path):
    program = tmp_path / "spawns.py"
    program.write_text("""import os, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, count, fails):
    dist.init_process_group("gloo", rank=rank, world_size=count)
    x = torch.ones(1)
    dist.all_reduce(x)
    print(x.item(), flush=True)
    if fails and rank == 1:
        raise ValueError("so")
    dist.barrier()
if __name__ == "__main__":
    mp.spawn(work, args=(2, False), nprocs=2)
    try:
        mp.spawn(work, args=(2, True), nprocs=2)
    except mp.ProcessRaisedException as error:
        print(error.error_index, str(error).strip().splitlines()[-1])
""")
    command = [sys.executable, "-m", "retrograde", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False)
    assert done.stdout.split("\n") == ["2.0"] * 4 + ["1 ValueError: so", ""], done.stderr


def test_a_process_alone_is_a_group_of_one():
    group = Group(None, (0,))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for found in (
        group.all_reduce(x, "mean"), group.reduce(x, 0), group.broadcast(x, 0), group.reduce_scatter([x]),
        group.scatter([x], x, 0),
    ):  # fmt: skip
        assert np.array_equal(found.wait(), x)
        assert found.wait() is not x
    for found in (group.all_gather(x), group.gather(x, 0), group.all_to_all([x], [x.shape])):
        assert np.array_equal(found.wait()[0], x)
    group.barrier().wait()
    assert group.all_gather_objects({"a": 1}) == [{"a": 1}]
    with pytest.raises(TypeError, match="bits are combined of integers"):
        group.all_reduce_in_place([x], "and")
    with pytest.raises(ValueError, match="complex numbers have no max"):
        group.all_reduce(x + 1j, "max")
    with pytest.raises(ValueError, match="this one"):
        group.send(x, 0)


def test_how_many_processes_is_checked(capsys):
    assert main(["run", "--processes", "0", "x.py"]) == 2
    assert "--processes" in capsys.readouterr().err


@together
@pytest.mark.parametrize("dialect", ["paddle", "mindspore"])
def test_the_other_dialects_on_three_processes(dialect):
    said = run(3, PROGRAMS / f"{dialect}_training.py").stdout.splitlines()
    assert sorted(said) == [f"rank {k} is done" for k in range(3)]


def test_a_reduction_that_was_interrupted_is_never_complete():
    def steps():
        yield
        raise KeyboardInterrupt

    class Alone:
        def advance(self):
            begun.advance()

    begun = Staged(Alone(), steps())
    assert not begun.Test()
    with pytest.raises(KeyboardInterrupt):
        begun.Test()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="interrupted"):
            begun.Test()
