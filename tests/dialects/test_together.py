"""Several dialects in one process: their tensors do not mix, and the error says what to do."""

import subprocess
import sys

import numpy as np
import pytest

HEAD = """
import retrograde
retrograde.activate("torch", "paddle", "mindspore")
import numpy as np
import torch, paddle, mindspore
import mindspore.ops as ops
t = torch.tensor([1.0, 2.0])
p = paddle.to_tensor([3.0, 4.0])
m = mindspore.Tensor([5.0, 6.0])
"""

MIXED = (
    "t + p", "p * m", "m - t", "torch.add(t, p)", "paddle.add(p, t)", "ops.add(m, p)", "t.add(p)", "torch.exp(p)",
    "paddle.exp(t)", "ops.exp(t)", "torch.cat([p, p])", "paddle.concat([t, t])", "ops.concat((p, p))",
    "torch.nn.functional.relu(m)", "paddle.nn.functional.relu(t)", "ops.ReLU()(t)", "torch.fft.fft(p)",
    "paddle.grad(t, t)", "torch.autograd.grad(p, p)", "mindspore.grad(lambda x: x)(t)", "torch.nn.Linear(2, 2)(p)",
    "paddle.nn.Linear(2, 2)(t)", "mindspore.nn.Dense(2, 2)(t)", "torch.nn.ReLU()(p)", "paddle.nn.ReLU()(m)",
    "mindspore.nn.ReLU()(p)", "t.add_(p)", "t.mul_(m)", "p.add_(t)", "m.add_(t)", "t.__iadd__(p)", "t.copy_(p)",
    "t.__setitem__(0, p[0])", "t.__setitem__(slice(None), m)", "p.__setitem__(0, t[0])", "m.__setitem__(0, t[0])",
)  # fmt: skip


def run(program):
    done = subprocess.run([sys.executable, "-c", HEAD + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_tensors_of_two_dialects_are_refused_with_the_remedy():
    program = "\n".join(
        f"try:\n    {mixed}\n    print('taken')\n"
        "except TypeError as e:\n    print('numpy()' in str(e) and 'from_dlpack' in str(e), e)"
        for mixed in MIXED
    )
    for mixed, said in zip(MIXED, run(program).splitlines(), strict=True):
        assert said.startswith("True"), f"{mixed}: {said}"


@pytest.mark.parametrize(
    "statement",
    ["torch.nn.Parameter(p)", "torch.optim.SGD([p], lr=0.1)", "mindspore.Parameter(t)", "t.requires_grad_().grad = p",
     "t.data = p"],
)  # fmt: skip
def test_who_wants_a_tensor_says_whose_it_got(statement):
    dialect = "torch" if statement.endswith("(t)") else "paddle"
    said = run(f"try:\n    {statement}\nexcept (TypeError, AttributeError) as e:\n    print(e)")
    assert f"a tensor of the {dialect} dialect" in said


def test_the_remedies_work():
    said = run("""
a = paddle.to_tensor(t.numpy()) + p
b = torch.tensor(m.asnumpy()) + t
c = mindspore.Tensor(p.numpy()) + m
d = torch.from_dlpack(p)
d[0] = 30.0
print(a.numpy().tolist(), b.tolist(), c.asnumpy().tolist(), p.numpy().tolist())
""")
    assert said.strip() == "[4.0, 6.0] [6.0, 8.0] [8.0, 10.0] [30.0, 4.0]"


def test_a_dialect_alone_is_not_checked():
    program = "import retrograde; retrograde.activate('torch'); import torch; print(hasattr(torch.exp, '_checks_dialect'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_one_network_three_ways(optimizer):
    said = run(f"""
import sys
sys.path.insert(0, "examples/three_ways")
import compare
c = compare.Comparison({optimizer!r}, 1e-3, 5)
import io
from rich.console import Console
c.run(Console(file=io.StringIO()))
print(c.equal["paddle"], c.equal["mindspore"])
""")
    assert said.split() == (["5", "5"] if optimizer == "SGD" else ["5", "0"])


def test_numpy_is_shared_not_copied():
    said = run("a = np.zeros(2, np.float32)\nu = torch.from_numpy(a)\nu[0] = 1.0\nprint(a.tolist())")
    assert np.array_equal(eval(said), [1.0, 0.0])


PICKLED = """
import pickle, types
import retrograde.dialects.torch as torch
from retrograde.dialects.torch import fft, func, linalg, special
from retrograde.dialects.torch.nn import functional

places = (torch, fft, func, linalg, special, functional)
early = [(m, n, f) for m in places for n, f in vars(m).items() if isinstance(f, types.FunctionType) and n[0] != "_"]
assert len(early) > 800
before = {f: pickle.dumps(f) for _, _, f in early}

def lost():
    return [n for m, n, f in early for g in (f, getattr(m, n)) if pickle.loads(pickle.dumps(g)) is not g]

print(lost())
"""


def test_a_module_of_a_program_without_a_name_is_called():
    """Its class has no `__module__`, which used to be read where several dialects are there."""
    run(
        "scope = {'torch': torch}\n"
        "exec('layer = type(\"Twice\", (torch.nn.Module,), {\"forward\": lambda self, x: 2 * x})()', scope)\n"
        "assert scope['layer'](t).tolist() == [2.0, 4.0]"
    )


@pytest.mark.parametrize("also", ["import retrograde.dialects.paddle", "class Own(torch.Tensor):\n    pass"])
def test_pickle_finds_public_functions_whatever_stands_before_them(also):
    after = "assert functional.gelu not in before\nprint(lost(), all(callable(pickle.loads(b)) for b in before.values()))"
    program = f"{PICKLED}\n{also}\n{after}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n[] True\n", "")
