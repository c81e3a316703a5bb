"""`save_checkpoint`, `load_checkpoint`, `load_param_into_net`: parameters in MindSpore's own format or safetensors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ....tensor.saving import read_safetensors, write_safetensors
from ..._shared.checks import check
from ..._shared.guard import kind_of
from .._parameter import Parameter
from .._tensor import Tensor, from_array
from ..nn.cell import Cell
from . import _checkpoint_format

_FORMATS = {"ckpt": ".ckpt", "safetensors": ".safetensors"}
_ENCRYPTED = "encrypted checkpoints (enc_key, dec_key) are not supported; save and load without a key"


def _format(op: str, format: str) -> str:
    if format not in _FORMATS:
        raise ValueError(f"{op}: format must be 'ckpt' or 'safetensors', got {format!r}")
    return _FORMATS[format]


def save_checkpoint(
    save_obj: Any, ckpt_file_name: str, integrated_save: bool = True, async_save: Any = False,
    append_dict: dict[str, Any] | None = None, enc_key: bytes | None = None, enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None, crc_check: bool = False, format: str = "ckpt", **kwargs: Any,
) -> None:  # fmt: skip
    """Write the parameters of a Cell, a list of {'name': , 'data': } or a dict of tensors to a file.

    append_dict: numbers, texts and tensors to store beside them. choice_func: says of a name whether it is stored.
    crc_check: with a checksum at the end. The file is written when the call returns, whatever `async_save` says, and
    replaces one of that name at once and as a whole; its name gets the format's ending if it lacks it.

    Raises:
        TypeError: another object, a name that is no string, a value that cannot be stored.
        ValueError: an unknown format. OSError where the file cannot be written.
    """
    op = "save_checkpoint"
    check(op, "ckpt_file_name: str; integrated_save: bool; crc_check: bool", locals())
    ending = _format(op, format)
    if enc_key is not None:
        raise NotImplementedError(f"{op}: {_ENCRYPTED}")
    path = os.path.realpath(ckpt_file_name)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{op}: {path} is a directory; give the name of a file")
    path = path if path.endswith(ending) else path + ending
    entries = [(name, value) for name, value in _named(op, save_obj) if choice_func is None or choice_func(name)]
    entries += _appended(op, append_dict)
    scratch = f"{path}.{os.getpid()}.tmp"
    try:
        if format == "safetensors":
            texts = [name for name, value in entries if isinstance(value, str)]
            if texts:
                raise TypeError(f"{op}: safetensors files hold no texts; leave out {', '.join(texts)}")
            write_safetensors(scratch, {name: v for name, v in entries if not isinstance(v, str)}, {"format": "ms"})
        else:
            with open(scratch, "wb") as stream:
                stream.write(_checkpoint_format.encode(entries, crc_check))
        os.replace(scratch, path)
    finally:
        if os.path.exists(scratch):
            os.remove(scratch)


def _named(op: str, save_obj: Any) -> Iterable[tuple[str, np.ndarray | str]]:
    """The names and arrays of what is to be saved."""
    if isinstance(save_obj, Cell):
        return [(p.name, _content(p)) for p in save_obj.get_parameters()]
    if isinstance(save_obj, dict):
        for name, value in save_obj.items():
            if not isinstance(name, str) or not isinstance(value, Tensor):
                raise TypeError(
                    f"{op}: a dict must hold tensors by name, got {type(name).__name__}: {type(value).__name__}"
                )
        return [(name, _content(value)) for name, value in save_obj.items()]
    if not isinstance(save_obj, list):
        raise TypeError(f"{op}: save_obj must be a Cell, a list or a dict, got {type(save_obj).__name__}")
    found = []
    for item in save_obj:
        if not isinstance(item, dict) or "name" not in item or not isinstance(item.get("data"), (Tensor, str)):
            raise TypeError(f"{op}: a list must hold dicts of 'name' and 'data' (a tensor), got {item!r}")
        found.append((item["name"], item["data"] if isinstance(item["data"], str) else _content(item["data"])))
    return found


def _content(value: Tensor) -> np.ndarray:
    if value.has_init:
        value.init_data()
    return value.asnumpy()


def _appended(op: str, extra: Any) -> list[tuple[str, np.ndarray | str]]:
    if extra is None:
        return []
    if not isinstance(extra, dict):
        raise TypeError(f"{op}: append_dict must be a dict, got {type(extra).__name__}")
    found: list[tuple[str, np.ndarray | str]] = []
    for name, value in extra.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, str, Tensor)):
            raise TypeError(
                f"{op}: append_dict must hold numbers, texts or tensors by name, got {type(name).__name__}: "
                f"{type(value).__name__}"
            )
        found.append((name, value if isinstance(value, str) else Tensor(value).asnumpy()))
    return found


def load_checkpoint(
    ckpt_file_name: str, net: Cell | None = None, strict_load: bool = False, filter_prefix: Any = None,
    dec_key: bytes | None = None, dec_mode: str = "AES-GCM", specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None, crc_check: bool = False, remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:  # fmt: skip
    """The parameters of a checkpoint by name (texts as they are); put into `net`, too, if it is given.

    filter_prefix: names that begin with it, or one of them, are left out. specify_prefix: only those are taken.
    crc_check: compare the checksum that the file ends in.

    Raises:
        ValueError: no such file, another format, a damaged file; nothing is left of it.
        TypeError: arguments of another type.
    """
    op = "load_checkpoint"
    check(op, "ckpt_file_name: str", locals())
    ending = _format(op, format)
    if dec_key is not None:
        raise NotImplementedError(f"{op}: {_ENCRYPTED}")
    if not ckpt_file_name.endswith(ending):
        raise ValueError(f"{op}: a file of format {format!r} ends in {ending!r}, got {ckpt_file_name!r}")
    if not os.path.exists(ckpt_file_name):
        raise ValueError(f"{op}: there is no file {ckpt_file_name!r}")
    if net is not None and not isinstance(net, Cell):
        raise TypeError(f"{op}: net must be a Cell, got {type(net).__name__}")
    left_out, wanted = _prefixes(op, "filter_prefix", filter_prefix), _prefixes(op, "specify_prefix", specify_prefix)
    parameters: dict[str, Any] = {}
    for name, value in _read(op, ckpt_file_name, format, crc_check).items():
        chosen = choice_func is None or choice_func(name)
        if not chosen or name.startswith(left_out or ("\0",)) or (wanted and not name.startswith(wanted)):
            continue
        parameters[name] = value if isinstance(value, str) else Parameter(from_array(value), name=name)
    if not parameters:
        raise ValueError(f"{op}: {ckpt_file_name!r} holds no parameters, or the prefixes leave none")
    if net is not None:
        load_param_into_net(net, {k: v for k, v in parameters.items() if not isinstance(v, str)}, strict_load)
    return parameters


def _prefixes(op: str, label: str, given: Any) -> tuple[str, ...]:
    names = () if given is None else (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{op}: {label} must be a string or a list of strings")
    if "" in names:
        raise ValueError(f"{op}: {label} must not be empty")
    return names


def _read(op: str, path: str, format: str, crc_check: bool) -> dict[str, np.ndarray | str]:
    if format == "safetensors":
        return dict(sorted(read_safetensors(path)[0].items()))
    with open(path, "rb") as stream:
        data = stream.read()
    try:
        return _checkpoint_format.decode(data, crc_check)
    except ValueError as error:
        raise ValueError(f"{op}: {path!r} cannot be read: {error}") from None


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Put the values of parameters into those of the same names in a network.

    Values of another dtype are converted unless `strict_load`. A prefix that all names in the dict have beside the
    network's is overlooked.

    Returns:
        The names of the network's parameters that got no value, and those of the dict that fit none.

    Raises:
        TypeError: no Cell, no dict, other content.
        RuntimeError: another shape, or, where `strict_load`, another dtype.
    """
    op = "load_param_into_net"
    if not isinstance(net, Cell):
        raise TypeError(f"{op}: net must be a Cell, got {type(net).__name__}")
    if not isinstance(parameter_dict, dict):
        raise TypeError(f"{op}: parameter_dict must be a dict, got {type(parameter_dict).__name__}")
    given: dict[str, Parameter] = {}
    for name, value in parameter_dict.items():
        if isinstance(value, str):
            continue
        if not isinstance(name, str) or not isinstance(value, Parameter):
            raise TypeError(
                f"{op}: parameter_dict must hold Parameters by name, got {type(name).__name__}: {kind_of(value)}"
            )
        given[name] = value
    own = list(net.get_parameters())
    missing = [p for p in own if p.name not in given]
    for p in own:
        if p.name in given:
            _assign(op, p, given[p.name], strict_load)
    unused = [name for name in given if name not in {p.name for p in own}]
    if missing and unused:
        first = missing[0].name
        prefix = next((name[: -len(first)] for name in unused if name.endswith("." + first)), None)
        if prefix is not None:
            for p in missing:
                if prefix + p.name in given:
                    _assign(op, p, given[prefix + p.name], strict_load)
            missing = [p for p in missing if prefix + p.name not in given]
    return [p.name for p in missing], unused


def _assign(op: str, p: Parameter, value: Parameter, strict: bool) -> None:
    if p.shape != value.shape:
        raise RuntimeError(
            f"{op}: {p.name} has shape {p.shape} in the network, but {value.shape} in the dict; build the network as it was "
            "saved, or take the entry out of the dict"
        )
    if p.dtype is not value.dtype:
        if strict or {p.dtype.category, value.dtype.category} == {2, 3}:
            raise RuntimeError(f"{op}: {p.name} has dtype {p.dtype} in the network, but {value.dtype} in the dict")
        value = value.astype(p.dtype)
    p.set_data(value)


def export(net: Any, *inputs: Any, file_name: str = "", file_format: str = "MINDIR", **kwargs: Any) -> None:
    """Refused: programs are not written into MindIR, ONNX or AIR files."""
    raise NotImplementedError(
        f"export: no {file_format} files are written; keep the parameters with save_checkpoint() and the network as its code"
    )


def load(file_name: str, **kwargs: Any) -> Any:
    """Refused: MindIR files are not read."""
    raise NotImplementedError(
        "load: MindIR files are not read; make the network from its code and load its parameters with load_checkpoint()"
    )


def ckpt_to_safetensors(
    file_path: str, save_path: str | None = None, name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None, processes_num: int = 1,
) -> None:  # fmt: skip
    """Write a .ckpt file anew as .safetensors: beside it, or in the folder `save_path`; `name_map` renames parameters."""
    _convert("ckpt_to_safetensors", file_path, save_path, name_map, "ckpt", "safetensors")


def safetensors_to_ckpt(
    file_path: str, save_path: str | None = None, name_map: dict[str, str] | None = None,
    file_name_regex: str | None = None, processes_num: int = 1,
) -> None:  # fmt: skip
    """Write a .safetensors file anew as .ckpt: beside it, or in the folder `save_path`; `name_map` renames parameters."""
    _convert("safetensors_to_ckpt", file_path, save_path, name_map, "safetensors", "ckpt")


def _convert(op: str, path: str, folder: str | None, name_map: Any, source: str, target: str) -> None:
    if not isinstance(path, str) or not path.endswith(_FORMATS[source]) or not os.path.isfile(path):
        raise ValueError(f"{op}: wanted the name of a file that ends in {_FORMATS[source]!r}, got {path!r}")
    values = load_checkpoint(path, format=source)
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    name = os.path.basename(path)[: -len(_FORMATS[source])] + _FORMATS[target]
    renamed = [{"name": (name_map or {}).get(key, key), "data": value} for key, value in values.items()]
    save_checkpoint(renamed, os.path.join(folder or os.path.dirname(path), name), format=target)
