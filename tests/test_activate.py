"""`retrograde.activate`: a framework's name, and every module path below it, gives the dialect."""

import importlib
import importlib.metadata
import importlib.util
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from retrograde import _activate

MODULES = {
    "__init__.py": "",
    "frame/__init__.py": """
        from . import nn
        answer = 42
        __version__ = "1.2.3"
        def __getattr__(name):
            raise AttributeError(f"no {name}")
        """,
    "frame/nn/__init__.py": "from . import functional",
    "frame/nn/functional.py": "def relu(x):\n    return max(x, 0)",
    "frame/lazy.py": "class Thing:\n    pass\nThing.__module__ = 'frame.lazy'",
    "frame/broken.py": "import a_module_that_is_nowhere",
    "other/__init__.py": "",
    "_private.py": "",
    "single.py": "",
}


@pytest.fixture
def dialects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package of made-up dialects in the place of retrograde's; the import system is put back afterwards."""
    for name, text in MODULES.items():
        file = tmp_path / "made_up_dialects" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_activate, "DIALECTS", "made_up_dialects")
    monkeypatch.setattr(_activate._finder, "active", set())
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder is not _activate._finder])
    before = dict(sys.modules)
    yield tmp_path
    sys.modules.clear()
    sys.modules.update(before)


def test_both_names_are_one_module(dialects):
    _activate.activate("frame")
    frame = importlib.import_module("frame")
    ours = importlib.import_module("made_up_dialects.frame")
    assert frame is ours
    assert frame.answer == 42
    assert sys.modules["frame"] is sys.modules["made_up_dialects.frame"] is frame
    assert frame.__file__ == str(dialects / "made_up_dialects" / "frame" / "__init__.py")
    assert (frame.__name__, frame.__package__, frame.__spec__.name) == ("frame", *["made_up_dialects.frame"] * 2)


def test_submodules_loaded_with_the_dialect_have_both_names(dialects):
    _activate.activate("frame")
    frame = importlib.import_module("frame")
    assert sys.modules["frame.nn.functional"] is frame.nn.functional


@pytest.mark.parametrize("first", ["frame.lazy", "made_up_dialects.frame.lazy"])
def test_submodules_loaded_later_have_both_names(dialects, first):
    _activate.activate("frame")
    module = importlib.import_module(first)
    assert importlib.import_module("frame.lazy") is module
    assert importlib.import_module("made_up_dialects.frame.lazy") is module
    assert importlib.import_module("frame").lazy is module
    assert module.__spec__.name == "made_up_dialects.frame.lazy"


def test_deep_import_without_the_parents(dialects):
    _activate.activate("frame")
    namespace: dict = {}
    exec("import frame.nn.functional as F\nfrom frame.nn import functional\nfrom frame import nn, lazy", namespace)
    assert namespace["F"] is namespace["functional"] is namespace["nn"].functional
    assert namespace["F"].relu(-1) == 0


def test_dialect_imported_before(dialects):
    ours = importlib.import_module("made_up_dialects.frame")
    _activate.activate("frame")
    assert importlib.import_module("frame") is ours
    assert importlib.import_module("frame.nn") is ours.nn


def test_reload_keeps_the_module(dialects):
    _activate.activate("frame")
    frame = importlib.import_module("frame")
    assert importlib.reload(frame) is frame


def test_a_folder_of_that_name_changes_nothing(dialects):
    (dialects / "frame").mkdir()
    (dialects / "frame" / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    (dialects / "frame" / "extra.py").write_text("")
    _activate.activate("frame")
    assert importlib.import_module("frame").answer == 42
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("frame.extra")


def test_beside_the_real_framework(dialects):
    sys.modules["framework"] = ModuleType("framework")
    _activate.activate("other")
    sys.modules["frame.nn"] = ModuleType("frame.nn")
    with pytest.raises(RuntimeError, match=r"the real 'frame' has been imported already.*before.*retrograde run"):
        _activate.activate("frame")
    assert _activate.active() == ("other",)
    del sys.modules["frame.nn"]
    _activate.activate("frame")
    assert importlib.import_module("frame").answer == 42


def test_packages_that_go_with_the_framework(dialects):
    (dialects / "framepure.py").write_text("import frame\nanswer = frame.answer")
    _activate.activate("frame")
    assert importlib.import_module("framepure").answer == 42
    assert importlib.util.find_spec("framevision") is None
    with pytest.raises(ModuleNotFoundError, match=r"'framevision'.*not installed.*'frame' is retrograde's") as e:
        importlib.import_module("framevision")
    assert e.value.name == "framevision"


def test_pickled_names_resolve(dialects):
    _activate.activate("frame")
    module = importlib.import_module("made_up_dialects.frame.lazy")
    data = pickle.dumps(module.Thing())
    assert b"frame.lazy" in data
    assert b"made_up" not in data
    assert type(pickle.loads(data)) is module.Thing


def test_again_and_several(dialects):
    _activate.activate("frame")
    frame = importlib.import_module("frame")
    sys.meta_path.insert(0, sys.meta_path[-1])
    _activate.activate("frame", "other")
    assert importlib.import_module("frame") is frame
    assert importlib.import_module("other") is importlib.import_module("made_up_dialects.other")
    assert sys.meta_path[0] is _activate._finder
    assert sys.meta_path.count(_activate._finder) == 1
    assert _activate.active() == ("frame", "other")


def test_only_the_names_given(dialects):
    _activate.activate("frame")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'other'$"):
        importlib.import_module("other")


def test_available(dialects):
    assert _activate.available() == ("frame", "other")


@pytest.mark.parametrize("name", ["fram", "frame.nn", "", "single", "_private"])
def test_unknown_dialect(dialects, name):
    with pytest.raises(ValueError, match="no dialect .*'frame', 'other'"):
        _activate.activate("frame", name)
    assert _activate.active() == ()
    assert _activate._finder not in sys.meta_path


def test_no_dialect_named(dialects):
    with pytest.raises(ValueError, match="'frame', 'other'"):
        _activate.activate()


def test_unknown_submodule(dialects):
    _activate.activate("frame")
    message = r"'frame\.nn\.functonal'.*retrograde.*near: frame\.nn\.functional"
    with pytest.raises(ModuleNotFoundError, match=message) as e:
        importlib.import_module("frame.nn.functonal")
    assert e.value.name == "frame.nn.functonal"
    with pytest.raises(ModuleNotFoundError, match=r"retrograde.*'broken', 'lazy', 'nn'"):
        importlib.import_module("frame.zzz")


def test_asking_for_a_spec(dialects):
    _activate.activate("frame")
    assert importlib.util.find_spec("frame") is not None
    assert importlib.util.find_spec("frame.lazy") is not None
    assert importlib.util.find_spec("frame.zzz") is None


def test_a_name_that_is_no_attribute_either(dialects):
    _activate.activate("frame")
    with pytest.raises(ImportError, match="cannot import name 'zzz'.*no zzz.*retrograde's dialect") as e:
        exec("from frame import zzz")
    assert type(e.value) is ImportError
    assert e.value.name == "frame"
    with pytest.raises(ImportError, match=r"cannot import name 'zzz' from 'frame\.nn'"):
        exec("from frame.nn import zzz")
    exec("from made_up_dialects.frame import lazy, nn")


def test_a_submodule_that_fails_says_why(dialects):
    _activate.activate("frame")
    with pytest.raises(ModuleNotFoundError, match="^No module named 'a_module_that_is_nowhere'$"):
        importlib.import_module("frame.broken")
    assert "frame.broken" not in sys.modules


def test_installed_version_is_the_dialect_s(dialects):
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("frame")
    _activate.activate("frame")
    distributions = {found.name: found for found in importlib.metadata.distributions()}
    importlib.metadata.entry_points(group="console_scripts")
    assert "pytest" in distributions
    assert "frame" not in sys.modules  # listing what is installed does not import the dialect
    assert importlib.metadata.version("frame") == distributions["frame"].version == "1.2.3"
    assert importlib.metadata.version("pytest") == pytest.__version__
    assert importlib.metadata.files("frame") is None
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("other")


def test_scalars_of_numpy_print_as_in_the_numpy_that_mindspore_needs() -> None:
    program = (
        "import retrograde; retrograde.activate('mindspore'); import mindspore, numpy; "
        "print([numpy.float32(4), numpy.int64(2)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[4.0, 2]\n"


def test_garbage_is_collected_again_after_an_import(tmp_path):
    program = (
        "import gc\n{before}import retrograde\nprint(gc.isenabled())\n"
        "retrograde.activate('torch')\nimport torch\nprint(gc.isenabled(), hasattr(retrograde, '_paused'))\n"
    )
    for before, wanted in (("", "True\nTrue False\n"), ("gc.disable()\n", "False\nFalse False\n")):
        done = subprocess.run(
            [sys.executable, "-c", program.format(before=before)], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stdout == wanted


def test_what_an_import_has_made_is_old_and_what_was_frozen_stays_so(tmp_path):
    program = (
        "import gc\n{before}frozen = gc.get_freeze_count()\nimport retrograde\n"
        "retrograde.activate('torch')\nimport torch\ngc.disable()\n"
        "print(len(gc.get_objects(2)) > 50_000, gc.get_freeze_count() <= frozen, frozen > 0)"
    )
    for before, wanted in (("", "True True False\n"), ("gc.freeze()\n", "False True True\n")):
        done = subprocess.run(
            [sys.executable, "-c", program.format(before=before)], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        assert done.stdout == wanted
