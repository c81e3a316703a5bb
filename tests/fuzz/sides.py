"""The two processes that run programs, started once and kept warm; one that dies is started anew."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"

Answer = dict[str, Any]


class Side:
    """One worker: `side.start(texts)`, then `side.collect()`; or `side.run(texts)` for both."""

    def __init__(self, kind: str, python: str) -> None:
        self.kind = kind
        self.python = python
        self.process: subprocess.Popen[str] | None = None
        self.pending: list[str] = []

    def worker(self) -> subprocess.Popen[str]:
        if self.process is None:
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            environment["PYTHONPATH"] = str(SOURCES) if self.kind.startswith("retrograde") else ""
            environment["JAX_PLATFORMS"] = "cpu"
            environment["XLA_FLAGS"] = (
                "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # compiling is all it does
            )
            self.process = subprocess.Popen(
                [self.python, str(HERE / "worker.py"), self.kind],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment,
            )  # fmt: skip
        return self.process

    def start(self, texts: list[str]) -> None:
        self.pending = texts
        worker = self.worker()
        assert worker.stdin is not None
        worker.stdin.write(json.dumps(texts) + "\n")
        worker.stdin.flush()

    def collect(self, retry: bool = True) -> list[Answer]:
        """The answers; where the process has died of one of the texts, with `retry` those after it are run by another."""
        answers: list[Answer] = []
        while len(answers) < len(self.pending):
            assert self.process is not None
            assert self.process.stdout is not None
            line = self.process.stdout.readline()
            if line:
                answers.append({**json.loads(line), "side": self.kind})
                continue
            self.close()
            died: Answer = {"stopped": ["the process died", 0, ""], "seen": {}, "log": [], "side": self.kind}
            answers.append(died)
            left = self.pending[len(answers) :]
            if left and retry:
                return answers + self.run(left)
            answers += [died] * len(left)
        return answers

    def run(self, texts: list[str]) -> list[Answer]:
        if not texts:
            return []
        self.start(texts)
        return self.collect()

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Pair:
    """Both sides at once: the reference and this library."""

    def __init__(self, reference: Side, ours: Side) -> None:
        self.reference = reference
        self.ours = ours
        self.count = 0

    def run(self, texts: list[str], retry: bool = True) -> list[tuple[Answer, Answer]]:
        self.count += len(texts)
        self.reference.start(texts)
        self.ours.start(texts)
        return list(zip(self.reference.collect(retry), self.ours.collect(retry)))

    def close(self) -> None:
        self.reference.close()
        self.ours.close()
