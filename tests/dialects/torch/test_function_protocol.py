"""`__torch_function__` and modes, each program in an interpreter of its own: they change what `torch` is made of."""

import subprocess
import sys
import textwrap

import pytest

HEAD = "import retrograde; retrograde.activate('torch')\nimport torch\n"

LOG = """
class Log(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        print(func.__name__, end=" ")
        return super().__torch_function__(func, types, args, kwargs)
x = torch.tensor([1.0, 2.0, 3.0]).as_subclass(Log)
"""

SCALED = """
import torch
class Scaled:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__
print(torch.mean(Scaled()), torch.ones(2) + Scaled())
"""

CASES = {
    "a subclass is asked once for each call, by the name PyTorch gives it": (
        LOG + "x + 1; 3 - x; torch.mul(x, 2.0); torch.stack([x, x]); torch.ones(3) + x; x[0]; x.add_(1); -x; 2 / x\n"
        "torch.nn.functional.relu(x); torch.linalg.norm(x); torch.nn.Linear(3, 2)(x)",
        "add __rsub__ mul stack add __getitem__ add_ neg __rdiv__ relu linalg_norm linear",
    ),
    "results are of the subclass, gradients are not": (
        LOG + "x.requires_grad_(); (x * x).sum().backward(); print(type(x + 1).__name__, type(x.grad).__name__)",
        "requires_grad_ mul sum backward add __get__ Log Tensor",
    ),
    "a function of the user's own asks": (
        LOG + "from torch.overrides import get_overridable_functions, get_testing_overrides, wrap_torch_function\n"
        "@wrap_torch_function(lambda x: (x,))\ndef twice(x):\n    return 2 * x\n"
        "y = twice(x); print(type(y).__name__, twice(torch.ones(2)).tolist(), torch.add in get_overridable_functions()[torch], "
        "get_testing_overrides()[torch.mul](1))",
        "twice Log [2.0, 2.0] True -1",
    ),
    "an attribute travels with the results": (
        """
class Meta(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, cls):
            result.unit = next(a.unit for a in args if isinstance(a, cls))
        return result
m = torch.ones(2).as_subclass(Meta); m.unit = "m"
print((m * 2).unit, torch.exp(m).sum().unit)""",
        "m m",
    ),
    "a function that everybody declines": (
        """
class Refuse(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented
r = torch.ones(2).as_subclass(Refuse)
for f in (lambda: r + 1, lambda: torch.exp(r), lambda: torch.ones(2) + r):
    try:
        f()
    except TypeError as e:
        print("Refuse" in str(e))""",
        "True True True",
    ),
    "other types are asked when the module that defines them is loaded": (
        """
import importlib, os, sys, tempfile
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "scaled.py"), "w") as file:
        print("import torch\\nHANDLED = {torch.mean: 'mean'}\\nclass Scaled:\\n    n = 4\\n    @classmethod\\n"
              "    def __torch_function__(cls, func, types, args=(), kwargs=None):\\n"
              "        return ('scaled', HANDLED[func], args[0].n) if func in HANDLED else NotImplemented", file=file)
    sys.path.insert(0, folder)
    from scaled import Scaled
print(torch.mean(Scaled()), isinstance(torch.ones(2) + 1, torch.Tensor))
try:
    torch.exp(Scaled())
except TypeError as e:
    print("Scaled" in str(e))""",
        "('scaled', 'mean', 4) True True",
    ),
    "other types are asked after `import torch.overrides` wherever they come from": (
        """
def __torch_function__(cls, func, types, args=(), kwargs=None):
    return ("scaled", func.__name__, args[0].n) if func is torch.mean else NotImplemented
Scaled = type("Scaled", (), {"n": 4, "__torch_function__": classmethod(__torch_function__)})
try:
    torch.exp(Scaled())
except TypeError as e:
    print("torch.overrides" in str(e))
import torch.overrides
print(torch.mean(Scaled()))""",
        "True ('scaled', 'mean', 4)",
    ),
    "a mode sees every call and may answer it": (
        """
from torch.overrides import TorchFunctionMode
class Swap(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.add or func is torch.Tensor.add:
            func = torch.mul
        return func(*args, **(kwargs or {}))
with Swap():
    print(torch.add(torch.tensor(3.0), torch.tensor(4.0)).item(), torch.tensor(3.0).add(torch.tensor(4.0)).item())
print(torch.add(torch.tensor(3.0), torch.tensor(4.0)).item())""",
        "12.0 12.0 7.0",
    ),
    "subclasses are not asked where that is disabled": (
        LOG + "with torch._C.DisableTorchFunctionSubclass(): x + 1\nprint('quiet')",
        "quiet",
    ),
    "plain tensors stay exact": (
        LOG + "y = torch.ones(2, requires_grad=True); (y * y).sum().backward(); print(y.grad.tolist(), type(y + 1).__name__)",
        "[2.0, 2.0] Tensor",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_program(name):
    program, wanted = CASES[name]
    done = subprocess.run(
        [sys.executable, "-c", HEAD + textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == wanted.split(), done.stderr


def test_a_type_that_a_script_defines_is_asked(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCALED)
    done = subprocess.run([sys.executable, "-m", "retrograde", "run", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["mean", "add"], done.stderr
