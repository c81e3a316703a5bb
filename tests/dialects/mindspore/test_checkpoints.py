"""Checkpoints in MindSpore's own format and in safetensors. The bytes were written by MindSpore 2.10, which also read
what is written here."""

from __future__ import annotations

import base64
from pathlib import Path

import numpy as np
import pytest

from retrograde.dialects import mindspore as ms
from retrograde.dialects.mindspore import Parameter, Tensor, nn

# Tensors of seven dtypes, one of them 0-d.
SEVERAL = base64.b85decode(
    "3LXjvW^8X^bTKv(69@wm2S#jfVRSJz8U_FW06YLd3NQ)>W^8X^bT%{+B?to&2S#jfVRSY$8W;co000000000000000@IL?m0000006+>A3Iu6x"
    "bT|?X2m=xXNp5sF8Up|U0ty@o26bs}bTKv(5(onl231LJbTKv>1^@s700ICC6$%7mZ*Oc84G04g1VV3bY#IXq0Raja3Ibwg5)udk5(q*@Y;R$7"
    "F*X_mz&`*$3Ka?hb7K+@5(h?XZ((#ZG8zN`002M"
)
# SequentialCell(Dense(2, 3), BatchNorm1d(3)) with a checksum.
NETWORK = base64.b85decode(
    "3Ns1_FfMmxX=iA35+?`)2m%rZMr?0kbTcv<7ytkO0001hKL7v#KmY(hKmY)MKmY)sKnf!Y1~4vSX<>5`83+Rs2S#jfVRSPx8VmpcfIk2L06+i$"
    "KtKvA3JozXZEtpIZf9R@Wnpd-83+Rs2S#jfVRSPx8Vmpc06+i$KtKQhfItc^3K20bZEtpIZf9S1VRC6<ZewK<83+Rs2S#jfVRSPx8VmpcKtKQh"
    "fIt8Mpg;;F3I{PRXJKt^VG<b#0}=;DY;R$7Gcp<s004kM005vs006*13L^>zF)m_dbYT)12m=xaMr?0kbTcv<3;+P2KmY*1KmY*XKx1-aUv716"
    "0000000707LYn"
)


def network() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3))


def counted(net: nn.Cell) -> nn.Cell:
    for j, p in enumerate(net.get_parameters()):
        p.set_data(Tensor((np.arange(p.size, dtype=np.float32) + j).reshape(p.shape)))
    return net


def test_reads_what_mindspore_wrote(tmp_path: Path) -> None:
    (tmp_path / "a.ckpt").write_bytes(SEVERAL)
    got = ms.load_checkpoint(str(tmp_path / "a.ckpt"))
    assert {name: (str(p.dtype), p.shape, p.asnumpy().astype(float).tolist()) for name, p in got.items()} == {
        "float16": ("Float16", (3,), [0, 1, 2]), "float64": ("Float64", (3,), [0, 1, 2]), "int8": ("Int8", (3,), [0, 1, 2]),
        "uint16": ("UInt16", (3,), [0, 1, 2]), "bool": ("Bool", (3,), [0, 1, 1]), "bf": ("BFloat16", (2,), [1.5, 2]),
        "sc": ("Float32", (), 2),
    }  # fmt: skip
    assert all(isinstance(p, Parameter) and p.name == name for name, p in got.items())


def test_writes_the_bytes_that_mindspore_writes(tmp_path: Path) -> None:
    ms.save_checkpoint(counted(network()), str(tmp_path / "net"), crc_check=True)
    assert (tmp_path / "net.ckpt").read_bytes() == NETWORK
    kinds = ("float16", "float64", "int8", "uint16", "bool")
    entries = [{"name": d, "data": Tensor(np.arange(3).astype(d))} for d in kinds]
    entries += [{"name": "bf", "data": Tensor([1.5, 2.0]).astype(ms.bfloat16)}, {"name": "sc", "data": Tensor(2.0)}]
    ms.save_checkpoint(entries, str(tmp_path / "several.ckpt"))
    assert (tmp_path / "several.ckpt").read_bytes() == SEVERAL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.ckpt", "several.ckpt"]


def test_what_is_appended_comes_back(tmp_path: Path) -> None:
    path = str(tmp_path / "a.ckpt")
    extra = {"epoch": 3, "lr": 0.5, "done": True, "name": "größer", "t": Tensor([1, 2])}
    ms.save_checkpoint({"w": Tensor([1.0 + 2.0j])}, path, append_dict=extra)
    got = ms.load_checkpoint(path)
    assert got["name"] == "größer"
    assert [(str(got[k].dtype), got[k].asnumpy().tolist()) for k in ("w", "epoch", "lr", "done", "t")] == [
        ("Complex128", [1 + 2j]), ("Int64", 3), ("Float32", 0.5), ("Bool", True), ("Int64", [1, 2]),
    ]  # fmt: skip
    with pytest.raises(TypeError):
        ms.save_checkpoint({}, path, append_dict={"v": [1]})


def test_pieces_of_one_tensor_are_joined(tmp_path: Path) -> None:
    from retrograde.dialects._shared.wire import bytes_field, key
    from retrograde.dialects.mindspore.train import _checkpoint_format as wire

    whole = np.arange(6, dtype=np.float32).reshape(2, 3)
    cut = wire._array(whole[:1]).replace(key(1, 0) + b"\x01", key(1, 0) + b"\x02", 1)
    rest = wire._array(whole[1:]).replace(key(1, 0) + b"\x01", key(1, 0) + b"\x02", 1)
    entries = [bytes_field(1, bytes_field(1, b"w") + bytes_field(2, piece)) for piece in (cut, rest)]
    np.testing.assert_array_equal(wire.decode(b"".join(entries))["w"], whole)


def test_safetensors(tmp_path: Path) -> None:
    net, path = counted(network()), str(tmp_path / "net")
    ms.save_checkpoint(net, path, format="safetensors")
    got = ms.load_checkpoint(path + ".safetensors", format="safetensors")
    assert {name: p.asnumpy().tolist() for name, p in got.items()} == {
        p.name: p.asnumpy().tolist() for p in net.get_parameters()
    }
    ms.safetensors_to_ckpt(path + ".safetensors", str(tmp_path))
    assert ms.load_checkpoint(path + ".ckpt")["0.weight"].asnumpy().tolist() == net[0].weight.asnumpy().tolist()


def test_values_into_a_network(tmp_path: Path) -> None:
    source, target = counted(network()), network()
    values = {p.name: Parameter(p, name=p.name) for p in source.get_parameters()}
    assert ms.load_param_into_net(target, values) == ([], [])
    assert target[0].weight.asnumpy().tolist() == source[0].weight.asnumpy().tolist()
    values.pop("0.bias")
    values["extra"] = Parameter(Tensor([1.0]), name="extra")
    assert ms.load_param_into_net(target, values) == (["0.bias"], ["extra"])
    half = Parameter(Tensor(np.ones((3, 2), np.float16)))
    ms.load_param_into_net(target, {"0.weight": half})
    assert target[0].weight.dtype is ms.float32
    assert (target[0].weight.asnumpy() == 1).all()
    with pytest.raises(RuntimeError):
        ms.load_param_into_net(target, {"0.weight": half}, strict_load=True)
    with pytest.raises(RuntimeError):
        ms.load_param_into_net(target, {"0.weight": Parameter(Tensor(np.ones((3, 3), np.float32)))})
    dense = nn.Dense(2, 1)
    prefixed = {"a.weight": Parameter(Tensor(np.full((1, 2), 5.0, np.float32))), "a.bias": Parameter(Tensor([3.0]))}
    ms.load_param_into_net(dense, prefixed)
    assert dense.weight.asnumpy().tolist() == [[5.0, 5.0]]


def test_a_training_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    def made() -> tuple[nn.Cell, nn.Cell]:
        net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
        return net, nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.1))

    x, y = Tensor([[1.0, 2.0]]), Tensor([[1.0]])
    net, step = made()
    step(x, y)
    ms.save_checkpoint(step, str(tmp_path / "step.ckpt"))
    step(x, y)
    again, resumed = made()
    ms.load_checkpoint(str(tmp_path / "step.ckpt"), resumed)
    resumed(x, y)
    assert again.weight.asnumpy().tolist() == net.weight.asnumpy().tolist()


@pytest.mark.parametrize("name, content, kind", [
    ("nope.ckpt", None, ValueError), ("bad.ckpt", b"garbage", ValueError), ("empty.ckpt", b"", ValueError),
    ("cut.ckpt", NETWORK[:60], ValueError), ("a.txt", SEVERAL, ValueError),
])  # fmt: skip
def test_what_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, kind: type[Exception]) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(kind):
        ms.load_checkpoint(str(tmp_path / name))


def test_a_damaged_file_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = tmp_path / "a.ckpt"
    path.write_bytes(NETWORK[:40] + bytes([NETWORK[40] ^ 1]) + NETWORK[41:])
    with pytest.raises(ValueError, match="checksum"):
        ms.load_checkpoint(str(path), crc_check=True)


def test_prefixes_and_choices(tmp_path: Path) -> None:
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(network(), path)
    assert list(ms.load_checkpoint(path, specify_prefix="0.")) == ["0.weight", "0.bias"]
    assert list(ms.load_checkpoint(path, filter_prefix=["0.", "1.m"])) == ["1.gamma", "1.beta"]
    assert list(ms.load_checkpoint(path, choice_func=lambda name: name.endswith("bias"))) == ["0.bias"]
    with pytest.raises(ValueError):
        ms.load_checkpoint(path, specify_prefix="x")
    for call, kind in (
        (lambda: ms.save_checkpoint(1, path), TypeError), (lambda: ms.save_checkpoint(network(), 3), TypeError),
        (lambda: ms.save_checkpoint(network(), path, format="x"), ValueError),
        (lambda: ms.save_checkpoint([{"name": "a"}], path), TypeError),
        (lambda: ms.save_checkpoint(network(), path, enc_key=b"0" * 16), NotImplementedError),
        (lambda: ms.save_checkpoint(network(), str(tmp_path / "no" / "x.ckpt")), FileNotFoundError),
    ):  # fmt: skip
        with pytest.raises(kind):
            call()


def test_safetensors_come_by_name(tmp_path: Path) -> None:
    ms.save_checkpoint(nn.SequentialCell(nn.Dense(3, 2), nn.BatchNorm1d(2)), str(tmp_path / "net.safetensors"),
                       format="safetensors")  # fmt: skip
    found = list(ms.load_checkpoint(str(tmp_path / "net.safetensors"), format="safetensors"))
    assert found == ["0.bias", "0.weight", "1.beta", "1.gamma", "1.moving_mean", "1.moving_variance"]
