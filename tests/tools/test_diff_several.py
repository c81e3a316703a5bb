"""`retrograde diff` on programs with several mistakes: all are found in one run, each at its line (retrograde.tools.diff.onward).

Also what that rests on: a record computed anew is what was recorded (retrograde.tools.diff.replay).
"""

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tools.diff_programs import NAMES, SEVERAL_NAMES, program

DIFF = [sys.executable, "-m", "retrograde", "diff"]
SOME = (
    "attention_torch_paddle", "burgers", "conv_padding_slope_pool", "gan", "gelu_smoothing_torch_paddle", "lstm_torch_mindspore",
    "mixup", "ranking", "regression_torch_mindspore", "softsign_not_cleared",
)  # fmt: skip
"""Pairs that stand for the others in the everyday run."""


def each(names, some):
    return [name if name in some else pytest.param(name, marks=pytest.mark.long) for name in names]


def mistakes(name):
    """Number of a mistake -> the lines of A and B that may be named."""
    found = {}
    for side in "ab":
        for i, line in enumerate(program(name, side).read_text().splitlines(), 1):
            for number in re.findall(r"\d+", line.partition("# parts")[2]):
                found.setdefault(number, {"a": [], "b": []})[side].append(i)
    return found


def told(difference, mistakes):
    """The numbers of the mistakes that a difference names."""
    places = {side: difference[side] and difference[side]["place"]["line"] for side in "ab"}
    return {
        number for number, lines in mistakes.items() if all(places[side] in lines[side] for side in "ab" if lines[side])
    }


def in_process(code, *arguments):
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
                         cwd=Path(__file__).parent)  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout


@functools.cache
def answers(names):
    return json.loads(in_process("import sys, diff_answers; diff_answers.main(sys.argv[1:])", *names))


@pytest.mark.parametrize("name", each(SEVERAL_NAMES, SOME))
def test_all_mistakes_are_found_in_one_run(name):
    answer = answers(SOME if name in SOME else tuple(n for n in SEVERAL_NAMES if n not in SOME))[name]
    assert "failed" not in answer, answer["failed"]
    assert answer["verdict"] == "different"
    differences = answer["differences"]
    assert answer["difference"]["reason"] in [one["reason"] for one in differences]
    found = [told(one, mistakes(name)) for one in differences]
    assert set().union(*found) == set(mistakes(name))
    assert all(found), "what is named is a mistake"
    assert len(differences) <= len(mistakes(name)) + 1


def test_the_same_mistake_at_another_line_is_listed_with_it():
    slope = next(one for one in answers(SOME)["gan"]["differences"] if "leaky_relu" in one["a"]["what"])
    assert [[place["line"] for place in places] for places in slope["also"]] == [[19, 21], [23, 26]]


def test_the_screen_and_the_first_alone():
    a, b = program("vae_torch_paddle", "a"), program("vae_torch_paddle", "b")
    run = subprocess.run([*DIFF, a, b], capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    assert "Largest of 3 differences" in run.stdout
    assert re.search(r"×[\d.]+ +line 18 +line 18", run.stdout)
    run = subprocess.run([*DIFF, "--json", "--first", a, b], capture_output=True, text=True, check=False)
    answer = json.loads(run.stdout)
    assert answer["differences"] == [answer["difference"]]
    run = subprocess.run([*DIFF, "--json", a, b], capture_output=True, text=True, check=False)
    answer = json.loads(run.stdout)
    assert [one["b"]["place"]["line"] for one in answer["differences"]] == [18, 14, 12]
    assert [one["alone"] for one in answer["differences"]] == sorted((d["alone"] for d in answer["differences"]), reverse=True)


REPLAY = """
import sys, warnings
import numpy as np
import retrograde
retrograde.activate("mindspore", "paddle", "torch")
from diff_programs import program
from retrograde.tools.diff.program import recorded
from retrograde.tools.diff.replay import Changes, Replay
from retrograde.tools.diff.values import Values, as_wide
warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    for widened in (False, True):
        record = recorded(program(name, "a"), widened=widened)
        values = Values(record)
        replay = Replay(record, Changes(), values, everything=True, widened=widened)
        assert not replay.lost, (name, replay.lost)
        arrays = [values.array(v) for v in range(len(record.values))]
        largest = max(np.abs(a[np.isfinite(a)]).max(initial=0) for a in arrays if a.dtype.kind == "f")
        for v, x in replay.new.items():
            p, q = as_wide(x), as_wide(arrays[v])
            off = np.where(p == q, 0.0, np.abs(p - q)).max(initial=0)
            assert off <= (1e-6 if widened else 1e-5) * largest, (name, v, off)
"""


def test_a_record_computed_anew_is_what_was_recorded():
    in_process(REPLAY, "equal_adam_by_hand", "equal_heat_pinn", "equal_unet_torch_paddle")


@pytest.mark.long
def test_all_records_computed_anew_are_what_was_recorded():
    in_process(REPLAY, *(n for n in NAMES if n.startswith("equal_")))


def test_of_a_long_run_the_beginning_is_looked_at():
    answer = json.loads(in_process(
        "import sys, diff_answers; from retrograde.tools.diff import onward; onward.ROOM = 2000;"
        "diff_answers.main(sys.argv[1:])", "softsign_not_cleared",
    ))["softsign_not_cleared"]  # fmt: skip
    assert len(answer["differences"]) == len(mistakes("softsign_not_cleared"))
    assert any(re.search(r"up to backward pass [23]: ", note) for note in answer["notes"])
