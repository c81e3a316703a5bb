"""The profiler: counts, times and regions of what the engine computes; the table in the form of PyTorch 2.13."""

import json
import re

import pytest
from dialects.torch import layer_cases

import retrograde.dialects.torch as torch
from retrograde.core.primitive import PRIMITIVES
from retrograde.dialects.torch.autograd import profiler as older
from retrograde.dialects.torch.optim import optimizer
from retrograde.dialects.torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule


def counts(p):
    return {e.key: e.count for e in p.key_averages()}


def test_counts_times_and_regions():
    kernels = {name: prim.numpy_kernel for name, prim in PRIMITIVES.items()}
    x, w = torch.randn(16, 16, requires_grad=True), torch.randn(16, 16)
    layer, opt = torch.nn.Linear(16, 2), torch.optim.SGD([x], 0.1)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True) as p:
        with record_function("block"):
            y = (x @ w).relu().sum() + layer(x).sum()
        y.backward()
        opt.step()
        torch.cat([w, w]).mul_(2)
    assert {name: prim.numpy_kernel for name, prim in PRIMITIVES.items()} == kernels
    found = counts(p)
    for key in ("block", "aten::relu", "aten::addmm", "aten::add", "aten::cat", "MmBackward0", "Optimizer.step#SGD.step",
                "autograd::engine::evaluate_function: ReluBackward0"):  # fmt: skip
        assert found[key] == 1, key
    assert found["aten::sum"] >= 2
    assert found["torch::autograd::AccumulateGrad"] == 3
    block = next(e for e in p.events() if e.name == "block")
    inside = [e.name for e in block.cpu_children]
    assert inside[:2] == ["aten::mm", "aten::relu"]
    assert block.cpu_time_total >= sum(e.cpu_time_total for e in block.cpu_children)
    first = block.cpu_children[0]
    assert first.input_shapes == [[16, 16], [16, 16]]
    assert first.cpu_memory_usage == 1024
    assert first.cpu_parent is block
    assert first.time_range.elapsed_us() > 0
    before = len(p.events())
    torch.ones(2) * 2
    assert len(p.events()) == before


def test_the_table():
    with older.profile(record_shapes=True, profile_memory=True) as p:
        torch.randn(8).sin()
    averages = p.key_averages()
    lines = averages.table(sort_by="cpu_time_total", row_limit=1, header="title").split("\n")
    assert lines[0] == "=" * len(lines[2])
    assert lines[1] == "title"
    assert lines[3].split("  ")[-2].strip() == "# of Calls"
    assert "CPU Mem" in lines[3]
    assert lines[2].startswith("-------------  ------------  ")
    assert lines[5].strip().startswith("aten::sin")
    assert lines[-2].startswith("Self CPU time total: ")
    assert str(averages) == averages.table()
    assert "[[8]]" in p.key_averages(group_by_input_shape=True).table()
    assert averages.total_average().key == "Total"
    assert averages.table(max_name_column_width=8).split("\n")[3].startswith("aten:...")
    with pytest.raises(AttributeError):
        averages.table(sort_by="bogus")
    with older.profile(enabled=False) as nothing:
        torch.ones(2)
    assert nothing is None


def test_schedules_and_files(tmp_path):
    plan = schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [plan(k).name for k in range(6)] == ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"]
    assert schedule(wait=1, warmup=0, active=2, skip_first=1)(4) is ProfilerAction.NONE
    ready = []
    with profile(schedule=plan, on_trace_ready=lambda p: ready.append((p.step_num, counts(p)["aten::mul"]))) as p:
        for _ in range(6):
            torch.ones(2) * 2
            p.step()
    assert ready == [(4, 2)]
    assert counts(p)["ProfilerStep#2"] == 1
    path = tmp_path / "trace.json"
    p.export_chrome_trace(str(path))
    assert {"aten::mul"} <= {e["name"] for e in json.loads(path.read_text())["traceEvents"]}
    torch.profiler.tensorboard_trace_handler(str(tmp_path / "board"))(p)
    assert list((tmp_path / "board").iterdir())


def test_regions_everywhere_and_limits():
    @record_function("outer")
    def f(x):
        with record_function("inner"):
            return x * 3

    f(torch.ones(2))  # nobody profiles
    with profile() as p:
        f(torch.ones(2))
        f(torch.ones(2))
        with pytest.raises(RuntimeError), older.profile():
            pass
        with pytest.raises(RuntimeError):
            torch.ones(2) @ torch.ones(3)
    assert not optimizer._global_pre_hooks  # those of the profile that did not start either
    assert counts(p)["inner"] == 2
    assert "" not in counts(p)
    assert {e.cpu_parent.name for e in p.events() if e.name == "aten::mul"} == {"inner"}
    with pytest.raises(AssertionError):
        profile().key_averages()
    with pytest.raises(AssertionError):
        profile(activities=[]).start()
    with pytest.raises(AssertionError):
        schedule(wait=-1, warmup=0, active=1)
    with pytest.warns(UserWarning, match="with_stack"):
        profile(with_stack=True)


def test_transforms_and_what_runs_for_the_first_time():
    def inside():
        return torch.func.grad(lambda x: x.sinh())(torch.tensor(2.0))

    inside()
    with profile() as p:
        inside()
    assert counts(p)["aten::sinh"] == 1
    with profile() as p:
        torch.func.grad(lambda x: torch.special.erfcx(x))(torch.tensor(2.0))
    before = len(p.events())
    torch.func.grad(lambda x: torch.special.erfcx(x))(torch.tensor(2.0))
    assert len(p.events()) == before


PAIRS = "BCEWithLogitsLoss GaussianNLLLoss HuberLoss KLDivLoss L1Loss MSELoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss"
SINGLE = {
    "LazyBatchNorm2d()": (2, 3, 4, 4), "LazyBatchNorm3d()": (2, 3, 2, 2, 2), "LazyInstanceNorm1d()": (2, 3, 5),
    "LazyInstanceNorm2d()": (2, 3, 4, 4), "LazyInstanceNorm3d()": (2, 3, 2, 2, 2), "InstanceNorm3d(3)": (2, 3, 2, 2, 2),
    "LazyConv1d(2, 2)": (2, 3, 4), "LazyConv3d(2, 2)": (2, 3, 3, 3, 3), "LazyConvTranspose1d(2, 2)": (2, 3, 4),
    "LazyConvTranspose2d(2, 2)": (2, 3, 4, 4), "LazyConvTranspose3d(2, 2)": (2, 3, 3, 3, 3),
    "ChannelShuffle(2)": (2, 4, 3, 3), "CrossMapLRN2d(3)": (2, 4, 3, 3), "DataParallel(nn.Linear(3, 2))": (2, 3),
    "Identity()": (3,), "LogSoftmax(0)": (3,), "Softmax(0)": (3,), "Softmax2d()": (2, 3, 2, 2), "Threshold(0, 1)": (3,),
    "PixelUnshuffle(2)": (1, 1, 4, 4), "SyncBatchNorm(3)": (2, 3, 4), "UpsamplingBilinear2d(4)": (1, 1, 2, 2),
    "UpsamplingNearest2d(4)": (1, 1, 2, 2), "ZeroPad1d(1)": (2, 3), "ZeroPad2d(1)": (1, 2, 3), "ZeroPad3d(1)": (1, 2, 2, 3),
}  # fmt: skip
LABELS = "torch.tensor([1, 0, 2])"
SEVERAL = {
    "BCELoss()": ("torch.rand(3)", "torch.rand(3)"), "CrossEntropyLoss()": ((3, 4), LABELS), "NLLLoss()": ((3, 4), LABELS),
    "CTCLoss()": ((5, 1, 4), "torch.tensor([[1, 2]])", "[5]", "[2]"), "NLLLoss2d()": ((3, 4, 1, 1), LABELS + "[:, None, None]"),
    "CosineEmbeddingLoss()": ((3, 4), (3, 4), "torch.ones(3)"), "CosineSimilarity()": ((3, 4), (3, 4)),
    "HingeEmbeddingLoss()": ((3,), "torch.ones(3)"), "MarginRankingLoss()": ((3,), (3,), "torch.ones(3)"),
    "MultiLabelMarginLoss()": ((3, 4), "torch.tensor([[1, 0, -1, -1]] * 3)"), "MultiMarginLoss()": ((3, 4), LABELS),
    "MultiLabelSoftMarginLoss()": ((3, 4), "torch.ones(3, 4)"), "PairwiseDistance()": ((3, 4), (3, 4)),
    "TripletMarginLoss()": ((3, 4),) * 3, "TripletMarginWithDistanceLoss()": ((3, 4),) * 3,
    "TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1)": ((3, 1, 4), (2, 1, 4)),
    "GaussianNLLLoss()": ((3,), (3,), "torch.ones(3)"),
    "MaxUnpool1d(2)": ((1, 1, 2), "torch.tensor([[[0, 3]]])"), "MaxUnpool2d(2)": ((1, 1, 1, 1), "torch.tensor([[[[3]]]])"),
    "MaxUnpool3d(2)": ((1, 1, 1, 1, 1), "torch.tensor([[[[[7]]]]])"),
    "LinearCrossEntropyLoss(4, 5)": ((3, 4), LABELS),
}  # fmt: skip
NO_LAYERS = {
    "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "RNNBase", "RNNCellBase", "Sequential",
    "NonDynamicallyQuantizableLinear",
}  # fmt: skip


def every_layer():
    """For each layer of torch.nn one expression, its inputs and its options."""
    layers = {n for n, kind in vars(torch.nn).items() if isinstance(kind, type) and issubclass(kind, torch.nn.Module)}
    left = layers - NO_LAYERS
    for _, expression, inputs, options in layer_cases.cases():
        used = left & set(re.findall(r"nn\.(\w+)\(", expression))
        if used:
            left -= used
            yield expression, inputs, options
    others = {f"{name}()": ((3,), (3,)) for name in PAIRS.split()} | {e: (x,) for e, x in SINGLE.items()} | SEVERAL
    for expression, inputs in others.items():
        left.discard(expression.partition("(")[0])
        yield f"nn.{expression}", inputs, {}
    assert not left


def test_profiles_every_layer():
    """Each gives what it gives unobserved, whatever its kernels call their parameters."""
    cases = list(every_layer())
    plain = [layer_cases.run(torch, *case) for case in cases]
    with profile():
        profiled = [layer_cases.run(torch, *case) for case in cases]
    for case, before, now in zip(cases, plain, profiled):
        assert "error" not in before, case
        assert repr(now) == repr(before), case
