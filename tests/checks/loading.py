"""Loads a check as a module of another one."""

import importlib.util


def loaded(path):
    """A Python file as a module; site.py has the name of a module of Python itself."""
    spec = importlib.util.spec_from_file_location("loaded_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
