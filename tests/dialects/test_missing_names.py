"""What a dialect answers for names that it has not: modules, tensors' attributes that the framework has, and typing errors."""

import subprocess
import sys

import pytest

CASES = {
    "torch": ("PyTorch", "torch.ones(2)", "to_sparse_bsr"),
    "paddle": ("PaddlePaddle", "paddle.ones([2])", "to_sparse_csr"),
    "mindspore": ("MindSpore", "mindspore.Tensor([1.0, 1.0])", "index_copy_"),
}


def ends(tmp_path, dialect, statement):
    """The last lines on standard error of a program that ends in an exception."""
    program = tmp_path / "program.py"
    program.write_text(f"import {dialect}\n{statement}\n")
    command = [sys.executable, "-m", "retrograde", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("dialect", CASES)
def test_a_name_that_the_framework_has_and_the_dialect_not(tmp_path, dialect):
    framework, tensor, name = CASES[dialect]
    said = ends(tmp_path, dialect, f"x = {tensor}\nassert not hasattr(x, {name!r}) and {name!r} not in dir(x)\nx.{name}()")
    assert f"AttributeError: retrograde's {dialect} dialect has no Tensor.{name}" in said
    assert f"not {framework}" in said


@pytest.mark.parametrize("dialect", CASES)
def test_a_typing_error_says_who_answers_and_what_is_near(tmp_path, dialect):
    framework, tensor, _ = CASES[dialect]
    said = ends(tmp_path, dialect, f"({tensor}).reshap(1, 2)")
    assert "has no attribute 'reshap'" in said
    assert f"retrograde's {dialect} dialect answering, not {framework}; near it are reshape" in said


@pytest.mark.parametrize("dialect", CASES)
def test_a_name_of_the_module(tmp_path, dialect):
    said = ends(tmp_path, dialect, f"{dialect}.no_such_thing")
    assert f"retrograde's {dialect} dialect has no {dialect}.no_such_thing" in said


@pytest.mark.parametrize(("dialect", "module", "name", "near"), [
    ("torch", "torch.nn", "Lineer", "Linear"), ("paddle", "paddle.nn", "Embeding", "Embedding"),
    ("mindspore", "mindspore.ops", "GradOperaton", "GradOperation"),
])  # fmt: skip
def test_a_name_that_cannot_be_imported_from_a_module(tmp_path, dialect, module, name, near):
    said = ends(tmp_path, dialect, f"from {module} import {name}")
    assert f"ImportError: cannot import name '{name}'" in said
    assert f"has no {module}.{name}; near it are {near}" in said
