"""What all generated code stands on: the cache on disk, threads and processes that translate at the same time."""

import ctypes
import inspect
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from retrograde.backend.jit import cache, host, llvm, objects, operands, pointwise


def erf(x):
    """One generated function, to be tried here and in other processes."""
    from types import SimpleNamespace as Node

    from retrograde.backend.jit import pointwise

    node = Node(name="erf", args=(Node(name="operand", args=(0,), dtype=x.dtype),), dtype=x.dtype)
    found = pointwise.Fused([node])(x)
    return None if found is None else found[0]


LEAST = operands.LEAST
POSIX = os.name == "posix"
pytestmark = pytest.mark.skipif(
    erf(np.zeros(LEAST, np.float32)) is None, reason="needs llvmlite and a processor that code is generated for"
)

PROGRAM = "\n" + inspect.getsource(erf) + """
import numpy as np
print(erf(np.full(1 << 13, 0.5, np.float32))[-1])
"""


def printed(program=PROGRAM, **environment):
    given = {**os.environ, "RETROGRADE_JIT": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, env=given, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout.strip(), done.stderr


ANSWER = "define void @answer(ptr %out) {\n store i64 42, ptr %out\n ret void\n}"


def answer(text=ANSWER, name="answer"):
    """What a small function writes, translated or loaded; and whether it was translated."""
    address, engine = llvm._translated(name, text)
    out = ctypes.c_int64()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(out))
    del engine
    return out.value


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if cache.path() != str(tmp_path / "retrograde"):
        pytest.skip("the cache has another place on this system")
    return tmp_path / "retrograde"


@pytest.fixture
def written(monkeypatch):
    """The names of what is written to the cache: what was not read from there."""
    names, write = [], cache.write
    monkeypatch.setattr(cache, "write", lambda name, key, code: (names.append(name), write(name, key, code))[1])
    return names


def entries(folder):
    return sorted(folder.glob("*.code"))


def test_code_is_kept_where_only_its_user_reads_and_writes(folder, written):
    assert answer() == answer() == 42
    assert written == ["answer"]
    (entry,) = entries(folder)
    assert {file.name for file in folder.iterdir()} == {entry.name, ".secret"}
    if POSIX:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_a_damaged_file_is_translated_anew(folder, written):
    answer()
    (file,) = entries(folder)
    whole = file.read_bytes()
    flipped = bytes([*whole[:-1], whole[-1] ^ 1])
    for count, damaged in enumerate(
        (b"", whole[:-1], whole[: len(whole) // 2], bytes(len(whole)), flipped, whole[32:], whole + b"?", bytes(1 << 23)), 2
    ):
        file.write_bytes(damaged)
        assert answer() == 42
        assert len(written) == count
        assert file.read_bytes() == whole


def test_code_under_the_name_of_another_function_is_not_loaded(folder, written):
    """Its digest is right; running it as what it is not ends the process."""
    other = ANSWER.replace("answer", "other").replace("42", "41")
    assert (answer(), answer(other, "other")) == (42, 41)
    first, second = entries(folder)
    first.write_bytes(second.read_bytes())
    assert answer() == 42
    later = ANSWER.replace("42", "43")  # of the same name, made from another text
    assert answer(later) == 43
    (third,) = set(entries(folder)) - {first, second}
    third.write_bytes(first.read_bytes())
    assert answer(later) == 43
    assert written == ["answer", "other", "answer", "answer", "answer"]


def test_code_without_the_function_is_translated_anew(folder, written, monkeypatch):
    """Of the right signature: an address of 0 is never called."""
    code = []
    monkeypatch.setattr(cache, "read", lambda name, key: code[0] if code else None)
    monkeypatch.setattr(cache, "write", lambda name, key, made: code.append(made) or written.append(name))
    assert answer(ANSWER.replace("answer", "other"), "other") == 42
    assert answer() == 42
    assert written == ["other", "answer"]
    with pytest.raises(RuntimeError, match="no function nothing"):
        llvm._translated("nothing", ANSWER)


def test_where_object_files_are_not_understood_llvm_loads_them(folder, written, monkeypatch):
    monkeypatch.setattr(objects, "understood", lambda: False)
    assert answer() == answer() == 42
    assert written == ["answer"]


@pytest.mark.skipif(not objects.understood(), reason="LLVM loads object files here")
def test_what_is_linked_without_llvm(folder, monkeypatch):
    """A constant, a function of the module and one of C's library; nothing but memory is touched by files that are damaged."""
    text = """
    @table = internal constant [4 x i64] [i64 1, i64 2, i64 3, i64 42]
    declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
    define internal void @inner(ptr %out, ptr %from, i64 %n) noinline {
      call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %from, i64 %n, i1 false)
      ret void
    }
    define void @answer(ptr %out) {
      %at = getelementptr i64, ptr @table, i64 3
      call void @inner(ptr %out, ptr %at, i64 8)
      ret void
    }"""
    assert answer(text) == 42
    monkeypatch.setattr(llvm, "_llvmlite", lambda: pytest.fail("LLVM is asked"))
    assert answer(text) == 42
    (entry,) = entries(folder)
    file = entry.read_bytes()[32:]
    assert objects.loaded("inner", file) is not None
    assert objects.loaded("nothing", file) is None
    random = np.random.default_rng(0)
    for length in range(0, len(file), 7):
        objects.loaded("answer", file[:length])
    for _ in range(2000):
        damaged = bytearray(file)
        for at in random.integers(0, len(file), 4):
            damaged[at] = random.integers(256)
        objects.loaded("answer", bytes(damaged))
    assert objects.loaded("answer", b"") is None


def test_what_llvm_says_of_the_processor_is_known_to_the_next_process(tmp_path):
    program = PROGRAM + "import sys; print('llvmlite.binding' in sys.modules)"
    for loaded in ("True", str(not objects.understood())):
        assert printed(program, XDG_CACHE_HOME=str(tmp_path))[1].split() == ["0.5204999", loaded]
    assert len(list((tmp_path / "retrograde").glob("host-*"))) == (host._key() is not None)
    assert printed(program.replace("import numpy", "import sys; sys.modules['llvmlite'] = None; import numpy").replace(
        "[-1]", ""), XDG_CACHE_HOME=str(tmp_path))[1].split()[0] == "None"  # of a process that has no LLVM


def test_the_options_of_the_translation_are_part_of_the_key(folder, written, monkeypatch):
    answer()
    monkeypatch.setattr(llvm, "_OPTIONS", {"opt": 2})
    answer()
    assert len(entries(folder)) == len(written) == 2


def test_what_another_secret_signed_is_not_code(folder, written):
    answer()
    for damaged in (b"", b"short", bytes(32), bytes(33)):
        (folder / ".secret").write_bytes(damaged)
        assert answer() == 42
    assert len(written) == 5
    assert len((folder / ".secret").read_bytes()) == 32
    answer()
    assert len(written) == 5


@pytest.mark.skipif(not POSIX, reason="the mode of a file says who may write it on POSIX systems only")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o722, 0o702])
def test_a_folder_that_others_write_is_no_cache(folder, written, mode):
    answer()
    folder.chmod(mode)
    names = set(folder.iterdir())
    assert answer() == answer() == 42
    assert len(written) == 3
    assert set(folder.iterdir()) == names
    assert stat.S_IMODE(folder.stat().st_mode) == mode


@pytest.mark.skipif(not POSIX, reason="the mode of a file says who may write it on POSIX systems only")
def test_a_folder_that_others_only_read_is_closed_to_them(folder, written):
    folder.mkdir(mode=0o755)
    assert answer() == answer() == 42
    assert written == ["answer"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(not POSIX, reason="the mode of a file says who may write it on POSIX systems only")
@pytest.mark.parametrize("name", ["*.code", ".secret"])
def test_a_file_that_others_read_or_write_is_not_read(folder, written, name):
    answer()
    for mode in (0o666, 0o640, 0o604):
        (file,) = folder.glob(name)
        file.chmod(mode)
        assert answer() == 42
        assert stat.S_IMODE(file.stat().st_mode) == 0o600  # a new one
    assert len(written) == 4


@pytest.mark.skipif(not POSIX, reason="needs owners of files")
@pytest.mark.parametrize("what", ["folder", "*.code", ".secret"])
def test_what_belongs_to_another_user_is_not_read(folder, written, what, monkeypatch):
    """Only root may give files away: here they stay, and the user becomes another one."""
    answer()
    of = os.stat(folder if what == "folder" else next(folder.glob(what)))
    real = os.fstat

    def fstat(handle):
        found = real(handle)
        theirs = (found.st_dev, found.st_ino) == (of.st_dev, of.st_ino)
        return os.stat_result([*found[:4], found.st_uid + theirs, *found[5:]])

    monkeypatch.setattr(os, "fstat", fstat)
    assert answer() == 42
    assert len(written) == 2


@pytest.mark.skipif(not POSIX, reason="needs links and FIFOs")
@pytest.mark.parametrize("name", ["*.code", ".secret"])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_what_is_no_plain_file_is_not_read(folder, written, tmp_path, name, kind):
    answer()
    (file,) = folder.glob(name)
    elsewhere = tmp_path / "elsewhere"
    file.rename(elsewhere)
    {"link": lambda: file.symlink_to(elsewhere), "fifo": lambda: os.mkfifo(file), "folder": file.mkdir}[kind]()
    assert answer() == 42
    assert len(written) == 2
    assert elsewhere.exists()
    assert file.is_dir() if kind == "folder" else stat.S_ISREG(file.lstat().st_mode)


@pytest.mark.skipif(not POSIX, reason="needs links")
def test_a_folder_behind_a_link_is_no_cache(folder, written, tmp_path):
    (tmp_path / "other").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "other")
    assert answer() == 42
    assert list((tmp_path / "other").iterdir()) == []


def test_a_place_where_nothing_can_be_written_is_no_cache(folder, tmp_path, monkeypatch):
    folder.write_bytes(b"a file")
    assert answer() == 42
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))  # below a file
    assert answer() == 42
    assert folder.read_bytes() == b"a file"


@pytest.mark.skipif(not POSIX, reason="needs owners of files")
def test_root_leaves_no_folder_in_a_users_home(folder, tmp_path, monkeypatch):
    real = os.stat
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    other = os.stat_result([*real(tmp_path)[:4], 1000, *real(tmp_path)[5:]])
    monkeypatch.setattr(os, "stat", lambda path, **k: other if path == str(tmp_path) else real(path, **k))
    assert answer() == 42
    assert not folder.exists()


def test_where_a_mode_says_nothing_the_signature_does(folder, written, monkeypatch):
    monkeypatch.setattr(cache, "_POSIX", False)
    assert answer() == answer() == 42
    assert written == ["answer"]
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(bytes(32) + whole[32:])
    assert answer() == 42
    assert len(written) == 2
    assert entry.read_bytes() == whole


@pytest.mark.parametrize(
    ("system", "variables", "place"),
    [
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/retrograde"), ("linux", {}, "/home/me/.cache/retrograde"),
        ("darwin", {}, "/home/me/Library/Caches/retrograde"), ("win32", {"LOCALAPPDATA": "/local"}, "/local/retrograde"),
        ("win32", {}, "/home/me/AppData/Local/retrograde"),
    ],
)  # fmt: skip
@pytest.mark.skipif(not POSIX, reason="the paths are those of POSIX systems")
def test_the_place_of_the_cache(monkeypatch, system, variables, place):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert cache.path() == place


def test_the_code_that_was_used_longest_ago_goes(folder, monkeypatch):
    monkeypatch.setattr(cache, "ROOM", 10 * 1100)
    for k in range(30):
        cache.write(f"f{k}", "key", bytes(1000))
        os.utime(folder / f"f{k}-key.code", (k, k))
        if k == 15:
            assert cache.read("f10", "key") == bytes(1000)  # used now
    left = {file.name for file in entries(folder)}
    assert sum(file.stat().st_size for file in entries(folder)) <= cache.ROOM
    assert left == {"f10-key.code", *(f"f{k}-key.code" for k in range(21, 30))}
    (folder / "f1-key.code.0123.part").write_bytes(bytes(5000))  # of a process that was ended
    os.utime(folder / "f1-key.code.0123.part", (1, 1))
    cache.write("g", "key", bytes(1000))
    assert not list(folder.glob("*.part"))
    assert cache.read("g", "key") == bytes(1000)


def test_a_file_that_does_not_fit_leaves_nothing_behind(folder, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_, **__: (_ for _ in ()).throw(OSError("no room")))
    cache.write("name", "key", b"code")
    assert [file.name for file in folder.iterdir()] == [".secret"]


def test_processes_that_make_the_folder_at_the_same_time(tmp_path):
    given = {**os.environ, "RETROGRADE_JIT": "1", "XDG_CACHE_HOME": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-c", PROGRAM], env=given, stdout=subprocess.PIPE) for _ in range(2)]
    assert [process.communicate(timeout=120)[0].strip() for process in both] == [b"0.5204999"] * 2


def test_the_cache_is_never_in_the_working_directory(tmp_path):
    program = f"import os; os.chdir({str(tmp_path)!r})" + PROGRAM
    assert printed(program, XDG_CACHE_HOME="cache") == (0, "0.5204999", "")
    assert list(tmp_path.iterdir()) == []


def test_without_llvmlite():
    program = "import sys; sys.modules['llvmlite'] = None" + PROGRAM.replace("[-1]", "")
    assert printed(program) == (0, "None", "")


def numbered(n):
    """A module like `answer`'s, of another number."""
    return ANSWER.replace("42", str(n))


def called(name, text):
    """What a function writes that is there already."""
    before = dict(llvm.MADE)
    out = ctypes.c_int64()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(llvm.assembled(name, text))(ctypes.addressof(out))
    return out.value, llvm.MADE["translated"] - before["translated"]


def test_threads_translate_modules_meanwhile(folder, monkeypatch):
    if llvm._emitter() is None:
        pytest.skip("llvmlite is another one, or the system")
    monkeypatch.setattr(llvm, "_kept", {})
    threads = set()
    emit = llvm._emitter()
    monkeypatch.setattr(llvm, "_emitter", lambda: lambda *given: threads.add(threading.get_ident()) or emit(*given))
    known = threading.active_count()
    with llvm.meanwhile([("answer", numbered(n)) for n in range(5)], 3):
        assert called("answer", numbered(7)) == (7, 1)  # by this one
        assert threading.active_count() <= known + 2
    assert threading.active_count() == known
    assert [called("answer", numbered(n)) for n in range(5)] == [(n, 0) for n in range(5)]
    assert threads
    monkeypatch.setattr(llvm, "_kept", {})
    threads.clear()
    with llvm.meanwhile([("answer", numbered(n)) for n in range(5)], 3):
        pass
    assert not threads  # they are on the disk
    assert called("answer", numbered(3)) == (3, 0)


def test_what_cannot_be_translated_meanwhile_is_said_by_who_asks_for_it(folder, monkeypatch):
    monkeypatch.setattr(llvm, "_kept", {})
    with llvm.meanwhile([("answer", "define nothing"), ("other", numbered(1)), ("answer", numbered(2))], 2):
        pass
    with pytest.raises(RuntimeError):
        llvm.assembled("answer", "define nothing")
    with pytest.raises(RuntimeError):
        llvm.assembled("other", numbered(1))
    assert called("answer", numbered(2))[0] == 2
    with pytest.raises(ZeroDivisionError), llvm.meanwhile([("answer", numbered(4))], 2):
        raise ZeroDivisionError
    assert called("answer", numbered(4))[0] == 4


@pytest.mark.parametrize("how", ["one thread", "another llvmlite"])
def test_elsewhere_nothing_is_translated_meanwhile(folder, monkeypatch, how):
    monkeypatch.setattr(llvm, "_kept", {})
    if how != "one thread":
        monkeypatch.setattr(llvm, "_emitter", lambda: None)
    with llvm.meanwhile([("answer", numbered(n)) for n in range(2)], 1 if how == "one thread" else 2):
        pass
    assert [called("answer", numbered(n)) for n in range(2)] == [(0, 1), (1, 1)]


def test_threads_that_call_first_at_the_same_time_translate_once(monkeypatch):
    translated = []
    monkeypatch.setattr(llvm, "_kept", {})
    whole = llvm._translated
    monkeypatch.setattr(llvm, "_translated", lambda *args: (translated.append(args), whole(*args))[1])
    pointwise._FUNCTIONS.clear()
    x = np.linspace(-3, 3, LEAST, dtype=np.float32)
    start, found = threading.Barrier(8), []

    def work():
        start.wait()
        found.append(erf(x).tobytes())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    pointwise._FUNCTIONS.clear()  # before what the functions stand in goes
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(translated) == 1


FORKS = inspect.getsource(erf) + """
import os, signal, threading, time
import numpy as np
from retrograde.backend.jit import llvm
begun = threading.Event()
whole, llvm.assembled = llvm.assembled, lambda *_: begun.set() or time.sleep(0.5) or whole(*_)
def generated():
    found = erf(np.full(1 << 13, 0.5, np.float32))
    return found is not None and abs(found[-1] - 0.5205) < 1e-4
thread = threading.Thread(target=generated)
thread.start()
begun.wait()
child = os.fork()
if not child:
    llvm.assembled = whole
    signal.alarm(20)
    os._exit(0 if generated() else 1)
print(os.waitpid(child, 0)[1])
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_forks_while_a_thread_translates():
    code, out, _ = printed(FORKS)
    assert (code, out) == (0, "0")


ASKS = inspect.getsource(erf) + """
import os, signal, threading, time
import numpy as np
from retrograde.backend.jit import llvm, operands
from llvmlite.binding.ffi import register_lock_callback
begun = threading.Event()
register_lock_callback(lambda: begun.is_set() or begun.set() or time.sleep(0.5), lambda: None)
thread = threading.Thread(target=llvm.available)
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(20)
    os._exit(0 if erf(np.ones(operands.LEAST, np.float32)) is not None else 1)
print(os.waitpid(child, 0)[1])
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_forks_while_a_thread_asks_what_the_processor_has():
    """The thread is inside llvmlite, whose lock the child would find held."""
    code, out, _ = printed(ASKS)
    assert (code, out) == (0, "0")


def test_an_operand_of_another_type_or_count_is_refused():
    function = llvm.shared("unread", "ptr x, i64 n, double c, bytes table, array y", lambda code: None)
    y = np.zeros(1)
    assert function(0, 1, 1, 0, np.int64(3), 2, b"", y) is None
    for given in [(0, 1.5, 2.0, b"", y), (0, 1, "2", b"", y), (0, 1, 2.0, "", y), (None, 1, 2.0, b"", y), (0, 1, 2.0, b"")]:
        with pytest.raises(TypeError):
            function(0, 1, 1, *given)


def test_other_threads_run_during_generated_code():
    """The interpreter's lock is released: a counting thread goes on while another one is in a long call."""
    def busy(code):
        code.loop(0, "%n", 1, lambda i: code.do(f"store volatile i64 {i}, ptr %out"))

    function, out, seen = llvm.shared("busy", "array out, i64 n", busy), np.zeros(1, np.int64), []
    thread = threading.Thread(target=lambda: function(0, 1, 1, out, 1 << 27))
    thread.start()
    while thread.is_alive():
        seen.append(out[0])
    assert any(0 < x < (1 << 27) - 1 for x in seen)
