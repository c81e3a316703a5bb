"""A wrong result of compiled code becomes a short script that shows it, and names the step that makes the difference."""

import numpy as np
import pytest

import retrograde as rg
import retrograde.dialects.torch as torch
from retrograde.compile import compile_minify, pipeline
from retrograde.compile.emit import machine
from retrograde.compile.emit.program import Program
from retrograde.compile.graph import Equation
from retrograde.core.primitive import PRIMITIVES


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """No program with mistakes is kept where others find it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def mistaken(graph):
    """A pass that takes cosines for sines."""
    wrong = [
        Equation(PRIMITIVES["cos"], e.inputs, e.params, e.outputs, e.at) if e.prim.name == "sin" else e for e in graph.equations
    ]  # fmt: skip
    return graph if all(a is b for a, b in zip(wrong, graph.equations)) else graph.replaced(wrong)


def long(x, w):
    y = rg.matmul(rg.tanh(x * 2 + 1), w)
    for _ in range(2):
        y = rg.exp(-y * y) + rg.sum(y, axis=1, keepdims=True) / 7
    z = rg.sin(y) * 3
    return rg.sum(rg.permute_dims(rg.tanh(z), (1, 0)) ** 2, axis=0), z - 1, rg.max(x)


def draws(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def run(script):
    exec(compile(script, "script", "exec"), {"__name__": "script"})


def test_a_wrong_pass_becomes_a_script_of_one_operation(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, mistaken])
    script = compile_minify(long, (draws(4, 6), draws(6, 5)), file=tmp_path / "shown.py")
    assert (tmp_path / "shown.py").read_text() == script
    assert "the pass mistaken" in script
    body = script.split("def f")[1].split("return")[0].splitlines()[1:]
    assert len([line for line in body if line.strip()]) == 1
    assert "= rg.sin(" in body[0]
    assert "test_minify.py:" in body[0]
    assert len(script) < 1500
    with pytest.raises(AssertionError):
        run(script)
    assert "compiled" in capsys.readouterr().out
    monkeypatch.undo()
    run(script)  # where the pass is right, nothing differs


def test_a_gradient_inside_is_shrunk_too(monkeypatch):
    monkeypatch.setattr(pipeline, "PASSES", [mistaken, *pipeline.PASSES])
    script = compile_minify(rg.jit(rg.grad(lambda x: rg.sum(rg.cos(x) ** 2) + rg.sum(rg.log(x)))), (np.ones((50, 3)),))
    assert "rg.sin" in script
    assert "rg.log" not in script
    with pytest.raises(AssertionError):
        run(script)


@pytest.mark.skipif(not machine.available(), reason="no machine code is made here")
def test_wrong_machine_code_is_told_from_wrong_passes(monkeypatch):
    before = machine.program

    class Wrong(Program):
        def function(self):
            good = super().function()
            return lambda *arrays: [y + 1 for y in good(*arrays)]

    def program(graph):
        good = before(graph)
        return Wrong(*good) if any(e.prim.name == "exp" for e in graph.equations) else good

    monkeypatch.setattr(machine, "program", program)
    script = compile_minify(lambda x: torch.softmax(torch.exp(x) @ x.t(), -1).sum(0), (torch.tensor(draws(6, 5)),))
    assert "the machine code" in script
    assert "exp" in script.split("def f")[1]
    with pytest.raises(AssertionError):
        run(script)


def test_code_that_cannot_be_made_is_a_case(monkeypatch):
    def broken(graph):
        if any(e.prim.name == "tanh" for e in graph.equations):
            raise KeyError("tanh")
        return graph

    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, broken])
    script = compile_minify(long, (draws(4, 6), draws(6, 5)))
    assert "the pass broken, which raises KeyError" in script
    assert "rg.tanh" in script
    assert "matmul" not in script
    with pytest.raises(KeyError):
        run(script)


def test_parameters_and_captured_tensors_are_written_down(monkeypatch):
    monkeypatch.setattr(pipeline, "PASSES", [*pipeline.PASSES, mistaken])
    w = torch.tensor(draws(4, 3))
    script = compile_minify(lambda x, n: torch.sin((x @ w).sum(1, keepdim=True)) * n, (torch.tensor(draws(2, 4)), 3))
    with pytest.raises(AssertionError):
        run(script)


def test_what_is_right_is_said_to_be():
    with pytest.raises(ValueError, match="long: compiled code gives what the operations give"):
        compile_minify(long, (draws(3, 4), draws(4, 5)))
