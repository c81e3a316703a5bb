"""Run on three processes: mindspore's operations between processes, with gradients, and a data-parallel training step."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, communication, nn, ops
from mindspore.communication import comm_func, create_group, get_group_size, get_rank, init

init()
rank, count = get_rank(), get_group_size()
assert (rank, count) == (ms.communication.management.get_rank(), 3)
x = Tensor(np.arange(6, dtype=np.float32).reshape(3, 2) + rank)
every = [np.arange(6, dtype=np.float32).reshape(3, 2) + k for k in range(count)]
assert np.array_equal(ops.AllReduce()(x).asnumpy(), sum(every))
assert np.array_equal(ops.AllReduce(ops.ReduceOp.MAX)(x).asnumpy(), every[-1])
assert np.array_equal(ops.AllGather()(x).asnumpy(), np.concatenate(every))
assert np.array_equal(ops.ReduceScatter()(x).asnumpy(), sum(every)[rank : rank + 1])
assert np.array_equal(ops.Broadcast(1)((x,))[0].asnumpy(), every[1])
split = ops.AlltoAll(split_count=3, split_dim=0, concat_dim=1)(x)
assert np.array_equal(split.asnumpy(), np.concatenate([e[rank : rank + 1] for e in every], 1))
if rank == 0:
    ops.Send(sr_tag=0, dest_rank=1)(x)
elif rank == 1:
    assert np.array_equal(ops.Receive(sr_tag=0, src_rank=0, shape=[3, 2], dtype=ms.float32)().asnumpy(), every[0])
ops.Barrier()()
create_group("pair", [0, 2])
if rank != 1:
    assert np.array_equal(comm_func.all_reduce(x, group="pair")[0].asnumpy(), every[0] + every[2])
    assert communication.get_process_group_ranks("pair") == [0, 2]
    assert communication.get_world_rank_from_group_rank("pair", 1) == 2
    assert communication.get_group_rank_from_world_rank(2, "pair") == 1
    communication.destroy_group("pair")
    try:
        get_rank("pair")
    except ValueError as error:
        assert "create_group" in str(error)
    else:
        raise AssertionError("the group is still there")
assert communication.get_local_rank_size() == 3
for name, wrong, kind in (
    ("get_rank", (3,), TypeError), ("destroy_group", (communication.HCCL_WORLD_COMM_GROUP,), ValueError),
    ("create_group", ("again", [0, 7]), ValueError),
):  # fmt: skip
    try:
        getattr(communication, name)(*wrong)
    except kind:
        continue
    raise AssertionError(name)

# The same as functions; of what only one process gets, the others are not asked.
assert np.array_equal(comm_func.all_gather_into_tensor(x)[0].asnumpy(), np.concatenate(every))
assert np.array_equal(comm_func.reduce_scatter_tensor(x, "max")[0].asnumpy(), every[-1][rank : rank + 1])
assert np.array_equal(comm_func.broadcast(x, 2).asnumpy(), every[2])
for op, combined in (("sum", sum(every)), ("min", every[0])):
    found = comm_func.reduce(x, 1, op)
    assert rank != 1 or np.array_equal(found.asnumpy(), combined)
found = comm_func.gather_into_tensor(x, 2)
assert rank != 2 or np.array_equal(found.asnumpy(), np.concatenate(every))
assert np.array_equal(comm_func.scatter_tensor(x, 1).asnumpy(), every[1][rank : rank + 1])
comm_func.barrier()
comm_func.barrier(async_op=True).wait()
result, handle = comm_func.all_reduce(x, async_op=True)
handle.wait()
assert np.array_equal(result.asnumpy(), sum(every))
before, after = (rank - 1) % count, (rank + 1) % count
sent = comm_func.isend(x, after)
result, handle = comm_func.irecv(x, before)
handle.wait()
sent.wait()
assert np.array_equal(result.asnumpy(), every[before])
if rank == 0:
    comm_func.send(x, 1)
elif rank == 1:
    assert np.array_equal(comm_func.recv(x, 0).asnumpy(), every[0])
parts, _ = comm_func.all_to_all_with_output_shape([(1, 2)] * 3, [x[k : k + 1] for k in range(3)])
assert all(np.array_equal(p.asnumpy(), e[rank : rank + 1]) for p, e in zip(parts, every))

gradient = ms.grad(lambda y: (ops.AllReduce()(y**2) * (rank + 1)).sum())(x)
assert np.allclose(gradient.asnumpy(), 6 * 2 * x.asnumpy())
gathered = ms.grad(lambda y: (ops.AllGather()(y) * (rank + 1)).sum())(x)
assert np.allclose(gathered.asnumpy(), 6)


def network(seed):
    rng = np.random.default_rng(seed)
    return nn.SequentialCell(
        nn.Dense(4, 5, weight_init=Tensor(rng.normal(size=(5, 4)).astype(np.float32)), bias_init="zeros"), nn.Tanh(),
        nn.Dense(5, 1, weight_init=Tensor(rng.normal(size=(1, 5)).astype(np.float32)), bias_init="zeros"),
    )  # fmt: skip


rng = np.random.default_rng(9)
data, label = rng.normal(size=(12, 4)).astype(np.float32), rng.normal(size=(12, 1)).astype(np.float32)
ms.set_auto_parallel_context(
    parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, device_num=count, parameter_broadcast=True
)
step = nn.TrainOneStepCell(nn.WithLossCell(mine := network(rank), nn.MSELoss()), nn.Adam(mine.trainable_params(), 0.05))
ms.reset_auto_parallel_context()
alone = nn.TrainOneStepCell(nn.WithLossCell(whole := network(0), nn.MSELoss()), nn.Adam(whole.trainable_params(), 0.05))
for _ in range(4):
    step(Tensor(np.array_split(data, count)[rank]), Tensor(np.array_split(label, count)[rank]))
    alone(Tensor(data), Tensor(label))
for p, q in zip(mine.trainable_params(), whole.trainable_params()):
    np.testing.assert_allclose(p.asnumpy(), q.asnumpy(), rtol=2e-4, atol=1e-6)
try:
    ms.set_auto_parallel_context(device_num=5)
except RuntimeError as error:
    assert "process" in str(error)
else:
    raise AssertionError("nothing was said")
print("rank", rank, "is done")
communication.release()
assert not communication.GlobalComm.INITED
