"""`retrograde diff`: the same, the same up to rounding, or the first operation that differs, at the right line.

The pairs in diff_pairs are programs with the mistakes that people make; `# parts` stands at the lines that have to be
named. Pairs called `equal_...` compute the same, written differently.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tools.diff_programs import NAMES, program

DIFF = [sys.executable, "-m", "retrograde", "diff"]

DIFFERENT_STRETCHES = {
    "equal_cross_entropy": ("log_softmax", "exp"),
    "equal_gelu_paddle_mindspore": None,
    "equal_layer_norm": ("normalize", "sqrt"),
    "equal_long_training": ("log_softmax", "logsumexp"),
    "equal_relu": ("relu", "where"),
    "equal_scalars": ("multiply", "power_by"),
    "equal_square": ("multiply", "power_by"),
}
"""What has to be shown as written differently: an operation of A and one of B; None where nothing is."""


@pytest.fixture(scope="module")
def answers():
    script = str(Path(__file__).parent / "diff_answers.py")
    run = subprocess.run([sys.executable, script, "--first", *NAMES], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def marked(name, side):
    lines = program(name, side).read_text().splitlines()
    return [i for i, line in enumerate(lines, 1) if "# parts" in line]


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith("equal_")])
def test_the_first_difference_is_named(answers, name):
    answer = answers[name]
    assert "failed" not in answer, answer["failed"]
    assert answer["verdict"] == "different"
    for side in "ab":
        lines, step = marked(name, side), answer["difference"][side]
        if lines:
            assert step["place"]["line"] in lines
            assert step["place"]["text"] in program(name, side).read_text()


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("equal_")])
def test_programs_written_differently_are_the_same(answers, name):
    answer = answers[name]
    assert "failed" not in answer, answer["failed"]
    assert answer["verdict"] in ("same", "same up to rounding")
    assert answer["difference"] is None
    assert answer["gradients"]
    assert all(g["same"] for g in answer["gradients"])
    if name in DIFFERENT_STRETCHES:
        wanted = DIFFERENT_STRETCHES[name]
        shown = [(x, y) for s in answer["stretches"] for x in s["a"] for y in s["b"]]
        assert (wanted in shown) if wanted else not shown


def test_reasons(answers):
    reasons = {name: answer["difference"]["reason"] for name, answer in answers.items() if answer.get("difference")}
    assert "left from line 9; A has cleared it" in reasons["forgotten_zero_grad"]
    assert "detaches the value here" in reasons["detached"]
    assert "does not record this operation" in reasons["no_grad_too_long"]
    assert "changes memory in place here" in reasons["in_place_alias"]
    assert "options differ" in reasons["dampening"]
    assert "fed differently" in reasons["wrong_variable"]
    assert "carries no gradient" in reasons["item_in_loss"]
    assert "A runs 4 backward passes, B 3" in reasons["fewer_steps"]
    assert "has been reshaped where it should have been transposed" in reasons["weights_reshaped"]
    assert "lstm.weight_hh_l0 / w_h does not start from the same values" in reasons["weights_in_wrong_order"]
    assert "betas=(0.5, 0.999) in A, betas=(0.9, 0.999) in B" in reasons["gan_betas"]
    assert "user code does in the backward pass" in reasons["straight_through"]
    assert "B rounds this value to float16, and A does not" in reasons["half_in_between"]
    assert "A does something more with this value; B goes on with it as it is" in reasons["accumulation_not_divided"]
    assert "changes memory in place here; A goes on to read what it held before" in reasons["alias_for_copy"]
    assert "the parameter model.enc2.weight does not start" in reasons["saved_weights_of_other_layer"]
    assert "only B has the parameter net.2.bias" in reasons["extra_bias"]
    assert "differentiates these gradients again (create_graph); in B they are constants" in reasons["gradient_penalty"]
    assert "A runs 8 backward passes, B 6; from here on they do another thing" in reasons["batch_dropped"]
    assert "A gives it one operand more" in reasons["positive_weight"]
    assert "B spells out what A computes as one operation" in reasons["lstm_gates_by_hand"]
    assert "eps=0.001 in A, eps=0.0316228 in B, which is what it comes to" in reasons["adam_torch_mindspore"]
    assert "options differ: decoupled=True in B" in reasons["weight_decay_torch_paddle"]
    assert "B does not correct the moments for their bias" in reasons["adamw_torch_mindspore"]
    assert answers["attention_axis"]["difference"]["b"]["what"] == "softmax(axis=1)"


def test_a_parameter_that_holds_several_of_the_other_program(answers):
    names = [(g["name_a"], g["name_b"]) for g in answers["equal_packed_attention"]["gradients"]]
    packed = [(a, b) for a, b in names if "in_proj" in a]
    assert [b.removeprefix("block.attention.") for _, b in packed] == ["q.weight", "k.weight", "v.weight", "q.bias", "v.bias"]
    assert not [b for _, b in names if not b]


def test_gradients_that_are_nothing_but_rounding(answers):
    (bias,) = [g for g in answers["equal_bias_before_norm"]["gradients"] if g["name_a"] == "model.conv1.bias"]
    assert bias["layout"] == "rounding"
    assert answers["equal_bias_before_norm"]["largest"] < 1e-5


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("equal_rounding_")])
def test_rounding_shrinks_with_the_precision(answers, name):
    precision = answers[name]["precision"]
    if answers[name]["verdict"] == "same":
        assert precision is None
    else:
        assert precision["rounding"]
        assert precision["double"] < 1e-10 < precision["single"]


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("tiny_")])
def test_what_is_tiny_and_real_stays(answers, name):
    precision = answers[name]["precision"]
    assert not precision["rounding"]
    assert 1e-10 < precision["double"] < 1e-4


def test_the_screen_says_what_double_precision_says():
    run = diff(program("equal_rounding_variance", "a"), program("equal_rounding_variance", "b"))
    assert run.returncode == 0, run.stderr
    assert "It shrinks with the precision, so it is rounding" in run.stdout
    assert "times less" in run.stdout
    run = diff(program("tiny_eps_tiny", "a"), program("tiny_eps_tiny", "b"))
    assert run.returncode == 1, run.stderr
    assert "It stays in double precision" in run.stdout


def test_transposed_layouts_are_recognised(answers):
    layouts = {g["name_a"]: g["layout"] for g in answers["equal_torch_paddle"]["gradients"]}
    assert layouts == {"model.0.weight": "transposed", "model.2.weight": "transposed",
                       "model.0.bias": "", "model.2.bias": ""}  # fmt: skip
    assert [(g["name_a"], g["name_b"]) for g in answers["equal_layout"]["gradients"]] == [("weight", "kernel")]


def test_a_gradient_that_differs_is_compared_in_the_layout_that_brings_it_closest(tmp_path):
    program = """
import {framework} as f
w = {make}
x = {x}
y = (({product}) ** 2).sum() * {factor}
y.backward()
"""
    weights = [[0.5, -1.0], [2.0, 0.25], [1.5, -0.75]]
    (tmp_path / "a.py").write_text(program.format(
        framework="torch", make=f"f.tensor({weights}, requires_grad=True)", x="f.tensor([[1.0, 2.0, 3.0]])",
        product="x @ w", factor=1.0))  # fmt: skip
    (tmp_path / "b.py").write_text(program.format(
        framework="paddle", make=f"f.to_tensor({np.transpose(weights).tolist()}, stop_gradient=False)",
        x="f.to_tensor([[1.0, 2.0, 3.0]])", product="f.matmul(x, w, transpose_y=True)", factor=1.001))  # fmt: skip
    (gradient,) = json.loads(diff("--json", tmp_path / "a.py", tmp_path / "b.py").stdout)["gradients"]
    assert 5e-4 < gradient["relative"] < 2e-3


# ------------------------------------------------------------------------------------------ the command


def diff(*arguments, **environment):
    return subprocess.run([*DIFF, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": "120", **environment})  # fmt: skip


def test_different(tmp_path):
    run = diff(program("mean_for_sum", "a"), program("mean_for_sum", "b"))
    assert run.returncode == 1, run.stderr
    assert "First difference" in run.stdout
    assert "line 7" in run.stdout
    assert "(error**2).sum()" in run.stdout
    assert len(run.stdout.splitlines()) < 40
    assert not run.stderr


def test_same_up_to_rounding():
    run = diff(program("equal_layer_norm", "a"), program("equal_layer_norm", "b"))
    assert run.returncode == 0, run.stderr
    assert "The same up to rounding" in run.stdout
    assert "Written differently" in run.stdout


def test_a_reader_that_leaves_early():
    a, b = program("mean_for_sum", "a"), program("mean_for_sum", "b")
    run = subprocess.Popen([*DIFF, "--json", a, b], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.stdout.close()
    assert (run.stderr.read(), run.wait()) == ("", 1)


def test_json_map_and_rtol():
    a, b = program("gelu_tanh", "a"), program("gelu_tanh", "b")
    assert diff(a, b, "--json").returncode == 1
    run = diff(a, b, "--json", "--rtol", "0.01", "--map", "layer.weight=weight", "--map", "bias=layer.bias")
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["verdict"] == "same up to rounding"
    assert answer["rtol"] == "0.01"
    assert [g["name_b"] for g in answer["gradients"]] == ["layer.weight", "layer.bias"]


LOOP = """
import torch
torch.manual_seed(0)
weight = torch.randn(64, 64, requires_grad=True)
x = torch.randn(64, 64)
for i in range(20):
    x = torch.tanh(x @ weight {0})
x.sum().backward()
"""


@pytest.mark.parametrize("change, status", [("", 0), ("* 1.01", 1)])
def test_values_beyond_the_budget_are_compared_by_digests(tmp_path, change, status):
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text(LOOP.format(""))
    b.write_text(LOOP.format(change))
    run = diff(a, b, "--memory", "0.1")
    assert run.returncode == status, run.stdout + run.stderr
    assert not status or "line 7" in run.stdout


ONE_PASS = "import torch\nw = torch.tensor(2.0, requires_grad=True)\ndef run():\n    (w * 3).backward()\n"


@pytest.mark.parametrize(
    "program, said",
    [
        ("import torch\n1 / 0", "ZeroDivisionError"),
        ("import sys\nsys.exit(3)", "exit status 3"),
        ("x = = 1", "SyntaxError"),
        ("import os\nos._exit(1)", "the process died"),
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('config')\np.parse_args()", "required: config"),
        (f"{ONE_PASS}import threading\nt = threading.Thread(target=run)\nt.start()\nt.join()", "another thread"),
    ],
)
def test_a_program_that_fails(tmp_path, program, said):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("print('fine')")
    bad.write_text(program)
    run = diff(good, bad)
    assert run.returncode == 2
    assert "bad.py failed" in run.stderr
    assert said in run.stderr
    assert "good.py failed" not in run.stderr


def test_programs_that_take_arguments(tmp_path):
    program, other = tmp_path / "program.py", tmp_path / "other name.py"
    program.write_text(f"import sys\n{ONE_PASS.replace('3', 'float(sys.argv[1])')}run()")
    other.write_text(f"{ONE_PASS}if __name__ == '__main__':\n    run()")
    assert diff(program, other, "--args-a", "3").returncode == 0
    run = diff(program, other, "--args-a", "4 'and more'")
    assert run.returncode == 1, run.stderr
    assert "other name.py" in run.stdout


def test_where_a_function_was_called(tmp_path):
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    program = "import torch\ndef f(x):\n    return x * x {}\nw = torch.tensor(2.3, requires_grad=True)\nf(\nw).backward()\n"
    a.write_text(program.format(""))
    b.write_text(program.format("* 1.5"))
    step = json.loads(diff("--json", a, b).stdout)["difference"]["b"]
    assert (step["place"]["line"], step["called_from"]["line"]) == (3, 5)
    assert "called from line 5" in diff(a, b).stdout


def test_only_one_program_runs_a_backward_pass(tmp_path):
    one, none = tmp_path / "one.py", tmp_path / "none.py"
    one.write_text(f"{ONE_PASS}run()")
    none.write_text("")
    run = diff(none, one)
    assert run.returncode == 1
    assert "Only B runs a backward pass" in run.stdout


def test_usage(tmp_path):
    good = tmp_path / "good.py"
    good.write_text("")
    assert diff(good).returncode == 2
    assert diff(good, tmp_path / "missing.py").returncode == 2
    assert diff(good, good, "--map", "x").returncode == 2
    assert diff(good, good, "--python-a", sys.executable).returncode == 2
    run = diff(good, good, "--map", "x=y")
    assert run.returncode == 2
    assert "no parameter of A is called x; there are none; no parameter of B is called y" in run.stderr
    for option in ("--rtol", "--memory"):
        run = diff(good, good, option, "-1")
        assert run.returncode == 2
        assert "not negative" in run.stderr
    assert diff(good, good, "--args-a", "'").returncode == 2
    run = diff(good, good)
    assert "Nothing to compare" in run.stdout
    run = diff(good, good)
    assert run.returncode == 0
    assert "neither program computes a gradient" in run.stdout


STARTS = {
    "torch": """
import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 4))
x = torch.linspace(-1, 1, 15).reshape(5, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = (net(x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "paddle": """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Tanh(), paddle.nn.Linear(4, 4))
x = paddle.linspace(-1, 1, 15).reshape([5, 3])
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    loss = (net(x) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
""",
}
"""The same network with other starting values; the second weight is square, and lies the other way round in the second."""


def test_starting_values_of_the_other_program(tmp_path):
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text(STARTS["torch"])
    b.write_text(STARTS["paddle"])
    run = diff("--json", a, b)
    assert run.returncode == 1, run.stderr
    (note,) = [note for note in json.loads(run.stdout)["notes"] if "--start-from A" in note]
    assert "B starts from other values than A in net." in note
    assert "which it makes at line 3" in note
    run = diff("--json", "--start-from", "A", a, b)
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert answer["verdict"] in ("same", "same up to rounding")
    assert len(answer["gradients"]) == 4
    assert not [note for note in answer["notes"] if "--start-from" in note]
    b.write_text(STARTS["paddle"].replace("4", "5"))
    run = diff("--start-from", "A", "--map", "net.0.weight=net.0.weight", a, b)
    assert run.returncode == 2
    assert "is [4, 3] in A and [3, 5] in B" in run.stderr
    assert diff("--start-from", "A", "--real-a", a, b).returncode == 2


# ------------------------------------------------------------------------------------------ installed frameworks


def python_with(framework):
    """An interpreter that has the framework: named by RETROGRADE_<FRAMEWORK>_PYTHON, or this one."""
    python = os.environ.get(f"RETROGRADE_{framework.upper()}_PYTHON", sys.executable)
    if subprocess.run([python, "-c", f"import {framework}"], capture_output=True, check=False).returncode:
        pytest.skip(f"{framework} is not installed; RETROGRADE_{framework.upper()}_PYTHON may name an interpreter")
    return python


REAL = [
    ("torch", "equal_torch_paddle", 4),
    ("paddle", "equal_paddle_mindspore", 4),
    ("torch", "equal_functional_sgd", 4),
    ("torch", "equal_gan_torch_paddle", 8),
    ("torch", "equal_maml", 4),
    ("torch", "equal_packed_attention", None),
]


@pytest.mark.parametrize("framework, pair, gradients", REAL)
def test_the_installed_framework_gives_the_same_gradients(framework, pair, gradients):
    run = diff("--json", "--real-a", "--python-a", python_with(framework), program(pair, "a"), program(pair, "b"))
    assert run.returncode == 0, run.stdout + run.stderr
    answer = json.loads(run.stdout)
    assert len(answer["gradients"]) == gradients or gradients is None
    assert answer["operations_a"] is None


FRAMEWORK = """
import numpy as np
class Tensor:
    is_leaf = requires_grad = True
    grad = None
    dtype = "float32"
    def __init__(self, data): self.data = np.asarray(data, "float32")
    def detach(self): return self
    cpu = resolve_conj = detach
    def numpy(self): return self.data
    def backward(self): self.of.grad = Tensor(self.slope)
bfloat16 = "bfloat16"
class autograd:
    pass
"""


@pytest.mark.parametrize("slope, status", [(3.0, 0), (4.0, 1)])
def test_gradients_of_an_installed_framework_by_its_public_names(tmp_path, slope, status):
    (tmp_path / "torch.py").write_text(FRAMEWORK)
    (tmp_path / "values.py").write_text("three = 3.0")  # no file of retrograde's hides it
    installed, ours = tmp_path / "installed.py", tmp_path / "ours.py"
    installed.write_text(
        "import torch, values\nw = torch.Tensor([2.0])\ny = torch.Tensor(6.0)\n"
        f"y.of, y.slope = w, [values.three * {slope / 3}]\ny.backward()\n"
    )
    ours.write_text("import torch\nw = torch.tensor([2.0], requires_grad=True)\n(3 * w).sum().backward()\n")
    run = diff("--real-a", installed, ours)
    assert run.returncode == status, run.stdout + run.stderr
    assert "on the installed framework" in run.stdout
    run = diff("--real-b", ours, installed)
    assert run.returncode == status, run.stdout + run.stderr


def test_a_framework_that_is_not_installed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import mindspore")
    python = tmp_path / "none"
    run = diff("--real-a", "--python-a", python, program, program)
    assert run.returncode == 2
    assert "cannot start" in run.stderr
    hidden = tmp_path / "hidden.py"
    hidden.write_text("import sys\nsys.modules['torch'] = None\nimport torch\n")
    run = diff("--real-a", hidden, hidden)
    assert run.returncode == 2
    assert "torch is not installed" in run.stderr


# ------------------------------------------------------------------------------------------ what is observed


def test_nothing_is_observed_afterwards_and_results_are_the_same():
    code = """
import numpy as np, retrograde, sys
retrograde.activate("torch")
import torch
from retrograde import _state
from retrograde.tools.diff.record import Recorder

def train():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    x = torch.randn(8, 3)
    for _ in range(3):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    return [p.detach().numpy().copy() for p in model.parameters()]

plain = train()
recorder = Recorder()
with _state.observe(recorder):
    watched = train()
assert all(np.array_equal(a, b) for a, b in zip(plain, watched))
events = len(recorder.events)
assert events > 100
after = train()
assert len(recorder.events) == events
assert not _state.OBSERVERS and not _state.LOOKED_AT and not _state.SWITCHED and _state.state.mode == _state.ON
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
