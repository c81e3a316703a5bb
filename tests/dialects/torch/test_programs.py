"""Small programs as users write them, each with what the real PyTorch 2.13 printed."""

import sys
from typing import Any

import pytest
from corpora import load_runner

PROGRAMS: dict[str, tuple[str, str]] = {
    "random numbers like a slice are drawn as for a contiguous tensor": (
        """\
import torch
torch.manual_seed(0)
a = torch.zeros(6, 8)
print(torch.randn_like(a[:, :4]).flatten()[:3], torch.randn_like(a.t()).flatten()[:3])
print(torch.nn.utils.clip_grad_norm_([a], 1.0))
""",
        """\
tensor([-1.1258, -1.1524, -0.2506]) tensor([ 0.3704, -0.0209, -1.0297])
tensor(0.)
""",
    ),
    "names of classes": (
        """\
import torch
from torch import nn
x = torch.ones(2)
print(type(x), type(nn.Parameter(x)), type(nn.Linear(1, 1)))
print(nn.Module, torch.dtype)
print(type(torch.optim.SGD([nn.Parameter(x)], lr=0.1)), type(torch.distributions.Normal(0.0, 1.0)))
print(nn.LSTM.__module__, torch.Tensor.__module__)
""",
        """\
<class 'torch.Tensor'> <class 'torch.nn.parameter.Parameter'> <class 'torch.nn.modules.linear.Linear'>
<class 'torch.nn.modules.module.Module'> <class 'torch.dtype'>
<class 'torch.optim.sgd.SGD'> <class 'torch.distributions.normal.Normal'>
torch.nn.modules.rnn torch
""",
    ),
    "dicts keep the order of their keys through transforms": (
        """\
import torch
from torch.func import grad, vmap, vjp
p = {'w': torch.ones(2), 'a': torch.zeros(2)}
print(grad(lambda p: (p['w'] * p['a']).sum())(p))
print(torch.vmap(lambda p: {'z': p['w'], 'b': p['a']})(p))
print(list(vjp(lambda p: p['w'] * 2, p)[1](torch.ones(2))[0]))
""",
        """\
{'w': tensor([0., 0.]), 'a': tensor([1., 1.])}
{'z': tensor([1., 1.]), 'b': tensor([0., 0.])}
['w', 'a']
""",
    ),
    "data that is no list": (
        """\
import torch
from collections import deque
print(torch.tensor(deque([1.0, 2.0])), torch.tensor(range(3)))
for bad in ({1, 2}, {'a': 1}, None, 'x', [1, 'a'], [object()], (i for i in [1])):
    try:
        torch.tensor(bad)
    except (RuntimeError, TypeError) as error:
        print(type(bad).__name__, type(error).__name__)
""",
        """\
tensor([1., 2.]) tensor([0, 1, 2])
set RuntimeError
dict RuntimeError
NoneType RuntimeError
str TypeError
list TypeError
list RuntimeError
generator RuntimeError
""",
    ),
    "random integers by keywords": (
        """\
import torch
torch.manual_seed(0)
print(torch.randint(high=5, size=(3,)), torch.randint(low=1, high=4, size=[2]), torch.randint(2, 5, size=(2,)))
print(torch.randint_like(torch.zeros(4), high=2))
try:
    torch.randint(5)
except TypeError:
    print('TypeError')
""",
        """\
tensor([4, 4, 3]) tensor([1, 2]) tensor([2, 3])
tensor([1., 1., 1., 1.])
TypeError
""",
    ),
    "the factor before the operands": (
        """\
import torch
a = torch.ones(2)
print(a.add(2, a), a.add_(0.5, a), a.addcmul_(2, a, a), a.addcdiv(3, a, a), torch.add(a, 2, a), a.sub(2, a))
try:
    a.add(1, 2, 3)
except TypeError:
    print('TypeError')
""",
        """\
tensor([3., 3.]) tensor([6., 6.]) tensor([6., 6.]) tensor([9., 9.]) tensor([18., 18.]) tensor([-6., -6.])
TypeError
""",
    ),
    "mixed precision switched off": (
        """\
import torch
x = torch.ones(2, 2, requires_grad=True)
scaler = torch.amp.GradScaler('cpu', init_scale=8.0, growth_interval=1)
optimizer = torch.optim.SGD([x], lr=0.5)
with torch.autocast(device_type='cpu', enabled=False):
    loss = (x @ x).sum()
scaler.scale(loss).backward()
scaler.unscale_(optimizer)
print(x.grad, scaler.get_scale())
scaler.step(optimizer)
scaler.update()
print(x.detach(), scaler.state_dict())
x.grad.fill_(float('inf'))
scaler.step(optimizer)
scaler.update()
print(x.detach(), scaler.get_scale(), torch.is_autocast_enabled('cpu'))
""",
        """\
tensor([[4., 4.],
        [4., 4.]]) 8.0
tensor([[-1., -1.],
        [-1., -1.]]) {'scale': 16.0, 'growth_factor': 2.0, 'backoff_factor': 0.5, 'growth_interval': 1, '_growth_tracker': 0}
tensor([[-1., -1.],
        [-1., -1.]]) 8.0 False
""",
    ),
    "what scripts ask of the machine": (
        """\
import torch
import torch.distributed
print(torch.accelerator.is_available(), torch.accelerator.current_accelerator(), torch.cuda.device_count())
print(torch.distributed.is_initialized(), torch.jit.is_scripting(), torch.cuda.max_memory_allocated())
try:
    torch.ones(2, device='cuda')
except AssertionError:
    print('AssertionError')
""",
        """\
False None 0
False False 0
AssertionError
""",
    ),
    "lesser-used names": (
        """\
import torch
x = torch.arange(4.0)
print(torch.is_storage(3), torch.is_storage(x.storage()), torch.typename(x), x.get_device())
print(x.new([1, 2]), x.new(2, 3).shape, torch.scalar_tensor(3), torch.empty_strided((2, 3), (1, 2)).stride())
print(torch.unravel_index(torch.tensor([5, 7]), (2, 4)), torch.zeros(4, 2).fill_diagonal_(5, wrap=True))
y = torch.ones(3, 3, requires_grad=True)
(y * 2).fill_diagonal_(0).sum().backward()
print(y.grad)
class Mine(torch.Tensor):
    pass
print(type(x.as_subclass(Mine)).__name__)
""",
        """\
False True torch.FloatTensor -1
tensor([1., 2.]) torch.Size([2, 3]) tensor(3.) (1, 2)
(tensor([1, 1]), tensor([1, 3])) tensor([[5., 0.],
        [0., 5.],
        [0., 0.],
        [5., 0.]])
tensor([[0., 2., 2.],
        [2., 0., 2.],
        [2., 2., 0.]])
Mine
""",
    ),
    "a script's own function, scripted": (
        """\
import torch
@torch.jit.script
def scaled(x, y: int):
    return x * y
print(scaled(torch.ones(2), 3), torch.jit.trace(lambda x: x * 2, torch.ones(2))(torch.ones(3)))
""",
        """\
tensor([3., 3.]) tensor([2., 2., 2.])
""",
    ),
    "helpers that packages import": (
        """\
import torch
import torch.utils.benchmark
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.nn.modules.utils import _pair, _reverse_repeat_tuple
from torch.utils._pytree import tree_flatten, tree_map
from torch.overrides import is_tensor_like
flat = _flatten_dense_tensors([torch.ones(2), torch.zeros(1, 2)])
print(flat, _unflatten_dense_tensors(flat, [torch.ones(2), torch.zeros(1, 2)]))
print(_pair(3), _reverse_repeat_tuple((1, 2), 2), is_tensor_like(flat), is_tensor_like(3))
print(tree_map(lambda x: x if x is None else x + 1, {'b': 1, 'a': [2, None]}), tree_flatten([1, (2, None)])[0])
timer = torch.utils.benchmark.Timer('x + x', globals={'x': flat})
print(timer.timeit(5).number_per_run, timer.blocked_autorange(min_run_time=0.01).median > 0)
""",
        """\
tensor([1., 1., 0., 0.]) (tensor([1., 1.]), tensor([[0., 0.]]))
(3, 3) (2, 2, 1, 1) True False
{'b': 2, 'a': [3, None]} [1, 2, None]
5 True
""",
    ),
}


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What the dialect answers to every program, from one warm interpreter."""
    programs = [{"id": name, "code": code} for name, (code, _) in PROGRAMS.items()]
    return load_runner().run(programs, sys.executable, False, 30, "torch")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, answers: dict[str, Any]) -> None:
    answer = answers[name]
    assert answer["error"] is None
    assert load_runner().same(PROGRAMS[name][1], answer["stdout"]), answer["stdout"]
