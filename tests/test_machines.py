"""Processes on several machines: namespaces of network, host name and memory stand for two, where this user may make them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from test_processes import ENVIRONMENT, PROGRAMS, run, together

from retrograde.backend import launch

AGENT = """#!/bin/bash
# as ssh is called: AGENT HOST COMMAND; a command in the namespaces of a machine, with nothing of this environment
host=$1; shift
exec nsenter -t $(cat {folder}/$host.pid) -n -u -m -i env -i PATH="$PATH" HOME="$HOME" sh -c "$*"
"""
NAMES = ("rgm1", "rgm2")
ADDRESSES = ("10.77.0.1", "10.77.0.2")


def losses(text: str) -> list[float]:
    return [float.fromhex(x) for x in text.split()]


class Machines:
    """Two machines that share files and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.agent, self._held = folder, folder / "agent", list[subprocess.Popen[bytes]]()
        self.agent.write_text(AGENT.format(folder=folder))
        self.agent.chmod(0o755)
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {n}\n" for a, n in zip(ADDRESSES, NAMES)))
        for name in NAMES:
            setup = (
                f"hostname {name} && mount --make-rprivate / && mount -t tmpfs none /dev/shm && "
                f"mount --bind {folder}/hosts /etc/hosts && ip link set lo up && echo $$ > {folder}/{name}.pid && exec sleep 600"
            )
            command = ["unshare", "--net", "--uts", "--mount", "--ipc", "sh", "-c", setup]
            self._held.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        limit = time.monotonic() + 10
        while not all((folder / f"{name}.pid").exists() for name in NAMES):
            if time.monotonic() > limit or any(p.poll() is not None for p in self._held):
                self.stop()
                pytest.skip("namespaces may not be made here")
            time.sleep(0.05)
        time.sleep(0.1)
        ends = [f"rgv{os.getpid() % 10000}{k}" for k in "ab"]
        self._call("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for process, end, address in zip(self._held, ends, ADDRESSES):
            self._call("ip", "link", "set", end, "netns", str(process.pid))
            inside = ["nsenter", "-t", str(process.pid), "-n"]
            self._call(*inside, "ip", "addr", "add", f"{address}/24", "dev", end)
            self._call(*inside, "ip", "link", "set", end, "up")

    def _call(self, *command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self.stop()
            pytest.skip(f"{' '.join(command)}: {done.stderr.strip()}")

    def stop(self) -> None:
        """End them; their network goes with them."""
        for process in self._held:
            process.kill()
            process.wait()

    def run(self, *command: str) -> str:
        """What a command on the first machine prints."""
        names = ("OMP_NUM_THREADS", "RETROGRADE_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        variables = " ".join(f"{name}={ENVIRONMENT[name]}" for name in names)
        line = f"cd {self.folder}; export PRTE_MCA_plm_ssh_agent={self.agent} {variables}; exec timeout 110 {' '.join(command)}"
        done = subprocess.run([str(self.agent), NAMES[0], line], capture_output=True, text=True, timeout=120, check=False)
        assert not done.returncode, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    if not sys.platform.startswith("linux") or os.geteuid() or not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        pytest.skip("needs Linux, root and its tools for namespaces")
    if not launch._launcher()[1]:
        pytest.skip("the agent is told to Open MPI")
    made = Machines(tmp_path_factory.mktemp("machines"))
    yield made
    made.stop()


@together
@pytest.mark.long
def test_training_on_two_machines(machines: Machines) -> None:
    start = [sys.executable, "-m", "retrograde", "run"]
    program = str(PROGRAMS / "training.py")
    expected = losses(run(4, PROGRAMS / "training.py").stdout)
    found = losses(machines.run(*start, "--processes", "4", "--hosts", "rgm1:2,rgm2:2", program))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found == losses(machines.run(*start, "--processes", "4", "--hosts", "rgm1:2,rgm2:2", program))
    mpiexec, _ = launch._launcher()
    plain = machines.run(mpiexec, "--allow-run-as-root", "--host", "rgm1:2,rgm2:2", "-n", "4", *start, program)
    np.testing.assert_allclose(losses(plain), expected, rtol=1e-5)


@together
@pytest.mark.long
def test_collective_operations_between_machines(machines: Machines) -> None:
    command = [sys.executable, "-m", "retrograde", "run", "--processes", "3", "--hosts", "rgm1:2,rgm2:1"]
    said = machines.run(*command, str(PROGRAMS / "collectives.py")).splitlines()
    assert sorted(said) == [f"rank {k} is done" for k in range(3)]
    names = machines.folder / "names.py"
    names.write_text(
        "import os, platform, torch.distributed as dist\n"
        "dist.init_process_group('gloo')\n"
        "print(*map(os.environ.get, ('RANK', 'LOCAL_RANK', 'LOCAL_WORLD_SIZE', 'RETROGRADE_NUM_THREADS')), platform.node())\n"
    )
    said = machines.run(*command, str(names)).splitlines()
    assert sorted(said) == ["0 0 2 1 rgm1", "1 1 2 1 rgm1", "2 0 1 1 rgm2"]


@together
def test_processes_that_share_no_memory_reduce_through_mpi() -> None:
    np.testing.assert_allclose(
        losses(run(4, PROGRAMS / "nodes.py").stdout), losses(run(4, PROGRAMS / "training.py").stdout), rtol=1e-5
    )


def test_settings_of_an_mpi_reach_what_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID", "PMI_RANK"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_btl", "OMPI_UNIVERSE_SIZE", "RANK"):
        monkeypatch.setenv(name, "1")
    assert {"PRTE_MCA_plm_ssh_agent", "OMPI_MCA_btl"} <= launch.environment().keys()
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    kept = launch.environment().keys()
    assert "PRTE_MCA_plm_ssh_agent" in kept
    assert not {"OMPI_MCA_btl", "OMPI_UNIVERSE_SIZE", "RANK"} & kept


def test_hosts_go_with_processes(capsys: pytest.CaptureFixture[str]) -> None:
    from retrograde.tools.cli import main

    assert main(["run", "--hosts", "a:1", "train.py"]) == 2
    assert "--hosts goes with --processes" in capsys.readouterr().err
