"""The rules by which `retrograde diff` matches values and explains differences, each by itself; what its parts promise."""

import dataclasses
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import retrograde as rg
from retrograde import _state
from retrograde.tools.diff import policy
from retrograde.tools.diff.align import MATCHERS, align
from retrograde.tools.diff.belongs import BELONGINGS
from retrograde.tools.diff.events import KINDS, Accumulate, InPass, Operation, Pass, Update, of_row, row
from retrograde.tools.diff.explain import ONWARDS, RESULTS
from retrograde.tools.diff.forward import PARTINGS, REASONS
from retrograde.tools.diff.leaves import LeafPairs
from retrograde.tools.diff.record import Record, Recorder
from retrograde.tools.diff.rules import Rules

ALL = [*MATCHERS, *PARTINGS, *REASONS, *RESULTS, *ONWARDS, *BELONGINGS]


@pytest.fixture(scope="module")
def asked():
    run = subprocess.run([sys.executable, "diff_rules.py"], capture_output=True, text=True, check=False,
                         cwd=Path(__file__).parent)  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", [rule.name for rule in ALL])
def test_a_rule_by_itself(asked, name):
    assert asked[name]["alone"]
    assert name == "they differ further on" or name in asked[name]["found_by"]  # that one only says where to look next


def test_rules_have_names_of_their_own_and_say_what_they_say():
    assert len({rule.name for rule in ALL}) == len(ALL)
    assert all(rule.says.endswith(".") for rule in ALL)


def test_the_first_rule_that_knows_something_decides():
    rules = Rules()

    @rules
    def nothing(x):
        """Never."""

    @rules
    def small_number(x):
        """A number below ten."""
        return -x if x < 10 else None

    @rules
    def any_number(x):
        """A number."""
        return x

    assert rules.first(3) == ("small number", -3)
    assert rules.first(30) == ("any number", 30)
    assert [rule.says for rule in rules] == ["Never.", "A number below ten.", "A number."]


# ------------------------------------------------------------------------------------------ events


def recorded(folder=None):
    recorder = Recorder(folder)
    with _state.observe(recorder):
        w = rg.asarray(np.array([0.3, -1.7, 2.2], np.float32), requires_grad=True)
        (rg.exp(w * 2.0).sum(axis=0)).backward()
    if folder is None:
        return recorder.record()
    recorder.close()
    return Record.read(folder)


def test_a_record_on_disk_is_the_record_in_memory(tmp_path):
    (tmp_path / "record").mkdir()
    there, here = recorded(tmp_path / "record"), recorded()
    for x, y in zip(there.events, here.events, strict=True):
        same = {"run": 0} if isinstance(x, InPass) else {}  # the engine counts passes on
        assert dataclasses.replace(x, **same) == dataclasses.replace(y, **same)
    assert {Operation, Pass, Accumulate} <= {type(e) for e in there.events}
    assert [e.given for e in there.events if e.name == "sum"] == [{"axis": (0,), "keepdims": False}]


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_event(kind):
    e = kind(*(f"field {n}" for n, one in enumerate(dataclasses.fields(kind)) if one.init))
    assert of_row(pickle.loads(pickle.dumps(row(e)))) == e


def test_parameters_are_values_until_somebody_reads_them(monkeypatch):
    e = Operation("sum", (0,), (1,), 0, 1, (), {"axis": (0, 1), "dtype": np.dtype("float32")})
    assert e.given["axis"] == (0, 1)
    assert e._text is None
    assert e.text == "axis=(0, 1), dtype=float32"
    step = Update("sgd", (0,), (1,), 0, 1, (), {"lr": np.float32(0.1), "momentum": 0.0, "nesterov": False}, "_sgd")
    assert step.text == "lr=0.1"


def test_a_rate_that_is_written_later_is_what_it_was(tmp_path):
    recorder, rate = Recorder(), np.array(0.5)
    p, g = np.ones(2), np.ones(2)
    recorder.updating("sgd", [[p], [g]], {"lr": rate})
    recorder.updated()
    rate[...] = 0.25
    (step,) = [e for e in recorder.record().events if isinstance(e, Update)]
    assert float(step.given["lr"]) == 0.5


# ------------------------------------------------------------------------------------------ alignment and policy


def test_an_alignment_is_not_changed():
    a, b = recorded(), recorded()
    alignment = align(a, b, LeafPairs(a, b))
    assert {match.rule for match in alignment.partner.values()} >= {"same operation", "same part"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        alignment.astray = 1.0
    for found in (alignment.partner, alignment.drift, alignment.a.classes, alignment.b.members):
        with pytest.raises(TypeError):
            found[0] = found[1]


def test_sides_know_each_other():
    a, b = recorded(), recorded()
    alignment = align(a, b, LeafPairs(a, b))
    for side in alignment.sides:
        assert side.other.other is side
        assert side.both("mine", "theirs") == (("mine", "theirs") if side is alignment.a else ("theirs", "mine"))
        assert side.of(("A", "B")) == side.name
        assert all(side.matched(v) for e in side.events if isinstance(e, Operation) for v in e.outs)


def test_every_tolerance_has_its_reason():
    text = Path(policy.__file__).read_text()
    for one in dataclasses.fields(policy.Policy):
        assert re.search(rf'\n    {one.name}: [^\n]*\n    """\w', text), one.name


def test_the_users_idea_of_rounding_is_the_one_that_counts():
    assert policy.Policy(rtol=0.5).tolerance("float32", "float64", 1.0) == 0.5
    assert policy.Policy().tolerance("float32", "float32", 1.0) == policy.rounding("float32") == 24 * 2.0**-23
    assert policy.Policy(slack=2.0).tolerance("float64", "float64", 1.0) == 2e-10


def test_the_answer_says_by_which_rules():
    from tools.diff_programs import program

    programs = (program("forgotten_zero_grad", side) for side in "ab")
    command = [sys.executable, "-m", "retrograde", "diff", *programs]
    answer = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=False).stdout)
    assert answer["difference"]["found_by"] == ["not cleared"]
    assert list(answer["matched_by"]) == [rule.name for rule in MATCHERS if rule.name in answer["matched_by"]]
    assert answer["matched_by"]["same operation"] > 10
    shown = subprocess.run([*command, "--explain"], capture_output=True, text=True, check=False,
                           env={**os.environ, "COLUMNS": "120"}).stdout  # fmt: skip
    assert "What a pass adds is the same, but not what it is added to" in shown
    assert "same operation" in shown
