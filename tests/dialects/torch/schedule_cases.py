"""Schedules that are run on PyTorch (record_schedules.py) and on the dialect (test_lr_scheduler.py) alike."""

from __future__ import annotations

STEPS = 30


class Halving:
    """A callable object as lr_lambda: its attributes are part of the state dict."""

    def __init__(self):
        self.base = 0.5

    def __call__(self, epoch):
        return self.base ** (epoch // 4)


def optimizer(torch, kind="SGD", lr=0.5, groups=2):
    """An optimiser with one parameter per group and different rates."""
    params = [{"params": [torch.ones(1, requires_grad=True)], "lr": lr / (i + 1)} for i in range(groups)]
    extra = {"momentum": 0.9} if kind == "SGD" else {}
    return getattr(torch.optim, kind)(params, **extra)


def sequential(S, o, milestones, *parts):
    return S.SequentialLR(o, [part(o) for part in parts], milestones)


CASES = {
    "LambdaLR": lambda S, W, o: S.LambdaLR(o, lambda epoch: 0.95**epoch),
    "LambdaLR-list": lambda S, W, o: S.LambdaLR(o, [lambda epoch: 1 / (epoch + 1), Halving()]),
    "MultiplicativeLR": lambda S, W, o: S.MultiplicativeLR(o, lambda epoch: 0.9 + 0.01 * (epoch % 3)),
    "StepLR": lambda S, W, o: S.StepLR(o, 7, 0.3),
    "MultiStepLR": lambda S, W, o: S.MultiStepLR(o, [3, 8, 8, 20], 0.5),
    "ConstantLR": lambda S, W, o: S.ConstantLR(o),
    "ConstantLR-long": lambda S, W, o: S.ConstantLR(o, 0.25, 40),
    "LinearLR": lambda S, W, o: S.LinearLR(o),
    "LinearLR-down": lambda S, W, o: S.LinearLR(o, 1.0, 0.1, 22),
    "LinearLR-zero": lambda S, W, o: S.LinearLR(o, 0.5, 0.0, 4),
    "ExponentialLR": lambda S, W, o: S.ExponentialLR(o, 0.93),
    "PolynomialLR": lambda S, W, o: S.PolynomialLR(o),
    "PolynomialLR-2": lambda S, W, o: S.PolynomialLR(o, 25, 2.0),
    "CosineAnnealingLR": lambda S, W, o: S.CosineAnnealingLR(o, 9, 0.01),
    "CosineAnnealingLR-long": lambda S, W, o: S.CosineAnnealingLR(o, 50),
    "CyclicLR": lambda S, W, o: S.CyclicLR(o, 0.01, 0.4, 5),
    "CyclicLR-list": lambda S, W, o: S.CyclicLR(o, [0.01, 0.1], [0.4, 0.3], 3, 6, mode="triangular2"),
    "CyclicLR-exp": lambda S, W, o: S.CyclicLR(o, 0.01, 0.4, 4, mode="exp_range", gamma=0.97, cycle_momentum=False),
    "CyclicLR-fn": lambda S, W, o: S.CyclicLR(
        o, 0.01, 0.4, 4, scale_fn=lambda x: 1 / x, base_momentum=0.7, max_momentum=0.99
    ),
    "CyclicLR-iterations": lambda S, W, o: S.CyclicLR(o, 0.01, 0.4, 4, scale_fn=Halving(), scale_mode="iterations"),
    "CyclicLR-Adam": lambda S, W, o: S.CyclicLR(o, 0.01, 0.4, 4),
    "OneCycleLR": lambda S, W, o: S.OneCycleLR(o, 0.7, 31),
    "OneCycleLR-epochs": lambda S, W, o: S.OneCycleLR(
        o, [0.7, 0.2], epochs=4, steps_per_epoch=8, pct_start=0.1, anneal_strategy="linear", div_factor=10.0
    ),
    "OneCycleLR-three": lambda S, W, o: S.OneCycleLR(o, 0.7, 31, three_phase=True, final_div_factor=10.0),
    "OneCycleLR-Adam": lambda S, W, o: S.OneCycleLR(o, 0.7, 31),
    "OneCycleLR-plain": lambda S, W, o: S.OneCycleLR(o, 0.7, 31, cycle_momentum=False),
    "CosineAnnealingWarmRestarts": lambda S, W, o: S.CosineAnnealingWarmRestarts(o, 7, eta_min=0.02),
    "CosineAnnealingWarmRestarts-2": lambda S, W, o: S.CosineAnnealingWarmRestarts(o, 3, 2),
    "SequentialLR": lambda S, W, o: sequential(
        S, o, [5], lambda o: S.LinearLR(o, 0.1, total_iters=5), lambda o: S.CosineAnnealingLR(o, 25)
    ),
    "SequentialLR-3": lambda S, W, o: sequential(
        S, o, [4, 11], lambda o: S.ConstantLR(o, 0.1, 4), lambda o: S.ExponentialLR(o, 0.9), lambda o: S.StepLR(o, 3)
    ),
    "SequentialLR-lambda": lambda S, W, o: sequential(
        S,
        o,
        [4, 9],
        lambda o: S.LambdaLR(o, lambda e: (e + 1) / 4),
        lambda o: S.MultiplicativeLR(o, lambda e: 0.9),
        lambda o: S.CosineAnnealingWarmRestarts(o, 4),
    ),
    "SequentialLR-chained": lambda S, W, o: sequential(
        S,
        o,
        [6],
        lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 4), S.ExponentialLR(o, 0.9)]),
        lambda o: S.PolynomialLR(o, 20),
    ),
    "ChainedScheduler": lambda S, W, o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 3), S.ExponentialLR(o, 0.9)]),
    "ChainedScheduler-3": lambda S, W, o: S.ChainedScheduler(
        [S.LinearLR(o, 0.2, total_iters=6), S.CosineAnnealingLR(o, 12), S.MultiStepLR(o, [10, 15])], optimizer=o
    ),
    "SWALR": lambda S, W, o: W.SWALR(o, 0.05),
    "SWALR-linear": lambda S, W, o: W.SWALR(o, [0.05, 0.9], anneal_epochs=5, anneal_strategy="linear"),
    "SWALR-0": lambda S, W, o: W.SWALR(o, 0.05, anneal_epochs=0),
    "ReduceLROnPlateau": lambda S, W, o: S.ReduceLROnPlateau(o, patience=2),
    "ReduceLROnPlateau-max": lambda S, W, o: S.ReduceLROnPlateau(
        o, "max", factor=0.5, patience=1, threshold=0.05, threshold_mode="abs", cooldown=2, min_lr=[0.1, 0.05]
    ),
    "ReduceLROnPlateau-rel": lambda S, W, o: S.ReduceLROnPlateau(
        o, "max", 0.5, 1, threshold=0.1, min_lr=0.01, eps=0.03
    ),
}


def metric(step):
    """A loss that falls, stalls and rises."""
    return [3.0, 2.0, 1.5, 1.4, 1.4, 1.45, 1.39995, 1.4, 1.5, 1.2, 1.2, 1.3, 1.25, 1.2][step % 14] / (1 + step // 14)


def advance(scheduler, label, step):
    """One step, as a training loop makes it."""
    if label.startswith("ReduceLROnPlateau"):
        scheduler.step(metric(step))
    else:
        scheduler.step()


def snapshot(o):
    """What schedules change in the parameter groups."""
    return [[g["lr"], *(g["betas"][:1] if "betas" in g else [g["momentum"]])] for g in o.param_groups]


def run(torch, label, resume_at=None):
    """The groups' rates and momenta after each step, and the final state dict; by way of a resume from state dicts."""
    S, W = torch.optim.lr_scheduler, torch.optim.swa_utils

    def make():
        o = optimizer(torch, "Adam" if label.endswith("Adam") else "SGD")
        return o, CASES[label](S, W, o)

    o, scheduler = make()
    history = [snapshot(o)]
    for step in range(STEPS):
        if step == resume_at:
            saved = o.state_dict(), scheduler.state_dict()
            o, scheduler = make()
            o.load_state_dict(saved[0])
            scheduler.load_state_dict(saved[1])
        o.step()
        advance(scheduler, label, step)
        history.append(snapshot(o))
    return history, scheduler.state_dict(), [list(g) for g in o.param_groups]
