#!/usr/bin/env python3
"""Checks that every public class, function and enumeration has a comment, which the site shows as
the reference of the API (docs/site/headers.py says what needs none).

usage: docstrings.py ROOT
"""

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "docs/site"))
import headers  # noqa: E402


def main():
    found = headers.undocumented(root)
    for one in found:
        print(one)
    count = sum(1 for path in root.glob("include/*/*/*.hpp") for _ in headers.read(path)[1])
    print(f"docstrings: {len(found)} finding(s), {count} declarations in public headers")
    return 1 if found or count < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
