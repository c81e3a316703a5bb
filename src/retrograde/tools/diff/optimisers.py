"""In what two optimisers' steps differ, in words. Called by forward.py."""

from __future__ import annotations

from typing import Any

from .events import Update, normalised
from .policy import POLICY


def steps_differ(x: Update, y: Update) -> str:
    """The reason why an optimiser's step of A and one of B on the same operands give different results."""
    if x.name != y.name:
        return "the optimisers follow different rules"
    if x.given is None or y.given is None:
        return "the optimisers' options differ" if x.text != y.text else "the optimisers' steps differ"
    options, others = normalised(x.given), normalised(y.given)
    note = ""
    if x.name == "adam" and ("step" in options) != ("step" in others):
        folded, plain, who = (others, options, "B") if "step" in options else (options, others, "A")
        given, rate = folded.get("lr", 0.0), plain.get("lr", 0.0)  # options that are 0 are not in the record
        step = plain.pop("step")
        unfold(folded, step)
        if given and _alike(given, rate) and not _alike(folded["lr"], rate):
            return f"the optimisers follow different rules: {who} does not correct the moments for their bias"
        note = f", which is what it comes to beside moments that are corrected (step {step:g})"
    told = [
        f"{', '.join(f'{k}={_shown(mine[k])}' for k in mine if k not in other or not _alike(mine[k], other[k]))} in {who}"
        for mine, other, who in ((options, others, "A"), (others, options, "B"))
    ]
    told = [text for text in told if not text.startswith(" in")]
    if not told:
        return "the optimisers' steps differ"
    return f"the optimisers' options differ: {', '.join(told)}{note if note and 'eps=' in told[-1] else ''}"


def unfold(options: dict[str, Any], step: float) -> None:
    """Turn the rate and epsilon of Adam with the correction of its moments in the rate into those beside corrected ones."""
    first, second = options["betas"]
    root = (1 - second**step) ** 0.5
    share = (1 - first**step) / root
    if "lr" in options:
        options["lr"] *= share
    if options.get("decoupled"):  # what is taken off is the product of both
        options["weight_decay"] = options.get("weight_decay", 0.0) / share
    options["eps"] = options.get("eps", 0.0) / root


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, tuple) and isinstance(y, tuple):
        return len(x) == len(y) and all(map(_alike, x, y))
    numbers = all(isinstance(z, (int, float)) and not isinstance(z, bool) for z in (x, y))
    return abs(x - y) <= POLICY.option * max(abs(x), abs(y)) if numbers else bool(x == y)


def _shown(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, float) else str(x)
