"""`python -m tests.fuzz --programs N --seed S`: run, compare, minimise, sort; exit 1 when a difference is unexplained."""

import argparse
import collections
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from . import compare, known
from .compare import CHANGED, REFUSALS, Difference, allowing_changes, differences, ill_conditioned, numeric, widened
from .minimise import minimise
from .sides import Answer, Pair, Side
from .torch_programs import TorchProgram

CHUNK = 40


def explained(text: str, found: list[Difference], reference: Answer, pair: Pair) -> bool:
    """Rounding, amplified, or of a narrow dtype: no difference in double precision."""
    if found[0].kind == "exception" and reference["stopped"]:
        if REFUSALS.search(reference["stopped"][2]):
            return True
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
        return not differences(*pair.run([wide])[0]) and not differences(reference, pair.ours.run([text])[0], slack=300)
    return False


def judge(texts: list[str], pair: Pair) -> list[list[Difference]]:
    """For each text, its unexplained differences."""
    judged = []
    for text, (reference, ours) in zip(texts, pair.run(texts)):
        found = differences(reference, ours)
        if found and explained(text, found, reference, pair):
            found = []
        judged.append(found)
    return judged


def smallest(text: str, found: list[Difference], pair: Pair) -> str:
    signature = found[0].signature

    def still(texts: list[str]) -> str | None:
        alike = []
        for candidate, (reference, ours) in zip(texts, pair.run(texts, retry=False)):
            now = differences(reference, ours)
            if now and now[0].signature == signature:
                alike.append((candidate, now, reference))
        alike.sort(key=lambda x: len(x[0]))
        return next((text for text, now, reference in alike if not explained(text, now, reference, pair)), None)

    return minimise(text, still)


def hunt(
    pair: Pair, make: type[TorchProgram], seeds: range, seconds: float
) -> Iterator[tuple[int, str, list[Difference]]]:
    """Seeds whose programs differ."""
    start = time.monotonic()
    for first in range(seeds.start, seeds.stop, CHUNK):
        chunk = range(first, min(first + CHUNK, seeds.stop))
        texts = [make(seed).text() for seed in chunk]
        for seed, text, found in zip(chunk, texts, judge(texts, pair)):
            if found:
                yield seed, text, found
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
    causes: collections.Counter[str] = collections.Counter()
    unexplained: dict[str, list[int]] = {}

    def share(i: int) -> None:
        pair = pairs[i]
        part = range(seeds.start + i * len(seeds) // len(pairs), seeds.start + (i + 1) * len(seeds) // len(pairs))
        for seed, text, found in hunt(pair, make, part, options.seconds):
            small = text if options.no_minimise else smallest(text, found, pair)
            again = differences(*pair.run([small])[0]) or found
            cause = next((k for k in listed if k.explains(small, again)), None)
            if cause is not None:
                causes[cause.reason] += 1
                continue
            fresh = small not in unexplained
            unexplained.setdefault(small, []).append(seed)
            if fresh:
                print(f"# seed {seed} ({len(unexplained)})\n{report(small, pair)}\n", flush=True)
            if len(unexplained) >= options.max_findings:
                return

    with ThreadPoolExecutor(len(pairs)) as pool:
        list(pool.map(share, range(len(pairs))))
    seconds = time.monotonic() - start
    print(
        f"{name}: {len(seeds)} programs, seeds {seeds.start} to {seeds.stop - 1}, {seconds:.0f} s; "
        f"{sum(pair.count for pair in pairs)} runs"
    )
    for reason, count in causes.most_common():
        print(f"  known, {count} times: {reason}")
    for entry in listed:
        if not judge([entry.program], pairs[0])[0]:
            print(f"  a known difference is none any more, take it out: {entry.reason}")
    print(f"  unexplained: {sum(map(len, unexplained.values()))} programs, {len(unexplained)} different when minimised")
    for pair in pairs:
        pair.close()
    return len(unexplained)


if __name__ == "__main__":
    sys.exit(main())
