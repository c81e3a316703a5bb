"""Private names of PyTorch that other packages take: each used for what they want it for (docs/private-names.md)."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from retrograde.dialects import torch

TABLE = (Path(__file__).parents[3] / "docs" / "private-names.md").read_text()
ROWS = re.findall(r"^\| (`.+?) \|", TABLE, re.MULTILINE)


@pytest.mark.parametrize("row", ROWS)
def test_names_of_the_table_are_there(row: str) -> None:
    """The first name of a row is a path below torch, those after it stand beside it unless they have a path."""
    module = ""
    for path in re.findall(r"`(.+?)`", row):
        holder, _, name = path.rpartition(".")
        module = holder or module
        found = importlib.import_module(f"retrograde.dialects.torch.{module}".rstrip("."))
        assert getattr(found, name) is not None


def test_a_subclass_gives_plain_tensors() -> None:
    class Point(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

        def __new__(cls, data, where="nowhere"):
            point = torch.Tensor._make_subclass(cls, data, True)
            point.where = where
            return point

    class Held(Point, torch.nn.Parameter):
        pass

    for point in (Point(torch.ones(2), where="here"), Held(torch.ones(2), where="here")):
        (point * 3).sum().backward()
        assert (point.where, type(point + 1), point.grad.tolist()) == ("here", torch.Tensor, [3.0, 3.0])
    module = torch.nn.Module()
    module.point = Held(torch.ones(2))
    assert dict(module.named_parameters())["point"] is module.point


def test_nothing_is_traced() -> None:
    assert torch._C._get_tracing_state() is None
    assert not isinstance(torch.ones(1), torch._C.Value)


def test_a_failed_factorisation_is_caught_by_its_class() -> None:
    with pytest.raises(torch._C._LinAlgError):
        torch.linalg.cholesky(-torch.eye(2))


def test_rows_of_a_jacobian_of_outputs_that_are_there() -> None:
    from retrograde.dialects.torch._vmap_internals import _vmap
    from retrograde.dialects.torch.autograd import functional as F

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    outputs = x**2, (x.prod() * torch.ones(1, 1))
    several, ys = F._as_tuple(outputs, "outputs", "jacobian")
    one, xs = F._as_tuple(x, "inputs", "jacobian")
    assert (several, one) == (True, False)
    basis = F._construct_standard_basis_for(ys, tuple(y.numel() for y in ys))
    flat = tuple(y.reshape(-1) for y in ys)
    (rows,) = _vmap(lambda v: torch.autograd.grad(flat, xs, v))(basis)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0], [2.0, 1.0]]
    squares, product = F._tuple_postprocess(tuple((part,) for part in rows.split((2, 1))), (several, one))
    assert (tuple(squares.shape), product.tolist()) == ((2, 2), [[2.0, 1.0]])
    assert F._tuple_postprocess((rows,), False) is rows
    with torch.enable_grad():
        kept = x * 2
    (bare,) = F._grad_postprocess((kept,), create_graph=False)
    assert not bare.requires_grad
    assert F._grad_postprocess((kept,), create_graph=True)[0] is kept


def test_what_needs_several_processes_says_so_when_it_is_called() -> None:
    from retrograde.dialects.torch.distributed._composable.fsdp import FSDPModule, fully_shard
    from retrograde.dialects.torch.distributed._tensor.experimental import implicit_replication
    from retrograde.dialects.torch.distributed.tensor import DTensor

    assert torch.distributed._tensor.DTensor is DTensor
    assert not isinstance(torch.ones(1), DTensor)
    assert not isinstance(torch.nn.Linear(1, 1), FSDPModule)
    for call in (DTensor, fully_shard, implicit_replication):
        with pytest.raises(RuntimeError, match="one process"):
            call()
    with pytest.raises(AttributeError, match="no torch.distributed.fsdp"):
        torch.distributed.fsdp.no_such_name  # noqa: B018


def test_matrices_of_the_normal_distribution() -> None:
    from retrograde.dialects.torch.distributions import multivariate_normal as mv

    factor = torch.tensor([[2.0, 0.0], [1.0, 3.0]])
    covariance = factor @ factor.T
    again = mv._precision_to_scale_tril(torch.linalg.inv(covariance))
    np.testing.assert_allclose(again.numpy(), factor.numpy(), rtol=1e-5)
    x = torch.tensor([[1.0, 2.0], [0.0, 1.0]])
    wanted = (x @ torch.linalg.inv(covariance) * x).sum(-1)
    np.testing.assert_allclose(mv._batch_mahalanobis(factor, x).numpy(), wanted.numpy(), rtol=1e-5)
    assert mv._batch_mv(factor, x).tolist() == [[2.0, 7.0], [0.0, 3.0]]


def test_draws_and_sums_of_distributions() -> None:
    from retrograde.dialects.torch.distributions.utils import _standard_normal, _sum_rightmost

    torch.manual_seed(0)
    drawn = _standard_normal(torch.Size([2, 3]), dtype=torch.float64, device=torch.device("cpu"))
    torch.manual_seed(0)
    assert drawn.tolist() == torch.normal(torch.zeros(2, 3, dtype=torch.float64), 1.0).tolist()
    assert _sum_rightmost(torch.ones(2, 3, 4), 2).tolist() == [12.0, 12.0]
    concentration = torch.tensor([0.5, 2.0], requires_grad=True)
    torch._sample_dirichlet(concentration)[0].backward()
    assert concentration.grad is not None


def test_a_line_search_along_a_direction() -> None:
    from retrograde.dialects.torch.optim.lbfgs import _cubic_interpolate, _strong_wolfe

    def along(x, t, d):
        at = (x + t * d).detach().requires_grad_()
        value = ((at - 1) ** 4).sum()
        (slope,) = torch.autograd.grad(value, at)
        return float(value), slope

    x, d = torch.zeros(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    value, slope = along(x, 0, d)
    found, at, t, evaluations = _strong_wolfe(along, x, 0.1, d, value, slope, slope.dot(d))
    assert found == along(x, t, d)[0] < value + 1e-4 * float(t) * float(slope.dot(d))
    assert abs(float(at.dot(d))) <= -0.9 * float(slope.dot(d))
    assert evaluations == 1
    assert x.tolist() == [0.0, 0.0]
    # the cubic through (0, 1) and (2, 1) with slopes -1 and 1 is least in the middle
    assert _cubic_interpolate(0.0, 1.0, -1.0, 2.0, 1.0, 1.0) == pytest.approx(1.0)
    assert _cubic_interpolate(0.0, 1.0, -1.0, 2.0, 1.0, 1.0, bounds=(1.5, 2.0)) == 1.5


def test_a_module_with_other_parameters_for_a_while() -> None:
    from retrograde.dialects.torch.nn.utils.stateless import _reparametrize_module

    layer = torch.nn.Linear(2, 1)
    own, drawn = layer.weight, torch.tensor([[2.0, 3.0]], requires_grad=True)
    with _reparametrize_module(layer, {"weight": drawn * 2}):
        (layer(torch.ones(2)) - layer.bias).sum().backward()
        assert layer.weight is not own
    assert (layer.weight is own, own.grad, drawn.grad.tolist()) == (True, None, [[2.0, 2.0]])
    with pytest.raises(ZeroDivisionError), _reparametrize_module(layer, {"weight": drawn, "nothing": drawn}):
        raise ZeroDivisionError
    assert layer.weight is own
    with pytest.raises(RuntimeError, match="'nothing'"), _reparametrize_module(layer, {"nothing": drawn}, strict=True):
        raise AssertionError


def test_tensors_by_dtype() -> None:
    from retrograde.dialects.torch.utils._foreach_utils import _group_tensors_by_device_and_dtype

    xs = [torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)]
    groups = _group_tensors_by_device_and_dtype([xs, [x + 1 for x in xs]], with_indices=True)
    (lists, indices) = groups[torch.device("cpu"), torch.float32]
    assert (indices, len(groups)) == ([0, 2], 2)
    torch._foreach_add_(lists[0], lists[1])
    assert [x.tolist() for x in xs] == [[3.0], [1.0, 1.0], [3.0, 3.0, 3.0]]
    with pytest.raises(RuntimeError):
        _group_tensors_by_device_and_dtype([xs, xs[:1]])


def test_iterators_of_loaders() -> None:
    from retrograde.dialects.torch.utils.data import DataLoader
    from retrograde.dialects.torch.utils.data.dataloader import _BaseDataLoaderIter, _collate_fn_t

    collate: _collate_fn_t = list
    for workers in (0, 1):
        loader = DataLoader([1, 2], num_workers=workers, collate_fn=collate)
        assert isinstance(iter(loader), _BaseDataLoaderIter)


def test_the_module_bears_the_framework_s_name() -> None:
    program = (
        "import retrograde; retrograde.activate('torch'); import torch\n"
        "print(torch.__name__, torch.nn.Linear.__module__)\n"
        "from torch import no_such_name"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "torch torch.nn.modules.linear\n"
    assert "retrograde's torch dialect has no torch.no_such_name" in done.stderr


def test_questions_about_transforms() -> None:
    from retrograde.dialects.torch._C import _functorch

    seen = []

    def f(x):
        seen.append((torch._C._are_functorch_transforms_active(), _functorch.is_batchedtensor(x)))
        return x * 2

    f(torch.ones(2))
    torch.func.vmap(f)(torch.ones(2))
    assert seen == [(False, False), (True, True)]


def test_arguments_of_to() -> None:
    parse = torch._C._nn._parse_to
    assert parse("cpu", torch.float64, True)[:3] == (torch.device("cpu"), torch.float64, True)
    assert parse(dtype=torch.half)[:2] == (None, torch.float16)
    assert parse(torch.ones(1, dtype=torch.int32))[:2] == (torch.device("cpu"), torch.int32)


def test_conditions_that_are_checked() -> None:
    torch._check(True)
    for check, error in ((torch._check, RuntimeError), (torch._check_index, IndexError), (torch._check_value, ValueError)):
        with pytest.raises(error, match="why"):
            check(False, lambda: "why")
    torch._assert_async(torch.tensor(1))
    for call in (lambda: torch._assert_async(torch.tensor(0), "zero"), lambda: torch._assert(torch.tensor(False), "no")):
        with pytest.raises((RuntimeError, AssertionError)):
            call()


def test_containers_step_by_step() -> None:
    from collections import namedtuple

    from retrograde.dialects.torch.utils import _pytree as pytree

    Pair = namedtuple("Pair", "a b")
    tree = {"x": [1, (2, Pair(3, 4))], "y": 5}

    def apart(node):
        kind = pytree._get_node_type(node)
        if kind not in pytree.SUPPORTED_NODES:
            return [node]
        definition = pytree.SUPPORTED_NODES[kind]
        children, context = definition.flatten_fn(node)
        assert definition.unflatten_fn(children, context) == node
        return [leaf for child in children for leaf in apart(child)]

    assert apart(tree) == [1, 2, 3, 4, 5]
    assert isinstance(pytree.tree_structure(1), pytree.LeafSpec)
    assert not isinstance(pytree.tree_structure([1]), pytree.LeafSpec)
    spec = pytree.TreeSpec(list, None, (pytree.LeafSpec(), pytree.LeafSpec()))
    assert pytree.tree_unflatten([1, 2], spec) == [1, 2]
    assert str(pytree._dict_flatten_with_keys({"k": 1})[0][0][0]) == "['k']"


def test_what_says_so_when_it_is_used() -> None:
    from retrograde.dialects.torch import ao, onnx
    from retrograde.dialects.torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from retrograde.dialects.torch.nn.attention import flex_attention as flex
    from retrograde.dialects.torch.utils.flop_counter import FlopCounterMode

    onnx.register_custom_op_symbolic("a::b", print, 11)
    assert not isinstance(torch.ones(1), (FakeTensor, flex.BlockMask))
    calls = onnx.export, FakeTensorMode, FlopCounterMode, flex.create_block_mask, ao.quantization.convert, torch.PyTorchFileReader
    for call in (*calls, torch.fx.experimental.proxy_tensor.make_fx, torch._dynamo.explain, torch.autograd.profiler.emit_nvtx):
        with pytest.raises(NotImplementedError, match="\\w+: "):
            call()
    assert ao.quantization.QuantStub()(3) == 3
    assert not onnx.is_in_onnx_export()
    assert not torch.compiler.is_exporting()


def test_functions_of_parameters() -> None:
    program = (
        "import retrograde; retrograde.activate('torch')\nimport functorch, torch\n"
        "f, params = functorch.make_functional(torch.nn.Linear(2, 1, bias=False))\n"
        "x = torch.ones(2)\ng, = functorch.grad(lambda p: f(p, x).sum())(params)\n"
        "print(g.tolist(), functorch.vmap is torch.func.vmap)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[[1.0, 1.0]] True\n", done.stderr


def test_futures() -> None:
    from retrograde.dialects.torch.futures import Future, collect_all, wait_all

    one, other = Future(), Future()
    following = one.then(lambda f: f.wait() + 1)
    both = collect_all([one, other])
    one.set_result(1)
    assert (following.wait(), both.done()) == (2, False)
    other.set_exception(KeyError("k"))
    assert both.done()
    with pytest.raises(KeyError):
        wait_all([one, other])
    with pytest.raises(RuntimeError, match="already"):
        one.set_result(2)
    assert torch.Future is Future


def test_a_file_as_storage(tmp_path) -> None:
    (tmp_path / "f").write_bytes(np.arange(3, dtype=np.float32).tobytes())
    found = torch.UntypedStorage.from_file(str(tmp_path / "f"), False, 12).untyped()
    assert torch.asarray(found[4:12], dtype=torch.uint8).view(torch.float32).tolist() == [1.0, 2.0]


def test_dtypes_for_storage() -> None:
    x = torch.tensor([0.3, 448.0, -1.0])
    small = x.to(torch.float8_e4m3fn)
    assert (small.dtype, small.itemsize) == (torch.float8_e4m3fn, 1)
    assert small.float().tolist() == [0.3125, 448.0, -1.0]
    with pytest.raises(RuntimeError, match="float8"):
        small + x
    assert torch.complex32 is torch.chalf
    assert torch.complex32 != torch.complex64
    with pytest.raises(NotImplementedError, match="complex32"):
        torch.zeros(2, dtype=torch.complex32)


def test_events_for_tensorboard_need_its_package(tmp_path) -> None:
    from importlib.util import find_spec

    from retrograde.dialects.torch.utils.tensorboard import SummaryWriter

    if find_spec("tensorboard") is None:
        with pytest.raises(ImportError, match="pip install tensorboard"):
            SummaryWriter(str(tmp_path))
    else:
        with SummaryWriter(str(tmp_path)) as writer:
            writer.add_scalar("loss", torch.tensor(1.0), 1)
        assert list(tmp_path.iterdir())


def test_a_contexts_base_decorates_functions_and_generators() -> None:
    from retrograde.dialects.torch.utils._contextlib import _DecoratorContextManager

    inside = []

    class Within(_DecoratorContextManager):
        def __init__(self, name):
            self.name = name

        def clone(self):
            return Within(self.name)

        def __enter__(self):
            inside.append(self.name)

        def __exit__(self, *error):
            inside.remove(self.name)

    @Within("a")
    def function():
        return list(inside)

    @Within("b")
    def generator():
        yield list(inside)

    stream = generator()
    assert (function(), next(stream), inside) == (["a"], ["b"], [])
    with pytest.raises(NotImplementedError, match="does not say how it is entered"):
        _DecoratorContextManager().__enter__()


def test_a_dict_by_identity_lets_its_keys_go() -> None:
    from retrograde.dialects.torch.utils.weak import WeakIdKeyDictionary

    x, y = torch.ones(3), torch.ones(3)
    held = WeakIdKeyDictionary({x: 1})
    held[y] = 2
    assert (held[x], held[y], torch.ones(3) in held, next(iter(held)) is x) == (1, 2, False, True)
    del held[x]
    assert (len(held), x in held) == (1, False)
    del y
    assert (len(held), list(held)) == (0, [])


def test_a_modules_tensor_is_exchanged_by_name() -> None:
    from retrograde.dialects.torch.nn.utils._named_member_accessor import swap_tensor

    layer = torch.nn.Linear(2, 1)
    weight, other = layer.weight, torch.full((1, 2), 3.0)
    assert swap_tensor(layer, "weight", other) is weight
    assert layer(torch.ones(2)).item() == pytest.approx(6 + layer.bias.item())
    assert swap_tensor(layer, "weight", weight) is other
    for given, error in ((("a.b", other), KeyError), (("nothing", other), AttributeError), (("bias", 4), TypeError)):
        with pytest.raises(error):
            swap_tensor(layer, *given)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]


def test_seeds_of_workers_are_pytorchs() -> None:
    from retrograde.dialects.torch.utils.data._utils.worker import _generate_state

    assert _generate_state(2**40 + 17, 3) == [946516139, 3429289954, 681341045, 323328356]


def test_a_package_batches_a_type_of_its_own() -> None:
    from retrograde.dialects.torch.utils.data._utils.collate import default_collate, default_collate_fn_map

    class Pair:
        def __init__(self, x):
            self.x = x

    default_collate_fn_map[Pair] = lambda batch, *, collate_fn_map: sum(pair.x for pair in batch)
    try:
        assert default_collate([{"p": Pair(1)}, {"p": Pair(2)}]) == {"p": 3}
    finally:
        del default_collate_fn_map[Pair]
    with pytest.raises(TypeError, match="Pair"):
        default_collate([Pair(1)])


def test_containers_are_spread_over_others() -> None:
    from retrograde.dialects.torch.utils import _pytree

    structure = _pytree.tree_structure((1, [2, 3], {"a": 4}))
    assert _pytree._broadcast_to_and_flatten((0, None, {"a": 1}), structure) == [0, None, None, 1]
    assert _pytree._broadcast_to_and_flatten(5, structure) == [5, 5, 5, 5]
    assert _pytree._broadcast_to_and_flatten((0, 1), structure) is None


def test_what_sees_operators_or_maps_containers_says_that_it_does_not() -> None:
    from retrograde.dialects.torch._C._functorch import _add_batch_dim
    from retrograde.dialects.torch.ao.quantization import ObserverBase
    from retrograde.dialects.torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass

    assert not is_traceable_wrapper_subclass(torch.ones(1))
    calls = (TorchDispatchMode().__enter__,), (ObserverBase,), (torch.jit._get_trace_graph, None), (_add_batch_dim, None, 0, 1)
    for refused, *args in calls:
        with pytest.raises(NotImplementedError):
            refused(*args)


def test_names_of_quantized_dtypes_are_no_dtypes_of_tensors() -> None:
    assert (repr(torch.qint8), torch.quint8.is_signed, torch.qint32.itemsize) == ("torch.qint8", False, 4)
    with pytest.raises(NotImplementedError, match="quint8"):
        torch.ones(2, dtype=torch.quint8)


def test_a_mode_is_noticed() -> None:
    from retrograde.dialects.torch.overrides import TorchFunctionMode

    class Silent(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    assert not torch._C._is_torch_function_mode_enabled()
    with Silent():
        assert torch._C._is_torch_function_mode_enabled()


def test_types_of_results_are_there_before_their_operations_ran() -> None:
    program = "print(torch.return_types.max, torch.max(torch.ones(1, 2), 1).indices.tolist())"
    command = [sys.executable, "-c", f"from retrograde.dialects import torch; {program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "<class 'torch.return_types.max'> [0]\n"


def test_collectives_of_one_process_give_gradients() -> None:
    from retrograde.dialects.torch import distributed
    from retrograde.dialects.torch.distributed import nn

    distributed.init_process_group("gloo", rank=0, world_size=1)
    try:
        x = torch.tensor([2.0], requires_grad=True)
        (3 * nn.all_reduce(x) + nn.all_gather(x)[0]).backward()
        assert x.grad.tolist() == [4.0]
        with pytest.raises(ValueError, match="process 1"):
            nn.broadcast(x, 1)
    finally:
        distributed.destroy_process_group()


def test_lerp_takes_its_end_by_name() -> None:
    x = torch.tensor([1.0, 2.0])
    assert x.lerp_(end=torch.tensor([3.0, 4.0]), weight=0.5) is x
    assert x.tolist() == [2.0, 3.0]
    with pytest.raises(TypeError):
        x.lerp_(weight=0.5)
