"""Pictures of the recorded graph: what is in them, how it folds, what each operation knows, and that pages are safe."""

import random
import subprocess
import sys
from collections import defaultdict
from xml.etree import ElementTree

import numpy as np
import pytest
from tools.pages import PROGRAMS, data_of, retrograde

import retrograde as rg
from retrograde.tools.cli import main
from retrograde.tools.graph import Graph
from retrograde.tools.graph.fold import visible
from retrograde.tools.pages import page

NET = """
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.Tanh())

    def forward(self, x):
        return scaled(self.inner(x)) + x

def scaled(x):
    y = x * 2.0
    return y - 1.0

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.blocks[0](x)

torch.manual_seed(0)
net = Net()

def step():
    loss = net(torch.ones(3, 4)).square().mean()
    loss.backward()
    return loss

step()
loss = step()
"""


def nodes_named(model, name, kind=None):
    return [n for n in model["nodes"] if n["n"] == name and kind in (None, n["k"])]


def edges_when(model, opened):
    """The edges between what is visible when these groups are open."""
    up = {m: i for i, n in enumerate(model["nodes"]) for m in n.get("c", ())}

    def shown(i):
        way = [i]
        while way[-1] in up:
            way.append(up[way[-1]])
        return next(j for j in reversed(way) if j not in opened)

    return {(shown(o[0]), shown(i)) for i, n in enumerate(model["nodes"]) for o in n.get("i", ()) if o[0] >= 0}


def has_cycle(edges):
    after, degree = defaultdict(set), defaultdict(int)
    for a, b in edges:
        if a != b and b not in after[a]:
            after[a].add(b)
            degree[b] += 1
    everything = {x for e in edges for x in e}
    ready = [x for x in everything if not degree[x]]
    done = 0
    while ready:
        done += 1
        for y in after[ready.pop()]:
            degree[y] -= 1
            if not degree[y]:
                ready.append(y)
    return done < len(everything)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The page of NET's graph, and its model."""
    folder = tmp_path_factory.mktemp("graph")
    (folder / "net.py").write_text(NET)
    done = retrograde("graph", "net.py", "-o", "graph.html", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "graph.html: 17 operations, the last of 2 backward passes, from net.py:31" in done.stderr
    text = (folder / "graph.html").read_text()
    return folder, text, data_of(text)


@pytest.fixture(scope="module")
def gpt(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpt") / "gpt.html"
    done = retrograde("graph", str(PROGRAMS / "gpt.py"), "-o", path)
    assert done.returncode == 0, done.stderr
    return path.read_text()


# ------------------------------------------------------------------------------------------ what is in a graph


def test_modules_and_functions_are_groups(written):
    model = written[2]
    (net,) = nodes_named(model, "net", "module")
    assert net["y"] == "Net"
    blocks = [model["nodes"][i] for i in net["c"] if model["nodes"][i]["k"] == "module"]
    assert [block["n"] for block in blocks] == ["blocks.0", "blocks.1", "blocks.0"]
    for block in blocks:
        inside = [model["nodes"][i] for i in block["c"]]
        assert [n["n"] for n in inside if n["k"] != "leaf"] == ["inner", "scaled", "add"]
    (step,) = nodes_named(model, "step", "function")
    assert model["nodes"][step["c"][0]]["n"] == "net"
    assert len(step["c"]) == 3


def test_an_operation_knows_its_line_and_its_module(written):
    model = written[2]
    operations = [n for n in model["nodes"] if n["k"] == "op"]
    assert len(operations) == 17
    assert all(model["files"][n["l"][0]] == "net.py" for n in operations)
    (multiply, *_) = nodes_named(model, "multiply")
    assert model["lines"][multiply["l"][0]][str(multiply["l"][1])] == "y = x * 2.0"
    assert multiply["y"] == "net.blocks.0"
    assert multiply["o"] == [[[3, 4], "float32"]]
    tanh = nodes_named(model, "tanh")[0]
    assert tanh["b"] == "1"  # all of the module is this operation
    assert {n["n"] for n in model["nodes"] if n["k"] == "leaf"} == {
        f"net.blocks.{i}.inner.0.{p}" for i in (0, 1) for p in ("weight", "bias")
    }


def test_gradients_and_values_are_those_of_the_program(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "y = x * x\nz = y.exp()\nz.retain_grad(); y.retain_grad()\nz.sum().backward()\n"
        "print(x.grad.norm().item(), y.grad.norm().item(), z.norm().item(), y.norm().item())\n"
    )
    done = retrograde("graph", "program.py", "-o", "g.html", folder=tmp_path)
    of_x, of_y, z, y = map(float, done.stdout.split())
    model = data_of((tmp_path / "g.html").read_text())
    (multiply,), (exp,), (leaf,) = (nodes_named(model, n) for n in ("multiply", "exp", "x"))
    assert multiply["v"][0][0] == pytest.approx(y, rel=1e-3)
    assert exp["v"][0][0] == pytest.approx(z, rel=1e-3)
    assert multiply["g"][0][0] == pytest.approx(of_y, rel=1e-3)
    assert leaf["g"][0][0] == pytest.approx(of_x, rel=1e-3)
    assert exp["v"][0][1:3] == pytest.approx([np.e, np.e**4], rel=1e-3)  # least and most
    assert exp["v"][0][8] == pytest.approx([np.e, np.e**4], rel=1e-4)  # the first elements
    assert sum(exp["g"][0][7][2]) == 2  # the histogram has both
    # each of the two operands got half of the gradient
    assert [w[1] for w in multiply["w"]] == pytest.approx([of_x / 2, of_x / 2], rel=1e-3)
    assert exp["t"][0] > 0
    assert exp["t"][1] > 0


def test_memory_of_the_nodes_counts_each_array_once(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\nw = torch.ones(1000, requires_grad=True)\ny = w.exp()\nz = y * y\n(z + y.sin()).sum().backward()\n"
    )
    assert retrograde("graph", "program.py", "-o", "g.html", folder=tmp_path).returncode == 0
    model = data_of((tmp_path / "g.html").read_text())
    kept = {n["n"]: n.get("m", 0) for n in model["nodes"] if n["k"] == "op"}
    assert kept["exp"] == 4000  # its result, which multiply and sin keep, too
    assert kept["multiply"] == 0
    assert kept["sin"] == 0


def test_a_nan_is_marked(tmp_path):
    program = PROGRAMS.parent / "nan_programs" / "masked_root.py"
    assert retrograde("graph", str(program), "-o", "g.html", folder=tmp_path).returncode == 0
    model = data_of((tmp_path / "g.html").read_text())
    (root,) = nodes_named(model, "sqrt")
    assert sum(w[2] for w in root["w"] if len(w) > 2) > 0
    assert not any(f[4] for f in root["v"])


@pytest.mark.parametrize("name", ["training_paddle", "training_mindspore"])
def test_the_other_dialects(name, tmp_path):
    assert retrograde("graph", str(PROGRAMS / f"{name}.py"), "-o", "g.html", folder=tmp_path).returncode == 0
    model = data_of((tmp_path / "g.html").read_text())
    (net,) = nodes_named(model, "net", "module")
    inside = [model["nodes"][i] for i in net["c"]]
    assert {n["n"] for n in inside if n["k"] == "leaf"} == {f"net.{i}.{p}" for i in (0, 2) for p in ("weight", "bias")}
    assert {n["b"] for n in inside if n["k"] == "op"} == {"0", "1", "2"}
    assert all(n["g"][0][0] > 0 for n in model["nodes"] if n["k"] == "leaf")


def test_derivatives_that_are_recorded_are_in_it():
    with rg.watch():
        x = rg.asarray([1.0, 2.0], requires_grad=True)
        (first,) = rg.autograd.grad(rg.sum(x**3), [x], create_graph=True)
        rg.sum(first).backward()
    model = rg.graph(first).model
    assert any(n.get("d") for n in model["nodes"])
    assert nodes_named(model, "first", "program")


# ------------------------------------------------------------------------------------------ folding


def test_no_fold_state_has_a_cycle(written):
    model = written[2]
    groups = [i for i, n in enumerate(model["nodes"]) if "c" in n]
    chance = random.Random(0)
    for _ in range(50):
        opened = {0, *(g for g in groups if chance.random() < 0.5)}
        assert not has_cycle(edges_when(model, opened))


def test_a_large_graph_opens_with_few_boxes(gpt):
    model = data_of(gpt)
    assert sum(n["k"] == "op" for n in model["nodes"]) > 3000
    opened = set(model["open"])
    assert sum(len(model["nodes"][i]["c"]) for i in opened) <= 200
    assert max(len(n["c"]) for n in model["nodes"] if "c" in n) <= 60
    assert len(gpt.encode()) < 3_000_000


def test_a_long_run_of_operations_is_divided():
    x = rg.asarray([0.5], requires_grad=True)
    with rg.watch():
        y = x
        for _ in range(1500):
            y = rg.sin(y)
            y = y * 1.01
    graph = rg.graph(y)
    model = graph.model
    assert max(len(n["c"]) for n in model["nodes"] if "c" in n) <= 60
    assert sum(len(model["nodes"][i]["c"]) for i in model["open"]) <= 200
    assert sum(n["k"] == "op" for n in model["nodes"]) == 3000
    assert not has_cycle(edges_when(model, set(model["open"])))


def test_visible_counts_what_is_open():
    from retrograde.tools.graph.fold import Group

    outer, inner = Group("program", "p"), Group("function", "f")
    inner.members = [Group("part", "1"), Group("part", "2")]
    outer.members = [inner]
    assert visible(outer) == 1
    inner.open = True
    assert visible(outer) == 3


# ------------------------------------------------------------------------------------------ what is written


def test_the_page_needs_nothing_else_and_tells_nothing_else(written):
    folder, text, _ = written
    assert "http://" not in text.replace("http://www.w3.org/", "")
    assert "https://" not in text
    assert "src=" not in text
    assert "sourceMappingURL" not in text
    assert "default-src 'none'" in text
    assert str(folder) not in text  # files by their name, and of them the lines only that are shown
    assert "import torch" not in text
    assert "Permission is hereby granted" in text  # the licence of what lays it out


NASTY = "</script><script>hurt = 1</script><img src=x onerror='hurt = 1'>"


def nasty_graph():
    """A graph all names of which are markup."""
    from retrograde.dialects.torch import nn, ones

    net = type("<script>", (nn.Module,), {"forward": lambda self, x: getattr(self, NASTY)(x) * 2 * 3})()
    net.add_module(NASTY, type("<b>bold</b>", (nn.Linear,), {})(2, 2))
    with rg.watch():
        loss = net(ones(1, 2)).sum()
        loss.backward()
    return rg.graph(loss)


def test_the_page_escapes_what_it_shows():
    graph = nasty_graph()
    graph._name = NASTY
    text = graph.html()
    model = data_of(text)
    assert nodes_named(model, NASTY, "program")
    assert any(n.get("y") == "<script>" for n in model["nodes"])
    plain = page("graph.html", {})
    for markup in ("<script", "</script", "<img", "<b>"):
        assert text.count(markup) == plain.count(markup)
    pytest.importorskip("py_mini_racer")
    assert ElementTree.fromstring(graph.svg()).tag.endswith("svg")
    assert "<img" not in graph.svg()
    framed = graph._repr_html_()
    assert framed.count("<") == framed.count("<iframe") + framed.count("</iframe")


def test_svg_and_dot(written, tmp_path):
    pytest.importorskip("py_mini_racer")
    for kind in ("svg", "dot"):
        done = retrograde("graph", "net.py", "-o", str(tmp_path / f"g.{kind}"), "--colour", "norm", folder=written[0])
        assert done.returncode == 0, done.stderr
    picture = ElementTree.parse(tmp_path / "g.svg").getroot()
    words = [t.text for t in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "net · Net" in words
    assert "1 · tanh" in words
    dot = (tmp_path / "g.dot").read_text()
    assert dot.count("->") == sum(o[0] >= 0 for n in written[2]["nodes"] for o in n.get("i", ()))
    assert dot.count("{") == dot.count("}") == 1 + sum("c" in n for n in written[2]["nodes"][1:])


def test_without_mini_racer_it_is_said_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    x = rg.asarray([1.0], requires_grad=True)
    with pytest.raises(rg.UnsupportedError, match=r"pip install 'retrograde\[pictures\]'"):
        rg.graph(x * 2).svg()


# ------------------------------------------------------------------------------------------ the command


def test_the_graph_of_a_variable_and_arguments_of_the_program(tmp_path):
    (tmp_path / "program.py").write_text(
        "import sys, torch\nx = torch.ones(2, requires_grad=True)\nhidden = x.exp()\nhidden.sum().backward()\n"
        "left = torch.sin(x)\nprint(sys.argv[1:])\n"
    )
    done = retrograde("graph", "program.py", "a", "--of", "left", "-o", "g.html", "--", "-o", "b", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "['a', '-o', 'b']\n"
    model = data_of((tmp_path / "g.html").read_text())
    assert [n["n"] for n in model["nodes"] if n["k"] == "op"] == ["sin"]
    assert nodes_named(model, "sin")[0]["g"]  # a pass of its own went through it
    done = retrograde("graph", "--of", "nothing", "program.py", "-o", "h.html", folder=tmp_path)
    assert (done.returncode, "no variable nothing at its end" in done.stderr) == (1, True)


def test_what_cannot_be_drawn_is_said(tmp_path, capsys):
    (tmp_path / "program.py").write_text("import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum()\n")
    done = retrograde("graph", "program.py", "-o", "g.html", folder=tmp_path)
    assert done.returncode == 1
    assert "no backward pass; --of NAME" in done.stderr
    assert main(["graph", "program.py", "-o", "g.png"]) == 2
    assert "ends in .html, .svg or .dot, got 'g.png'" in capsys.readouterr().err
    done = retrograde("graph", "nothing.py", "-o", "g.html", folder=tmp_path)
    assert done.returncode == 2
    assert "retrograde graph: cannot open 'nothing.py'" in done.stderr


def test_a_program_that_fails_still_shows_its_graph(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\nraise ValueError('after')\n"
    )
    done = retrograde("graph", "program.py", "-o", "g.html", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: after")
    assert nodes_named(data_of((tmp_path / "g.html").read_text()), "multiply")


def test_a_watched_program_computes_the_same(tmp_path):
    script = str(PROGRAMS / "training.py")
    plain = retrograde("run", script, "40")
    watched = retrograde("graph", script, "40", "-o", str(tmp_path / "g.html"))
    assert plain.stdout == watched.stdout != ""


# ------------------------------------------------------------------------------------------ within a program


def test_a_graph_that_nobody_watched():
    w = rg.asarray([1.0, 2.0], requires_grad=True)
    y = rg.sum(rg.exp(w) * 3.0)
    graph = rg.graph(y)
    assert repr(graph) == "<graph of y: 3 operations; save('graph.html') writes it to a file>"
    (exp,) = nodes_named(graph.model, "exp")
    assert exp["v"][0][0] == pytest.approx(np.hypot(np.e, np.e**2), rel=1e-3)
    assert exp["g"][0][0] == pytest.approx(3 * np.sqrt(2), rel=1e-3)
    assert nodes_named(graph.model, "w")[0]["g"]
    assert w.grad is None
    y.backward()  # the graph is still there
    assert w.grad is not None


def test_lines_are_known_within_anomaly_mode():
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    with rg.autograd.detect_anomaly():
        y = rg.exp(x)
    model = rg.graph(y).model
    assert model["files"] == ["test_graph.py"]


def test_a_graph_that_is_freed_shows_its_operations():
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    y = rg.sum(rg.exp(x))
    y.backward()
    (exp,) = nodes_named(rg.graph(y).model, "exp")
    assert "v" not in exp


def test_what_has_no_graph_is_refused():
    with pytest.raises(TypeError, match="wanted a tensor, got list"):
        rg.graph([1.0])
    with pytest.raises(ValueError, match="no history"):
        rg.graph(rg.asarray([1.0]))
    with pytest.raises(ValueError, match="ends in"):
        rg.graph(rg.asarray([1.0], requires_grad=True) * 2).save("graph.png")


def test_a_call_is_told_from_the_next_one_of_the_same_function():
    def twice(x):
        y = x * 2.0
        return y + 1.0

    x = rg.asarray([1.0], requires_grad=True)
    with rg.watch():
        for _ in range(3):
            x = twice(x)
    groups = [n for n in rg.graph(x).model["nodes"] if n["k"] == "function" and n["n"].endswith("twice")]
    expected = 3 if sys.gettrace() is None else 1  # under a tracer frames are left alone
    assert len(groups) == expected


def test_notebooks_show_it():
    x = rg.asarray([1.0], requires_grad=True)
    shown = rg.graph(x * 2)._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in shown


def test_the_front_imports_none_of_it():
    code = "import sys, retrograde; sys.exit([m for m in sys.modules if m.startswith('retrograde.tools')] or 0)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_kept_of_what_is_gone():
    from retrograde.tools.graph.collect import RECORDS

    x = rg.asarray([1.0], requires_grad=True)
    before = len(RECORDS._of)
    with rg.watch():
        y = rg.exp(x)
        y = rg.sin(y)
    assert len(RECORDS._of) > before
    del y, x
    assert len(RECORDS._of) == before
    assert isinstance(rg.graph(rg.asarray([1.0], requires_grad=True) * 2), Graph)
