"""`retrograde install-shim`: an installed distribution of a framework's name that is retrograde's dialect, for requirements.

A package that requires `torch` is installed without the framework where a distribution `torch` is there: pip asks for no more
than its metadata. The shim has that, and a package that hands its import over to the dialect (`_activate.stand_in`).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import importlib
import sys
import sysconfig
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.metadata import Distribution, distributions
from pathlib import Path

from .. import _activate
from .._distribution import INSTALLER, called, metadata
from .._version import __version__

NAME = "install-shim"
HELP = "install a distribution that satisfies other packages' requirement of a framework with retrograde's dialect of it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.epilog = (
        "Other packages are then installed as usual (`pip install gpytorch` asks for no PyTorch), and `import torch` gives the "
        "dialect without `retrograde run`. `pip uninstall torch` takes the shim away."
    )
    parser.add_argument("names", nargs="+", metavar="NAME", choices=_activate.available(), help="torch, paddle or mindspore")
    parser.add_argument("--target", metavar="FOLDER", type=Path, help="where to, if not into this environment's site-packages")


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """All arguments are our own."""
    return list(arguments), []


def execute(options: argparse.Namespace, rest: list[str]) -> int:
    """Install the shims, or none where one of them is refused; returns the exit status."""
    folder = options.target or Path(sysconfig.get_path("purelib"))
    try:
        if options.target is None:
            _refuse_foreign_environment()
        old = {name: _installed(name, folder) for name in options.names}
        for name in options.names:
            _install(name, folder, old[name])
    except _Refused as reason:
        print(f"retrograde install-shim: {reason}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"retrograde install-shim: cannot write to {folder}: {error}", file=sys.stderr)
        return 1
    return 0


class _Refused(Exception):
    """The shim is not installed; the message says why and what to do instead."""


def _refuse_foreign_environment() -> None:
    """Refuse what pip refuses: an interpreter whose packages the operating system manages."""
    if sys.prefix == sys.base_prefix and (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists():
        raise _Refused(
            f"the operating system manages the packages of {sys.executable}; make an environment (`python -m venv FOLDER`), "
            "install retrograde there, and use its `retrograde`; or name another folder with --target"
        )


def _installed(name: str, folder: Path) -> Distribution | None:
    """The shim that is in the folder already; refuses where the framework itself is installed, or something of its name."""
    ours = None
    for found in distributions(name=called(name), path=[str(folder), *sys.path]):
        if (found.read_text("INSTALLER") or "").strip() != INSTALLER:
            raise _Refused(
                f"{called(name)} {found.version} is installed ({found.locate_file('')}) and satisfies what requires it; to have "
                f"retrograde's dialect in its place, `pip uninstall {called(name)}` first; `retrograde run` needs neither"
            )
        if found.locate_file(name) == folder / name:
            ours = found
    spec = PathFinder.find_spec(name, [str(folder)])
    if spec is not None and ours is None:
        raise _Refused(f"there is a module {name} already, which no installation has recorded: {spec.origin or folder / name}")
    return ours


def _source(name: str) -> str:
    """The shim's one file."""
    return (
        f'"""Written by `retrograde install-shim {name}`: hands `import {name}` over to retrograde\'s dialect."""\n\n'
        f"from retrograde._activate import stand_in\n\nstand_in({name!r})\n"
    )


def _install(name: str, folder: Path, old: Distribution | None) -> None:
    """Write the package and its metadata, in the place of an older shim."""
    version = importlib.import_module(f"{_activate.DIALECTS}.{name}").__version__
    if old is not None:
        _remove(old)
    info = f"{called(name)}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": _source(name),
        f"{info}/METADATA": metadata(name, version),
        f"{info}/INSTALLER": f"{INSTALLER}\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: retrograde {__version__}\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/top_level.txt": f"{name}\n",
    }
    record = "".join(f"{file},{_digest(text)},{len(text.encode())}\n" for file, text in files.items()) + f"{info}/RECORD,,\n"
    for file, text in {**files, f"{info}/RECORD": record}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    print(
        f"{called(name)} {version}: a shim, retrograde's dialect in the framework's place, in {folder}; "
        f"`pip uninstall {called(name)}` takes it away"
    )


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"


def _remove(shim: Distribution) -> None:
    """Take away an older shim's files and what the interpreter has made of them."""
    folders = set()
    for file in shim.files or ():
        path = Path(str(shim.locate_file(file)))
        path.unlink(missing_ok=True)
        folders.add(path.parent)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink()
            folders.add(compiled.parent)
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        folder.rmdir()
