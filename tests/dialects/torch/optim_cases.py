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
