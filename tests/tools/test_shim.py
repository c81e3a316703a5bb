"""`retrograde install-shim`: a framework's name satisfied by the dialect, in an environment of the test's own."""

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path

import pytest

import retrograde

WANTS = "Metadata-Version: 2.1\nName: wants-torch\nVersion: 1\nRequires-Dist: torch>=2.0\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that sees retrograde and its dependencies, and in which a package requires torch."""
    if find_spec("torch") is not None:
        pytest.skip("PyTorch is installed beside retrograde")
    folder = tmp_path_factory.mktemp("shim") / "env"
    venv.create(folder, with_pip=False)
    packages = site(folder)
    seen = Path(retrograde.__file__).parents[1], sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    (packages / "seen.pth").write_text("".join(f"{path}\n" for path in seen))
    (packages / "wants_torch-1.dist-info").mkdir()
    (packages / "wants_torch-1.dist-info" / "METADATA").write_text(WANTS)
    return folder


def site(environment: Path) -> Path:
    return next(environment.glob("[Ll]ib/**/site-packages"))


def python(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP"))}
    return subprocess.run([command, *arguments], capture_output=True, text=True, check=False, env=clean)


def install(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(environment, "-m", "retrograde", "install-shim", *arguments)


def pip(environment: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--python", str(environment), "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def shim(environment: Path):
    """The environment with the shim of torch, which is taken away afterwards."""
    before = set(site(environment).rglob("*"))
    done = install(environment, "torch")
    assert done.returncode == 0, done.stderr
    assert "a shim" in done.stdout
    yield environment
    left = sorted(set(site(environment).rglob("*")) - before, reverse=True)
    for path in left:
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_requirement_is_satisfied_and_pip_takes_the_shim_away(environment: Path) -> None:
    if find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    assert "wants-torch 1 requires torch" in pip(environment, "check").stdout
    before = set(site(environment).rglob("*"))
    assert install(environment, "torch").returncode == 0
    assert python(environment, "-c", "import torch").returncode == 0  # which leaves compiled code
    assert "wants-torch" not in pip(environment, "check").stdout
    done = pip(environment, "uninstall", "--yes", "torch")
    assert "Successfully uninstalled torch" in done.stdout, done.stderr
    assert set(site(environment).rglob("*")) == before


def test_import_gives_the_dialect(shim: Path) -> None:
    program = (
        "import torch.nn.functional as F, torch, sys, importlib.metadata as m, retrograde.dialects.torch as ours\n"
        "x = torch.tensor([1.0, -2.0], requires_grad=True); F.relu(x).sum().backward()\n"
        "print(torch is ours is sys.modules['torch'], x.grad.tolist(), torch.__name__)\n"
        "found = m.distribution('torch'); print(found.version == torch.__version__, 'retrograde' in found.metadata['Summary'])"
    )
    done = python(shim, "-c", program)
    assert (done.stdout, done.stderr) == ("True [1.0, 0.0] torch\nTrue True\n", "")


def test_metadata_without_an_import(shim: Path) -> None:
    program = (
        "import importlib.metadata as m; print(m.version('torch'), m.requires('torch'), all(f.locate().exists() for f in "
        "m.files('torch')), m.distribution('torch').read_text('INSTALLER').strip())"
    )
    version, rest = python(shim, "-c", program).stdout.split(" ", 1)
    assert version.startswith("2.")
    assert version.endswith(f"+retrograde.{retrograde.__version__}")
    assert rest == "['retrograde'] True retrograde\n"


def test_real_does_not_take_the_shim_for_the_framework(shim: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\nprint('ran')\n")
    assert python(shim, "-m", "retrograde", "run", str(program)).stdout == "ran\n"
    done = python(shim, "-m", "retrograde", "run", "--real", str(program))
    assert done.returncode == 1
    assert "is retrograde's shim" in done.stderr
    assert "--real needs torch installed" in done.stderr


def test_again_replaces_an_older_one(shim: Path) -> None:
    info = next(site(shim).glob("torch-*.dist-info"))
    older = info.with_name("torch-1.0+retrograde.0.0.1.dist-info")
    info.rename(older)
    for file in older.iterdir():
        file.write_text(file.read_text().replace(info.name, older.name))
    assert install(shim, "torch").returncode == 0
    assert sorted(path.name for path in site(shim).glob("torch*")) == ["torch", info.name]
    assert python(shim, "-c", "import torch").returncode == 0


@pytest.mark.parametrize("name, package", [("paddle", "paddlepaddle"), ("mindspore", "mindspore")])
def test_the_other_frameworks(environment: Path, tmp_path: Path, name: str, package: str) -> None:
    done = install(environment, name, "--target", str(tmp_path))
    assert done.returncode == 0
    assert package in done.stdout
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {name}, importlib.metadata as m\n"
    program += f"print(m.version({package!r}) == {name}.__version__, 'retrograde' in {name}.__version__)"
    assert python(environment, "-c", program).stdout == "True True\n"


def test_it_is_refused_where_the_framework_is(environment: Path, tmp_path: Path) -> None:
    real = tmp_path / "torch-2.9.0.dist-info"
    real.mkdir()
    (real / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n")
    (real / "INSTALLER").write_text("pip\n")
    done = install(environment, "paddle", "torch", "--target", str(tmp_path))
    assert done.returncode == 1
    assert "torch 2.9.0 is installed" in done.stderr
    assert sorted(tmp_path.iterdir()) == [real]


def test_it_is_refused_beside_a_module_of_that_name(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("")
    done = install(environment, "torch", "--target", str(tmp_path))
    assert done.returncode == 1
    assert "no installation has recorded" in done.stderr


def test_a_name_that_no_dialect_has(environment: Path) -> None:
    assert install(environment, "jax").returncode == 2
