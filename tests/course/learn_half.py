#!/usr/bin/env python3
"""Which half of the heads can go? The experiment as a learner plays it in a terminal, its page, and
the board of answers.

usage: learn_half.py PROGRAM COURSE

COURSE is the folder course/ of the build, with the experiment in bin/.
"""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def module(name):
    """A module beside this one, or in tests/checks."""
    path = pathlib.Path(__file__).resolve().parents[1] / name
    about = importlib.util.spec_from_file_location(path.stem + "_of_tests", path)
    loaded = importlib.util.module_from_spec(about)
    about.loader.exec_module(loaded)
    return loaded


sys.dont_write_bytecode = True
terminal = module("course/terminal.py")
terminal.PATIENCE = 600  # models are trained meanwhile
browsers = module("checks/site.py")
wrong = 0
# An answer on the board before the game: it must stay, and comes first, because it is better.
OLD = {"date": "2001-02-03 04:05", "recovery": 250, "after": 3.0, "recovered": 0.5, "rank": 9.0,
       "models": [{"seed": 7, "removed": "e0,e1,e2,d0,d1,d2", "after": 3.0, "recovered": 0.5,
                   "rank": 9.0}]}
CHOICES = ["e0 e1 d0 d1 c0 c1", "e0,e1,e2,e3,d2,d3", "c0 c1 c2 c3 d0 d1"]


def expect(condition, text):
    """Prints what was expected and was not found."""
    global wrong
    if not condition:
        wrong += 1
        print("WRONG:", text, flush=True)


def check_refusals(program):
    """Wrong options are one line with the remedy, before anything is trained."""
    for words, message in (
            (["--remove", "e0"], "name 6 heads, not 1"),
            (["--remove", ""], "name 6 heads, not 0"),
            (["--remove", "e0,e1,e2,e3,d0,x1"], "\"x1\" is not a head; the heads are e0,e1"),
            (["--remove", "e0,e0,e1,e2,e3,d0"], "e0 is named twice"),
            (["--remove", "e0,e1,e2,e3,d0,d1", "--remove", "e0,e1,e2,e3,d0,d1"], "or 3 times"),
            (["--seeds", "1"], "3 to 8 models"), (["--seeds", "1,2,2"], "different numbers"),
            (["--seeds", "1,2,x"], "different numbers"), (["--seeds"], "has no value"),
            (["--page", __file__], "exists"), (["six"], "usage: ")):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False,
                              timeout=20)
        expect(done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
               and not done.stdout, f"{words}: {done.returncode} {done.stderr}{done.stdout[:99]}")


def check_board(learn, folder):
    """No board, a broken one, and one of a later version; none of them is overwritten."""
    expect("no answer yet" in learn("board").stdout, "an empty board")
    board = folder / "board.json"
    for text, message in (("{", "board.json"), ("[]", "board.json"),
                          ("{\"version\": 1}", "answers"),
                          ("{\"version\": 2, \"answers\": []}", "later version")):
        board.write_text(text)
        for words in (["board"], ["run", "half_of_the_heads", "--remove", "e0,e1,e2,e3,d0,d1"]):
            done = learn(*words)
            expect(0 < done.returncode < 10 and message in done.stderr and
                   board.read_text() == text, f"{words} with {text}: {done.stderr}")
    board.write_text(json.dumps({"version": 1, "answers": [OLD]}))


def play(program, environment):
    """Answers in a terminal, once wrongly. Returns what the experiment printed."""
    game = terminal.Terminal([program, "learn", "run", "half_of_the_heads"], environment)
    shown = ""
    for wanted, keys in (("(e0 e1 d0 ..., Enter: none): ", "e0 e1 e9\n"),
                         ("\"e9\" is not a head", ""),
                         *((f"Model {i + 1}: ", "") if part == 0 else
                           ("Enter: none): ", CHOICES[i] + "\n") for i in range(3)
                           for part in range(2) if i or part)):
        game.wait_for(wanted)
        shown += game.seen
        game.press(keys)
    game.wait_for("learn board")
    shown += game.seen
    expect(game.exit_code() == 0, "the experiment fails")
    return shown


def check_answer(shown, folder):
    """The board has what was printed, and it is what was measured: ranks are consistent."""
    answers = json.loads((folder / "board.json").read_text())["answers"]
    expect(len(answers) == 2 and answers[0] == OLD, f"the board has {answers}")
    answer = answers[-1]
    removed = [model["removed"] for model in answer["models"]]
    expect(removed == [text.replace(" ", ",") for text in CHOICES], f"removed: {removed}")
    for model in answer["models"]:
        expect(f"Without {model['removed']}: loss {model['after']:.2f} on other examples, "
               f"rank {model['rank']:.0f} of 924" in " ".join(shown.split()), f"{model}")
        expect(1 <= model["rank"] <= 924 and 0 < model["recovered"] < model["after"], f"{model}")
    for name in ("after", "recovered", "rank"):
        mean = sum(model[name] for model in answer["models"]) / 3
        expect(abs(answer[name] - mean) < 1e-9 * mean, f"the mean of {name}")
    record = json.loads((folder / "half-1.html").read_text().split('id="run">')[1]
                        .split("</script>")[0])
    for model, mine in zip(record["models"], answer["models"]):
        losses = model["losses"]
        expect(len(losses) == 924 and losses == sorted(losses), "losses of all halves")
        choices = {choice["by"]: choice for choice in model["choices"]}
        expect(choices["you"]["after"] == losses[round(mine["rank"]) - 1], "your rank")
        expect(choices["best of all"]["after"] == losses[0], "the best of all")
        expect(abs(choices["random (mean)"]["after"] - sum(losses) / 924) < 1e-9, "the mean")
        expect(model["whole"] < losses[0] < choices["greedy"]["after"] * 1.001, "the order")
        expect(choices["greedy"]["removed"].count(",") == 5, "greedy removes six")
        expect(all(choice["recovered"] > 0.001 for choice in model["choices"]), "recovery")
    return record


def check_page(page, record):
    """The page in Chromium: its table, a curve for each model, no request, not too wide."""
    if not shutil.which("chromium"):
        print("no chromium: the page was not opened")
        return
    with tempfile.TemporaryDirectory() as profile:
        browser = browsers.Browser(profile)
        try:
            for theme, width in (("light", 390), ("dark", 1200)):
                browser.open(page.as_uri(), theme, width)
                browser.frames(2)
                too_wide = browser.run("document.documentElement.scrollWidth - innerWidth")
                expect(too_wide <= 0, f"{too_wide} pixels too wide at {width}")
                you = browser.run("[...document.querySelectorAll('tr.you')].map((row) => "
                                  "row.children[3].textContent)")
                wanted = [f"{part['recovered']:.3f}" for part in
                          [next(c for c in record["means"] if c["by"] == "you")] +
                          [next(c for c in m["choices"] if c["by"] == "you")
                           for m in record["models"]]]
                expect(you == wanted, f"the page says {you}, the record {wanted}")
                points = browser.run("document.querySelectorAll('svg .you').length")
                expect(points == 3, f"{points} points of the learner's")
                for complaint in browser.complaints(page.as_uri()):
                    expect(False, complaint)
        finally:
            browser.close()


def main():
    program, course = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    check_refusals(str(course / "bin/half_of_the_heads"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        environment = {**os.environ, "HEADROOM_WORKSPACE": name, "TERM": "xterm", "COLUMNS": "80",
                       "OMP_WAIT_POLICY": "passive", "NO_COLOR": "1"}

        def learn(*words):
            return subprocess.run([program, "learn", *words], env=environment, text=True,
                                  capture_output=True, check=False, timeout=120)

        check_board(learn, folder)
        record = check_answer(play(program, environment), folder)
        check_page(folder / "half-1.html", record)
        shown = learn("board").stdout
        wide = max(map(len, shown.splitlines()))
        expect(wide <= 80 and "e0,e1,e2,e3,d2,d3" in shown and "proves nothing" in shown,
               f"the board, {wide} columns: {shown}")
        rows = re.findall(r"^(2\d\d\d)-\d\d-\d\d \d\d:\d\d +(\S+) ", shown, re.M)
        expect([row[1] for row in rows] == ["7", "1,2,3"] and rows[0][0] == "2001", shown)
    print(f"half of the heads: {wrong} finding(s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
