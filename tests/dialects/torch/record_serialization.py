"""Records data/*.pt with the real PyTorch, and what is in them (data/saved.json); run where that is installed."""

import collections
import json
from pathlib import Path
from typing import Any

import torch

DATA = Path(__file__).parent / "data"
DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64"]
DTYPES += ["uint8", "uint16", "uint32", "uint64", "bool", "float8_e4m3fn", "float8_e5m2"]


def describe(tensor: torch.Tensor, storages: list[int]) -> dict[str, Any]:
    """What a reader must find; `storages` numbers the storages that tensors share."""
    address = tensor.untyped_storage().data_ptr()
    if address not in storages or not tensor.numel():
        storages.append(address)
    dense = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())
    raw = dense.reshape(-1).view(torch.uint8) if dense.numel() else torch.empty(0, dtype=torch.uint8)
    lazy = tensor.is_conj() or tensor.is_neg()
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "strides": None if lazy else list(tensor.stride()),
        "offset": None if lazy else tensor.storage_offset(),
        "storage": None if lazy or not tensor.numel() else storages.index(address),
        "data": bytes(raw.tolist()).hex(),
        "requires_grad": tensor.requires_grad,
        "is_parameter": isinstance(tensor, torch.nn.Parameter),
    }


def layers() -> dict[str, Any]:
    """Whole modules, each with an input and what it makes of it; they get parameters without hundreds of elements."""
    nn = torch.nn
    image, words = torch.arange(16.0).reshape(1, 1, 4, 4) / 16, torch.arange(6.0).reshape(3, 1, 2) / 6
    modules = {
        "linear": (nn.Linear(2, 3), words),
        "sequential": (nn.Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten()), image),
        "pools": (nn.ModuleDict({"most": nn.MaxPool2d(2), "mean": nn.AdaptiveAvgPool2d(1)}), None),
        "recurrent": (nn.LSTM(2, 2, num_layers=2), words),
        "attention": (nn.TransformerEncoderLayer(2, 1, 2, activation=nn.functional.gelu), words),
        "embedding": (nn.Embedding(3, 2), torch.tensor([0, 2])),
    }
    with torch.no_grad():
        called = {name: (m.eval(), x, None if x is None else m(x)) for name, (m, x) in modules.items()}
    return {name: (m, x, y[0] if isinstance(y, tuple) else y) for name, (m, x, y) in called.items()}


def main() -> None:
    torch.manual_seed(3)
    base = torch.arange(12.0).reshape(3, 4)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    complexes = torch.tensor([1 + 2j, 3 - 4j])
    files: dict[str, Any] = {
        "dtypes": {name: torch.arange(3).to(getattr(torch, name)) for name in DTYPES},
        "views": {
            "base": base,
            "row": base[1],
            "column": base[:, 2:3],
            "turned": base.t(),
            "every_other": base[:, ::2],
            "spread": torch.ones(1).expand(3),
            "scalar": torch.tensor(2.5),
            "empty": torch.zeros(2, 0),
            "leaf": torch.ones(2, requires_grad=True),
            "parameter": torch.nn.Parameter(base[2]),
            "frozen": torch.nn.Parameter(torch.zeros(1), requires_grad=False),
        },
        "lazy": {"plain": complexes, "conjugate": complexes.conj(), "negative": complexes.clone().conj().imag},
        "checkpoint": {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "loss": 0.5},
    }
    found: dict[str, Any] = {}
    for name, content in files.items():
        torch.save(content, DATA / f"{name}.pt")
        storages: list[int] = []
        tensors = content["model"] if name == "checkpoint" else content
        found[name] = {key: describe(tensor, storages) for key, tensor in tensors.items()}
    torch.save(files["views"], DATA / "views_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(files["lazy"], DATA / "lazy_legacy.pt", _use_new_zipfile_serialization=False)
    shared = ["a", "list"]
    plain = {
        "numbers": [None, True, False, 0, 255, 256, 65536, -1, 2**31, -(2**70), 1.5, float("inf"), 1 + 2j],
        "text": ["", "abc", "é\U0001f600", b"a\xff", bytearray(b"xy"), bytearray()],
        "containers": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {1}, {}, [[]], collections.Counter("aab")],
        "ordered": collections.OrderedDict(b=1, a=2),
        "twice": [shared, shared],
        "torch": [torch.Size([2, 3]), torch.float32, torch.device("cpu"), torch.device("cuda", 1)],
    }
    plain["ordered"]._metadata = {"version": 1}
    torch.save(plain, DATA / "plain.pt")
    torch.save(layers(), DATA / "layers.pt")
    torch.manual_seed(3)
    layer, x = torch.nn.Linear(2, 1), torch.ones(1, 2)
    torch.save((layer, x, layer(x).detach()), DATA / "layer_legacy.pt", _use_new_zipfile_serialization=False)
    (DATA / "saved.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
