"""The Python that has PyTorch, for tests that compare headroom with it."""

import os
import subprocess
import sys

SKIPPED = 77  # CTest's code for a skipped test


def torch_python():
    """The name of a Python that imports torch: HEADROOM_TORCH_PYTHON, or else python3. Ends the
    test with a sentence if there is none: as skipped, or as failed if the variable names one."""
    python = os.environ.get("HEADROOM_TORCH_PYTHON", "python3")
    try:
        done = subprocess.run([python, "-c", "import torch"], capture_output=True, check=False)
    except OSError as error:
        sys.exit(f"error: HEADROOM_TORCH_PYTHON: {error}")
    if done.returncode == 0:
        return python
    if "HEADROOM_TORCH_PYTHON" in os.environ:
        sys.exit(f"error: HEADROOM_TORCH_PYTHON: {python} cannot import torch")
    print("skipped: python3 has no PyTorch; HEADROOM_TORCH_PYTHON can name another Python")
    sys.exit(SKIPPED)
