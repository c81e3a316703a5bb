"""CONTRIBUTING's worked examples of an optimiser and a schedule: their lines, written into a copy of the package, work."""

from dialects import worked_examples

USE = """
import copy
import numpy as np
import retrograde.dialects.torch as torch, retrograde.dialects.paddle as paddle, retrograde.dialects.mindspore as ms
from retrograde.dialects.mindspore.experimental import optim as experimental

GRADIENTS = [np.array([0.5, -2.0]), np.array([1.0, 0.3]), np.array([-0.1, 0.2])]


def adabelief(p, decay=0.0, lr=0.1, beta1=0.9, beta2=0.999, eps=1e-16):
    m, s = np.zeros(2), np.zeros(2)
    for step, g in enumerate(GRADIENTS, 1):
        g = g + decay * p
        m = beta1 * m + (1 - beta1) * g
        s = beta2 * s + (1 - beta2) * (g - m) ** 2 + eps
        p = p - lr / (1 - beta1**step) * m / (np.sqrt(s / (1 - beta2**step)) + eps)
    return p


def same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


START = np.array([1.0, 2.0])
p = torch.nn.Parameter(torch.tensor(START))
optimizer = torch.optim.AdaBelief([p], lr=0.1, weight_decay=0.01)
for g in GRADIENTS:
    p.grad = torch.tensor(g)
    optimizer.step()
    again = torch.optim.AdaBelief([p], lr=0.2)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer = again
same(p.detach().numpy(), adabelief(START, 0.01))
assert list(optimizer.state_dict()["state"][0]) == ["step", "exp_avg", "exp_avg_var"]
assert torch.optim.adabelief.AdaBelief is torch.optim.AdaBelief
try:
    torch.optim.AdaBelief([p], betas=(0.9, 1.0))
except ValueError as error:
    assert "AdaBelief: betas[1] is 1.0" in str(error)

q = paddle.create_parameter([2], "float64")
q.set_value(paddle.to_tensor(START))
optimizer = paddle.optimizer.AdaBelief(0.1, parameters=[q], weight_decay=0.01)
for g in GRADIENTS:
    (q * paddle.to_tensor(g)).sum().backward()
    optimizer.step()
    optimizer.clear_grad()
same(q.numpy(), adabelief(START, 0.01))
assert [name.rpartition("w_0_")[2] for name in optimizer.state_dict()] == [
    "moment_0", "belief_0", "beta1_pow_acc_0", "beta2_pow_acc_0"]

for make in (lambda r: ms.nn.AdaBelief([r], 0.1), lambda r: experimental.AdaBelief([r], 0.1)):
    r = ms.Parameter(ms.Tensor(START, ms.float32), name="r")
    optimizer = make(r)
    for g in GRADIENTS:
        optimizer((ms.Tensor(g, ms.float32),))
    same(r.asnumpy(), adabelief(START))

wanted = [1 / (1 + epoch / 4) ** 0.5 for epoch in range(5)]
optimizer = torch.optim.SGD([p], lr=1.0)
schedule = torch.optim.lr_scheduler.InverseRootLR(optimizer, 4)
rates = []
for _ in wanted:
    rates += schedule.get_last_lr()
    optimizer.step()
    schedule.step()
same(rates, wanted)
assert torch.optim.lr_scheduler.InverseRootLR.__module__.endswith("lr_scheduler")
schedule = paddle.optimizer.lr.InverseRootDecay(1.0, 4)
rates = []
for _ in wanted:
    rates.append(schedule())
    schedule.step()
same(rates, wanted)
try:
    paddle.optimizer.lr.InverseRootDecay(1.0, 0)
except AssertionError as error:
    assert "decay_steps is 0; wanted above 0" in str(error)
schedule = experimental.lr_scheduler.InverseRootLR(experimental.SGD([r], 1.0), 4)
rates = []
for _ in wanted:
    rates.append(float(schedule.get_last_lr()[0]))
    schedule.step()
same(rates, wanted)
"""


def test_the_worked_examples(tmp_path):
    worked_examples.check("Add an optimiser", "Add a name", 16, USE, tmp_path)
