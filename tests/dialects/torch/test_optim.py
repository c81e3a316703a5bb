"""Optimisers of the dialect against trajectories, texts and state dicts recorded from PyTorch."""

import copy
import gc
import json
import pickle
import weakref
from pathlib import Path

import pytest
from dialects.torch import optim_cases

from retrograde.dialects import torch

DATA = Path(__file__).parent / "data"
RECORD = json.loads((DATA / "optim.json").read_text())
UPDATES = json.loads((Path(__file__).parents[2] / "learn" / "data" / "updates.json").read_text())
TOLERANCE = {"float32": 3e-6, "float64": 1e-12, "bfloat16": 2e-2, "complex64": 3e-6}
COEFFICIENTS = ("step", "mu_product", "eta", "mu")
optim = torch.optim


def parameter(*values, **options):
    return torch.tensor(values, requires_grad=True, **options)


def tensors(case):
    """The starting values of a recorded trajectory."""
    dtype = getattr(torch, case["dtype"])
    if case["dtype"] == "complex64":
        parts = zip(UPDATES["start"], UPDATES["imaginary"])
        starts = [torch.complex(torch.tensor(a), torch.tensor(b)) for a, b in parts]
    else:
        starts = [torch.tensor(a, dtype=dtype) for a in UPDATES["start"]]
    if case["optimizer"] == "Muon":
        del starts[1:]
    return [t.requires_grad_() for t in starts]


def give_gradients(case, step, params):
    dtype = getattr(torch, case["dtype"])
    for index, (p, g) in enumerate(zip(params, UPDATES["gradients"][step])):
        if step == 3 and index == 1:
            p.grad = None
        elif case["dtype"] == "complex64":
            p.grad = torch.tensor(g, dtype=dtype) * (1 - 0.5j) + 0.1j * (step + 1)
        else:
            p.grad = torch.tensor(g, dtype=dtype)


def make(case, params):
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in case["options"].items()}
    return getattr(optim, case["optimizer"])(params, **options)


def check(tensor, recorded, tolerance):
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    wanted = torch.tensor(recorded, dtype=torch.float64)
    torch.testing.assert_close(tensor.detach().double(), wanted, rtol=tolerance, atol=tolerance)


def label(case):
    return "-".join([case["optimizer"], case["dtype"], *map(str, case["options"].values())])


@pytest.mark.parametrize("case", UPDATES["cases"], ids=label)
def test_trajectory_and_state(case):
    params = tensors(case)
    optimizer = make(case, params)
    tolerance = TOLERANCE[case["dtype"]]
    history = iter(case["params"])
    for step in range(len(UPDATES["gradients"])):
        give_gradients(case, step, params)
        optimizer.step()
        if step == 4 and (case["optimizer"] not in ("NAdam", "ASGD") or case["dtype"] != "float64"):
            # Half-way, the state travels through a copy of its state dict into a new optimiser. (Those two keep
            # float32 coefficients, which loading converts to the parameter's dtype.)
            saved = copy.deepcopy(optimizer.state_dict())
            optimizer = make(case, params)
            optimizer.load_state_dict(saved)
        if step in UPDATES["kept_steps"]:
            for p, wanted in zip(params, next(history)):
                check(p, wanted, tolerance)
    state = optimizer.state_dict()["state"]
    assert {str(i): list(entry) for i, entry in state.items()} == {i: list(e) for i, e in case["state"].items()}
    for i, entry in case["state"].items():
        for key, wanted in entry.items():
            check(
                state[int(i)][key], wanted, max(tolerance, TOLERANCE["float32"]) if key in COEFFICIENTS else tolerance
            )


@pytest.mark.parametrize("name", optim_cases.OPTIMIZERS)
def test_repr_shows_groups_as_pytorch_does(name):
    assert repr(optim_cases.default(torch, name)) == RECORD["reprs"][name]


@pytest.mark.parametrize("case", optim_cases.LBFGS_CASES)
def test_lbfgs(case):
    got, wanted = optim_cases.run_lbfgs(torch, case), RECORD["lbfgs"][case]
    assert got["counts"] == wanted["counts"]
    assert got["keys"] == wanted["keys"]
    assert got["losses"] == pytest.approx(wanted["losses"], rel=1e-6, abs=1e-12)
    assert got["params"][0] == pytest.approx(wanted["params"][0], rel=1e-6)


def test_lbfgs_goes_on_from_a_state_dict():
    def run(interrupted):
        p = parameter(-1.0, 2.0, dtype=torch.float64)
        optimizer = optim.LBFGS([p], max_iter=4, line_search_fn="strong_wolfe")
        for i in range(4):
            if interrupted and i == 2:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = optim.LBFGS([p], max_iter=4, line_search_fn="strong_wolfe")
                optimizer.load_state_dict(saved)

            def closure():
                optimizer.zero_grad()  # noqa: B023 - called within the same turn
                loss = (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2
                loss.backward()
                return loss

            optimizer.step(closure)
        return p.tolist()

    assert run(True) == run(False)


BAD = {
    "empty": (lambda: optim.SGD([]), ValueError),
    "tensor": (lambda: optim.SGD(parameter(1.0)), TypeError),
    "not a leaf": (lambda: optim.SGD([parameter(1.0) * 2]), ValueError),
    "number": (lambda: optim.SGD([3]), TypeError),
    "dict": (lambda: optim.SGD({"params": [parameter(1.0)]}), TypeError),
    "set": (lambda: optim.SGD([{"params": {parameter(1.0)}}]), TypeError),
    "no params": (lambda: optim.SGD([{"lr": 0.1}]), KeyError),
    "names": (lambda: optim.SGD([("a", parameter(1.0)), parameter(1.0)]), ValueError),
    "group names": (
        lambda: optim.SGD([{"params": [("a", parameter(1.0))]}, {"params": [parameter(1.0)]}]),
        ValueError,
    ),
    "twice": (lambda: (lambda p: optim.SGD([{"params": [p]}, {"params": [p]}]))(parameter(1.0)), ValueError),
    "lr": (lambda: optim.SGD([parameter(1.0)], lr=-1), ValueError),
    "lr tensor": (lambda: optim.Adam([parameter(1.0)], lr=torch.ones(2)), ValueError),
    "lr foreach": (lambda: optim.Adam([parameter(1.0)], lr=torch.tensor(0.1), foreach=True), ValueError),
    "momentum": (lambda: optim.SGD([parameter(1.0)], momentum=-1), ValueError),
    "weight_decay": (lambda: optim.Adam([parameter(1.0)], weight_decay=-1), ValueError),
    "nesterov": (lambda: optim.SGD([parameter(1.0)], nesterov=True), ValueError),
    "beta1": (lambda: optim.Adam([parameter(1.0)], betas=(1.0, 0.9)), ValueError),
    "beta2": (lambda: optim.RAdam([parameter(1.0)], betas=(0.9, -1)), ValueError),
    "betas": (lambda: optim.Adam([parameter(1.0)], betas=(torch.tensor(0.9), 0.9)), ValueError),
    "eps": (lambda: optim.Adagrad([parameter(1.0)], eps=-1), ValueError),
    "rho": (lambda: optim.Adadelta([parameter(1.0)], rho=1.1), ValueError),
    "alpha": (lambda: optim.RMSprop([parameter(1.0)], alpha=-1), ValueError),
    "etas": (lambda: optim.Rprop([parameter(1.0)], etas=(1.1, 1.2)), ValueError),
    "fused foreach": (lambda: optim.Adam([parameter(1.0)], fused=True, foreach=True), RuntimeError),
    "fused differentiable": (lambda: optim.SGD([parameter(1.0)], fused=True, differentiable=True), RuntimeError),
    "groups": (lambda: optim.LBFGS([{"params": [parameter(1.0)]}, {"params": [parameter(1.0)]}]), ValueError),
    "no closure": (lambda: optim.LBFGS([parameter(1.0)]).step(), TypeError),
    "d": (lambda: optim.Adafactor([parameter(1.0)], d=0.5), ValueError),
    "beta2_decay": (lambda: optim.Adafactor([parameter(1.0)], beta2_decay=0.8), ValueError),
    "vector": (lambda: optim.Muon([parameter(1.0)]), ValueError),
    "adjust": (lambda: optim.Muon([parameter([1.0])], adjust_lr_fn="x"), ValueError),
    "group": (lambda: optim.SGD([parameter(1.0)]).add_param_group([parameter(1.0)]), TypeError),
    "no step": (lambda: optim.Optimizer([parameter(1.0)], {}).step(), NotImplementedError),
    "required": (lambda: optim.Optimizer([parameter(1.0)], {"lr": optim.optimizer.required}), ValueError),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments(case):
    act, error = BAD[case]
    with pytest.raises(error):
        act()


def test_lbfgs_unknown_search_is_refused_in_the_step():
    p = parameter(1.0)
    optimizer = optim.LBFGS([p], line_search_fn="x")

    def closure():
        loss = (p**2).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="strong_wolfe"):
        optimizer.step(closure)


def test_duplicate_parameters_warn():
    p = parameter(1.0)
    with pytest.warns(UserWarning, match="twice"):
        optim.SGD([p, p])


def test_groups_take_defaults_and_keep_their_own():
    a, b, c = (parameter(1.0) for _ in range(3))
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b, "momentum": 0.9}], lr=0.1)
    optimizer.add_param_group({"params": [c], "note": "mine"})
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.1, 0.1]
    assert [group["momentum"] for group in optimizer.param_groups] == [0, 0.9, 0]
    assert optimizer.param_groups[2]["note"] == "mine"
    for p in (a, b, c):
        p.grad = torch.ones(1)
    optimizer.step()
    assert [round(p.item(), 6) for p in (a, b, c)] == [0.5, 0.9, 0.9]
    assert list(optimizer.state) == [b]


def test_named_parameters():
    a, b = parameter(1.0), parameter(2.0)
    optimizer = optim.Adam([("first", a), ("second", b)])
    assert optimizer.param_groups[0]["param_names"] == ["first", "second"]
    assert optimizer.param_groups[0]["params"][1] is b
    unnamed = optim.Adam([parameter(1.0), parameter(2.0)]).state_dict()
    optimizer.load_state_dict(unnamed)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["first", "second"]


def test_zero_grad():
    p = parameter(1.0)
    p.grad = torch.ones(1)
    optimizer = optim.SGD([p])
    kept = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert p.grad is kept
    assert kept.tolist() == [0.0]
    optimizer.zero_grad()
    assert p.grad is None


def test_step_returns_the_closures_loss_computed_with_gradients():
    p = parameter(2.0)
    optimizer = optim.Adam([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)
    assert loss.item() == 4.0
    assert loss.requires_grad
    assert p.item() == pytest.approx(1.9)
    assert optimizer.step() is None


def test_step_counts_as_a_change_in_place():
    p = parameter(2.0)
    loss = (p * p).sum()
    loss.backward(retain_graph=True)
    version = p._version
    optim.SGD([p], lr=0.1).step()
    assert p._version == version + 1
    with pytest.raises(RuntimeError):
        loss.backward()


def test_lr_may_be_a_tensor():
    p = parameter(1.0)
    optimizer = optim.SGD([p], lr=torch.tensor(0.5))
    p.grad = torch.ones(1)
    optimizer.step()
    optimizer.param_groups[0]["lr"].fill_(0.25)
    optimizer.step()
    assert p.tolist() == [0.25]


def test_step_counts_follow_the_default_dtype():
    torch.set_default_dtype(torch.float64)
    try:
        p = parameter(1.0)
        optimizer = optim.Adam([p])
        p.grad = torch.ones(1)
        optimizer.step()
    finally:
        torch.set_default_dtype(torch.float32)
    assert optimizer.state[p]["step"].dtype is torch.float64


def test_parameters_that_share_memory_with_numpy_and_strides():
    base = torch.arange(6.0).reshape(2, 3)
    p = base.t().detach().requires_grad_()
    optimizer = optim.Adam([p], lr=1.0)
    p.grad = torch.ones(3, 2)
    optimizer.step()
    torch.testing.assert_close(base, torch.arange(6.0).reshape(2, 3) - 1)
    assert optimizer.state[p]["exp_avg"].stride() == p.stride()


def test_hooks():
    p = parameter(1.0)
    p.grad = torch.ones(1)
    optimizer = optim.SGD([p], lr=0.1)
    seen = []
    first = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(("pre", o is optimizer, len(args))))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("post"))
    everywhere = optim.optimizer.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append("all"))
    optimizer.step()
    first.remove()
    everywhere.remove()
    optimizer.step()
    assert seen == [("pre", True, 1), "post", "all", "post"]
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError):
        optimizer.step()


def test_state_dict_hooks():
    optimizer = optim.SGD([parameter(1.0)])
    seen = []
    optimizer.register_state_dict_pre_hook(lambda o: seen.append("before"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "extra": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state["extra"]))
    optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
    optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append("first"), prepend=True)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    assert seen == ["before", "first", 1, "loaded"]


class Descent(optim.Optimizer):
    """An optimiser as users write them."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])
                self.state[p]["n"] = self.state[p].get("n", 0) + 1


def test_optimizers_of_users_have_hooks_and_state():
    p = parameter(1.0)
    p.grad = torch.ones(1)
    optimizer = Descent([p], lr=0.5)
    seen = []
    optimizer.register_step_post_hook(lambda *_: seen.append(p.item()))
    optimizer.step()
    assert seen == [0.5]
    assert optimizer.state_dict()["state"] == {0: {"n": 1}}


def test_copy_and_pickle():
    p = parameter(1.0, 2.0)
    optimizer = optim.AdamW([p], lr=0.1)
    p.grad = torch.ones(2)
    optimizer.step()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        (q,) = other.param_groups[0]["params"]
        assert q is not p
        assert repr(other) == repr(optimizer)
        q.grad = torch.ones(2)
        other.step()
        assert other.state[q]["step"].item() == 2


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_load_state_dict_refuses_other_structures_and_changes_nothing(name):
    p = parameter(1.0)
    optimizer = getattr(optim, name)([p])
    two = getattr(optim, name)([parameter(1.0), parameter(1.0)]).state_dict()
    groups = getattr(optim, name)([{"params": [parameter(1.0)]}, {"params": [parameter(1.0)]}]).state_dict()
    before = repr(optimizer)
    for state in (two, groups):
        with pytest.raises(ValueError):
            optimizer.load_state_dict(state)
    assert repr(optimizer) == before
    assert optimizer.param_groups[0]["params"][0] is p


def test_state_from_older_versions():
    p = parameter(1.0)
    optimizer = optim.Adam([p])
    state = {"step": 3, "exp_avg": torch.zeros(1), "exp_avg_sq": torch.zeros(1)}
    group = {"lr": 0.1, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "amsgrad": False, "params": [0]}
    optimizer.load_state_dict({"state": {0: state}, "param_groups": [group]})
    p.grad = torch.ones(1)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 4
    assert optimizer.param_groups[0]["maximize"] is False


def test_loaded_state_takes_the_parameters_dtype():
    p = parameter(1.0, dtype=torch.float64)
    source = parameter(1.0)
    first = optim.Adam([source])
    source.grad = torch.ones(1)
    first.step()
    second = optim.Adam([p])
    second.load_state_dict(first.state_dict())
    assert second.state[p]["exp_avg"].dtype is torch.float64
    assert second.state[p]["step"].dtype is torch.float32


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop"])
def test_differentiable_updates(name):
    """Gradients through three steps of an optimiser, against finite differences."""

    def trained(w):
        p = w.clone()
        options = {"momentum": 0.9, "nesterov": True} if name == "SGD" else {}
        optimizer = getattr(optim, name)([p], lr=0.1, differentiable=True, **options)
        for _ in range(3):
            q = p.clone()
            (p.grad,) = torch.autograd.grad((q**3).sum(), q, create_graph=True)
            optimizer.step()
        return p

    if name == "SGD":
        return  # its first gradient enters the momentum as a constant, as in PyTorch
    w = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(trained, (w,))


def test_gradient_with_respect_to_the_learning_rate():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    lr = torch.tensor(0.1, requires_grad=True)
    p = w.clone()
    optimizer = optim.SGD([p], lr=lr, differentiable=True)
    p.grad = torch.tensor([3.0, 4.0])
    optimizer.step()
    (g,) = torch.autograd.grad(p.sum(), lr)
    assert g.item() == -7.0


def test_unknown_names_are_answered():
    with pytest.raises(AttributeError, match="Adam"):
        optim.Adan  # noqa: B018
    with pytest.raises(AttributeError, match="StepLR"):
        optim.lr_scheduler.SteppLR  # noqa: B018


def test_a_dropped_optimizer_is_freed_at_once():
    p = parameter(1.0)
    optimizer = optim.Adam([p])
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    p.grad = torch.ones(1)
    optimizer.step()
    gone = weakref.ref(optimizer)
    gc.disable()
    try:
        del optimizer, scheduler
        assert gone() is None
    finally:
        gc.enable()
