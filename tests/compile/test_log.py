"""What the compiler says of its work, by topic; and RETROGRADE_COMPILE, which chooses what runs a graph."""

import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.backend.jit import objects
from retrograde.compile import compile_report, jit, log, pipeline
from retrograde.compile.emit import machine, straight

factor = 2


@pytest.fixture
def said(caplog):
    """A function that listens to topics and gives what is said while a function runs."""

    def listen(call, *topics):
        for topic in topics:
            caplog.set_level(logging.DEBUG, f"retrograde.compile.{topic}")
        caplog.clear()
        call()
        return [(r.name.rpartition(".")[2], r.getMessage()) for r in caplog.records]

    return listen


def test_nothing_is_said_and_nothing_is_put_together_unless_somebody_listens(said, monkeypatch):
    monkeypatch.setattr(pipeline, "_summary", None)  # called, it would fail
    assert said(lambda: jit(lambda x: x * 2)(np.ones(3))) == []


def test_what_is_compiled_is_said_with_its_operands_and_times(said, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where its program is not on the disk

    def step(x):
        return rg.sum(x * x)

    found = said(lambda: jit(rg.value_and_grad(step))(np.ones(3)), "compile")
    assert {topic for topic, _ in found} == {"compile"}
    texts = [text for _, text in found]
    assert any("traced in" in text and " ms" in text for text in texts)
    assert any("(float64[3])" in text and "after the passes in" in text and "code by" in text for text in texts)
    assert all(text.startswith("jit of") for text in texts)


def test_graphs_are_shown_before_and_after_the_passes(said):
    (_, before), (_, after) = said(lambda: jit(lambda x: (x * 2) + (x * 2))(np.ones(3)), "graphs")
    assert "as it was traced" in before
    assert before.count("multiply(") == 2
    assert "after the passes" in after
    assert after.count("multiply(") == 1


def test_the_code_is_shown(said):
    ((_, text),) = said(lambda: jit(lambda x: rg.exp(x) * 3)(np.ones(3)), "code")
    assert "define" in text or "def run" in text


@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
def test_fusion_says_what_is_computed_together_and_why_a_group_ends(said):
    def f(x, w):
        y = rg.exp(x) / rg.sum(rg.exp(x))
        return rg.sort(rg.tanh(rg.matmul(rg.sort(y), w))), rg.sum(w)

    ((_, text),) = said(lambda: jit(f)(np.ones((6, 5)), np.ones((5, 4))), "fusion")
    assert "2 operations on 30 elements" in text
    assert "takes a reduction of all elements, which is known when" in text
    assert "one after the other, of matmul" in text
    assert "no code is made for operations of this kind" in text


def test_guards_and_what_failed_of_them_are_named(said, caplog):
    global factor
    scale = [1.0, 2.0]
    f = jit(lambda x: x * factor * len(scale))
    x = rg.asarray([1.0])
    ((_, text),) = said(lambda: f(x), "guards")
    assert "the global factor is 2" in text
    assert "the length of scale of" in text
    factor = 3
    try:
        caplog.set_level(logging.INFO, "retrograde.compile.guards")
        assert said(lambda: f(x), "recompiles") == [
            ("recompiles", "jit of <lambda>: traced again, since the global factor was 2 and is 3")
        ]
        scale.append(3.0)
        ((_, found),) = said(lambda: f(x))
        assert "the length of scale of" in found
        assert "was 2 and is 3" in found
        ((_, found),) = said(lambda: f(np.ones(2)))
        assert "array 0 of the arguments was Tensor float64[1] and is Tensor float64[2]" in found
    finally:
        factor = 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2)])
        self.rate = 0.5
        self.kind = "plain"

    def forward(self, x):
        return self.layers[0](x) * self.rate


def test_the_warning_after_many_versions_names_what_kept_changing():
    net = Net()
    compiled = torch.compile(net)
    for _ in range(8):
        compiled(torch.ones(1, 2))
        net.kind += "er"
    with pytest.warns(UserWarning, match=r"Net\.kind was .* and is .*"):
        compiled(torch.ones(1, 2))
    assert "Net.kind" in compile_report().to_dict()["functions"][-1]["reasons"][0]
    other = torch.compile(lambda x, n: x * len(n))
    for k in range(8):
        other(torch.ones(1), str(k))
    with pytest.warns(UserWarning, match=r"number 0\) was '7' and is '8'"):
        other(torch.ones(1), "8")


def test_numbers_that_vary_are_named_and_so_is_a_comparison_of_them(said):
    rates = {"rate": 1.0}
    f = jit(lambda x, n: x * n if rates["rate"] < 3 else x + n)
    x = rg.asarray([1.0])
    f(x, 1)
    ((_, text),) = said(lambda: f(x, 2), "recompiles")
    assert text.endswith("traced again, since number 0 of those among the arguments was 1 and is 2")
    assert said(lambda: f(x, 3)) == []
    rates["rate"] = 2.0
    ((_, text),) = said(lambda: f(x, 4))
    assert text.endswith("['rate'] was 1.0 and is 2.0")
    rates["rate"] = 2.5
    assert said(lambda: f(x, 4)) == []
    rates["rate"] = 3.5
    ((_, text),) = said(lambda: f(x, 4))
    assert "a comparison of numbers that vary comes out another way" in text
    assert "['rate']" in text
    ((_, text),) = said(lambda: f(x, 4.0))
    assert "number 0) was int and is float" in text


def test_attributes_of_modules_are_named_as_the_program_names_them():
    net = Net()
    compiled = jit(net.__call__)
    compiled(torch.ones(1, 2))
    ((version,),) = compiled._versions.values()
    net.layers[0].train(False)
    assert any("training was True and is False" in text for text in version.broken())
    net.layers[0].train(True)
    assert version.broken() == []
    net.layers[0].weight = torch.nn.Parameter(torch.ones(2, 2))
    (text,) = version.broken()
    assert "_parameters['weight']" in text


@pytest.mark.skipif(
    not (machine.available() and objects.understood()), reason="needs llvmlite and a system whose object files are understood"
)
def test_a_graph_whose_program_is_on_disk_says_so_and_is_shown_all_the_same(said, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("RETROGRADE_VERIFY", raising=False)
    x = np.ones(3)
    first = said(lambda: jit(lambda x: rg.sort(rg.exp(x) * 3))(x), "compile", "graphs", "fusion", "code")
    again = said(lambda: jit(lambda x: rg.sort(rg.exp(x) * 3))(x))
    assert not any("its program read from disk" in text for _, text in first)
    assert any("its program read from disk" in text for _, text in again)
    assert [x for x in first if x[0] != "compile"] == [x for x in again if x[0] != "compile"]


def child(source, **environment):
    return subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, env=os.environ | environment
    )  # fmt: skip


def test_topics_are_chosen_by_the_environment():
    source = "import retrograde as rg\nrg.jit(lambda x: x + 1)(rg.asarray([1.0]))"
    found = child(source, RETROGRADE_LOG="compile, guards")
    assert found.returncode == 0
    assert "[retrograde.compile.compile] jit of <lambda>: traced" in found.stderr
    assert "[retrograde.compile.guards]" in found.stderr
    assert "[retrograde.compile.graphs]" not in found.stderr
    wrong = child(source, RETROGRADE_LOG="compile,compilation")
    assert wrong.returncode != 0
    assert "no topic 'compilation'" in wrong.stderr
    assert all(topic in wrong.stderr for topic in log.TOPICS)


# ------------------------------------------------------------------------------------------ what runs a graph


def test_eager_runs_the_graph_as_it_was_traced(monkeypatch):
    monkeypatch.setenv("RETROGRADE_COMPILE", "eager")
    monkeypatch.setattr(pipeline, "optimised", None)
    monkeypatch.setattr(machine, "program", None)
    monkeypatch.setattr(straight, "emitted", None)
    x = np.linspace(-1, 1, 7, dtype=np.float32)
    value, slope = jit(rg.value_and_grad(lambda x: rg.sum(rg.sin(x) * x)))(x)
    wanted = rg.value_and_grad(lambda x: rg.sum(rg.sin(x) * x))(rg.asarray(x))
    assert value.item() == wanted[0].item()
    np.testing.assert_array_equal(slope._a, wanted[1]._a)


@pytest.mark.parametrize("how", pipeline.EMITTERS)
def test_no_result_lies_in_the_memory_of_an_operand_whatever_runs_the_graph(monkeypatch, how):
    monkeypatch.setenv("RETROGRADE_COMPILE", how)

    def f(x, y):
        kept = x.clone()
        x.copy_(y)
        y.copy_(kept)
        return x.reshape(-1), x, x[0]

    x, y = torch.ones(2, 2), torch.zeros(2, 2)
    out = jit(f)(x, y)
    assert x.tolist() == [[0, 0], [0, 0]]
    assert y.tolist() == [[1, 1], [1, 1]]
    assert out[0].tolist() == [0] * 4
    graph = jit(lambda x: (x.reshape(-1), x * 2, x[0])).lower(x).graph
    found = pipeline.compiled(graph)(x._a)
    assert not any(np.shares_memory(y, x._a) for y in found)


def test_another_word_is_refused(monkeypatch):
    monkeypatch.setenv("RETROGRADE_COMPILE", "fast")
    with pytest.raises(ValueError, match="RETROGRADE_COMPILE=fast: choose one of eager, numpy, llvm"):
        jit(lambda x: x * 2)(np.ones(3))


@pytest.mark.parametrize("how", pipeline.EMITTERS)
def test_the_text_says_what_is_run_by_each(monkeypatch, how):
    monkeypatch.setenv("RETROGRADE_COMPILE", how)
    assert "after the passes" in jit(lambda x: x * 2).lower(np.ones(3)).text()


def test_logging_is_not_loaded_for_who_does_not_listen():
    source = (
        "import sys, numpy as np, retrograde as rg\nrg.jit(lambda x: x * 2)(np.ones(3))\nprint('logging' in sys.modules)\n"
        "import logging\nlogging.basicConfig(stream=sys.stdout, format='%(name)s')\n"
        "logging.getLogger('retrograde.compile.compile').setLevel(logging.DEBUG)\nrg.jit(lambda x: x * 3)(np.ones(3))\n"
    )
    environment = {name: x for name, x in os.environ.items() if name != "RETROGRADE_LOG"}
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, env=environment)
    first, *rest = done.stdout.splitlines()
    assert first == "False"
    assert set(rest) == {"retrograde.compile.compile"}
