"""`paddle.hub`: models of a folder, whose `hubconf.py` has a function for each. Nothing is fetched from anywhere."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from ._api import attributes as _attributes


def _entries(op: str, repo_dir: str, source: str) -> ModuleType:
    """The module `hubconf` of a folder; raises RuntimeError for missing packages that it names in `dependencies`."""
    if source not in ("github", "gitee", "local"):
        raise ValueError(f"{op}: source must be 'github', 'gitee' or 'local', got {source!r}")
    if source != "local":
        raise NotImplementedError(
            f"{op}: retrograde fetches nothing; clone the repository and give its folder with source='local'"
        )
    path = os.path.join(repo_dir, "hubconf.py")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{op}: there is no file {path!r}")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, repo_dir)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(repo_dir)
    lacking = [name for name in getattr(module, "dependencies", ()) if importlib.util.find_spec(name) is None]
    if lacking:
        raise RuntimeError(f"{op}: {path!r} needs {', '.join(lacking)}; install that first")
    return module


def _entry(op: str, repo_dir: str, model: str, source: str) -> Any:
    if not isinstance(model, str):
        raise ValueError(f"{op}: model must be the name of a function, got {type(model).__name__}")
    found = getattr(_entries(op, repo_dir, source), model, None)
    if not callable(found):
        raise RuntimeError(f"{op}: the file hubconf.py of {repo_dir!r} has no function {model!r}")
    return found


def list(repo_dir: str, source: str = "github", force_reload: bool = False) -> builtins.list[str]:
    """The names of the functions."""
    module = _entries("list", repo_dir, source)
    return [name for name, f in vars(module).items() if callable(f) and not name.startswith("_")]


def help(repo_dir: str, model: str, source: str = "github", force_reload: bool = False) -> str | None:
    """What a function says of itself."""
    return _entry("help", repo_dir, model, source).__doc__  # type: ignore[no-any-return]


def load(repo_dir: str, model: str, source: str = "github", force_reload: bool = False, **kwargs: Any) -> Any:
    """What a function makes."""
    return _entry("load", repo_dir, model, source)(**kwargs)


__all__ = ["help", "list", "load"]

__getattr__ = _attributes(globals())
