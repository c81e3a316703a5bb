"""The cut of random programs whose answers by PyTorch are kept: `python -m tests.fuzz.record --torch PYTHON` writes it.

Short programs of every kind, chosen by seed, with which this library agrees when they are recorded.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .compare import LIMITS, differences
from .sides import Answer, Pair, Side
from .torch_programs import TorchProgram

RECORDED = Path(__file__).parent / "recorded.json"
LONGEST_TEXT = 650
LONGEST_ANSWER = 750


def rounded(x: Any) -> Any:
    """Numbers to twelve digits: more than any tolerance asks for."""
    if isinstance(x, float):
        return float(f"{x:.12g}")
    if isinstance(x, list):
        return [rounded(item) for item in x]
    return {key: rounded(item) for key, item in x.items()} if isinstance(x, dict) else x


def compact(answer: Answer) -> Answer:
    """What the comparison looks at, and no message."""
    stopped = answer["stopped"]
    kept = {
        "stopped": stopped and [*stopped[:2], ""],
        "seen": answer["seen"],
        "log": answer["log"],
        "side": answer["side"],
    }
    return rounded(kept)


def load() -> list[tuple[str, Answer]]:
    """Programs and PyTorch's answers."""
    return [(entry["text"], entry["answer"]) for entry in json.loads(RECORDED.read_text())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", required=True, metavar="PYTHON")
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=10**6)
    options = parser.parse_args()
    pair = Pair(Side("torch", options.torch), Side("retrograde-torch", sys.executable))
    entries: list[str] = []
    seed = options.seed
    while len(entries) < options.programs:
        texts = [TorchProgram(seed + i).text() for i in range(100)]
        seed += len(texts)
        texts = [text for text in texts if 150 < len(text) < LONGEST_TEXT]
        for text, (reference, ours) in zip(texts, pair.run(texts)):
            stopped = reference["stopped"]
            if differences(reference, ours) or (stopped and (LIMITS.search(stopped[2]) or len(entries) % 6)):
                continue  # one in six of the cut may end with an exception
            entry = json.dumps({"text": text, "answer": compact(reference)}, separators=(",", ":"))
            if len(entry) < len(text) + LONGEST_ANSWER and len(entries) < options.programs:
                entries.append(entry)
    RECORDED.write_text("[\n" + ",\n".join(entries) + "\n]\n")
    pair.close()
    print(f"{len(entries)} programs, {RECORDED.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
