"""`python -m tests.fuzz --programs N --seed S`: run, compare, minimise, sort; exit 1 when a difference is unexplained."""

import argparse
import collections
import itertools
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from . import compare, known
from .compare import (
    CHANGED,
    NUMBERS,
    REFUSALS,
    Difference,
    allowing_changes,
    differences,
    ill_conditioned,
    narrow,
    numeric,
    widened,
)
from .known import Known
from .minimise import minimise
from .sides import Answer, Pair, Side
from .torch_programs import TorchProgram

CHUNK = 40
BROKEN = ("NameError", "UnboundLocalError", "AttributeError", "TypeError", "SyntaxError")
"""How a program stops that a rewriting has not left one."""
MOST_PAIRED = 8
"""How many known differences are tried two at a time."""
KINDS = ("values and gradients", "flags and refusals")


def explained(text: str, found: list[Difference], reference: Answer, pair: Pair) -> bool:
    """Rounding, amplified, or of a narrow dtype: no difference in double precision."""
    if found[0].kind == "exception" and reference["stopped"]:
        if REFUSALS.search(reference["stopped"][2]):
            return True
        if CHANGED in reference["stopped"][2] and found[0].ours is not None and "changed in place" in found[0].ours[2]:
            return True  # both refuse, at another place
        if CHANGED in reference["stopped"][2] and "vmap" not in text:  # then what is computed here has to be right
            again, ours = pair.reference.run([allowing_changes(text)])[0], pair.ours.run([text])[0]
            return (again["stopped"] is None) == (ours["stopped"] is None) and not [
                d for d in differences({**again, "stopped": None}, {**ours, "stopped": None}) if d.kind != "flag"
            ]
    if all(d.kind == "dtype" and "not to be observed" in str(d.reference) for d in found):
        return True
    if not numeric(found):
        return False
    if ill_conditioned(text, found, pair.reference.run, reference):
        return True
    wide = widened(text)
    if wide != text:
        # A result of a narrow dtype that is right in double precision differs by rounding, unless it is far off.
        far = differences(reference, pair.ours.run([text])[0], slack=10 * narrow(text))
        return not far and not differences(*pair.run([wide])[0])
    return False


def cause(text: str, found: list[Difference], pair: Pair, listed: list[Known]) -> Known | None:
    """The known difference, or the first of all that it may be, or of two, without which both sides agree on a program, or one
    that is seen at once."""
    for entry in listed:
        if entry.at_once and entry.explains(text, found):
            return entry
    every: list[Known] = []
    dtypes = [entry for entry in listed if entry.kinds == ("dtype",) and found[0].kind != "dtype"]
    together = text
    for entry in listed:
        rewritten = entry.rewritten(text, found)
        if rewritten is not None:
            if agree(rewritten, pair, [entry, *dtypes], listed):
                return entry
            every.append(entry)
            together = entry.rewrite(together)  # type: ignore[misc]
    if len(every) > 1 and agree(together, pair, [*every, *dtypes], listed):
        return every[0]
    for first, second in itertools.combinations(every[:MOST_PAIRED], 2):
        both = second.rewrite(first.rewrite(text))  # type: ignore[misc]
        if agree(both, pair, [first, second, *dtypes], listed):
            return first
    return None


def agree(text: str, pair: Pair, entries: list[Known], listed: list[Known]) -> bool:
    """Whether both sides agree in all that `entries` do not forgive, or differ in what another entry explains at once."""
    reference, ours = pair.run([text])[0]
    if reference["stopped"] and reference["stopped"][0] in BROKEN:
        return False
    found = [d for d in differences(reference, ours) if not any(entry.forgives(d) for entry in entries)]
    if not found or explained(text, found, reference, pair):
        return True
    return any(entry.at_once and entry.explains(text, found) for entry in listed if entry not in entries)


def judge(texts: list[str], pair: Pair) -> list[list[Difference]]:
    """For each text, its unexplained differences."""
    judged = []
    for text, (reference, ours) in zip(texts, pair.run(texts)):
        found = differences(reference, ours)
        if found and explained(text, found, reference, pair):
            found = []
        judged.append(found)
    return judged


def smallest(text: str, found: list[Difference], pair: Pair, listed: list[Known]) -> str:
    """The smallest program that differs in the same way, and of no known cause."""
    signature = found[0].signature

    def still(texts: list[str]) -> str | None:
        alike = []
        for candidate, (reference, ours) in zip(texts, pair.run(texts, retry=False)):
            now = differences(reference, ours)
            if now and now[0].signature == signature:
                alike.append((candidate, now, reference))
        alike.sort(key=lambda x: len(x[0]))
        for candidate, now, reference in alike:
            if not explained(candidate, now, reference, pair) and cause(candidate, now, pair, listed) is None:
                return candidate
        return None

    return minimise(text, still)


def hunt(
    pair: Pair, make: type[TorchProgram], seeds: range, seconds: float
) -> Iterator[tuple[int, list[tuple[int, str, list[Difference]]]]]:
    """How many programs have been run, and the seeds of those that differ, chunk by chunk."""
    start = time.monotonic()
    for first in range(seeds.start, seeds.stop, CHUNK):
        chunk = range(first, min(first + CHUNK, seeds.stop))
        texts = [make(seed).text() for seed in chunk]
        yield len(chunk), [x for x in zip(chunk, texts, judge(texts, pair)) if x[2]]
        if time.monotonic() - start > seconds:
            print(f"time is up after seed {chunk.stop - 1}")
            return


def report(text: str, pair: Pair) -> str:
    reference, ours = pair.run([text])[0]
    lines = [
        f"    # {d.kind} {d.where}: {pair.reference.kind} {d.reference!s:.160} | here {d.ours!s:.160}"
        for d in differences(reference, ours)[:4]
    ]
    return "\n".join([text.rstrip(), *lines])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; program i has seed S + i")
    parser.add_argument("--workers", type=int, default=1, help="pairs of processes")
    parser.add_argument("--torch", metavar="PYTHON", help="a Python that has PyTorch")
    parser.add_argument("--jax", metavar="PYTHON", help="a Python that has jax")
    parser.add_argument("--show", action="store_true", help="print the programs of the seeds and stop")
    parser.add_argument("--no-minimise", action="store_true")
    parser.add_argument("--max-findings", type=int, default=60, help="stop after as many")
    parser.add_argument("--ignore", metavar="REGEX", help="leave out differences whose kind and place match")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    if options.ignore:
        compare.ignored = re.compile(options.ignore)
    failed = 0
    for name, python in (("torch", options.torch), ("jax", options.jax)):
        if python:
            failed += fuzz(name, python, options)
    if not (options.torch or options.jax):
        print("nothing to compare with: name a Python that has PyTorch (--torch) or jax (--jax)")
    return 1 if failed else 0


def fuzz(name: str, python: str, options: argparse.Namespace) -> int:
    from .jax_programs import JaxProgram

    make = {"torch": TorchProgram, "jax": JaxProgram}[name]
    ours = {"torch": "retrograde-torch", "jax": "retrograde-native"}[name]
    listed = {"torch": known.TORCH, "jax": known.JAX}[name]
    seeds = range(options.seed, options.seed + options.programs)
    if options.show:
        for seed in seeds:
            print(f"# seed {seed}\n{make(seed).text()}")
        return 0
    pairs = [Pair(Side(name, python), Side(ours, sys.executable)) for _ in range(options.workers)]
    start = time.monotonic()
    count = 0
    causes: dict[str, collections.Counter[str]] = {kind: collections.Counter() for kind in KINDS}
    unexplained: dict[str, dict[str, list[int]]] = {kind: {} for kind in KINDS}

    def share(i: int) -> None:
        nonlocal count
        pair = pairs[i]
        part = range(seeds.start + i * len(seeds) // len(pairs), seeds.start + (i + 1) * len(seeds) // len(pairs))
        for ran, differing in hunt(pair, make, part, options.seconds):
            count += ran
            for seed, text, found in differing:
                sort(seed, text, found, pair)
            if sum(map(len, unexplained.values())) >= options.max_findings:
                return

    def sort(seed: int, text: str, found: list[Difference], pair: Pair) -> None:
        """Give a program that differs its place among the known causes or the unexplained."""
        known_cause = cause(text, found, pair, listed)
        if known_cause is None:
            small = text if options.no_minimise else smallest(text, found, pair, listed)
            found = differences(*pair.run([small])[0]) or found
            known_cause = next((k for k in listed if k.explains(small, found)), None)
        kind = KINDS[found[0].kind not in NUMBERS]
        if known_cause is not None:
            causes[kind][known_cause.reason] += 1
            return
        fresh = small not in unexplained[kind]
        unexplained[kind].setdefault(small, []).append(seed)
        if fresh:
            print(f"# seed {seed} ({sum(map(len, unexplained.values()))})\n{report(small, pair)}\n", flush=True)

    with ThreadPoolExecutor(len(pairs)) as pool:
        list(pool.map(share, range(len(pairs))))
    seconds = time.monotonic() - start
    print(
        f"{name}: {count} programs run of {len(seeds)}, from seed {seeds.start}, in {seconds:.0f} s "
        f"({count / seconds:.0f} a second); {sum(pair.count for pair in pairs)} runs with those of minimising"
    )
    for kind in KINDS:
        print(f"{kind}:")
        for reason, times in causes[kind].most_common():
            print(f"  known, {times} times: {reason}")
        left = unexplained[kind]
        print(f"  unexplained: {sum(map(len, left.values()))} programs, {len(left)} different when minimised")
    for entry in listed:
        if not judge([entry.program], pairs[0])[0]:
            print(f"a known difference is none any more, take it out: {entry.reason}")
    for pair in pairs:
        pair.close()
    return sum(map(len, unexplained.values()))


if __name__ == "__main__":
    sys.exit(main())
