"""stable-baselines3: PPO, A2C, DQN and SAC on CartPole and Pendulum."""
# packages: stable_baselines3==2.9.2
# needs: numpy, gymnasium, cloudpickle, pandas, matplotlib
import numpy as np
from stable_baselines3 import A2C, DQN, PPO, SAC

for kind, env, options in (
    (PPO, "CartPole-v1", {"n_steps": 64, "batch_size": 32, "n_epochs": 2}),
    (A2C, "CartPole-v1", {}),
    (DQN, "CartPole-v1", {"learning_starts": 50, "train_freq": 8}),
    (SAC, "Pendulum-v1", {"learning_starts": 60}),
):
    model = kind("MlpPolicy", env, seed=0, device="cpu", policy_kwargs={"net_arch": [16, 16]}, **options)
    model.learn(128 if kind is not SAC else 75)
    total = sum(p.abs().sum().item() for p in model.policy.parameters())
    action, _ = model.predict(model.observation_space.low.clip(-0.1, 0.1), deterministic=True)
    print(kind.__name__, f"{total:.3f}", np.round(action, 3).tolist())
