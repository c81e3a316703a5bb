"""The pool of threads that generated code shares its work out to: equal bits, many callers, fork, interruption, exit."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from retrograde.backend.jit import llvm, threads
from retrograde.backend.jit.vectors import LANES, Vectors

UNIT = 1024  # numbers

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite and a processor that code is generated for")


def doubled(code):
    """out = 2 x for units of 1024 float32 numbers."""
    v = Vectors(code, LANES)
    n = code.mul(code.value("sub i64 %last, %first"), UNIT)
    x, out = (code.at("float", name, code.mul("%first", UNIT)) for name in ("%x", "%out"))
    v.over(n, lambda i, part: part.store(v, v.multiply(part.load(v, x, i), 2.0), out, i))


def double(x, *, grain=1):
    """2 x, shared out in tiles of `grain` units whatever the size."""
    function = llvm.shared("doubled", "ptr out, ptr x", doubled)
    out = np.full_like(x, np.nan)
    function(threads.pool(1 << 30), x.size // UNIT, grain, out.ctypes.data, x.ctypes.data)
    return out


@pytest.fixture
def four():
    """Four threads, as many as there were afterwards."""
    before = threads.count()
    threads.set_count(4)
    yield
    threads.set_count(before)


def test_a_few_steps_are_no_job(four):
    assert threads.tiles(8, threads.WORTH - 1) == (0, 8, 8)


def test_every_unit_is_computed_once_by_any_number_of_threads(four):
    x = np.random.default_rng(0).normal(size=UNIT * 37).astype(np.float32)
    for count in (1, 2, 3, 4, 2, 1):
        threads.set_count(count)
        assert (threads.pool(1 << 30) == 0) == (count == 1)
        for grain in (1, 2, 5, 36, 37, 100):
            np.testing.assert_array_equal(double(x, grain=grain), 2 * x)


def test_wants_a_thread_at_least():
    with pytest.raises(ValueError, match="at least 1"):
        threads.set_count(0)


def test_many_callers_at_once(four):
    x = np.arange(UNIT * 20, dtype=np.float32)
    wrong = []

    def call():
        wrong.append(sum((double(x) != 2 * x).any() for _ in range(200)))

    callers = [threading.Thread(target=call) for _ in range(threads.JOBS + 4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == [0] * len(callers)


def test_workers_watch_between_two_jobs_before_they_sleep(four):
    x = np.arange(UNIT * 20, dtype=np.float32)
    sleepers = ctypes.c_int64.from_address(threads.pool(1 << 30) + threads._SLEEPERS)

    def asleep(seconds):
        """How many sleep so long after a job; None where other programs held this one up."""
        double(x)
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            pass
        return sleepers.value if time.perf_counter() - begin < 1.2 * seconds else None

    assert any(asleep(1e-4) == 0 for _ in range(500))
    end = time.monotonic() + 10
    while sleepers.value < 3 and time.monotonic() < end:
        time.sleep(0.01)
    assert sleepers.value >= 3


PROGRAM = """
import os, sys
sys.path.insert(0, {folder!r})
import numpy as np
from test_threads import UNIT, double
from retrograde.backend.jit import threads
threads.set_count(3)
x = np.arange(UNIT * 9, dtype=np.float32)
assert (double(x) == 2 * x).all() and threads._workers == 2
"""


def run(program, **options):
    text = PROGRAM.format(folder=os.path.dirname(__file__)) + program
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_workers_of_its_own():
    done = run(
        "pid = os.fork()\n"
        "assert pid or threads._workers == 0\n"
        "assert (double(x) == 2 * x).all() and threads._workers == 2\n"
        "if pid: assert os.waitpid(pid, 0)[1] == 0\n"
        "print('done', flush=True)\n"
        "os._exit(0) if not pid else None"
    )
    assert done.stdout == "done\ndone\n", done.stderr
    assert done.returncode == 0


def test_the_interpreter_ends_while_workers_wait():
    assert run("print('done')").stdout == "done\n"


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_an_interruption_reaches_the_main_thread():
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); print('going', flush=True)\n"
        "try:\n"
        "    while True: double(x)\n"
        "except KeyboardInterrupt:\n"
        "    assert (double(x) == 2 * x).all(); print('interrupted', flush=True)"
    )
    text = PROGRAM.format(folder=os.path.dirname(__file__)) + program
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "going\n"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "interrupted\n"
    assert child.returncode == 0


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"RETROGRADE_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"OMP_NUM_THREADS": "5,2"}, 5),
        ({"OMP_NUM_THREADS": "x"}, 7),
    ],
)
def test_how_many_threads_the_environment_asks_for(given, count, monkeypatch):
    monkeypatch.setattr(threads, "_count", None)
    monkeypatch.setattr(threads, "_allowed", lambda: 7)
    for name in ("RETROGRADE_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert threads.count() == count


def test_a_containers_quota_is_a_limit(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    for quota, allowed in ((1.5, 2), (0.2, 1), (float("inf"), 64)):
        monkeypatch.setattr(threads, "_quota", lambda quota=quota: quota)
        assert threads._allowed() == allowed
