import mindspore as ms
import numpy as np
from mindspore import nn, ops

rng = np.random.default_rng(9)
class Agent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.actor = nn.SequentialCell(nn.Dense(4, 16), nn.Tanh(), nn.Dense(16, 3))
        self.critic = nn.SequentialCell(nn.Dense(4, 16), nn.Tanh(), nn.Dense(16, 1))


agent = Agent()
actor, critic = agent.actor, agent.critic
params = agent.trainable_params()
for p in params:
    p.set_data(ms.Tensor((rng.standard_normal(p.shape) * 0.5).astype(np.float32)))
states = ms.Tensor(rng.standard_normal((12, 4)).astype("float32"))
actions = ms.Tensor(rng.integers(0, 3, 12).astype("int32"))
rewards = rng.standard_normal(12)
old = ms.Tensor((rng.standard_normal(12) * 0.1 - 1.1).astype("float32"))
returns = np.zeros(12)
running = 0.0
for i in reversed(range(12)):
    running = rewards[i] + 0.99 * running
    returns[i] = running
returns = ms.Tensor(returns.astype("float32"))


def forward():
    probs = ops.softmax(actor(states), axis=-1)
    log_probs = ops.log(probs)
    chosen = (log_probs * ops.one_hot(actions, 3, ms.Tensor(1.0), ms.Tensor(0.0))).sum(axis=1)
    values = critic(states).squeeze(-1)
    advantage = returns - values
    advantage = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)  # parts
    ratio = ops.exp(chosen - old)
    clipped = ops.clip_by_value(ratio, 0.8, 1.2)
    policy_loss = -ops.minimum(ratio * advantage, clipped * advantage).mean()
    value_loss = 0.5 * ops.square(returns - values).mean()
    entropy = -(probs * log_probs).sum(axis=-1).mean()
    return policy_loss + value_loss - 0.01 * entropy


step = ms.value_and_grad(forward, None, params)
optimizer = nn.SGD(params, learning_rate=3e-3)
for _ in range(3):
    loss, grads = step()
    grads = ops.clip_by_global_norm(grads, 0.5)
    optimizer(grads)
    print(loss)
