#!/usr/bin/env python3
"""Checks the records of a learner's work: attempts, answers to the questions of a chapter, the
learner's page, the comparison of exercises for teachers, and a file to report an answer.

usage: learn_keeps.py PROGRAM
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from terminal import Terminal

program = sys.argv[1]


class Learner:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "HEADROOM_WORKSPACE": str(folder), "COLUMNS": "80",
                            "TERM": "xterm", "HEADROOM_NO_EDITOR": "1", "USER": "somebody",
                            "OMP_WAIT_POLICY": "passive"}
        self.own = self.folder / "00_first_light/1_scale.cpp"

    def learn(self, *words):
        done = subprocess.run([program, "learn", *words], env=self.environment, text=True,
                              capture_output=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def answer(self, name, write=True):
        self.learn("generate", "00/1", str(self.folder / "answers"))
        text = (self.folder / f"answers/1_scale_{name}.cpp").read_text(encoding="utf-8")
        if write:
            self.own.parent.mkdir(exist_ok=True)
            self.own.write_text(text, encoding="utf-8")
        return text

    def events(self, what):
        text = (self.folder / "attempts.json").read_text(encoding="utf-8")
        return [event for event in json.loads(text)["events"] if event["what"] == what]


def check_attempts(learner):
    code, text, _ = learner.learn("report")
    page = learner.folder / "report.html"
    assert code == 0 and text.endswith("report.html\n"), text
    empty = page.read_text(encoding="utf-8")
    assert empty.count("Nothing yet") == 1 and "Nothing predicted yet" in empty, empty[-1500:]
    for name in ("squared", "sqrt_missing", "sqrt_missing"):
        learner.answer(name)
        assert learner.learn("check", "00/1")[0] == 3
    learner.own.write_text(learner.answer("solution", write=False).replace("return", "retrn"))
    learner.learn("check", "00/1")
    attempts = learner.events("attempt")
    assert [one["passed"] for one in attempts] == [False] * 3, attempts  # one file came twice
    assert [one["diagnosis"] for one in attempts][2] == "does_not_compile", attempts
    assert attempts[0]["stage"] and "none" not in [one["diagnosis"] for one in attempts]
    assert len(learner.events("begin")) == 1
    learner.learn("hint", "00/1")
    assert learner.learn("predict", "00/a", "7")[0] == 0
    assert [one["value"] for one in learner.events("prediction")] == ["7"]

    assert "not kept" in learner.learn("attempts", "--off")[1]
    learner.answer("multiplied")
    learner.learn("check", "00/1")
    assert len(learner.events("attempt")) == 3, "kept though it is off"
    assert "sent nowhere" in learner.learn("attempts", "--on")[1]
    code, _, error = learner.learn("attempts", "--on", "--off")
    assert code != 0 and error.count("\n") <= 2, error


def check_send(learner):
    text = learner.answer("solution", write=False)
    own = text.replace("return", "// for somebody in /home/somebody/course/x\n  return 0 *")
    learner.own.write_text(own, encoding="utf-8")
    code, out, _ = learner.learn("send", "00/1")
    assert code == 0 and "sends nothing" in out, out
    sent = (learner.folder / "send/00_1.md").read_text(encoding="utf-8")
    for part in ("Exercise 00/1", "headroom 0.", "1_scale.cpp:7: ", "return 0 *", ".../x"):
        assert part in sent, f"{part} is not in {sent}"
    for part in (str(learner.folder), "/home", "/work"):
        assert part not in sent, f"{part} is in {sent}"
    code, _, error = learner.learn("send", "07/1")
    assert code == 2 and "has not begun" in error, error


def check_questions(learner):
    """After the last exercise of a chapter, here its only one; then at any time."""
    learner.answer("solution")
    terminal = Terminal([program, "learn", "00/1"], learner.environment)
    terminal.wait_for("Right. All checks pass.")
    terminal.wait_for("Question 1 of 2")
    terminal.wait_for("Enter skips it")
    terminal.press("9x1")  # the first two are no options
    terminal.wait_for("Right:")
    terminal.wait_for("Question 2 of 2")
    terminal.wait_for("Enter skips it")
    terminal.press("\n")
    terminal.wait_for("skipped")
    terminal.wait_for("[q] quit")
    terminal.press("c")
    terminal.wait_for("Right. All checks pass.")
    terminal.wait_for("[q] quit")
    assert "Question" not in terminal.seen, "asked twice in a session"
    terminal.press("q")
    assert terminal.exit_code() == 0
    answered = learner.events("question")
    assert [(one["name"], one["value"]) for one in answered] == [("00/1", "1")], answered
    terminal = Terminal([program, "learn", "questions", "0"], learner.environment)
    for number in (1, 2):
        terminal.wait_for(f"Question {number} of 2")
        terminal.wait_for("Enter skips it")
        terminal.press("2")
    terminal.wait_for("Right:")
    assert terminal.exit_code() == 0
    answered = learner.events("question")
    assert len(answered) == 3, answered
    source = pathlib.Path(json.loads((pathlib.Path(program).resolve().parents[1]
                                      / "course/course.json").read_text())["source"])
    questions = json.loads((source / "chapters/00_first_light/ask.json").read_text())["questions"]
    for event in answered:
        question = questions[int(event["name"][3:]) - 1]
        assert event["right"] == (int(event["value"]) - 1 == question["right"]), event
    code, text, _ = learner.learn("questions", "13")  # without a terminal
    assert code == 0 and "[1]" in text and "Right" not in text, text
    code, _, error = learner.learn("questions", "77")
    assert code == 2 and "there is no chapter" in error, error

    assert learner.learn("report", "--out", str(learner.folder / "mine.html"))[0] == 0
    page = (learner.folder / "mine.html").read_text(encoding="utf-8").replace("<wbr>", "")
    for part in ("00/1 attention_scale", "Question", "<td data-label=\"you predicted\">7</td>",
                 "<td data-label=\"state\">done</td>", "<td data-label=\"hints\">1</td>"):
        assert part in page, f"{part} is not in the page"
    assert "<script" not in page and "http" not in page.replace("http-equiv", ""), "an own page"


def check_items(learner, folder):
    """Six learners, one of whom only begins."""
    folders = []
    for i in range(6):
        copy = folder / f"learner{i}"
        copy.mkdir()
        shutil.copy(learner.folder / "attempts.json", copy)
        folders.append(str(copy))
    broken = pathlib.Path(folders[5], "attempts.json")
    text = json.loads(broken.read_text())
    text["events"] = text["events"][:2]
    broken.write_text(json.dumps(text))
    code, out, error = learner.learn("grade", "--items", *folders)
    assert code == 0 and "00/1" in out and "6 learners" in out, out + error
    item = json.loads(learner.learn("grade", "--json", "--items", *folders)[1])[0]
    assert item["began"] == 6 and abs(item["solved"] - 5 / 6) < 1e-9, item
    assert item["attempts"] == 4 and item["before_pass"] == "does_not_compile", item
    assert item["stopped"] == 1 and item["discrimination"] is None, item
    lines = learner.learn("grade", "--csv", "--items", *folders)[1].splitlines()
    assert lines[0].startswith("exercise,began,solved") and lines[1].startswith("00/1,6,0.83,-,4")
    code, _, error = learner.learn("grade", "--items", str(folder))
    assert code == 2 and "has no attempts.json" in error, error
    broken.write_text("{")
    code, _, error = learner.learn("grade", "--items", *folders)
    assert code != 0 and "learner5/attempts.json" in error and error.count("\n") == 1, error


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "own").mkdir()
        learner = Learner(folder / "own")
        check_attempts(learner)
        check_send(learner)
        check_questions(learner)
        check_items(learner, folder)
    print("attempts, questions and reports are kept")


if __name__ == "__main__":
    main()
