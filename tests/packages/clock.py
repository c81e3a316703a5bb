"""Runs one program in this process and says on standard error what processor time it took, its imports left out.

    python clock.py PROGRAM, on the framework; retrograde run clock.py PROGRAM, on the dialect
"""

import ast
import resource
import sys
from pathlib import Path

MARK = "processor time without imports:"


def parts(source: str) -> tuple[ast.Module, ast.Module]:
    """A program up to its last import at the top, and what comes after."""
    body = ast.parse(source).body
    begins = max((i for i, statement in enumerate(body) if isinstance(statement, (ast.Import, ast.ImportFrom))), default=-1) + 1
    return ast.Module(body[:begins], []), ast.Module(body[begins:], [])


def spent() -> float:
    """Seconds of processor time of this process and of those that it has waited for."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def main() -> None:
    program = str(Path(sys.argv[1]).resolve())
    imports, rest = (compile(part, program, "exec") for part in parts(Path(program).read_text()))
    names = vars(sys.modules["__main__"])
    names.update(__file__=program)
    sys.argv[:] = [program]
    exec(imports, names)
    before = spent()
    exec(rest, names)
    print(MARK, f"{spent() - before:.4f}", file=sys.stderr)


if __name__ == "__main__":
    main()
