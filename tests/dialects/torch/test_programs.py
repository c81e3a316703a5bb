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
    "sparse tensors: what they are, print and compute": (
        """\
import torch
i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
s = torch.sparse_coo_tensor(i, v, (2, 3))
print(s, s.layout, s.sparse_dim(), s.dense_dim(), s._nnz(), s.is_coalesced(), len(s), torch.is_tensor(s))
print(s + s, (s * s).to_dense(), -s / 2, torch.sparse.sum(s, 0), s.sum(), s.norm())
print(torch.mm(s, torch.ones(3, 1)), torch.ones(1, 2) @ s, torch.sparse.mm(s, s.t()), torch.ones(2, 3) + s)
print(torch.cat([s, s], 1), torch.stack([s, s]).shape, s[0], s[1, 2], s.transpose(0, 1), s.index_select(0, torch.tensor([1])))
print(torch.sparse.softmax(s, 1), s.double(), torch.sparse_coo_tensor(size=(2, 2)), s.sqrt(), torch.ones(2, 3).sparse_mask(s))
for f in (lambda: s.exp(), lambda: s + torch.ones(2, 3), lambda: s.indices(), lambda: s.numpy(), lambda: s @ s):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__)
""",
        """\
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) torch.sparse_coo 2 0 3 False 2 True
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([ 6.,  8., 10.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) tensor([[ 0.,  0.,  9.],
        [16.,  0., 25.]]) tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([-1.5000, -2.0000, -2.5000]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) tensor(indices=tensor([[0, 2]]),
       values=tensor([4., 8.]),
       size=(3,), nnz=2, layout=torch.sparse_coo) tensor(12.) tensor(7.0711)
tensor([[3.],
        [9.]]) tensor([[4., 0., 8.]]) tensor(indices=tensor([[0, 0, 1, 1],
                       [0, 1, 0, 1]]),
       values=tensor([ 9., 15., 15., 41.]),
       size=(2, 2), nnz=4, layout=torch.sparse_coo) tensor([[1., 1., 4.],
        [5., 1., 6.]])
tensor(indices=tensor([[0, 1, 1, 0, 1, 1],
                       [2, 0, 2, 5, 3, 5]]),
       values=tensor([3., 4., 5., 3., 4., 5.]),
       size=(2, 6), nnz=6, layout=torch.sparse_coo) torch.Size([2, 2, 3]) tensor(indices=tensor([[2]]),
       values=tensor([3.]),
       size=(3,), nnz=1, layout=torch.sparse_coo) tensor(5.) tensor(indices=tensor([[2, 0, 2],
                       [0, 1, 1]]),
       values=tensor([3., 4., 5.]),
       size=(3, 2), nnz=3, layout=torch.sparse_coo) tensor(indices=tensor([[0, 0],
                       [0, 2]]),
       values=tensor([4., 5.]),
       size=(1, 3), nnz=2, layout=torch.sparse_coo)
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([1.0000, 0.2689, 0.7311]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, dtype=torch.float64, layout=torch.sparse_coo) tensor(indices=tensor([], size=(2, 0)),
       values=tensor([], size=(0,)),
       size=(2, 2), nnz=0, layout=torch.sparse_coo) tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([1.7321, 2.0000, 2.2361]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([1., 1., 1.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo)
NotImplementedError
RuntimeError
RuntimeError
TypeError
RuntimeError
""",
    ),
    "sparse tensors: gradients and in-place operations": (
        """\
import torch
i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0], requires_grad=True)
g = torch.sparse_coo_tensor(i, v, (2, 3))
print(g, g.coalesce().values(), g.to_dense(), g * 2, g.is_leaf)
loss = torch.sparse.mm(g, torch.arange(6.0).reshape(3, 2)).pow(2).sum() + torch.sparse.softmax(g, 1).to_dense().pow(2).sum()
loss.backward()
print(loss, v.grad)
leaf = torch.sparse_coo_tensor(i, v.detach(), (2, 3), requires_grad=True)
torch.sparse.mm(leaf, torch.ones(3, 1)).sum().backward()
print(leaf.grad, torch.eye(2).requires_grad_().to_sparse())
a, p = torch.eye(2).to_sparse(), torch.ones(2, 2)
a += a
a.mul_(2.0)
p.add_(a, alpha=0.5)
print(a.to_dense(), p)
""",
        """\
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo,
       grad_fn=<SparseCooTensorWithDimsAndTensorsBackward0>) tensor([3., 4., 5.], grad_fn=<ValuesBackward0>) tensor([[0., 0., 3.],
        [4., 0., 5.]], grad_fn=<ToDenseBackward0>) tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([ 6.,  8., 10.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo, grad_fn=<MulBackward0>) False
tensor(1611.6068, grad_fn=<AddBackward0>) tensor([246.0000,  57.8183, 450.1817])
tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([1., 1., 1.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo) tensor(indices=tensor([[0, 1],
                       [0, 1]]),
       values=tensor([1., 1.]),
       size=(2, 2), nnz=2, layout=torch.sparse_coo, grad_fn=<ToSparseBackward1>)
tensor([[4., 0.],
        [0., 4.]]) tensor([[3., 1.],
        [1., 3.]])
""",
    ),
    "the nodes of recurrent layers and packed sequences": (
        """\
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence, unpack_sequence
torch.manual_seed(0)
x = torch.randn(2, 3, 4)
for layer in (nn.LSTM(4, 2, batch_first=True), nn.GRU(4, 2, batch_first=True), nn.RNN(4, 2, bidirectional=True)):
    out, _ = layer(x)
    packed, _ = layer(pack_padded_sequence(x, [3, 1], batch_first=True))
    padded = [pad_packed_sequence(packed, batch_first=b)[0].grad_fn.name() for b in (True, False)]
    print(out.grad_fn.name(), packed.data.grad_fn.name(), padded, [t.grad_fn.name() for t in unpack_sequence(packed)])
print(nn.LSTMCell(4, 2)(x[0]))
w = torch.ones(3, requires_grad=True)
print(pad_sequence([w, w[:1]]), pack_padded_sequence(w[:, None], [3]).data.grad_fn.name())
""",
        """\
TransposeBackward0 CatBackward0 ['TransposeBackward0', 'torch::autograd::CopySlices'] ['IndexBackward0', 'IndexBackward0']
TransposeBackward1 CatBackward0 ['TransposeBackward0', 'torch::autograd::CopySlices'] ['IndexBackward0', 'IndexBackward0']
CatBackward0 CatBackward0 ['TransposeBackward0', 'torch::autograd::CopySlices'] ['IndexBackward0', 'IndexBackward0']
(tensor([[ 0.0891, -0.2435],
        [ 0.4333, -0.1423],
        [-0.0822, -0.2826]], grad_fn=<MulBackward0>), tensor([[ 0.1917, -0.6649],
        [ 0.7419, -0.4263],
        [-0.1459, -0.7951]], grad_fn=<AddBackward0>))
tensor([[1., 1.],
        [1., 0.],
        [1., 0.]], grad_fn=<CopySlices>) PackPaddedSequenceBackward0
""",
    ),
    "gradgradcheck draws its seeds from the default generator": (
        """\
import torch
x = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
for check, options in ((torch.autograd.gradcheck, {}), (torch.autograd.gradgradcheck, {}),
                       (torch.autograd.gradgradcheck, {"gen_non_contig_grad_outputs": True}),
                       (torch.autograd.gradcheck, {"check_batched_grad": True})):
    torch.manual_seed(0)
    print(check(torch.sin, x, **options), torch.rand(1))
""",
        """\
True tensor([0.4963])
True tensor([0.0223])
True tensor([0.4194])
True tensor([0.4194])
""",
    ),
    "Python's number types as dtypes, and a number for copy_": (
        """\
import torch
x = torch.tensor([1.5, 0.0])
print(x.to(int), x.to(dtype=float), x.to(bool), x.sum(dtype=int), torch.tensor([1], dtype=complex), torch.eye(2, dtype=bool))
print(torch.zeros(2, dtype=int), torch.softmax(x, 0, dtype=float).dtype, torch.nn.Linear(1, 1).to(float).weight.dtype)
print(torch.promote_types(int, float), torch.can_cast(float, int), torch.finfo(float).eps, torch.ones(2).copy_(2.5))
""",
        """\
tensor([1, 0]) tensor([1.5000, 0.0000], dtype=torch.float64) tensor([ True, False]) tensor(1) tensor([1.+0.j],
dtype=torch.complex128) tensor([[ True, False],
        [False,  True]])
tensor([0, 0]) torch.float64 torch.float64
torch.float64 False 2.220446049250313e-16 tensor([2.5000, 2.5000])
""",
    ),
    "windows are rounded as they are there": (
        """\
import torch
print(torch.blackman_window(5), torch.hann_window(6, periodic=False), torch.hamming_window(4))
""",
        """\
tensor([-2.9802e-08,  2.0077e-01,  8.4923e-01,  8.4923e-01,  2.0077e-01]) tensor([0.0000, 0.3455, 0.9045, 0.9045,
0.3455, 0.0000]) tensor([0.0800, 0.5400, 1.0000, 0.5400])
""",
    ),
    "a Function with a generated vmap rule in Jacobians": (
        """\
import torch
class Sine(torch.autograd.Function):
    generate_vmap_rule = True
    @staticmethod
    def forward(x):
        return x.sin()
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()
x = torch.arange(2.0)
print(torch.func.jacrev(Sine.apply)(x), torch.func.jacrev(torch.func.jacrev(Sine.apply))(x))
print(torch.vmap(torch.func.jacrev(Sine.apply))(torch.arange(4.0).reshape(2, 2)))
y = Sine.apply(x.requires_grad_())
print(y.grad_fn.next_functions[0][0].name(), y.grad_fn.next_functions[0][1])
""",
        """\
tensor([[1.0000, 0.0000],
        [0.0000, 0.5403]]) tensor([[[-0.0000, -0.0000],
         [-0.0000, -0.0000]],

        [[-0.0000, -0.0000],
         [-0.0000, -0.8415]]])
tensor([[[ 1.0000,  0.0000],
         [ 0.0000,  0.5403]],

        [[-0.4161, -0.0000],
         [-0.0000, -0.9900]]])
torch::autograd::AccumulateGrad 0
""",
    ),
    "the line search of LBFGS stops at max_eval": (
        """\
import torch
for evaluations in (2, 4, 7):
    x = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], max_iter=8, max_eval=evaluations, line_search_fn="strong_wolfe")
    count = 0
    def closure():
        global count
        count += 1
        optimizer.zero_grad()
        loss = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
        loss.backward()
        return loss
    for _ in range(3):
        optimizer.step(closure)
    print(evaluations, count, x.tolist())
""",
        """\
2 7 [-1.0288795348319695, 1.0655029516848564]
4 12 [-0.8802131649658734, 0.7274772060719978]
7 21 [-0.04619019171258308, -0.01801156636469505]
""",
    ),
    "edges as inputs and outputs, and collated strings": (
        """\
import torch
from torch.autograd.graph import get_gradient_edge
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
m = x * 2
print(torch.autograd.grad(m.sum(), get_gradient_edge(m)), torch.autograd.grad(m.sum(), [get_gradient_edge(x)]))
torch.autograd.backward(get_gradient_edge(x**2), torch.ones(3))
print(x.grad, torch.utils.data.default_collate([(1, "a"), (2, "b")]))
""",
        """\
(tensor([1., 1., 1.]),) (tensor([2., 2., 2.]),)
tensor([2., 4., 6.]) [tensor([1, 2]), ('a', 'b')]
""",
    ),
    "plain subclasses of Tensor and Parameter": (
        """\
import torch
from torch import nn
class Sub(torch.Tensor):
    pass
s = torch.ones(2).as_subclass(Sub)
print([type(t).__name__ for t in (torch.zeros_like(s), s.new_ones(1), torch.stack([s, s]), torch.broadcast_tensors(s, s)[0],
                                  torch.ones(2).copy_(s), s.nonzero(), torch.ones(2)[s.long() - 1])])
p = nn.Parameter(s)
print(type(p).__name__, isinstance(p, nn.Parameter), isinstance(p * 1, nn.Parameter), p, f"{s.sum()}")
class Named(nn.Parameter):
    pass
n = Named(torch.ones(2))
print(n, type(n * 2).__name__)
class Quiet(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl
print(torch.ones(2).as_subclass(Quiet), type(torch.ones(2).as_subclass(Quiet) + 1).__name__)
""",
        """\
['Sub', 'Sub', 'Sub', 'Sub', 'Sub', 'Sub', 'Sub']
Sub True False Parameter(Sub([1., 1.], requires_grad=True)) Sub(2.)
Parameter containing:
Parameter(Named([1., 1.], requires_grad=True)) Tensor
Quiet([1., 1.]) Tensor
""",
    ),
    "a class that is no tensor answers for the functions called on it": (
        """\
import torch
import torch.overrides
HANDLED = {}
class Scalar:
    def __init__(self, size, value):
        self.size, self.value = size, value
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in HANDLED:
            return NotImplemented
        return HANDLED[func](*args, **(kwargs or {}))
HANDLED[torch.mean] = lambda d: d.value / d.size
HANDLED[torch.Tensor.add] = lambda a, b: "added"
HANDLED[torch.Tensor.matmul] = lambda a, b: "multiplied"
d = Scalar(5, 2.0)
print(torch.mean(d), torch.ones(2) + d, torch.ones(2) @ d)
try:
    torch.sum(d)
except TypeError:
    print("TypeError")
""",
        """\
0.4 added multiplied
TypeError
""",
    ),
    "einsum of several dtypes promotes where nothing is contracted": (
        """\
import torch
n, x = torch.arange(3), torch.tensor([0.5, 2.0], requires_grad=True)
y = torch.einsum('i,j->ij', n, x)
y.sum().backward()
print(y, x.grad, torch.einsum('i,j->', n > 0, x).dtype, torch.einsum('i,ij->j', n[:1], torch.ones(3, 2)))
print(torch.einsum('bi,bj->bij', torch.ones(2, 3, dtype=torch.float64), torch.ones(2, 2)).dtype)
for equation, a, b in (('i,i->', n, torch.ones(3)), ('ij,jk->ik', torch.ones(2, 3).double(), torch.ones(3, 2))):
    try:
        torch.einsum(equation, a, b)
    except RuntimeError:
        print('RuntimeError')
""",
        """\
tensor([[0.0000, 0.0000],
        [0.5000, 2.0000],
        [1.0000, 4.0000]], grad_fn=<MulBackward0>) tensor([3., 3.]) torch.float32 tensor([0., 0.])
torch.float64
RuntimeError
RuntimeError
""",
    ),
    "sparse tensors by their old names": (
        """\
import torch
i, v = torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0], requires_grad=True)
s = torch.sparse.FloatTensor(i, v, torch.Size([2, 3]))
print(s)
print(s.type(), torch.sparse.FloatTensor, torch.LongTensor)
print(isinstance(s, torch.sparse.FloatTensor), isinstance(s, torch.FloatTensor), isinstance(v, torch.sparse.FloatTensor))
print(torch.sparse.LongTensor(i, torch.tensor([1, 2])), torch.sparse.DoubleTensor(2, 3).shape, torch.sparse.FloatTensor().shape)
print(s.type('torch.sparse.DoubleTensor').dtype)
torch.sparse.mm(s, torch.ones(3, 1)).sum().backward()
print(v.grad)
""",
        """\
tensor(indices=tensor([[0, 1],
                       [1, 0]]),
       values=tensor([1., 2.]),
       size=(2, 3), nnz=2, layout=torch.sparse_coo,
       grad_fn=<SparseCooTensorWithDimsAndTensorsBackward0>)
torch.sparse.FloatTensor <class 'torch.sparse.FloatTensor'> <class 'torch.LongTensor'>
True False False
tensor(indices=tensor([[0, 1],
                       [1, 0]]),
       values=tensor([1, 2]),
       size=(2, 2), nnz=2, layout=torch.sparse_coo) torch.Size([2, 3]) torch.Size([0])
torch.float64
tensor([1., 1.])
""",
    ),
    "what multinomial draws is contiguous": (
        """\
import torch
torch.manual_seed(0)
drawn = torch.multinomial(torch.ones(4, 6), 3)
print(drawn.view(2, 6), drawn.stride())
""",
        """\
tensor([[2, 4, 1, 5, 0, 3],
        [5, 0, 4, 4, 2, 5]]) (3, 1)
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
