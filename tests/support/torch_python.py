"""The Python that has PyTorch or onnxruntime, for tests that compare headroom with them."""

import os
import subprocess
import sys

SKIPPED = 77  # CTest's code for a skipped test


def torch_name():
    """HEADROOM_TORCH_PYTHON, or else python3."""
    return os.environ.get("HEADROOM_TORCH_PYTHON", "python3")


def imports(python, package):
    try:
        return subprocess.run([python, "-c", f"import {package}"], capture_output=True,
                              check=False).returncode == 0
    except OSError as error:
        sys.exit(f"error: HEADROOM_TORCH_PYTHON: {error}")


def torch_python():
    return python_with("torch")


def python_with(package):
    """The name of a Python that imports a package. Ends the test with a sentence if there is none:
    as skipped, or as failed if HEADROOM_TORCH_PYTHON names one."""
    python = torch_name()
    if imports(python, package):
        return python
    if "HEADROOM_TORCH_PYTHON" in os.environ:
        sys.exit(f"error: HEADROOM_TORCH_PYTHON: {python} cannot import {package}")
    print(f"skipped: python3 has no {package}; HEADROOM_TORCH_PYTHON can name another Python")
    sys.exit(SKIPPED)
