"""Programs kept on disk: a graph that was compiled before is loaded, and what is damaged or stale is made anew."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import retrograde as rg
from retrograde.backend.jit import cache, llvm, objects
from retrograde.compile import pipeline, records
from retrograde.compile.emit import machine
from retrograde.compile.graph import Graph, Variable
from retrograde.ops.random import OPERAND
from retrograde.ops.resample import Map
from retrograde.ops.structural import getitem

pytestmark = pytest.mark.skipif(
    not (machine.available() and objects.understood()), reason="needs llvmlite and a system whose object files are understood"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of an empty cache, and nothing in memory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("RETROGRADE_VERIFY", raising=False)
    before = dict(llvm._kept)
    if cache.path() != str(tmp_path / "retrograde"):
        pytest.skip("the cache has another place on this system")
    yield tmp_path / "retrograde"
    llvm._kept.update(before)


@pytest.fixture
def made(monkeypatch):
    """The graphs that went through the passes: which were not loaded."""
    found, whole = [], pipeline.optimised
    monkeypatch.setattr(pipeline, "optimised", lambda graph: found.append(graph) or whole(graph))
    return found


def f(x, y):
    """Segments, and an operation that is called; a constant that is computed beforehand, one that is not."""
    c = rg.asarray(np.arange(3, dtype=np.float32))
    return rg.sum(rg.tanh(rg.sort(x * y)) * c) + rg.sum(rg.exp(c * 2)), x[:, ::-1]


X, Y = (np.random.default_rng(k).normal(size=(3, 3)).astype(np.float32) for k in range(2))


ALIVE = []


def forgotten():
    """Let no address be known in memory; the code stays, since functions that have been made of it may be called again."""
    ALIVE.append(dict(llvm._kept))
    llvm._kept.clear()


def outputs(f=f, *given):
    """The results of a function that is compiled anew."""
    forgotten()
    return [np.asarray(y) for y in rg.jit(f)(*map(rg.asarray, given or (X, Y)))]


def same(xs, ys):
    return all(np.array_equal(x, y) for x, y in zip(xs, ys, strict=True))


def test_a_graph_that_was_compiled_before_is_loaded(folder, made):
    first = outputs()
    assert len(made) == 1
    for _ in range(2):
        assert same(outputs(), first)
    assert len(made) == 1
    assert len(list(folder.glob("graph-*"))) == 1


@pytest.mark.parametrize("which", ["graph-*", "segment-*", "entry-*"])
def test_what_is_damaged_or_gone_is_made_anew(folder, made, which):
    first = outputs()
    for file in folder.glob(which):
        whole = file.read_bytes()
        for count, damaged in enumerate((b"", whole[:-1], whole[:40], bytes(len(whole)), whole[32:], whole + b"?", None), 1):
            if damaged is None:
                file.unlink()
            else:
                file.write_bytes(damaged)
            before = len(made)
            assert same(outputs(), first)
            assert len(made) == before + 1, count
            assert same(outputs(), first)
            assert len(made) == before + 1
            assert file.read_bytes() == whole or which == "graph-*"


def test_another_graphs_entry_is_not_run(folder, made):
    def g(x, y):
        return x + y, x * y

    mine, others = outputs(), outputs(g)
    first, second = sorted(folder.glob("graph-*"), key=lambda file: file.stat().st_mtime_ns)
    first.write_bytes(second.read_bytes())
    assert same(outputs(), mine)
    assert same(outputs(g), others)
    assert len(made) == 3


def test_a_folder_that_cannot_be_written_is_no_cache(folder, made, monkeypatch):
    first = outputs()
    monkeypatch.setattr(cache._Folder, "put", lambda *_, **__: (_ for _ in ()).throw(PermissionError()))
    assert same(outputs(), first)
    assert len(made) == 1  # what is there is read
    for file in folder.glob("*.code"):
        file.unlink()
    assert same(outputs(), first)
    assert list(folder.glob("*.code")) == []
    assert len(made) == 2


@pytest.mark.parametrize("what", ["__version__", "files", "processor"])
def test_another_version_or_processor_compiles_anew(folder, made, monkeypatch, what):
    first = outputs()
    records._surroundings.cache_clear()
    try:
        if what == "__version__":
            monkeypatch.setattr(records, "__version__", "another")
        elif what == "files":
            monkeypatch.setattr(records, "_ROOMS", ("core",))
        else:
            here = llvm._host()
            monkeypatch.setattr(llvm, "_host", lambda: here._replace(version="another"))
        assert same(outputs(), first)
        assert len(made) == 2
    finally:
        records._surroundings.cache_clear()


@pytest.mark.parametrize(
    "other",
    [
        lambda x, y: (x * 2.0, x[1:]), lambda x, y: (x * -0.0, x[:1]), lambda x, y: (x * 0.0, x[:2]),
        lambda x, y: (y * 0.0, x[:1]), lambda x, y: (x * 0.0, x[:1] * 1.5), lambda x, y: (x * 0.0,),
        lambda x, y: (x * rg.asarray(Y), x[:1]), lambda x, y: (x * rg.asarray(X), x[:1]),
        lambda x, y: (rg.astype(x, rg.float64), x[:1]), lambda x, y: (rg.astype(x, rg.int32), x[:1]),
    ],
)  # fmt: skip
def test_a_graph_that_differs_somewhere_is_another_one(folder, made, other):
    def plain(x, y):
        return x * 0.0, x[:1]

    outputs(plain)
    assert same(outputs(other), [np.asarray(y) for y in other(rg.asarray(X), rg.asarray(Y))])
    outputs(plain, X.astype(np.float64), Y)
    outputs(plain, X[:2], Y)
    assert len(made) == 4
    outputs(plain)
    assert len(made) == 4


def test_parameters_come_back_as_they_were():
    given = (
        None, True, 1, 1.0, -0.0, 2 + 1j, "x", b"x", ..., (), (1, (2.0, None)), slice(None, -1, 2), np.dtype(np.float32),
        np.float32(0.1), np.int64(3), (np.dtype(bool), slice(1)), OPERAND, (("lr", OPERAND),), getitem, Map("linear", 3, 5),
    )  # fmt: skip
    for x in given:
        found = records._object(records._plain(x))
        assert type(found) is type(x)
        assert repr(found) == repr(x)
    for x in (np.dtype(np.float32), OPERAND, getitem):
        assert records._object(records._plain(x)) is x
    for x in (np.zeros(2), [1], {"a": 1}, len, object(), (1, [2]), lambda x: x, np.sum, Graph((), {}, (), ())):
        with pytest.raises(records._Unkept):
            records._plain(x)


def test_a_graph_whose_parameter_is_a_function_is_compiled_each_time(folder, made, monkeypatch):
    monkeypatch.setattr(records, "_plain", lambda x: (_ for _ in ()).throw(records._Unkept()))
    assert same(outputs(), outputs())
    assert len(made) == 2
    assert list(folder.glob("graph-*")) == []


def test_elements_of_constants_are_part_of_the_key_and_large_ones_are_left_alone(monkeypatch):
    v = Variable((4,), np.dtype(np.float32))

    def key(a):
        return records._key(Graph((), {v: a}, (), (v,)))

    a = np.arange(4, dtype=np.float32)
    assert key(a) == key(a.copy()) == key(np.repeat(a, 2)[::2])
    assert len({key(a), key(a + 1), key(np.broadcast_to(a[:1], 4)), key(np.zeros(4, np.float32))}) == 4
    monkeypatch.setattr(records, "LARGEST", 15)
    with pytest.raises(records._Unkept):
        key(a)
    assert key(np.broadcast_to(a[:1], 4))  # of one number


def test_a_primitive_that_is_not_there_is_no_error(folder, made, monkeypatch):
    first = outputs()
    whole = records.PRIMITIVES
    monkeypatch.setattr(records, "PRIMITIVES", dict(whole))
    read = records._read

    def without(data, graph):
        records.PRIMITIVES.clear()
        try:
            return read(data, graph)
        finally:
            records.PRIMITIVES.update(whole)

    monkeypatch.setattr(records, "_read", without)
    assert same(outputs(), first)
    assert len(made) == 2


PROGRAM = """
import sys
import numpy as np, retrograde as rg
x, w = (rg.asarray(np.linspace(-1, k, 12, dtype=np.float32).reshape(4, 3)) for k in (1, 2))
f = rg.jit(rg.value_and_grad(lambda x: rg.sum(rg.softmax(x * w, -1) * rg.tanh(x)) + rg.sum(rg.matmul(x.T, w))))
y, g = f(x)
print(y.item(), np.asarray(g).sum(), "llvmlite.binding" in sys.modules)
"""


def started(folder):
    given = {**os.environ, "XDG_CACHE_HOME": str(folder), "RETROGRADE_JIT": "1"}
    given.pop("RETROGRADE_VERIFY", None)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip


def test_processes_that_compile_the_same_at_once_and_one_that_comes_later(tmp_path):
    several = [started(tmp_path) for _ in range(3)]
    found = [process.communicate(timeout=120) for process in several]
    later = started(tmp_path).communicate(timeout=120)
    assert {errors for _, errors in (*found, later)} == {""}
    numbers = {out.rpartition(" ")[0] for out, _ in (*found, later)}
    assert len(numbers) == 1
    assert later[0].split()[-1] == "False"  # without loading LLVM


def test_threads_that_call_first_at_the_same_time(folder):
    want = outputs()
    for file in folder.glob("*.code"):
        file.unlink()
    forgotten()
    compiled, start, found = rg.jit(f), threading.Barrier(6), []

    def work():
        start.wait()
        found.extend(list(map(np.asarray, compiled(rg.asarray(X), rg.asarray(Y)))) for _ in range(3))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 18
    assert all(same(y, want) for y in found)
