"""Optimisers that are run on PyTorch (record_optim.py) and on the dialect (test_optim.py) alike."""

from __future__ import annotations

OPTIMIZERS = [
    "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "LBFGS",
    "Adafactor", "Muon",
]  # fmt: skip

LBFGS_CASES = {
    "search": ({"lr": 1, "max_iter": 5, "line_search_fn": "strong_wolfe"}, 8),
    "search-long": ({"max_iter": 60, "tolerance_grad": 1e-10, "line_search_fn": "strong_wolfe"}, 3),
    "plain": ({"lr": 0.01, "max_iter": 10, "history_size": 3}, 6),
    "few-evaluations": ({"lr": 0.01, "max_eval": 4}, 3),
}


def default(torch, name):
    """An optimiser over one matrix, with default options."""
    return getattr(torch.optim, name)([torch.ones(2, 2, requires_grad=True)])


def run_lbfgs(torch, label):
    """Losses, counts and final parameters of LBFGS in float64 on Rosenbrock's function with one scalar more."""
    options, steps = LBFGS_CASES[label]
    p = torch.linspace(-1.2, 1.0, 4, dtype=torch.float64).requires_grad_()
    q = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([p, q], **options)

    def closure():
        optimizer.zero_grad()
        loss = (100 * (p[1:] - p[:-1] ** 2) ** 2 + (1 - p[:-1]) ** 2).sum() + (q - 1) ** 2
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(steps)]
    state = optimizer.state_dict()["state"][0]
    return {
        "losses": losses,
        "counts": [state["func_evals"], state["n_iter"], len(state["old_dirs"])],
        "keys": list(state),
        "params": [p.tolist(), q.item()],
    }


AVERAGES = {
    "plain": lambda W: {},
    "buffers": lambda W: {"use_buffers": True},
    "ema": lambda W: {"avg_fn": W.get_ema_avg_fn(0.9)},
    "swa": lambda W: {"avg_fn": W.get_swa_avg_fn()},
    "ema lists": lambda W: {"multi_avg_fn": W.get_ema_multi_avg_fn(0.9)},
    "ema lists and buffers": lambda W: {"multi_avg_fn": W.get_ema_multi_avg_fn(0.9), "use_buffers": True},
    "swa lists": lambda W: {"multi_avg_fn": W.get_swa_multi_avg_fn()},
}


def run_average(torch, label):
    """The state of an averaged model after four steps of training, and after `update_bn`."""
    W = torch.optim.swa_utils
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1)).double()
    x = torch.randn(12, 2, dtype=torch.float64)
    averaged = W.AveragedModel(model, **AVERAGES[label](W))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(4):
        optimizer.zero_grad()
        model(x).pow(2).sum().backward()
        optimizer.step()
        averaged.update_parameters(model)
    before = {key: value.tolist() for key, value in averaged.state_dict().items()}
    W.update_bn([x[:6], (x[6:], None)], averaged)
    after = [averaged.module[1].running_mean.tolist(), averaged.module[1].running_var.tolist()]
    return {"state": before, "statistics": after, "momentum": averaged.module[1].momentum}
