"""Run on two and three processes: paddle.distributed's operations, and DataParallel against one process with the whole batch."""

import numpy as np
import paddle
import paddle.distributed as dist
from paddle.distributed import fleet

dist.init_parallel_env()
rank, count = dist.get_rank(), dist.get_world_size()
assert dist.ParallelEnv().rank == rank and dist.is_initialized()
x = paddle.to_tensor([1.0, 2.0]) * (rank + 1)
total = x.clone()
dist.all_reduce(total)
assert total.tolist() == [sum(range(1, count + 1)), 2 * sum(range(1, count + 1))]
dist.all_reduce(total, op=dist.ReduceOp.AVG)
parts = []
dist.all_gather(parts, x)
assert [p.tolist() for p in parts] == [[1.0 * k, 2.0 * k] for k in range(1, count + 1)]
mine = paddle.zeros([2])
dist.scatter(mine, parts if rank == 1 else None, src=1)
assert mine.tolist() == x.tolist()
out = []
dist.alltoall(out, [x + 10 * k for k in range(count)])
assert [o.tolist() for o in out] == [[1.0 * k + 10 * rank, 2.0 * k + 10 * rank] for k in range(1, count + 1)]
dist.reduce_scatter(mine, [x * k for k in range(count)])
assert mine.tolist() == [v * rank for v in total.tolist()]
task = dist.broadcast(mine, src=0, sync_op=False)
task.wait()
assert mine.tolist() == [0.0, 0.0]
objects = []
dist.all_gather_object(objects, ("rank", rank))
assert objects == [("rank", k) for k in range(count)]
if rank == 0:
    dist.send(x, dst=1)
elif rank == 1:
    dist.recv(mine, src=0)
    assert mine.tolist() == [1.0, 2.0]


def network(seed):
    paddle.seed(seed)
    return paddle.nn.Sequential(paddle.nn.Linear(3, 5), paddle.nn.Tanh(), paddle.nn.Linear(5, 1))


rng = np.random.RandomState(0)
data, wanted = rng.randn(12, 3).astype("float32"), rng.randn(12, 1).astype("float32")
fleet.init(is_collective=True)
model, whole = fleet.distributed_model(network(rank)), network(0)
whole.set_state_dict(model.state_dict())
optimizers = [fleet.distributed_optimizer(paddle.optimizer.Adam(0.05, parameters=m.parameters())) for m in (model, whole)]
share = [np.array_split(v, count)[rank] for v in (data, wanted)]
for _ in range(4):
    for m, optimizer, (a, b) in zip((model, whole), optimizers, (share, (data, wanted))):
        loss = paddle.nn.functional.mse_loss(m(paddle.to_tensor(a)), paddle.to_tensor(b))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
for p, q in zip(model.parameters(), whole.parameters()):
    np.testing.assert_allclose(p.numpy(), q.numpy(), rtol=2e-4, atol=1e-6)
sampler = paddle.io.DistributedBatchSampler(list(range(10)), 2)
assert sampler.nranks == count and sampler.local_rank == rank
print("rank", rank, "is done")
