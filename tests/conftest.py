"""Which interpreter tests start further processes with: under emulation, one that the machine itself can start."""

import os
import sys

sys.executable = os.environ.get("RETROGRADE_CHILD_PYTHON", sys.executable)
