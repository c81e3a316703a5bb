"""What test_cuda.py asks of the torch dialect on the stand-in for CuPy, in a process of its own: a function each.

`python cuda_cases.py` prints what each of them raised, as JSON; `python cuda_cases.py NAME` runs one.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import sys
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

import cupy_stand_in
import numpy as np
import pytest

cupy: Any = cupy_stand_in.installed()

import retrograde.dialects.torch as torch  # noqa: E402
from retrograde.backend.devices import accelerator  # noqa: E402
from retrograde.dialects.torch import nn  # noqa: E402

F = nn.functional
HERE = Path(__file__).parent


def same(found: Any, expected: Any, **tolerances: float) -> None:
    """A tensor on a device has the elements of one on the CPU."""
    assert found.is_cuda, found.device
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected.detach().cpu().numpy(), **(tolerances or {"rtol": 1e-5}))


# ------------------------------------------------------------------------------------------ devices


def devices_are_there() -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 2
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name(1) == "Stand-in 1"
    assert torch.cuda.get_device_capability() == (8, 0)
    assert torch.cuda.get_device_properties("cuda:1").total_memory == cupy_stand_in.MEMORY
    assert torch.device(1) == torch.device("cuda:1") == torch.device("cuda", 1) != torch.device("cuda")
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.zeros(2, device="cuda").device == torch.device("cuda:1")
        with torch.cuda.device_of(torch.zeros(1, device="cuda:0")):
            assert torch.cuda.current_device() == 0
    torch.cuda.set_device("cuda:1")
    assert torch.ones(1).cuda().get_device() == 1
    torch.cuda.set_device(0)
    torch.cuda.synchronize()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 2
    for wrong in ("cuda:2", torch.device("cuda", 7)):
        with pytest.raises(RuntimeError, match="there are 2 of them"):
            torch.zeros(1, device=wrong)
    with pytest.raises(AssertionError, match="xpu"):
        torch.zeros(1, device="xpu")
    assert accelerator("xpu") is None


def memory_is_counted() -> None:
    before = torch.cuda.memory_allocated(1)
    x = torch.zeros(1000, device="cuda:1")
    assert torch.cuda.memory_allocated(1) - before == 4000 <= torch.cuda.memory_reserved(1)
    assert torch.cuda.mem_get_info(1) == (cupy_stand_in.MEMORY - torch.cuda.memory_allocated(1), cupy_stand_in.MEMORY)
    del x
    assert torch.cuda.memory_allocated(1) == before
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert "bytes in use" in torch.cuda.memory_summary()


def streams_and_events() -> None:
    stream = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        start.record()
        x = torch.ones(3, device="cuda") * 2
        end.record()
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != stream
    end.synchronize()
    assert start.elapsed_time(end) >= 0
    assert stream.query()
    same(x, torch.full((3,), 2.0))
    with pytest.raises(NotImplementedError, match="not recorded"):
        torch.cuda.CUDAGraph()
    with torch.cuda.nvtx.range("step"):
        torch.cuda.nvtx.mark("here")


def seeds_are_the_cpu_s() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.cuda.manual_seed_all(3)
    same(torch.rand(2, device="cuda"), expected)
    state = torch.cuda.get_rng_state()
    first = torch.rand(2, device="cuda")
    torch.cuda.set_rng_state(state)
    same(torch.rand(2, device="cuda"), first)
    generator = torch.Generator("cuda").manual_seed(5)
    assert generator.device == torch.device("cuda:0")
    same(torch.randn(3, generator=generator, device="cuda"), torch.randn(3, generator=torch.Generator().manual_seed(5)))


# ------------------------------------------------------------------------------------------ making and moving


MAKERS = {
    "tensor": lambda d: torch.tensor([[1.0, 2.0]], device=d), "as_tensor": lambda d: torch.as_tensor(np.arange(3), device=d),
    "asarray": lambda d: torch.asarray([1, 2], device=d), "zeros": lambda d: torch.zeros(2, 3, device=d),
    "ones": lambda d: torch.ones((2, 3), dtype=torch.int64, device=d), "empty": lambda d: torch.empty(0, device=d),
    "full": lambda d: torch.full((2,), 7, device=d), "arange": lambda d: torch.arange(1, 6, 2, device=d),
    "arange of floats": lambda d: torch.arange(0, 1, 0.25, device=d), "linspace": lambda d: torch.linspace(0, 1, 5, device=d),
    "logspace": lambda d: torch.logspace(0, 1, 5, device=d), "eye": lambda d: torch.eye(3, device=d),
    "scalar_tensor": lambda d: torch.scalar_tensor(2.0, device=d), "rand": lambda d: torch.rand(3, device=d),
    "randn": lambda d: torch.randn(2, 2, dtype=torch.float64, device=d), "randint": lambda d: torch.randint(0, 9, (4,), device=d),
    "randperm": lambda d: torch.randperm(5, device=d), "normal": lambda d: torch.normal(0.0, 1.0, (3,), device=d),
    "hann_window": lambda d: torch.hann_window(8, device=d), "fftfreq": lambda d: torch.fft.fftfreq(8, device=d),
    "tril_indices": lambda d: torch.tril_indices(3, 3, device=d), "window": lambda d: torch.signal.windows.hann(6, device=d),
    "empty_strided": lambda d: torch.empty_strided((2, 3), (1, 2), device=d).zero_(),
    "causal mask": lambda d: nn.Transformer.generate_square_subsequent_mask(3, device=d),
    "make_tensor": lambda d: torch.testing.make_tensor(3, dtype=torch.float32, device=d),
    "zeros_like": lambda d: torch.zeros_like(torch.ones(2), device=d),
    "rand_like": lambda d: torch.rand_like(torch.ones(2), device=d),
    "full_like": lambda d: torch.full_like(torch.ones(2), 3.0, device=d),
    "new_ones": lambda d: torch.ones(2).new_ones(2, device=d), "new_tensor": lambda d: torch.ones(2).new_tensor([1.0], device=d),
}  # fmt: skip


def factories_make_what_they_make_on_the_cpu() -> None:
    for name, make in MAKERS.items():
        for where in ("cuda", "cuda:1", torch.device("cuda", 1), 1):
            torch.manual_seed(0)
            expected = make("cpu")
            torch.manual_seed(0)
            found = make(where)
            assert found.device == torch.device("cuda", 0 if where == "cuda" else 1), name
            assert found.dtype is expected.dtype, name
            same(found, expected)
    assert torch.zeros(2, device="cuda", requires_grad=True).is_leaf


def what_is_made_like_a_tensor_is_where_it_is() -> None:
    x = torch.rand(2, 3, device="cuda:1")
    makers = (
        torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like, torch.randn_like, lambda t: torch.full_like(t, 2),
        lambda t: torch.randint_like(t, 5), lambda t: t.new_zeros(2), lambda t: t.new_tensor([1.0]),
        lambda t: t.new_full((2,), 3.0),
        lambda t: t.clone(), lambda t: torch.tensor(t.detach()), torch.bernoulli, lambda t: torch.normal(t, 1.0), torch.poisson,
        lambda t: torch.multinomial(t, 2), torch.nonzero, lambda t: F.dropout(t, 0.5), lambda t: t.data, lambda t: t.double(),
    )  # fmt: skip
    for make in makers:
        assert make(x).device == x.device
    assert torch.zeros_like(x, device="cpu").is_cpu
    for name in ("uniform_", "normal_", "exponential_", "random_", "bernoulli_", "log_normal_", "cauchy_"):
        torch.manual_seed(1)
        expected = getattr(torch.empty(2, 3), name)()
        torch.manual_seed(1)
        same(getattr(torch.empty(2, 3, device="cuda:1"), name)(), expected)


def default_device() -> None:
    torch.set_default_device("cuda:1")
    try:
        assert torch.get_default_device() == torch.device("cuda:1")
        assert all(make(None).device == torch.device("cuda:1") for name, make in MAKERS.items()
                   if "like" not in name and "new" not in name and name != "make_tensor")  # fmt: skip
        assert nn.LSTM(2, 2).weight_ih_l0.is_cuda
        assert torch.zeros(1, device="cpu").is_cpu
        assert torch.from_numpy(np.zeros(1)).is_cpu
        with torch.device("cpu"):
            assert torch.zeros(1).is_cpu
    finally:
        torch.set_default_device(None)
    assert torch.zeros(1).is_cpu
    with torch.device("cuda"):
        assert torch.rand(1).device == torch.device("cuda:0")
        assert nn.BatchNorm2d(2).num_batches_tracked.is_cuda
    assert torch.get_default_device() == torch.device("cpu")


def moves() -> None:
    x = torch.arange(3.0)
    y = x.to("cuda:1")
    assert y.is_cuda
    assert not y.is_cpu
    assert y.get_device() == 1
    assert x.get_device() == -1
    assert y.to("cuda:1") is y
    assert y.to("cuda:1", copy=True) is not y
    assert y.cuda(1) is y
    assert x.cpu() is x
    assert y.cuda().device == torch.device("cuda:0")
    assert y.to(torch.float64).device == y.device
    assert y.to("cpu", torch.int64).dtype is torch.int64
    assert x.to(y).device == y.to(other=y).device == x.type_as(y).device == y.device
    assert y.type() == "torch.cuda.FloatTensor"
    assert x.type("torch.cuda.FloatTensor").is_cuda
    assert isinstance(y, torch.cuda.FloatTensor)
    assert not isinstance(y, torch.FloatTensor)
    same(y, x)
    with pytest.raises(RuntimeError, match="no CUDA device"):
        x.cuda("cpu")
    with pytest.raises(NotImplementedError, match="bfloat16"):
        x.bfloat16().cuda()


def gradients_go_the_way_back() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.cuda(1)
    assert "ToCopyBackward0" in str(y.grad_fn)
    (y * y).sum().backward()
    assert x.grad.is_cpu
    assert x.grad.tolist() == [2.0, 4.0]
    z = x.detach().to("cuda").requires_grad_()
    (z.to("cuda:1") ** 3).sum().cpu().backward()
    assert z.grad.device == torch.device("cuda:0")
    (g,) = torch.autograd.grad((z.cpu() ** 3).sum(), z, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), z)
    same(h, 6 * x.detach())


def ways_out() -> None:
    x = torch.tensor([[1.5, -2.0]], device="cuda")
    for take in (x.numpy, lambda: np.asarray(x), lambda: np.sin(x)):
        with pytest.raises(TypeError, match=r"cuda:0.*\.cpu\(\)"):
            take()
    assert x.cpu().numpy().tolist() == x.numpy(force=True).tolist() == x.tolist() == [[1.5, -2.0]]
    assert x[0, 0].item() == float(x[0, 0]) == 1.5
    assert repr(x) == "tensor([[ 1.5000, -2.0000]], device='cuda:0')"
    assert repr(x.long().cuda(1)) == "tensor([[ 1, -2]], device='cuda:1')"
    assert repr(torch.zeros(0, device="cuda", dtype=torch.float64)) == "tensor([], device='cuda:0', dtype=torch.float64)"
    assert repr((x.requires_grad_() * 2)[0]) == "tensor([ 3., -4.], device='cuda:0', grad_fn=<SelectBackward0>)"
    assert repr(nn.Parameter(torch.zeros(1, device="cuda"))) == (
        "Parameter containing:\ntensor([0.], device='cuda:0', requires_grad=True)"
    )
    assert f"{x.detach()[0, 0]:.1f}" == "1.5"
    assert x.data_ptr() != 0
    with pytest.raises(NotImplementedError, match="CuPy's"):
        x.untyped_storage()


def dlpack() -> None:
    a = cupy.arange(3.0)
    x = torch.from_dlpack(a)
    assert x.device == torch.device("cuda:0")
    assert x.data_ptr() == a.data.ptr
    assert x.__dlpack_device__() == (2, 0)
    assert cupy.from_dlpack(x).data.ptr == a.data.ptr
    assert torch.as_tensor(a).data_ptr() == a.data.ptr
    assert torch.tensor(a).data_ptr() != a.data.ptr
    assert torch.from_dlpack(a, device="cpu").is_cpu
    with pytest.raises(BufferError):
        (x.requires_grad_() * 2).__dlpack__()


# ------------------------------------------------------------------------------------------ several devices at once


def devices_do_not_mix() -> None:
    a, b, c = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1"), torch.ones(2)
    for x, y, names in ((a, b, "cuda:0 and cuda:1"), (a, c, "cuda:0 and cpu"), (c, b, "cpu and cuda:1")):
        for call in (lambda: x + y, lambda: torch.stack([x, y]), lambda: x @ y, lambda: torch.where(x > 0, x, y),  # noqa: B023
                     lambda: F.mse_loss(x, y), lambda: F.linear(x, y[None])):  # noqa: B023  # fmt: skip
            with pytest.raises(RuntimeError, match=f"different devices, {names}"):
                call()
    with pytest.raises(RuntimeError, match="different devices"):
        nn.Linear(2, 1)(a)
    with pytest.raises(RuntimeError, match="different devices"):
        F.embedding(torch.tensor([0, 1]), torch.ones(2, 3, device="cuda"))
    with pytest.raises(RuntimeError, match="different devices"):
        F.cross_entropy(torch.ones(2, 3, device="cuda"), torch.tensor([0, 1]))
    with pytest.raises(RuntimeError):
        (a.requires_grad_() * 2).backward(torch.ones(2))


def numbers_without_axes_go_along() -> None:
    x, k = torch.ones(2, device="cuda:1"), torch.tensor(3.0, requires_grad=True)
    y = (x * k + torch.tensor(1)).sum()
    assert y.device == x.device
    y.backward()
    assert k.grad.is_cpu
    assert k.grad.item() == 2.0
    same(torch.where(x > 0, x, torch.tensor(5.0)), torch.ones(2))
    same(x + 2 + np.float32(1), torch.full((2,), 4.0))


def positions_of_the_cpu_index_a_device() -> None:
    x = torch.arange(12.0, device="cuda:1").reshape(3, 4)
    host = x.cpu()
    rows, mask = torch.tensor([2, 0]), host > 4
    for index in (rows, mask, (rows, rows), (slice(None), rows), [2, 0], (Ellipsis, None, 1), np.array([1, 1]), 2):
        same(x[index], host[index])
    same(x[x > 4], host[mask])
    same(x[rows.cuda(1)], host[rows])
    x[mask] = 0.0
    x[rows, 0] = torch.tensor([7.0, 8.0], device="cuda:1")
    x[0] = 1
    x[1, 1:3] = -1
    host[mask] = 0.0
    host[rows, 0] = torch.tensor([7.0, 8.0])
    host[0] = 1
    host[1, 1:3] = -1
    same(x, host)
    assert x.device == torch.device("cuda:1")


# ------------------------------------------------------------------------------------------ changes in place


def changes_in_place() -> None:
    x = torch.zeros(2, 3, device="cuda")
    row, flat, also = x[0], x.view(-1), x.detach()
    row += 1
    flat[5] = 7.0
    also.mul_(2)
    x.data[1, 0] = 3.0
    expected = torch.tensor([[2.0, 2, 2], [3, 0, 14]])
    for seen in (x, flat.view(2, 3), also):
        same(seen, expected)
    same(row, expected[0])
    x.copy_(torch.ones(2, 3))  # from another device
    same(flat, torch.ones(6))
    host = torch.zeros(2, 3)
    host.copy_(x)
    assert host.tolist() == [[1.0] * 3] * 2
    y = torch.zeros(3, device="cuda:1")
    y.copy_(x[0])
    assert y.device == torch.device("cuda:1")
    torch.add(x, x, out=x)
    same(also, torch.full((2, 3), 2.0))
    x.data = torch.ones(1, device="cuda:1")
    assert x.device == torch.device("cuda:1")
    same(also, torch.full((2, 3), 2.0))


def changes_in_place_are_recorded_and_noticed() -> None:
    x = torch.ones(3, device="cuda", requires_grad=True)
    y = x * 2
    y[1:] *= 5
    y.sum().backward()
    same(x.grad, torch.tensor([2.0, 10, 10]))
    a = x * 2
    b = a * a
    a += 1
    with pytest.raises(RuntimeError, match="changed in place"):
        b.sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)


# ------------------------------------------------------------------------------------------ modules and training


def net(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 3))


def modules_move() -> None:
    model = net()
    parameters = list(model.parameters())
    model(torch.ones(5, 4)).sum().backward()
    assert model.to("cuda:1") is model
    assert all(p is q for p, q in zip(model.parameters(), parameters))
    for x in (*model.parameters(), *model.buffers(), *(p.grad for p in parameters)):
        assert x.device == torch.device("cuda:1")
    assert all(p.is_leaf and p.requires_grad for p in parameters)
    assert model.half()[0].weight.dtype is torch.float16
    assert model[1].num_batches_tracked.dtype is torch.int64
    model.cpu().float()
    assert all(p.is_cpu for p in parameters)
    assert model.cuda()[0].weight.device == torch.device("cuda:0")
    assert nn.Linear(2, 2).to_empty(device="cuda").weight.is_cuda
    assert nn.Linear(2, 2, device="cuda").bias.is_cuda
    lazy = nn.LazyLinear(2, device="cuda")
    assert lazy(torch.ones(1, 3, device="cuda")).is_cuda


def losses(where: str, optimiser: Any, steps: int = 4, model: Any = None) -> list[float]:
    model = (net() if model is None else model).to(where)
    torch.manual_seed(1)
    x, y = torch.randn(16, 4).to(where), torch.randint(0, 3, (16,)).to(where)
    opt = optimiser(model.parameters())
    found = []

    def closure() -> Any:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for _ in range(steps):
        torch.manual_seed(2)
        found.append(float(opt.step(closure)))
    for state in opt.state.values():
        for name, value in state.items():
            if isinstance(value, torch.Tensor) and value.dim() and not isinstance(opt, torch.optim.LBFGS):
                assert value.device == torch.device(where), name
    return found


OPTIMISERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True}, "Adam": {"lr": 0.05, "amsgrad": True}, "AdamW": {"lr": 0.05},
    "Adamax": {}, "NAdam": {}, "RAdam": {"lr": 0.05}, "Adagrad": {}, "Adadelta": {}, "Rprop": {}, "ASGD": {},
    "RMSprop": {"momentum": 0.5, "centered": True}, "LBFGS": {"line_search_fn": "strong_wolfe", "max_iter": 4},
    "Adafactor": {"lr": 0.05},
}  # fmt: skip


def optimisers_take_the_cpu_s_steps() -> None:
    for name, options in OPTIMISERS.items():
        found, expected = (losses(d, lambda ps: getattr(torch.optim, name)(ps, **options)) for d in ("cuda:1", "cpu"))  # noqa: B023
        np.testing.assert_allclose(found, expected, rtol=2e-4, err_msg=name)
    muon = {d: nn.Linear(4, 3, bias=False, dtype=torch.float32) for d in ("cuda:1", "cpu")}
    muon["cuda:1"].load_state_dict(muon["cpu"].state_dict())
    found, expected = (losses(d, torch.optim.Muon, model=m) for d, m in muon.items())
    np.testing.assert_allclose(found, expected, rtol=2e-2)


def optimiser_states_are_loaded_where_the_parameters_are() -> None:
    model = net()
    opt = torch.optim.Adam(model.parameters())
    model(torch.ones(5, 4)).sum().backward()
    opt.step()
    other = net().cuda()
    again = torch.optim.Adam(other.parameters())
    again.load_state_dict(opt.state_dict())
    state = again.state[next(iter(other.parameters()))]
    assert state["exp_avg"].is_cuda
    assert state["step"].is_cpu
    other(torch.ones(5, 4, device="cuda")).sum().backward()
    again.step()


def files_keep_the_device() -> None:
    model = net().to("cuda:1")
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "x": torch.arange(3, device="cuda:0")}, file)

    def loaded(**options: Any) -> Any:
        file.seek(0)
        return torch.load(file, **options)

    found = loaded()
    assert found["x"].device == torch.device("cuda:0")
    assert found["model"]["0.weight"].device == torch.device("cuda:1")
    same(found["model"]["0.weight"], model[0].weight)
    for place in ("cpu", torch.device("cpu"), {"cuda:0": "cpu", "cuda:1": "cpu"}, lambda storage, location: storage):
        assert loaded(map_location=place)["model"]["0.weight"].is_cpu
    assert loaded(map_location="cuda:0")["model"]["0.weight"].device == torch.device("cuda:0")
    assert loaded(map_location={"cuda:1": "cuda:0"})["model"]["0.weight"].device == torch.device("cuda:0")
    with pytest.raises(RuntimeError, match="there are? 2 of them"):
        loaded(map_location="cuda:5")
    net().load_state_dict(found["model"])  # copied to where the module is
    cpu_model = net(1)
    cpu_model.load_state_dict(found["model"])
    assert cpu_model[0].weight.is_cpu
    assert torch.equal(cpu_model[0].weight, model[0].weight.cpu())


def copies() -> None:
    model = net().to("cuda:1")
    other = copy.deepcopy(model)
    assert other[0].weight.device == torch.device("cuda:1")
    with torch.no_grad():
        other[0].weight.zero_()
    assert model[0].weight.abs().sum() > 0
    x = torch.arange(3.0, device="cuda:1")
    again = pickle.loads(pickle.dumps(x))
    assert again.device == x.device
    same(again, x)
    y = copy.deepcopy(x)
    y += 1
    same(x, torch.arange(3.0))


def gradient_tools() -> None:
    results = []
    for where in ("cuda:1", "cpu"):
        model = net().to(where).eval()
        x = torch.linspace(-1, 1, 12).reshape(3, 4).to(where)
        seen: list[Any] = []
        model[0].register_forward_hook(lambda m, i, o: seen.append(o.device))  # noqa: B023
        model[0].weight.register_hook(lambda g: g * 2)
        model[2].register_full_backward_hook(lambda m, gi, go: seen.append(go[0].device))  # noqa: B023
        out = torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
        out.square().sum().backward()
        assert set(seen) == {torch.device(where)}
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        nn.utils.clip_grad_value_(model.parameters(), 0.1)
        assert norm.device == torch.device(where)
        ema = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
        ema.update_parameters(model)
        ema.update_parameters(model)
        results.append([norm.item(), ema.module[0].weight.sum().item(), model[0].weight.grad.sum().item()])
        vector = nn.utils.parameters_to_vector(model.parameters())
        nn.utils.vector_to_parameters(vector * 2, model.parameters())
        assert all(p.device == torch.device(where) for p in model.parameters())
    np.testing.assert_allclose(*results, rtol=1e-4)


def transforms() -> None:
    from retrograde.dialects.torch import func

    results = []
    for where in ("cuda:1", "cpu"):
        model = net().to(where).eval()
        x = torch.linspace(-1, 1, 12).reshape(3, 4).to(where)
        ps, kept = dict(model.named_parameters()), dict(model.named_buffers())

        def f(p: Any, row: Any) -> Any:
            return func.functional_call(model, p | kept, (row[None],)).sum()  # noqa: B023

        per_sample = func.vmap(func.grad(f), (None, 0))(ps, x)["0.weight"]
        jac = func.jacrev(lambda row: model(row[None])[0])(x[0])  # noqa: B023
        fwd = func.jacfwd(lambda row: model(row[None])[0])(x[0])  # noqa: B023
        hess = func.hessian(lambda row: model(row[None]).sum())(x[0])  # noqa: B023
        _, tangent = func.jvp(model, (x,), (torch.ones_like(x),))
        old = torch.autograd.functional.hessian(lambda v: (v**3).sum(), x[0])
        for r in (per_sample, jac, fwd, hess, tangent, old):
            assert r.device == torch.device(where)
        results.append([r.detach().cpu().numpy() for r in (per_sample, jac, fwd, hess, tangent, old)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    from retrograde.dialects.torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(2, device="cuda"), torch.ones(2, device="cuda"))
        assert forward_ad.unpack_dual(x**2).tangent.is_cuda
    assert torch.autograd.gradcheck(torch.sin, torch.rand(3, dtype=torch.float64, device="cuda:1", requires_grad=True))

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, v: Any) -> Any:
            ctx.save_for_backward(v)
            return v * v

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (v,) = ctx.saved_tensors
            return 2 * v * g

    v = torch.tensor([3.0], device="cuda:1", requires_grad=True)
    Square.apply(v).backward()
    same(v.grad, torch.tensor([6.0]))


def autocast_on_a_device() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2 * 36, 3)).cuda()
    x, y = torch.rand(4, 1, 8, 8, device="cuda"), torch.tensor([0, 1, 2, 0], device="cuda")
    scaler = torch.amp.GradScaler("cuda", init_scale=8.0)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.autocast("cuda"):
        assert torch.is_autocast_enabled()
        out = model(x)
        loss = F.cross_entropy(out, y)
        assert (out.dtype, loss.dtype) == (torch.float16, torch.float32)
        assert out.softmax(1).dtype is out.sum().dtype is (out**2).dtype is torch.float32
        assert F.layer_norm(out, (3,)).dtype is torch.float32
        assert torch.cat([out, out.float()]).dtype is torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32  # the CPU's region is another one
        with pytest.raises(RuntimeError, match="with_logits"):
            F.binary_cross_entropy(torch.full((2,), 0.5, device="cuda").half(), torch.ones(2, device="cuda"))
    scaler.scale(loss).backward()
    assert model[0].weight.grad.dtype is torch.float32
    scaler.step(opt)
    scaler.update()
    with torch.autocast("cpu"):
        assert (x[0, 0] @ x[0, 0]).dtype is torch.float32
    with torch.cuda.amp.autocast():
        assert (x[0, 0] @ x[0, 0]).dtype is torch.float16
    with pytest.warns(UserWarning, match="no torch.bfloat16"), torch.autocast("cuda", dtype=torch.bfloat16):
        assert (x[0, 0] @ x[0, 0]).dtype is torch.float32


def loaders_give_the_cpu_s_tensors() -> None:
    data = torch.utils.data.TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
    for x, y in torch.utils.data.DataLoader(data, batch_size=2, pin_memory=True):
        assert x.is_cpu
        x, y = x.to("cuda", non_blocking=True), y.cuda(non_blocking=True)
        assert x.is_cuda
        assert y.is_cuda


def compiled_functions_run_as_they_are() -> None:
    model = net().cuda().eval()
    x = torch.rand(3, 4, device="cuda")
    expected = model(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(torch.compile(model)(x), expected)
    step = torch.compile(lambda t: (t * 2).sin().sum())
    v = torch.rand(3, device="cuda:1", requires_grad=True)
    step(v).backward()
    assert v.grad.device == v.device


def one_device_of_several_is_used_in_parallel() -> None:
    model = nn.DataParallel(nn.Linear(3, 2).cuda(1))
    assert model(torch.ones(2, 3)).device == torch.device("cuda:1")
    torch.distributed.init_process_group("nccl", rank=0, world_size=1)
    try:
        with pytest.raises(NotImplementedError, match="on the CPU"):
            torch.distributed.all_reduce(torch.ones(1, device="cuda"))
        with pytest.raises(NotImplementedError, match="on the CPU"):
            nn.parallel.DistributedDataParallel(nn.Linear(2, 2).cuda())
    finally:
        torch.distributed.destroy_process_group()


def packed_sequences() -> None:
    results = []
    for where in ("cuda:1", "cpu"):
        torch.manual_seed(0)
        rnn = nn.LSTM(3, 4, batch_first=True, bidirectional=True).to(where)
        x = torch.rand(2, 5, 3).to(where).requires_grad_()
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 5]), batch_first=True, enforce_sorted=False)
        out, lengths = nn.utils.rnn.pad_packed_sequence(rnn(packed)[0], batch_first=True)
        assert lengths.is_cpu
        assert packed.batch_sizes.is_cpu
        out.sum().backward()
        results.append([out.detach().cpu().numpy(), x.grad.cpu().numpy()])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def what_is_not_there_says_so() -> None:
    x = torch.eye(2, device="cuda")
    for call in (x.to_sparse, lambda: torch.sparse_coo_tensor([[0]], [1.0], (2,), device="cuda"),
                 lambda: torch.nested.nested_tensor([x, x]), lambda: torch.masked.as_masked_tensor(x, x > 0),
                 lambda: torch.nested.nested_tensor([torch.ones(1)], device="cuda")):  # fmt: skip
        with warnings.catch_warnings(), pytest.raises(NotImplementedError, match="on the CPU only"):
            call()
    with pytest.raises(RuntimeError, match="bfloat16"):
        x.bfloat16()
    table = torch.ones(3, 2, device="cuda", requires_grad=True)
    with pytest.raises(NotImplementedError, match="on the CPU only"):
        F.embedding(torch.tensor([1], device="cuda"), table, sparse=True).sum().backward()


def distributions() -> None:
    D = torch.distributions
    for make in (
        lambda p: D.Normal(p, 1.0), lambda p: D.Gamma(p, p), lambda p: D.Beta(p, p), D.Dirichlet, D.Categorical, D.Poisson,
        D.Exponential, lambda p: D.Bernoulli(p / 2), lambda p: D.Uniform(0 * p, p), lambda p: D.Laplace(p, p),
        lambda p: D.MultivariateNormal(p, torch.eye(3, device=p.device)), lambda p: D.StudentT(p, p, p),
        lambda p: D.Gumbel(p, p), lambda p: D.Geometric(p / 2), lambda p: D.VonMises(p, p),
    ):  # fmt: skip
        results = []
        for where in ("cuda:1", "cpu"):
            torch.manual_seed(0)
            d = make(torch.tensor([0.3, 0.9, 0.5]).to(where))
            x = d.sample((2,))
            assert x.device == torch.device(where), d
            results.append((x.cpu().numpy(), d.log_prob(x).cpu().numpy(), d.mean.cpu().numpy()))
        for a, b in zip(*results):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


CASES = {
    name: f for name, f in list(globals().items())
    if isinstance(f, types.FunctionType) and getattr(f, "__module__", "") == __name__ and not f.__code__.co_argcount
}  # fmt: skip


def main(names: list[str]) -> None:
    found = {}
    for name in names or CASES:
        try:
            CASES[name]()
            found[name] = ""
        except BaseException:  # pytest's failures are no exceptions
            found[name] = traceback.format_exc()
            if names:
                traceback.print_exc()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
