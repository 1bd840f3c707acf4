#!/usr/bin/env python3
"""Predictions stay open until the learner has made them.

usage: learn_predictions.py PROGRAM

On a terminal, an experiment asks before it shows an answer, and hides what was skipped. With --all,
or without a terminal, it shows everything.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from terminal import Terminal

LAYOUTS = ("two_layouts",)  # takes a second; asks for 07/a, 07/b, and 07/c with 07/d


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HEADROOM_WORKSPACE": folder, "TERM": "xterm", "COLUMNS": "80",
                       "OMP_WAIT_POLICY": "passive"}

        def run(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=False)

        def state():
            return json.loads(pathlib.Path(folder, "state.json").read_text(encoding="utf-8"))

        assert "No prediction yet" in run("predictions").stdout

        own = Terminal([program, "learn", "run", *LAYOUTS], environment)
        own.wait_for("Your prediction (Enter skips it): ")
        assert "07/a  " in own.seen and "forward" not in own.seen, own.seen
        own.press("banana\n")
        own.wait_for("A number, such as")
        own.wait_for("(Enter skips it): ")
        own.press("1e-8\n")
        own.wait_for("(you predicted 1e-8)")
        own.wait_for("07/b  ")
        own.wait_for("(Enter skips it): ")
        own.press("\n")
        own.wait_for("07/c  ")
        own.wait_for("(Enter skips it): ")
        assert "rows without a gradient" not in own.seen, own.seen
        own.press("1\n")
        own.wait_for("07/d  ")
        own.wait_for("(Enter skips it): ")
        own.press("0\n")
        own.wait_for("leak bad, one head")
        own.wait_for("(you predicted 0)")
        own.wait_for("Still open: 07/b. Run it again to predict, or with --all to see everything.")
        assert own.exit_code() == 0
        assert state()["predictions"] == {"07/a": "1e-8", "07/c": "1", "07/d": "0"}, state()
        assert state()["measured"]["07/a"] == 0 and "07/b" not in state()["measured"], state()

        shown = run("predictions", "7").stdout
        rows = {line.split()[0]: line for line in shown.splitlines() if line.startswith("07/")}
        assert rows["07/a"].endswith("too large"), shown
        assert rows["07/d"].endswith("the same"), shown
        assert "Still open: 07/b\n" in shown, shown
        assert "of 3 within a factor of 2." in shown, shown

        again = Terminal([program, "learn", "run", *LAYOUTS], environment)  # asks what is open only
        again.wait_for("(Enter skips it): ")
        assert "07/a  " not in again.seen and "07/b  " in again.seen, again.seen
        again.press("\x03")  # Ctrl-C
        assert again.exit_code() == 130
        assert state()["predictions"]["07/a"] == "1e-8"

        everything = Terminal([program, "learn", "run", *LAYOUTS, "--all"], environment)
        everything.wait_for("rows without a gradient")
        everything.wait_for("leak bad, one head")
        assert everything.exit_code() == 0 and "Your prediction" not in everything.seen

        piped = run("run", *LAYOUTS).stdout
        assert "rows without a gradient" in piped and "Your prediction" not in piped, piped

        assert run("predict", "07/b", "20").returncode == 0  # before the experiment, as ever
        run("run", *LAYOUTS)
        rows = run("predictions", "07").stdout
        assert "17 % too small" in rows, rows
        refused = run("predictions", "77")
        assert refused.returncode == 2 and "77" in refused.stderr, refused.stderr
    print("learn_predictions: passed")


if __name__ == "__main__":
    main()
