"""Modules that few programs need, and names that scripts ask for; figures recorded from PyTorch 2.13."""

import enum
import warnings

import pytest

import retrograde.dialects.torch as torch
from retrograde.dialects.torch import nn
from retrograde.dialects.torch.nn import _reduction
from retrograde.dialects.torch.nn.attention import SDPBackend, sdpa_kernel
from retrograde.dialects.torch.optim import lr_scheduler
from retrograde.dialects.torch.signal import windows
from retrograde.dialects.torch.utils.data._utils.collate import default_collate
from retrograde.dialects.torch.utils.data.distributed import DistributedSampler


@pytest.mark.parametrize(
    ("window", "points"),
    [
        (windows.bartlett(5, sym=False), [0.0, 0.4, 0.8, 0.8, 0.4]), (windows.cosine(3), [0.5, 1.0, 0.5]),
        (windows.blackman(5, sym=False), [0.0, 0.20077, 0.84923, 0.84923, 0.20077]),
        (windows.exponential(5), [0.1353, 0.3679, 1.0, 0.3679, 0.1353]),
        (windows.exponential(3, sym=False, center=0.0), [1.0, 0.3679, 0.1353]),
        (windows.gaussian(4), [0.3247, 0.8825, 0.8825, 0.3247]), (windows.hann(3), [0.0, 1.0, 0.0]),
        (windows.kaiser(6), [5.2773e-05, 0.10172, 0.79294, 0.79294, 0.10172, 5.2773e-05]),
        (windows.general_cosine(3, a=[0.4, 0.3, 0.2]), [0.3, 0.9, 0.3]), (windows.hamming(1), [1.0]), (windows.nuttall(0), []),
    ],
)  # fmt: skip
def test_windows(window, points):
    assert window.tolist() == pytest.approx(points, abs=5e-5)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: windows.hann(-1), lambda: windows.gaussian(3, std=0.0), lambda: windows.exponential(5, center=1.0),
        lambda: windows.kaiser(3, beta=-1.0), lambda: windows.hann(3, dtype=torch.long), lambda: windows.gaussian(1, std=-1.0),
    ],
)  # fmt: skip
def test_wrong_windows(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_shares_of_a_dataset():
    data = list(range(10))
    sampler = DistributedSampler(data, num_replicas=3, rank=0)
    assert (list(sampler), len(sampler)) == ([4, 5, 0, 2], 4)
    sampler.set_epoch(3)
    assert list(sampler) == [6, 7, 1, 4]
    assert list(DistributedSampler(data, num_replicas=3, rank=1, seed=5, drop_last=True)) == [4, 3, 2]
    assert list(DistributedSampler(data, num_replicas=16, rank=15, shuffle=False)) == [5]
    with pytest.raises(ValueError):
        DistributedSampler(data, num_replicas=2, rank=2)


def test_reductions_by_number_and_old_name():
    assert [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    assert _reduction.legacy_get_string(False, True, emit_warning=False) == "sum"
    with pytest.raises(ValueError):
        _reduction.get_enum("most")


def test_kernels_for_attention_are_remembered_and_change_nothing():
    x = torch.rand(1, 1, 2, 2)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION]):
        y = nn.functional.scaled_dot_product_attention(x, x, x)
    assert torch.equal(y, nn.functional.scaled_dot_product_attention(x, x, x))
    assert isinstance(SDPBackend.MATH, enum.Enum)
    torch.backends.cuda.enable_flash_sdp(False)
    assert not torch.backends.cuda.flash_sdp_enabled()
    torch.backends.cuda.enable_flash_sdp(True)
    with torch.backends.cudnn.flags(enabled=False):
        pass


def test_names_of_dense_tensors_that_are_for_sparse_ones():
    x = torch.ones(2, 3)
    assert (x.sparse_dim(), x.dense_dim(), x.is_sparse_csr) == (0, 2, False)
    for name in ("indices", "values", "coalesce", "is_coalesced", "crow_indices"):
        with pytest.raises(RuntimeError):
            getattr(x, name)()
    assert torch.sparse.mm(x, torch.ones(3, 1)).tolist() == [[3.0], [3.0]]


@pytest.mark.parametrize("name", ["symeig", "eig", "solve", "lstsq", "matrix_rank"])
def test_what_pytorch_has_taken_out(name):
    with pytest.raises(RuntimeError, match="linalg"):
        getattr(torch, name)(torch.eye(2))


def test_one_number_of_a_complex_tensor():
    assert (float(torch.tensor(2 + 0j)), int(torch.tensor(3 + 0j))) == (2.0, 3)
    for kind in (float, int):
        with pytest.raises(RuntimeError):
            kind(torch.tensor(1 + 2j))


def test_an_extreme_value_shares_its_gradient_with_what_was_left_out():
    source = torch.tensor([0.0, 0.0, 1.0], requires_grad=True)
    out = torch.zeros(2).scatter_reduce(0, torch.tensor([0, 0, 1]), source, "amax", include_self=False)
    out.sum().backward()
    assert source.grad.tolist() == pytest.approx([1 / 3, 1 / 3, 1.0])


def test_functions_over_modules():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))
    assert torch.func.replace_all_batch_norm_modules_(net) is net
    assert net[0].running_mean is None
    assert not net[0].track_running_stats
    assert torch.func.functional_call(nn.Linear(2, 1), {"unknown": torch.ones(1)}, torch.ones(2)).shape == (1,)
    for wrong in (
        lambda: torch.func.stack_module_state([nn.Linear(1, 1), nn.ReLU()]),
        lambda: torch.func.grad(torch.sum, argnums=1)(torch.ones(2)),
        lambda: torch.func.jvp(torch.sin, (torch.ones(1),), (torch.ones(1), torch.ones(1))),
        lambda: torch.func.vmap(torch.sin, randomness="some"),
    ):
        with pytest.raises(RuntimeError):
            wrong()


def test_odds_and_ends():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2)
    assert torch.broadcast_tensors(a, b)[0] is a
    assert nn.functional.soft_margin_loss(torch.ones(2).bfloat16(), torch.ones(2)).dtype is torch.bfloat16
    y = a * 2
    y.grad_fn.metadata["note"] = 1
    assert y.grad_fn.metadata == {"note": 1}
    assert nn.Linear(1, 1).share_memory().weight.is_shared()
    assert issubclass(torch.autograd.function.InplaceFunction, torch.autograd.Function)
    assert default_collate([1, 2]).tolist() == [1, 2]
    with torch.autograd.set_multithreading_enabled(False):
        assert not torch.autograd.is_multithreading_enabled()
    optimiser = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    assert type(lr_scheduler.StepLR(optimiser, 1)).__module__.endswith("lr_scheduler")
    with pytest.raises(TypeError):
        lr_scheduler.MultiplicativeLR(optimiser, 2)
    with pytest.raises(RuntimeError) as caught:
        torch.heaviside(a, b).sum().backward()
    assert caught.type is RuntimeError


def test_nested_containers_come_in_the_order_of_their_dicts():
    from retrograde.dialects.torch.utils import _pytree as tree

    nested = {"b": 1, "a": [2, {"z": 3, "y": 4}]}
    seen = []
    assert tree.tree_flatten(nested)[0] == tree.tree_leaves(nested) == list(tree.tree_iter(nested)) == [1, 2, 3, 4]
    assert tree.tree_map_(seen.append, nested) is nested
    assert seen == [1, 2, 3, 4]
    assert tree.tree_map(lambda a, b: a - b, nested, {"a": [2, {"y": 3, "z": 3}], "b": 0}) == {"b": 1, "a": [0, {"z": 0, "y": 1}]}
    assert tree.tree_structure({"b": 1}) == tree.tree_structure({"b": 5})
    assert tree.tree_any_only(int, lambda x: x > 3, nested)
    assert not tree.tree_all_only(int, lambda x: x > 3, nested)


def test_what_packages_import():
    from retrograde.dialects.torch import _vmap_internals, distributed
    from retrograde.dialects.torch.jit import Final, ScriptModule
    from retrograde.dialects.torch.nn.modules.module import _addindent
    from retrograde.dialects.torch.nn.modules.transformer import _get_activation_fn, _get_clones
    from retrograde.dialects.torch.nn.parallel import DistributedDataParallel

    assert _addindent("a\nb", 2) == "a\n  b"
    assert len(_get_clones(nn.Linear(1, 1), 2)) == 2
    assert _get_activation_fn("relu") is nn.functional.relu
    assert not isinstance(nn.Linear(1, 1), ScriptModule)
    assert Final is not None
    assert _vmap_internals.vmap is torch.func.vmap
    for wrong in (distributed.get_rank, distributed.barrier, lambda: DistributedDataParallel(nn.Linear(1, 1))):
        with pytest.raises(ValueError, match="process"):
            wrong()
    distributed.init_process_group("gloo", rank=0, world_size=1)
    try:
        assert (distributed.get_rank(), distributed.get_world_size(), distributed.get_backend()) == (0, 1, "gloo")
        gathered = [torch.zeros(2)]
        distributed.all_gather(gathered, torch.ones(2))
        assert gathered[0].tolist() == [1, 1]
        assert distributed.all_reduce(gathered[0], async_op=True).wait()
        with pytest.raises(RuntimeError, match="process 1 is not in the group"):
            distributed.send(gathered[0], 1)
    finally:
        distributed.destroy_process_group()
    with pytest.raises(RuntimeError, match="started alone"):
        distributed.init_process_group(rank=1, world_size=2)
    assert not distributed.is_initialized()
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    assert torch.get_float32_matmul_precision() == "high"
    torch.set_float32_matmul_precision(before)


def test_compiled_modules_are_modules_around_others():
    inner = nn.Sequential(nn.Linear(2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outer = torch.compile(inner)
        again = torch.compile(outer)
    assert type(outer).__name__ == "OptimizedModule"
    assert again is outer
    assert list(outer.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert outer._orig_mod is inner
    outer.scale = 3
    outer._kind = "b"
    assert inner.scale == outer.scale == 3
    assert inner._kind == outer._kind == "b"
    assert {"_kind", "forward", "state_dict"} <= set(dir(outer))
    assert outer(torch.ones(1, 2)).equal(inner(torch.ones(1, 2)))
    outer.eval()
    assert not inner.training
    inner.train()
    assert outer.training
    outer.training = False
    assert not inner.training
    with pytest.raises(RuntimeError):
        inner.load_state_dict(outer.state_dict())
    assert torch.compile(inner, disable=True) is inner


def test_channels_last_in_memory_is_kept_by_pooling_and_batch_norm():
    functional = torch.nn.functional
    x = torch.arange(192.0).view(2, 3, 4, 8).contiguous(memory_format=torch.channels_last)
    for f in (
        lambda x: functional.max_pool2d(x, 2), lambda x: functional.avg_pool2d(x, 2),
        lambda x: functional.adaptive_avg_pool2d(x, 2), lambda x: functional.max_pool2d(x, 2, return_indices=True)[1],
        lambda x: functional.batch_norm(x, None, None, training=True), torch.nn.BatchNorm2d(3), torch.nn.BatchNorm2d(3).eval(),
    ):  # fmt: skip
        y, plain = f(x), f(x.contiguous())
        assert y.is_contiguous(memory_format=torch.channels_last)
        assert plain.is_contiguous()
        assert torch.allclose(y, plain, atol=1e-5)


def test_a_generator_prints_under_pytorch_s_name():
    assert repr(torch.Generator()).startswith("<torch._C.Generator object at 0x")


def test_streams_are_named_and_refused_where_they_are_made():
    assert torch.Stream is not torch.Event
    with pytest.raises(RuntimeError, match="CPU"):
        torch.Stream()
    from retrograde.dialects.torch.distributed.fsdp import CPUOffload, ShardingStrategy
    from retrograde.dialects.torch.distributed.fsdp.wrap import transformer_auto_wrap_policy

    for name in (CPUOffload, ShardingStrategy, transformer_auto_wrap_policy):
        with pytest.raises(RuntimeError, match="one process"):
            name()
