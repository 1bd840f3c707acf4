#!/usr/bin/env python3
"""Walks through the course as a learner does, on a terminal: start, hint, list, wrong answer,
deleted file, empty file, answer that does not compile, right answer, start over, kill, resume.

usage: learn_walk.py PROGRAM
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from terminal import Terminal


def walk_with_editor(program, environment, folder):
    """The file opens at its first gap, and the learner is told where that is."""
    own, opened = folder / "04_learning_to_learn/1_softmax.cpp", folder / "opened"
    editor = ["--edit-cmd", f"echo {{file}} {{line}} >> {opened}; sleep 600"]
    quiet = Terminal([program, "learn", "04/1", *editor], environment)
    quiet.wait_for(f"Begin at {own}:")
    quiet.wait_for("[q] quit")
    quiet.press("q")
    assert quiet.exit_code() == 0
    assert not opened.exists(), "HEADROOM_NO_EDITOR"
    with_editor = {**environment, "HEADROOM_NO_EDITOR": ""}
    learn = Terminal([program, "learn", "04/1", *editor], with_editor)
    learn.wait_for(f"Your command opens {own}:")
    learn.wait_for("[q] quit")  # though the editor is still there
    code = own.read_text(encoding="utf-8").splitlines()
    gap = next(i for i, line in enumerate(code, 1) if "chapter::todo(" in line)
    learn.press("e")
    learn.wait_for(f"opens {own}:{gap}.")
    learn.press("q")
    assert learn.exit_code() == 0
    wanted = f"{own} {gap}\n" * 2
    for _ in range(50):  # nobody waits for the editor
        if opened.read_text() == wanted:
            break
        time.sleep(0.1)
    assert opened.read_text() == wanted, opened.read_text()
    refused = subprocess.run([program, "learn", "--no-editor", "04/1"], env=with_editor, text=True,
                             capture_output=True, check=False)
    assert refused.returncode == 3 and f"  your file   {own}:{gap}\n" in refused.stdout


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HEADROOM_WORKSPACE": folder, "TERM": "xterm", "COLUMNS": "80",
                       "HEADROOM_NO_EDITOR": "1", "OMP_WAIT_POLICY": "passive"}

        def run(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=False)

        answers = pathlib.Path(folder, "answers")
        for name in run("generate", "07/1", str(answers)).stdout.splitlines():
            assert os.path.exists(name), name
        own = pathlib.Path(folder, "07_one_big_linear/1_project.cpp")

        def save(answer):
            """As editors do: a new file under another name, then a rename."""
            copy = own.with_suffix(".tmp")
            copy.write_text(answer, encoding="utf-8")
            copy.rename(own)

        def text_of(answer):
            return (answers / f"1_project_{answer}.cpp").read_text(encoding="utf-8")

        learn = Terminal([program, "learn", "07/1"], environment)
        learn.wait_for("to do  self-attention")
        learn.wait_for("[q] quit")
        learn.press("h")
        learn.wait_for("Hint 1 of 3")
        learn.wait_for("[q] quit")
        learn.press("l")
        learn.wait_for("[q] back, any other key: more")
        page = learn.seen.splitlines()
        assert len(page) <= 24, page  # the rows of a terminal that does not say how many it has
        learn.press("q")
        learn.wait_for("[q] quit")
        assert len(learn.seen.splitlines()[-1]) <= 80, learn.seen
        learn.press("s")
        learn.wait_for("[y/n]")
        learn.press("n")
        save(text_of("keys_for_values"))
        learn.wait_for("the columns of the keys were taken for the values")
        learn.wait_for("[q] quit")
        own.unlink()
        learn.wait_for("is gone. Save it")
        save("")
        learn.wait_for("not defined")
        save(text_of("solution").replace("live() *", "live( *"))
        learn.wait_for("does not compile")
        save(text_of("solution"))
        learn.wait_for("Right. All checks pass.")
        learn.wait_for("[q] quit")
        learn.press("x")
        learn.wait_for("[y/n]")
        learn.press("y")
        learn.wait_for("to do  self-attention")
        assert own.with_name("1_project.cpp.1").exists()
        os.kill(learn.pid, signal.SIGKILL)
        learn.exit_code()

        state = {e["id"]: e["passed"] for e in json.loads(run("list", "--json").stdout)}
        assert state["07/1"], "a pass was forgotten"
        assert run("check", "07/1").returncode == 3
        save(text_of("solution"))
        assert run("check", "07/1").returncode == 0
        on_own_functions = run("run", "doctor").stdout
        assert "1 function is yours: FusedHeads::project" in on_own_functions
        assert on_own_functions.endswith("Not used by this command: FusedHeads::project.\n")
        assert re.search(r"^own functions +FusedHeads::project$", on_own_functions, re.M)
        graded = run("grade", "--junit")
        case = "<testcase classname=\"07_one_big_linear\" name=\"07/1"
        assert case in graded.stdout, graded.stdout
        unknown = run("check", "07/9")
        assert unknown.returncode == 2 and "did you mean 07/" in unknown.stderr, unknown.stderr

        learn = Terminal([program, "learn", "07/1"], environment)
        learn.wait_for("Right. All checks pass.")
        learn.wait_for("[q] quit")
        learn.press("q")
        assert learn.exit_code() == 0
        learn = Terminal([program, "learn", "07/1"], environment)
        learn.wait_for("[q] quit")
        learn.press("\x03")  # Ctrl-C
        assert learn.exit_code() == 130
        walk_with_editor(program, environment, pathlib.Path(folder))
    print("the walk is done")


if __name__ == "__main__":
    main()
