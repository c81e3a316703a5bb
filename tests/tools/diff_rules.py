"""Asks each rule of `retrograde diff` by itself, on two programs that are made for it; prints what came of it.

Called by test_diff_rules.py in a process of its own, where the dialects are active. For each rule it says whether it knows
something when it is asked alone, and which rules have found the difference when all are asked in their order.
"""

import json
import tempfile
import warnings
from pathlib import Path

from diff_programs import program

import retrograde
from retrograde.tools.diff import align as aligning
from retrograde.tools.diff import onward
from retrograde.tools.diff.compare import compare
from retrograde.tools.diff.explain import ONWARDS, RESULTS, Here
from retrograde.tools.diff.forward import PARTINGS, REASONS, Parting
from retrograde.tools.diff.judge import Judgement
from retrograde.tools.diff.leaves import LeafPairs
from retrograde.tools.diff.program import recorded
from retrograde.tools.diff.rules import Rules

HEAD = """
import torch
x = torch.tensor([[1.3, -0.7, 0.45], [0.27, 0.91, -1.13]])
w = torch.tensor([[0.31, -0.52], [0.83, 0.17], [-0.29, 0.64]], requires_grad=True)
"""
NORMED = """
x = torch.sin(torch.arange(21.0)).reshape(7, 3)
bias = torch.tensor([0.11, -0.37], requires_grad=True)
optimizer = torch.optim.Adam([w, bias], lr=0.1)
h = {}
h = h - h.mean(0)
(torch.sin(h) ** 3).sum().backward()
optimizer.step()
"""
USER = """
class Drawn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        return torch.from_numpy(h.numpy() * {})
    @staticmethod
    def backward(ctx, g):
        return g
Drawn.apply(x @ w).sum().backward()
"""

MATCHED = {
    "step along noise": (("same input", "same operation", "same part"), NORMED.format("x @ w + bias"),
                         NORMED.format("(x.unsqueeze(2) * w).sum(1) + bias")),
    "same operation": (("same input",), "torch.tanh(x @ w)", "torch.tanh(x @ w)"),
    "same part": (("same input",), "torch.log(torch.exp(x @ w)).sum().backward()", "(x @ w).sum().backward()"),
    "written": (("same input", "same operation"), *["y = torch.zeros(2, 3)\ny.copy_(x + 0.3)\n"] * 2),
    "same input": ((), "y = x + 1", "y = x + 1"),
    "equal content": (("same input",), "y = x + x", "y = 2 * x"),
    "close content": (("same input",), "y = torch.log(torch.exp(x))", "y = 3 * x / 3"),
}  # fmt: skip
"""A rule -> those that it needs to be asked, too, and what the two programs do."""

EXPLAINED = {
    "different start": "weights_in_wrong_order",
    "from the start": tuple(f"v = torch.zeros(2, requires_grad=True)\n(v * torch.tensor({c})).sum().backward()"
                            for c in ([1.3, -0.7], [0.27, 0.91])),
    "written before it is read": ("h = x @ w\nr = h + 1.5\n(h * r).sum().backward()",
                                  "h = x @ w\nr = h\nr += 1.5\n(h * r).sum().backward()"),
    "overwritten": "alias_for_copy",
    "not stepped": "left_out_parameter",
    "changes nothing this time": ("torch.logsumexp((x @ w).clamp(-50, 50), 0).sum().backward()",
                                  "(x @ w).prod().backward()"),
    "chosen otherwise": "teacher_forcing",
    "something more": "accumulation_not_divided",
    "arranged in two ways": ("(torch.tanh(x.T.reshape(2, 3)) @ w).sum().backward()", "(torch.tanh(x) @ w).sum().backward()"),
    "computed a second time": "rk4_stage",
    "where it was born": "keepdim_square",
    "these operations": "attention_axis",
    "steps": "adam_weight_decay",
    "writes": tuple(f"(x @ w).sum().backward()\nw.data.copy_(torch.full((3, 2), {c}))" for c in (0.37, 0.73)),
    "write first": "clip_norm_for_value",
    "spelled out": "attention_axis",
    "other operation": "adam_eps_hand",
    "other parameters": ("torch.softmax(x @ w, 0).prod().backward()", "torch.softmax(x @ w, 1).prod().backward()"),
    "other operands": tuple(f"(x @ w * torch.tensor({c})).sum().backward()" for c in ([1.3, -0.7], [0.27, 0.91])),
    "more operands": "positive_weight",
    "other shapes": "keepdim_square",
    "transposed operand": tuple(f"v = torch.tensor({m}, requires_grad=True)\n(x @ w @ v).prod().backward()"
                                for m in ([[0.3, 1.7], [-0.6, 0.9]], [[0.3, -0.6], [1.7, 0.9]])),
    "same on the same": (USER.format(2), USER.format(3)),
    "not cleared": "forgotten_zero_grad",
    "one pass more": "fewer_steps",
    "another loss": "batch_dropped",
    "only one has it": "extra_bias",
    "on the way to the loss": "item_in_loss",
    "not on the way": tuple(f"w.backward(torch.full((3, 2), {c}))" for c in (0.37, 0.73)),
    "no gradient comes back": "data_in_loss",
    "they differ further on": "item_in_loss",
    "a copy that left the tape": "item_in_loss",
    "differentiated again": "gradient_penalty",
    "used differently": ("(x @ w).sum().backward()", "((x @ w).sum() + (w - w.detach()).sum()).backward()"),
    "another derivative": "bprop_order",
}  # fmt: skip
"""A rule -> a pair of diff_pairs, or what the two programs do."""


BELONG = {
    "same operations": "rnn_by_hand",
    "same option": "gan",
    "same step": "residual_mindspore_torch",
    "its derivative": "heat",
    "its parameter": "generator",
    "what comes back": "mixup",
    "moved": "order_of_norm_betas",
}
"""A rule that says to which difference a finding belongs -> a pair of diff_several."""


def records(a, b):
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for n, text in enumerate((a, b)):
            path = Path(folder) / f"{n}.py"
            path.write_text(HEAD + text)
            found.append(recorded(path))
    return found


def matched(name, needs, a, b):
    """The rules by which values are found where only this one and what it needs are asked, and where all are."""
    a, b = records(a, b)
    whole, found = aligning.MATCHERS, []
    for those in ([rule for rule in whole if rule.name in (name, *needs)], whole):
        aligning.MATCHERS = Rules(those)
        found.append({match.rule for match in aligning.align(a, b, LeafPairs(a, b)).partner.values()})
    return {"alone": name in found[0], "found_by": sorted(found[1])}


def explained(name, case):
    """Whether a rule knows something when it is asked alone, and the rules that find the difference."""
    a, b = (recorded(program(case, side)) for side in "ab") if isinstance(case, str) else records(*case)
    alignment = aligning.align(a, b, LeafPairs(a, b))
    judged = Judgement(alignment)
    finding, explanation = judged.explained()
    bad = judged.bad
    parted = finding.values if name == "from the start" else bad.known  # operands on the way of a gradient, or a loss
    here = explanation.start(bad) if name == "they differ further on" else finding.at
    for rules, where in (
        (PARTINGS, lambda: (Parting(explanation, *parted),)),
        (REASONS, lambda: finding.events),
        (RESULTS, lambda: (bad,)),
        (ONWARDS, lambda: (Here(explanation, bad, here),)),
    ):
        for rule in rules:
            if rule.name == name:
                return {"alone": rule.apply(explanation, *where()) is not None, "found_by": finding.rules}
    raise KeyError(name)


def belongs(name, pair):
    """Whether more differences are told apart where a rule is not asked."""
    a, b = (program(pair, side) for side in "ab")
    records = recorded(a), recorded(b)
    whole, found = onward.BELONGINGS, []
    for those in (whole, [rule for rule in whole if rule.name != name]):
        onward.BELONGINGS = Rules(those)
        answer = compare(*records, file_a=str(a), file_b=str(b),
                         widened=lambda: (recorded(a, widened=True), recorded(b, widened=True)))  # fmt: skip
        found.append(len(answer.differences))
    onward.BELONGINGS = whole
    return {"alone": found[0] < found[1], "found_by": [name]}


def main():
    warnings.simplefilter("ignore")
    retrograde.activate("mindspore", "paddle", "torch")
    found = {name: matched(name, *case) for name, case in MATCHED.items()}
    found.update((name, explained(name, case)) for name, case in EXPLAINED.items())
    found.update((name, belongs(name, pair)) for name, pair in BELONG.items())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
