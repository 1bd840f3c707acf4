#!/usr/bin/env python3
"""Runs a script with the Python that has torch and transformers.

usage: with_torch.py SCRIPT ARGUMENT...

Exits with 77, "skipped", where there is none; see tests/support/torch_python.py.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from torch_python import python_with  # noqa: E402

python = python_with("transformers")
os.execvp(python, [python, *sys.argv[1:]])
