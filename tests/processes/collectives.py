"""Run on three processes: every collective operation of torch.distributed against what NumPy makes of the three arrays."""

import os
import platform

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.nn.functional as through

from retrograde.backend import processes, staging

dist.init_process_group("gloo")
rank, count = dist.get_rank(), dist.get_world_size()
assert count == 3


def arrays(dtype, shape=(2, 3)):
    rng = np.random.default_rng(5)
    found = [rng.integers(1, 9, shape) if dtype.is_floating_point or dtype.is_complex else rng.integers(0, 2, shape)
             for _ in range(count)]  # fmt: skip
    return [torch.tensor(x.tolist()).to(dtype) for x in found]


def alike(x, y):
    assert x.dtype == y.dtype and torch.equal(x, y), (rank, x, y)


for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.complex64):
    every = arrays(dtype)
    ways = {"SUM": sum(every[1:], every[0])} | ({} if dtype.is_complex else {
        "MAX": torch.stack(every).amax(0), "MIN": torch.stack(every).amin(0), "PRODUCT": every[0] * every[1] * every[2],
    })  # fmt: skip
    for way, wanted in ways.items():
        x = every[rank].clone()
        dist.all_reduce(x, getattr(dist.ReduceOp, way))
        alike(x, wanted.to(dtype))
        x = every[rank].clone()
        dist.reduce(x, 1, getattr(dist.ReduceOp, way))
        alike(x, wanted.to(dtype) if rank == 1 else every[rank])
    x = every[rank].clone()
    dist.broadcast(x, 2)
    alike(x, every[2])
    parts = [torch.zeros_like(x) for _ in range(count)]
    dist.all_gather(parts, every[rank].t().contiguous().t())  # which lies the other way
    for a, b in zip(parts, every):
        alike(a, b)
    work = dist.gather(every[rank], parts if rank == 0 else None, async_op=True)
    work.wait()
    assert work.is_completed()
    dist.scatter(x, [y * 2 for y in every] if rank == 1 else None, src=1)
    alike(x, every[rank] * 2)

bits = torch.tensor([1, 2, 4]) << rank
for way, wanted in (("BAND", 0b100 & 0b1000), ("BOR", 0b111), ("BXOR", 0b111)):
    x = bits[:1].clone()
    dist.all_reduce(x, getattr(dist.ReduceOp, way))
    assert x.item() == wanted, (way, x)

out = torch.zeros(2)
dist.reduce_scatter(out, [torch.full((2,), float(10 * rank + k)) for k in range(count)])
alike(out, torch.full((2,), 30.0 + 3 * rank))
dist.reduce_scatter_tensor(out, torch.arange(6.0) * (rank + 1))
alike(out, 6 * torch.arange(6.0)[2 * rank : 2 * rank + 2])
given = [torch.full((k + 1, rank + 1), 10.0 * rank + k) for k in range(count)]
got = [torch.zeros(rank + 1, k + 1) for k in range(count)]
dist.all_to_all(got, given)
for k, x in enumerate(got):
    alike(x, torch.full((rank + 1, k + 1), 10.0 * k + rank))

# views of larger tensors, of no element, in place of a leaf; the version counts
whole = torch.zeros(4, 3)
dist.all_reduce(whole[:, 1].add_(rank))
alike(whole, torch.tensor([0.0, 3.0, 0.0]).expand(4, 3))
dist.all_reduce(torch.zeros(0))
leaf = torch.ones(2, requires_grad=True)
before = leaf._version
dist.all_reduce(leaf.data)
saved = (leaf * leaf).sum()
dist.all_reduce(leaf.detach(), dist.ReduceOp.AVG)
assert leaf._version > before
try:
    saved.backward()
except RuntimeError as error:
    assert "changed in place" in str(error)
else:
    raise AssertionError("the change was not seen")
dist.broadcast(leaf.detach(), 0)
assert leaf.tolist() == [3.0, 3.0] and leaf.is_leaf

# arrays of many pieces, and of several dtypes and lengths that end within one; several at a time, waited for in another order
rng = np.random.default_rng(6)
for size in (1, 3, staging.SLOT // 4, staging.SLOT // 4 + 1, staging.SLOT + 17):
    for dtype in (torch.float32, torch.int16, torch.complex128):
        every = [torch.tensor(rng.integers(0, 90, size)).to(dtype) for _ in range(count)]
        x, y = every[rank].clone(), torch.full((size,), rank + 1.0)
        works = [dist.all_reduce(x, async_op=True), dist.all_reduce(y, dist.ReduceOp.AVG, async_op=True)]
        for work in works[:: 1 if rank else -1]:
            work.wait()
        alike(x, sum(every[1:], every[0]))
        alike(y, torch.full((size,), 2.0))

# whoever waits for something else goes on with what others wait for
x = torch.ones(3 * staging.SLOT)
work = dist.all_reduce(x, async_op=True)
if rank == 0:
    dist.barrier()
    work.wait()
else:
    work.wait()
    dist.barrier()
alike(x, torch.full_like(x, 3.0))

# several arrays in place at once, through memory that all share and as an MPI does it: the same bits in all processes
near = processes.world()
far = processes.Group(near._comm.Dup(), near.ranks)
machines = near.all_gather_objects(platform.node())
assert (near._staging is not None) == (len(set(machines)) == 1)
shapes = [(3, 5), (staging.SLOT // 8, 3), (0,), (7,)]
every = [[np.random.default_rng(9 * k + r).standard_normal(s, np.float32) for k, s in enumerate(shapes)] for r in range(count)]
wanted = [sum(parts[1:], parts[0]) / np.float32(3) for parts in zip(*every)]
for among in (near, far):
    mine = [x.copy() for x in every[rank]]
    among.all_reduce_in_place(mine, divisor=3).wait()
    for a, b in zip(mine, wanted):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
    if among is near and near._staging is not None:
        assert all(np.array_equal(a, b) for a, b in zip(mine, wanted))  # added up in the order of the processes
    for a in near.all_gather_objects([x.tobytes() for x in mine]):
        assert a == [x.tobytes() for x in mine]

# objects, groups, messages
objects = [None] * count
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": r} for r in range(count)]
mine = [None]
dist.scatter_object_list(mine, ["a", "b", "c"] if rank == 0 else None, src=0)
assert mine == ["abc"[rank]]
pair = dist.new_group([0, 2])
if rank == 1:
    assert dist.get_rank(pair) == -1
else:
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=pair)
    assert x.item() == 2 and dist.get_process_group_ranks(pair) == [0, 2]
x = torch.zeros(1)
ops = [dist.P2POp(dist.isend, torch.tensor([float(rank)]), (rank + 1) % 3), dist.P2POp(dist.irecv, x, (rank - 1) % 3)]
for work in dist.batch_isend_irecv(ops):
    work.wait()
assert x.item() == (rank - 1) % 3

# derivatives through them, of second order as well: of the sum of what all processes compute
scale = torch.tensor([2.0, 3.0, 5.0])
for name, function in {
    "all_reduce": lambda y: through.all_reduce(y),
    "broadcast": lambda y: through.broadcast(y, 1),
    "reduce": lambda y: through.reduce(y, 2),
    "all_gather": lambda y: torch.stack(through.all_gather(y)),
    "gather": lambda y: torch.stack(through.gather(y, 1)),
    "reduce_scatter": lambda y: through.reduce_scatter(None, list(y.unsqueeze(1))),
    "all_to_all": lambda y: torch.stack(through.all_to_all(None, list(y))),
    "scatter": lambda y: through.scatter(list(y), 1),
}.items():
    x = (torch.arange(3.0) + rank + 1).requires_grad_()
    y = function(x**3)
    (first,) = torch.autograd.grad((y * (rank + 1)).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first * scale).sum(), x)
    factor = (first / (3 * x**2)).detach()
    assert torch.allclose(second, factor * 6 * x * scale), (name, rank, first, second)
    inside = through.all_reduce((y.detach() * (rank + 1)).sum())
    assert torch.allclose(inside, through.all_reduce((factor * x.detach() ** 3).sum())), (name, rank)  # it is linear

# what the processes do not agree on is an error in all of them, and they go on
message = ""
os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
try:
    dist.all_reduce(torch.ones(2 + rank))
except RuntimeError as error:
    message = str(error)
assert "all_reduce" in message and "process 2: all_reduce float32[4]" in message, message
dist.barrier()
del os.environ["TORCH_DISTRIBUTED_DEBUG"]
for _ in range(12):  # of which the first ones are compared in any case
    dist.all_reduce(torch.ones(2))
if near._staging is not None:  # through shared memory all are; MPI's own may say so, and is of no use after that
    try:
        dist.all_reduce(torch.ones(2 + rank))
    except RuntimeError as error:
        message = str(error)
    assert "process 1: all_reduce float32[3] sum" in message, message
x = torch.ones(4)
dist.all_reduce(x)
alike(x, torch.full((4,), 3.0))
print("rank", rank, "is done")
dist.destroy_process_group()
