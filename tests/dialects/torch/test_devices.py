"""Devices that there are none of: the errors of PyTorch's build for the CPU, wherever a device may be named."""

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn
from retrograde.dialects.torch.testing import make_tensor

REFUSED = {
    "cuda": AssertionError, "cuda:1": AssertionError, "xpu": AssertionError, "mtia": AssertionError,
    "mps": NotImplementedError, "meta": NotImplementedError, "xla": NotImplementedError, "hpu": ModuleNotFoundError,
}  # fmt: skip
MAKERS = {
    "zeros": lambda d: torch.zeros(2, device=d),
    "tensor": lambda d: torch.tensor([1.0], device=d),
    "as_tensor": lambda d: torch.as_tensor([1.0], device=d),
    "randn": lambda d: torch.randn(2, device=d),
    "randperm": lambda d: torch.randperm(3, device=d),
    "normal": lambda d: torch.normal(0.0, 1.0, (2,), device=d),
    "zeros_like": lambda d: torch.zeros_like(torch.ones(2), device=d),
    "ones_like": lambda d: torch.ones_like(torch.ones(2), device=d),
    "empty_like": lambda d: torch.empty_like(torch.ones(2), device=d),
    "full_like": lambda d: torch.full_like(torch.ones(2), 3.0, device=d),
    "rand_like": lambda d: torch.rand_like(torch.ones(2), device=d),
    "randn_like": lambda d: torch.randn_like(torch.ones(2), device=d),
    "randint_like": lambda d: torch.randint_like(torch.ones(2), 3, device=d),
    "new_ones": lambda d: torch.ones(2).new_ones(2, device=d),
    "sparse_coo_tensor": lambda d: torch.sparse_coo_tensor([[0]], [1.0], (2,), device=d),
    "sparse_csr_tensor": lambda d: torch.sparse_csr_tensor([0, 1], [0], [1.0], device=d),
    "sparse_csc_tensor": lambda d: torch.sparse_csc_tensor([0, 1], [0], [1.0], device=d),
    "nested_tensor": lambda d: torch.nested.nested_tensor([torch.ones(2)], device=d),
    "from_dlpack": lambda d: torch.from_dlpack(torch.ones(2), device=d),
    "make_tensor": lambda d: make_tensor(2, dtype=torch.float32, device=d),
    "to": lambda d: torch.ones(2).to(d),
    "Linear": lambda d: nn.Linear(2, 1, device=d),
    "UninitializedParameter": lambda d: nn.UninitializedParameter(device=d),
    "causal mask": lambda d: nn.Transformer.generate_square_subsequent_mask(3, device=d),
    "set_default_device": torch.set_default_device,
}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_made_on_a_device_that_is_not_there(name):
    for where, error in REFUSED.items():
        for named in (where, torch.device(where)):
            with pytest.raises(error, match=f"'{where}' was asked for.*use device='cpu'"):
                MAKERS[name](named)
    MAKERS[name]("cpu")


def test_modules_are_not_moved_to_devices_that_are_not_there():
    net = nn.Linear(2, 1)
    for move in (lambda: net.to("cuda"), net.cuda, net.xpu, torch.ones(1).cuda, torch.ones(1).xpu, lambda: torch.ones(1).to(0)):
        with pytest.raises(AssertionError, match="use device='cpu'"):
            move()


@pytest.mark.parametrize("where", REFUSED)
def test_generators_are_the_cpu_s(where):
    with pytest.raises(RuntimeError, match=f"Generator: device '{where}' was asked for"):
        torch.Generator(where)


def test_what_asks_for_a_gpu_raises_what_it_raises_without_one():
    for module in (torch.cuda, torch.xpu):
        assert not module.is_available()
        assert module.device_count() == 0
        for name in ("current_device", "get_device_name", "get_rng_state", "current_stream"):
            with pytest.raises(AssertionError, match="is_available"):
                getattr(module, name)()
    for call in (torch.mps.synchronize, torch.accelerator.current_device_index, torch.cuda.Stream, lambda: torch.cuda.device(0)):
        with pytest.raises(RuntimeError, match="computes on the CPU"):
            call()


def test_autocast_knows_some_devices():
    assert torch.amp.is_autocast_available("cuda")
    assert not torch.amp.is_autocast_available("meta")
    with pytest.raises(RuntimeError, match="no device that autocast knows"):
        torch.autocast("meta")
    with pytest.raises(RuntimeError, match="is no device"):
        torch.device("gpu")
