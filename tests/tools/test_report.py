"""`retrograde run --report`: the figures on the page, against the program's own."""

import json
import math
import random

import numpy as np
import pytest
from tools.pages import PROGRAMS, data_of, retrograde

from retrograde.tools.cli import main
from retrograde.tools.pages import page
from retrograde.tools.report.series import Series

STEPS = 40


def report_of(folder, script, *arguments):
    done = retrograde("run", "--report", "r.html", str(script), *arguments, folder=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "r.html").read_text()
    return done, text, data_of(text)


@pytest.fixture(scope="module")
def training(tmp_path_factory):
    return report_of(tmp_path_factory.mktemp("report"), PROGRAMS / "training.py", str(STEPS))


def points(series):
    assert series["w"] == 1
    return series["m"]


def test_losses_gradients_and_updates_are_the_programs_own(tmp_path):
    (tmp_path / "program.py").write_text(
        "import json, torch\n"
        "torch.manual_seed(0)\n"
        "w = torch.nn.Parameter(torch.randn(5))\n"
        "optimizer = torch.optim.Adam([w], lr=0.1)\n"
        "told = []\n"
        "for step in range(20):\n"
        "    loss = (w - 2).square().sum()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    before = w.detach().clone()\n"
        "    g = w.grad.norm().item()\n"
        "    optimizer.step()\n"
        "    told.append([loss.item(), g, ((w - before).norm() / before.norm()).item()])\n"
        "print(json.dumps(told))\n"
    )
    done, _, data = report_of(tmp_path, "program.py")
    told = json.loads(done.stdout)
    (loss,), (w,) = data["losses"], data["parameters"]
    assert points(loss) == pytest.approx([x[0] for x in told], rel=1e-3)
    assert points(w["g"]) == pytest.approx([x[1] for x in told], rel=1e-3)
    assert points(w["r"]) == pytest.approx([x[2] for x in told], rel=1e-3)
    assert (w["n"], w["shape"], data["steps"]) == ("w", [5], 20)
    assert data["lines"][loss["at"][0]][str(loss["at"][1])] == "loss.backward()"


def test_a_step_of_several_groups_and_passes_is_one(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\n"
        "a, b = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(2))\n"
        "optimizer = torch.optim.SGD([{'params': [a]}, {'params': [b], 'lr': 0.1}], lr=0.01)\n"
        "for step in range(6):\n"
        "    optimizer.zero_grad()\n"
        "    for part in range(2):\n"
        "        loss = (a.sum() * b.sum() + part)\n"
        "        loss.backward()\n"
        "    optimizer.step()\n"
    )
    _, _, data = report_of(tmp_path, "program.py")
    assert data["steps"] == 6
    (loss,) = data["losses"]
    assert len(loss["m"]) == 6
    assert all(high - low == pytest.approx(1, abs=0.01) for low, high in zip(loss["l"], loss["h"]))
    assert {p["n"] for p in data["parameters"]} == {"a", "b"}


def test_dead_units_are_counted(training):
    (units,) = training[2]["units"]
    assert (units["name"], units["units"], units["dead"], units["never"]) == ("net.act", 8, 3, 3)
    assert min(units["m"]) >= 3 / 8


def test_time_and_memory_by_line_and_operation(training):
    data = training[2]
    lines = {data["lines"][r[0][0]][str(r[0][1])]: r for r in data["rows"] if r[0]}
    step, forward = lines["optimizer.step()"], lines["return self.second(self.act(self.first(x)))"]
    assert step[2] == STEPS
    assert forward[2] == 3 * STEPS
    assert forward[3] > 0
    assert forward[4] > 0
    spent = sum(r[3] + r[4] for r in data["rows"])
    assert spent + data["rest"] == pytest.approx(data["seconds"], rel=0.02)
    assert spent == pytest.approx(sum(r[2] + r[3] for r in data["operations"]), rel=0.02)
    operations = {r[0]: r for r in data["operations"]}
    assert operations["affine"][1] == 2 * STEPS
    assert operations["affine"][4] >= STEPS * 4 * 32 * (8 + 1)
    assert data["peak"] == sum(size for *_, size in data["at_peak"])


@pytest.mark.parametrize("name", ["training_paddle", "training_mindspore"])
def test_the_other_dialects(name, tmp_path):
    _, _, data = report_of(tmp_path, PROGRAMS / f"{name}.py")
    assert data["steps"] == 30
    (loss,) = data["losses"]
    assert points(loss)[-1] < points(loss)[0]
    assert {p["n"] for p in data["parameters"]} == {f"net.{i}.{p}" for i in (0, 2) for p in ("weight", "bias")}
    assert all(len(points(p[key])) == 30 for p in data["parameters"] for key in "g" if p["n"])
    (units,) = data["units"]
    assert units["name"] == "net.1"


def test_what_was_compiled_is_said(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\n"
        "@torch.compile\n"
        "def f(x):\n"
        "    return (x * 2).sum()\n"
        "x = torch.ones(3, requires_grad=True)\n"
        "f(x).backward()\n"
    )
    _, _, data = report_of(tmp_path, "program.py")
    (f,) = data["compiled"]
    assert (f["n"], f["l"], f["counts"]["calls"]) == ("f", "program.py:2", 1)
    assert "looked at" in f["why"][0]


def test_the_page_needs_nothing_else_and_escapes(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\n"
        "net = torch.nn.Module()\n"
        "net.register_parameter('<script>alert(1)</script>', torch.nn.Parameter(torch.ones(2)))\n"
        "p = list(net.parameters())\n"
        "optimizer = torch.optim.SGD(p, lr=0.1)\n"
        "del p\n"
        "x = list(net.parameters())[0]; x.sum().backward(); del x  # <img src=x>\n"
        "optimizer.step()\n"
    )
    _, text, data = report_of(tmp_path, "program.py")
    assert any("<script>" in p["n"] for p in data["parameters"])
    plain = page("report.html", {})
    for markup in ("<script", "</script", "<img"):
        assert text.count(markup) == plain.count(markup)
    assert "https://" not in text
    assert str(tmp_path) not in text


def test_every_figure_says_how_it_was_computed():
    text = page("report.html", {})
    assert text.count('class="how"') == text.count("<section>") == 9


def test_what_does_not_go_together_is_refused(capsys):
    for flags in (["--nan"], ["--compile"], ["--real"], ["--processes", "2"]):
        assert main(["run", "--report", "r.html", *flags, "p.py"]) == 2
        assert "--report goes with none of" in capsys.readouterr().err
    assert main(["run", "--report", "r.txt", "p.py"]) == 2
    assert "ends in .html" in capsys.readouterr().err


def test_a_run_that_fails_has_its_report(tmp_path):
    (tmp_path / "program.py").write_text(
        "import torch\nx = torch.ones(1, requires_grad=True)\nx.sum().backward()\nraise SystemExit(3)\n"
    )
    done = retrograde("run", "--report", "r.html", "program.py", folder=tmp_path)
    assert done.returncode == 3
    assert len(data_of((tmp_path / "r.html").read_text())["losses"]) == 1


# ------------------------------------------------------------------------------------------ numbers over many steps


def test_a_long_series_keeps_its_least_and_largest():
    series = Series()
    chance = random.Random(0)
    numbers = [chance.random() for _ in range(100_000)]
    numbers[54_321], numbers[777] = 50.0, -50.0
    for step, x in enumerate(numbers):
        series.add(step, x)
    assert len(series.intervals) <= 1024
    told = series.as_json(200)
    assert len(told["m"]) <= 200
    at = [told["x"][0] + i for i in range(len(told["m"]))]
    assert told["h"][at.index(54_321 // told["w"])] == 50.0
    assert told["l"][at.index(777 // told["w"])] == -50.0
    assert series.mean == pytest.approx(sum(numbers) / len(numbers))
    for i, mean in zip(at, told["m"]):
        some = numbers[i * told["w"] : (i + 1) * told["w"]]
        assert mean == pytest.approx(sum(some) / len(some), rel=1e-3)


def test_what_is_not_finite_is_marked_and_left_out():
    series = Series()
    for step, x in enumerate([1.0, math.nan, 3.0, math.inf]):
        series.add(step, x)
    told = series.as_json(100)
    assert told["m"] == [1.0, None, 3.0, None]
    assert told["n"] == [1, 3]
    assert series.most == 3.0


def test_steps_that_have_nothing_are_left_out():
    series = Series()
    for step in (3, 4, 10):
        series.add(step, float(step))
    assert series.as_json(100)["x"] == [3, 4, 10]
    assert series.as_json(2)["w"] == 8


def test_a_report_of_many_parameters_over_many_steps_stays_small():
    from retrograde.tools.report.model import modelled
    from retrograde.tools.report.watch import Parameter, Reporting

    series = Series()
    for step in range(0, 100_000, 20):  # whatever there is between is put together, too
        series.add(step, math.sin(step) * 1e-3)
    watch = Reporting()
    for i in range(300):
        parameter = watch.parameters[i] = Parameter(np.ones(3), i)
        parameter.gradient = parameter.ratio = series
    watch.step = 100_000
    assert len(page("report.html", modelled(watch, "long"))) < 5_000_000
