"""Which interpreter tests start further processes with: under emulation, one that the machine itself can start."""

import os
import sys

sys.executable = os.environ.get("RETROGRADE_CHILD_PYTHON", sys.executable)


def pytest_addoption(parser):
    parser.addoption("--golden", action="store_true", help="write the texts anew that graphs are compared with")
