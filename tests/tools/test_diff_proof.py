"""Proofs that two programs are the same for all inputs of these shapes (retrograde.tools.diff.proof), and what is not proven."""

import functools
import importlib
import json
import math
import os
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tools import diff_proof_pairs
from tools.diff_programs import NAMES

import retrograde.ops
from retrograde.core.record import PRIMITIVES
from retrograde.tools.diff.proof.algebra import Algebra
from retrograde.tools.diff.proof.check import Look, wrong_step
from retrograde.tools.diff.proof.definitions import DEFINITIONS, meaning_of
from retrograde.tools.diff.proof.meaning import STEPS, Meaning, Tensor, Unknown, step
from retrograde.tools.diff.proof.rules import RULES, Step
from retrograde.tools.diff.proof.terms import index, variable
from retrograde.tools.diff.wide import rules

for module in pkgutil.iter_modules(retrograde.ops.__path__):
    importlib.import_module(f"retrograde.ops.{module.name}")

DIFF = [sys.executable, "-m", "retrograde", "diff"]
EQUAL = [name for name in NAMES if name.startswith("equal_")]
QUICK = ("equal_attention", "equal_adam_by_hand", "equal_layer_norm", "equal_loop", "equal_rounding_cancel",
         "equal_torch_mindspore")  # fmt: skip
PROVEN = (
    *QUICK, "equal_accumulation_torch_paddle", "equal_bce_logits", "equal_bias_before_norm", "equal_ce_torch_mindspore",
    "equal_checkpoint", "equal_class_main", "equal_cross_entropy", "equal_functional", "equal_functional_sgd",
    "equal_gan_torch_paddle", "equal_gelu_paddle_mindspore", "equal_gru_by_hand", "equal_language_model", "equal_layout",
    "equal_ln_torch_paddle", "equal_long_training", "equal_lstm_by_hand", "equal_maml", "equal_names_permuted",
    "equal_optim", "equal_paddle_mindspore", "equal_relu", "equal_rounding_associative", "equal_rounding_double",
    "equal_rounding_fused", "equal_rounding_horner", "equal_rounding_log_softmax", "equal_rounding_long",
    "equal_rounding_paddle", "equal_rounding_reciprocal", "equal_rounding_sum_order", "equal_rounding_variance",
    "equal_scalars", "equal_square", "equal_torch_paddle", "equal_vae_torch_paddle",
)  # fmt: skip


def in_process(*arguments):
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=Path(__file__).parent
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@functools.cache
def answers(names):
    return in_process("diff_answers.py", *names)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.long) for n in PROVEN])
def test_proven(name):
    answer = answers(QUICK if name in QUICK else tuple(n for n in PROVEN if n not in QUICK))[name]
    assert answer["proven"], answer["proof"]
    assert answer["proof"]["rules"]
    assert all(rule["statement"] and rule["domain"] and rule["condition"] for rule in answer["proof"]["rules"].values())


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_what_differs_is_not_proven():
    different = tuple(n for n in NAMES if not n.startswith("equal_"))
    assert not [name for name, answer in answers(different).items() if answer["proven"]]


def test_mutations_are_not_proven():
    found = in_process("diff_mutations.py", "40", "7", *QUICK)
    assert found["tried"] == 40
    assert not found["proven"]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_five_hundred_mutations_are_not_proven():
    slow = ("equal_long_training", "equal_vae_torch_paddle", "equal_language_model")
    found = in_process("diff_mutations.py", "500", "1", *(n for n in PROVEN if n not in slow))
    assert found["tried"] == 500
    assert not found["proven"]


@functools.cache
def snippets():
    with tempfile.TemporaryDirectory() as folder:
        for name, programs in {**diff_proof_pairs.EQUAL, **diff_proof_pairs.HERE_ONLY}.items():
            for side, program in zip("ab", programs):
                text = f"{diff_proof_pairs.START}out = {program}{diff_proof_pairs.END}"
                (Path(folder) / f"{name}_{side}.py").write_text(text)
        return in_process("diff_proofs.py", folder)


@pytest.mark.parametrize("name", sorted(diff_proof_pairs.EQUAL))
def test_what_is_written_in_two_ways_is_proven(name):
    proven, wrong, same = snippets()[name]
    assert same
    assert proven
    assert wrong == ""


@pytest.mark.parametrize("name", sorted(diff_proof_pairs.HERE_ONLY))
def test_what_data_happen_to_be_is_not_part_of_a_proof(name):
    proven, _, same = snippets()[name]
    assert same
    assert not proven


HERE = """
import torch
torch.manual_seed(0)
w = (torch.rand(4, 3) + 0.1).requires_grad_()
x = torch.rand(5, 4) + 0.1
h = x @ w
loss = ({}).mean()
loss.backward()
"""


def test_the_screen(tmp_path):
    for name, program in (
        ("a.py", "torch.tanh(h) ** 2"),
        ("b.py", "torch.tanh(h) * torch.tanh(h)"),
        ("c.py", "torch.relu(h)"),
    ):
        (tmp_path / name).write_text(HERE.format(program))
    (tmp_path / "d.py").write_text(HERE.format("h"))
    run = subprocess.run([*DIFF, "--explain", tmp_path / "a.py", tmp_path / "b.py"], capture_output=True, text=True, check=False,
                         env={**os.environ, "COLUMNS": "120"})  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "The same for all inputs of these shapes: proven by" in run.stdout
    assert "Proof: values that are one function of the inputs" in run.stdout
    assert "products are distributed over sums" in run.stdout
    run = subprocess.run([*DIFF, tmp_path / "c.py", tmp_path / "d.py"], capture_output=True, text=True, check=False)
    assert "The same here; for other inputs that is not proven of the loss" in run.stdout
    run = subprocess.run([*DIFF, "--json", tmp_path / "c.py", tmp_path / "d.py"], capture_output=True, text=True, check=False)
    answer = json.loads(run.stdout)
    assert answer["verdict"] in ("same", "same up to rounding")
    assert not answer["proven"]
    assert "the loss" in answer["proof"]["unproven"]


# ------------------------------------------------------------------------------------------ definitions and rules


def tensors(operands):
    """Operands as tensors of an algebra that are not looked into, and their values by the numbers of those."""
    algebra = Algebra()

    def named(x):
        number = len(operands) + len(given)
        given[number] = evaluated(meaning, x, given)
        return Tensor(
            x.shape, algebra.element(number, [(0, ()) if n == 1 else i for n, i in zip(x.shape, meaning.axes(x.shape))])
        )

    meaning = Meaning(algebra, named)
    found, given = [], {}
    for k, x in enumerate(operands):
        if x is None:
            found.append(None)
            continue
        given[k] = np.asarray(x)
        if given[k].dtype.kind in "iu":
            algebra.whole.add(k)
        places = [(0, ()) if n == 1 else i for n, i in zip(x.shape, meaning.axes(x.shape))]
        found.append(Tensor(x.shape, algebra.element(k, places)))
    meaning.kinds = [np.asarray(x).dtype.kind for x in operands if x is not None]
    return meaning, found, given


class Given(Look):
    """The values of terms at all places of a shape, for tensors that are given."""

    def __init__(self, algebra, shape, given):
        super().__init__(algebra, math.prod(shape))
        self._given = given
        self._places = {
            variable(k, n): x
            for k, (n, x) in enumerate(zip(shape, np.indices(shape).reshape(len(shape), math.prod(shape))))
        }

    def _element(self, tensor, places, env):
        x = self._given.get(tensor)
        if x is None:
            return super()._element(tensor, places, env)
        indices = [self._index(i, env) for i in places]
        return x[tuple(np.clip(i, 0, n - 1) for i, n in zip(indices, x.shape))]


def evaluated(meaning, tensor, given):
    look = Given(meaning.algebra, tensor.shape, given)
    with np.errstate(all="ignore"):
        return np.broadcast_to(look.term(tensor.term, look.start), look.start.points).reshape(tensor.shape)


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_definitions_are_what_the_operations_compute(name):
    prim, looked_at = PRIMITIVES[name], 0
    for sample in prim.samples():
        operands = [None if x is None else np.asarray(x) for x in sample.operands]
        if any(x is not None and (x.dtype.kind == "c" or x.size == 0) for x in operands) or (
            name == "cast" or any(np.iscomplexobj(x) or np.isnan(x).any() for x in operands if x is not None)
        ):  # fmt: skip
            continue
        with np.errstate(all="ignore"):
            out = prim.kernel(np, *operands, **sample.params)
        outs = [np.asarray(y) for y in (out if isinstance(out, tuple) else (out,))]
        if name == "reshape" and outs[0].ndim > 6:
            continue
        meaning, found, given = tensors(operands)
        for output, y in enumerate(outs):
            try:
                tensor = meaning_of(meaning, name, sample.params, found, y.shape, output)
            except (Unknown, TypeError):
                continue
            looked_at += 1
            x = evaluated(meaning, tensor, given)
            both = np.isfinite(x) & np.isfinite(y)
            assert np.allclose(x[both], y[both], rtol=1e-5, atol=1e-6), (name, sample.params)
            assert both.any() or not np.isfinite(y).any()
    assert looked_at


@pytest.mark.parametrize("name", sorted(STEPS))
@pytest.mark.parametrize("options", [{"lr": 0.1}, {"lr": 0.1, "weight_decay": 0.2}, {"lr": 0.3, "step": 3.0, "decoupled": True,
                                                                                     "weight_decay": 0.1, "eps": 0.01},
                                     {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "nesterov": True}])  # fmt: skip
def test_steps_are_what_the_optimisers_do(name, options):
    chance = np.random.default_rng(0)
    arrays = [chance.random((3, 2)) + 0.5 for _ in range({"sgd": 3, "adam": 4}[name])]
    columns = [[x.copy()] for x in arrays]
    try:
        rules()[name](*columns, **options)
    except TypeError:
        pytest.skip("not an option of this optimiser")
    after = [columns[k][0] for k in range(len(columns)) if k != 1]
    for output, y in enumerate(after):
        meaning, found, given = tensors(arrays)
        tensor = step(meaning, name, options, found, output)
        assert np.allclose(evaluated(meaning, tensor, given), y, rtol=1e-6)


def wrong(algebra, step):
    return wrong_step(Look(algebra), step)


def test_the_check_refuses_what_does_not_hold():
    algebra = Algebra()
    i = index(variable(0, 4))
    x, y = (algebra.element(k, [i]) for k in range(2))
    total = algebra.add(x, y)
    assert wrong(algebra, Step("add", (x, y), total)) == ""
    assert wrong(algebra, Step("mul", (x, y), total))
    assert wrong(algebra, Step("power", (algebra.mul(x, x), 0.5), x))  # |x|, not x
    assert wrong(algebra, Step("sum", (x, variable(0, 4)), x))
    assert wrong(algebra, Step("stop", (x,), y))
    assert wrong(algebra, Step("belief", (x,), x))
    assert wrong(algebra, Step("gate", (x, y), y))
    early, late = algebra.case(i, 0, 2), algebra.case(i, 0, 3)
    assert wrong(algebra, Step("case", (i, 0, 2), early)) == ""
    assert wrong(algebra, Step("case", (i, 0, 2), late))
    assert wrong(algebra, Step("mul", (late, x), x))


def test_rules_say_where_they_hold():
    assert all(rule.statement and rule.domain and rule.condition for rule in RULES.values())
    assert {name[1:] for name in vars(Algebra) if name[1:] in RULES} == set(RULES)
