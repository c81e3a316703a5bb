"""What all generated code stands on: the cache on disk, threads and processes that translate at the same time."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from retrograde.backend.jit import llvm, pointwise

LEAST = pointwise.LEAST
pytestmark = pytest.mark.skipif(
    pointwise.erf(np.zeros(LEAST, np.float32)) is None, reason="needs llvmlite and a processor with AVX2 and FMA"
)

PROGRAM = """
import numpy as np
from retrograde.backend.jit import pointwise
print(pointwise.erf(np.full(pointwise.LEAST, 0.5, np.float32))[-1])
"""


def printed(program=PROGRAM, **environment):
    given = {**os.environ, "RETROGRADE_JIT": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, env=given, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout.strip(), done.stderr


def test_a_damaged_file_is_translated_anew(tmp_path):
    expected = 0, "0.5204999", ""
    assert printed(XDG_CACHE_HOME=str(tmp_path)) == expected
    (file,) = (tmp_path / "retrograde").iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[:-1], whole[: len(whole) // 2], bytes(len(whole)), b"?" + whole[1:], whole[32:]):
        file.write_bytes(damaged)
        assert printed(XDG_CACHE_HOME=str(tmp_path)) == expected
        assert file.read_bytes() == whole


def test_a_file_that_does_not_fit_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "name.code"
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    llvm._write(str(path), b"code")
    assert list(path.parent.iterdir()) == []


def test_the_cache_is_never_in_the_working_directory(tmp_path):
    program = f"import os; os.chdir({str(tmp_path)!r})" + PROGRAM
    assert printed(program, XDG_CACHE_HOME="cache") == (0, "0.5204999", "")
    assert list(tmp_path.iterdir()) == []


def test_without_llvmlite():
    program = "import sys; sys.modules['llvmlite'] = None" + PROGRAM.replace("[-1]", "")
    assert printed(program) == (0, "None", "")


def test_threads_that_call_first_at_the_same_time_translate_once(monkeypatch):
    translated = []
    monkeypatch.setattr(llvm, "_kept", {})
    whole = llvm._translated
    monkeypatch.setattr(llvm, "_translated", lambda *args: (translated.append(args), whole(*args))[1])
    pointwise._generated.cache_clear()
    x = np.linspace(-3, 3, LEAST, dtype=np.float32)
    start, found = threading.Barrier(8), []

    def work():
        start.wait()
        found.append(pointwise.gelu(x).tobytes())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    pointwise._generated.cache_clear()  # before what the functions stand in goes
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(translated) == 1


FORKS = """
import os, signal, threading, time
import numpy as np
from retrograde.backend.jit import llvm, products
x = np.ones((128, 128), np.float32)
begun = threading.Event()
whole, llvm.assembled = llvm.assembled, lambda *_: begun.set() or time.sleep(0.5) or whole(*_)
def product():
    return products.product(x, x)[0, 0]
thread = threading.Thread(target=product)
thread.start()
begun.wait()
child = os.fork()
if not child:
    llvm.assembled = whole
    signal.alarm(20)
    os._exit(0 if product() == 128 else 1)
print(os.waitpid(child, 0)[1])
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.skipif(not llvm.available("avx512f"), reason="products are BLAS's here")
def test_a_process_that_forks_while_a_thread_translates():
    code, out, _ = printed(FORKS)
    assert (code, out) == (0, "0")
