#!/usr/bin/env python3
"""The rewards at the ends of the course's parts, as a learner meets them: the films of chapter 04
with and without a terminal, one's own drawings, which of the learner's functions they call, and the
page with the learner's model, opened in Chromium if there is one.

usage: learn_rewards.py PROGRAM COURSE

COURSE is the folder course/ of the build, with the experiments in bin/.
"""

import importlib.util
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

# Python has a module of the name site, too.
SITE = importlib.util.spec_from_file_location(
    "site_checks", pathlib.Path(__file__).resolve().parents[1] / "checks/site.py")
browsers = importlib.util.module_from_spec(SITE)
SITE.loader.exec_module(browsers)

wrong = 0
SOLVED = ["01/1", "01/2", "01/3", "03/1", "03/2", "03/3", "04/1", "04/2", "04/3", "04/4"]
TYPED = ["3rd of May, 2021", "14 July 1989", "2.11.1999"]
OF_THE_FILM = ["operator* and tanh", "backward_order", "backward", "Adam::update_run",
               "clip_grad_norm"]
OF_THE_SHAPES = ["sigmoid", "sum_to", "matmul", "softmax", "cross_entropy", "Adam::update_run",
                 "clip_grad_norm"]


def expect(condition, text):
    """Prints what was expected and was not found."""
    global wrong
    if not condition:
        wrong += 1
        print("WRONG:", text, flush=True)


def on_a_terminal(command, environment):
    """The output of a command on a terminal whose size is unknown."""
    pid, file = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, environment)
    text = b""
    while True:
        try:
            part = os.read(file, 65536)
        except OSError:  # it has ended
            break
        if not part:
            break
        text += part
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    expect(code == 0, f"{command} exits with {code}")
    return text.decode()


def check_films(programs):
    """Two pictures without a terminal, many in one place with one, colours only where allowed."""
    plain = {**os.environ, "LC_ALL": "C"}
    for name, films, last in (("first_network", 2, "72 of 72 points"), ("shapes", 1, "step 300 ")):
        command = [str(programs / name)]
        done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
        pictures = re.findall(r"^step ", done.stdout, re.M)
        expect(done.returncode == 0 and len(pictures) == 2 * films,
               f"{name} shows {len(pictures)} pictures and exits with {done.returncode}")
        expect(done.stdout.isascii() and "\x1b" not in done.stdout, f"{name}: more than ASCII")
        expect(last in done.stdout, f"{name} does not print \"{last}\"")
        wide = max(map(len, done.stdout.splitlines()))
        expect(60 < wide <= 80, f"{name}: {wide} columns")
        film = on_a_terminal(command, {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                                       "NO_COLOR": "1"})
        expect(len(re.findall(r"\x1b\[\d+A", film)) > 20, f"{name} is no film")
        expect("█" in film and not re.search(r"\x1b\[\d*m", film), f"{name}: colours or no blocks")
    film = on_a_terminal(command, {**os.environ, "TERM": "xterm", "NO_COLOR": ""})
    expect("\x1b[32mheart" in film and "\x1b[31m" in film, "shapes has no colours")


def check_drawings(programs, folder):
    """One's own drawings: learned, or refused in one line that names file, line and remedy."""
    program, own = str(programs / "shapes"), folder / "mine.txt"

    def shapes(*words):
        return subprocess.run([program, *words], capture_output=True, text=True, check=False)

    expect(shapes("--write", str(own)).returncode == 0, "shapes --write fails")
    text = own.read_text()
    again = shapes("--write", str(own))
    expect(again.returncode == 2 and "exists" in again.stderr and own.read_text() == text,
           f"shapes --write overwrites a file: {again.stderr}")
    first = "ell\n" + "##......\n" * 6 + "########\n" * 2
    own.write_text("# mine\n" + first + "\ntee\n" + "########\n" * 2 + "...##...\n" * 6
                   + first.replace("ell", "ell?"))
    read = shapes(str(own))
    expect(read.returncode == 0 and re.search(r"asked drawings, per cent right +100$", read.stdout,
                                              re.M), f"own drawings: {read.stdout}{read.stderr}")
    for name, bad, message in (
            ("empty", "", "draw at least two different shapes"),
            ("one", first, "draw at least two different shapes"),
            ("only asked", text.replace("heart\n", "heart?\n"), "no drawing of \"heart\" to learn"),
            ("short line", text.replace("########\n", "#######\n", 1), "8 lines of 8 letters"),
            ("letters", text.replace("..####..", "..oooo..", 1), "8 lines of 8 letters"),
            ("no name", text.replace("house\n", "\n", 1), "needs a name"),
            ("nameless", text.replace("house?", "?"), "a name has 1 to 8 letters"),
            ("ends early", text[:text.rindex(".##...#.")], "ends inside a drawing")):
        own.write_text(bad)
        done = shapes(str(own))
        expect(done.returncode == 2 and re.fullmatch(
            rf"error: {own}:\d+: .*{re.escape(message)}.*\n", done.stderr) and not done.stdout,
               f"{name}: {done.returncode} {done.stderr}{done.stdout[:200]}")
    missing = shapes(str(folder / "none.txt"))
    expect(missing.returncode == 2 and "--write" in missing.stderr, "a missing file")


def check_calls(program, folder):
    """With the solutions as answers, the films call each function that their chapter names."""
    environment = {**os.environ, "HEADROOM_WORKSPACE": str(folder), "OMP_WAIT_POLICY": "passive"}

    def learn(*words):
        done = subprocess.run([program, "learn", *words], env=environment, text=True,
                              capture_output=True, check=False)
        expect(done.returncode == 0, f"learn {words}: {done.stdout[-500:]}{done.stderr}")
        return done.stdout

    exercises = {e["id"]: e for e in json.loads(learn("list", "--json"))}
    for name in SOLVED:
        learn("generate", name, str(folder / "answers"))
        own = pathlib.Path(exercises[name]["file"])
        own.parent.mkdir(exist_ok=True)
        own.write_text((folder / "answers" / (own.stem + "_solution.cpp")).read_text())
        learn("check", name)
    for name, functions in (("first_network", OF_THE_FILM), ("shapes", OF_THE_SHAPES)):
        text = " ".join(learn("run", name).split())
        called = re.search(r"This command called your functions (.*?)\.( |$)", text)
        called = called[1].split(", ") if called else []
        expect(set(functions) <= set(called), f"{name} calls {called}")


def check_page(program, translator, folder):
    """The page names maker and functions, asks no other host, and answers as the program does."""
    environment = {**os.environ, "HEADROOM_WORKSPACE": str(folder), "OMP_WAIT_POLICY": "passive"}
    page, run = folder / "ada.html", folder / "run"

    def demo(*words):
        return subprocess.run([program, "learn", "demo", *words], env=environment, text=True,
                              capture_output=True, check=False, cwd=folder)

    for words, message in (
            (["--page", str(folder)], "is a folder"), (["--name", "Ada"], "--name needs --page"),
            (["--page", str(folder / "none/a.html")], "there is no folder"),
            (["--page", str(page), "--name", "a\nb"], "on one line"),
            (["--page", str(page), "--steps", "0"], "--steps")):
        done = demo(*words)
        expect(0 < done.returncode < 10 and message in done.stderr, f"demo {words}: {done.stderr}")
    done = demo("--page", str(page), "--name", "Ada <i>", "--steps", "600", "--out", str(run))
    expect(done.returncode == 0, f"learn demo --page: {done.stderr[-500:]}")
    text = page.read_text()
    record = json.loads(text.split('id="run">')[1].split("</script>")[0])
    functions = record["maker"]["functions"]
    expect("cross_entropy" in functions and "Adam::update_run" in functions
           and "backward_order" not in functions, f"the page names {functions}")
    expect("Ada &lt;i&gt;" in text and "<i>'s" not in text, "the name is markup")
    done = demo("--page", "--steps", "1", "--out", str(folder / "short"))
    expect(done.returncode == 0 and "A transformer that reads dates" in
           (folder / "short/report.html").read_text(), f"a page without a name: {done.stderr}")
    again = demo("--page", str(page), "--out", str(folder / "other"))
    expect(again.returncode != 0 and "--force" in again.stderr and page.read_text() == text
           and not (folder / "other").exists(), f"the page is overwritten: {again.stderr}")
    wanted = subprocess.run([translator, "translate", "--model", str(run), *TYPED], text=True,
                            capture_output=True, check=False).stdout.splitlines()
    expect(len(set(wanted)) == len(TYPED), f"the program writes {wanted}")
    if not shutil.which("chromium"):
        print("no chromium: the page was not opened")
        return
    with tempfile.TemporaryDirectory() as profile:
        browser = browsers.Browser(profile)
        try:
            check_typing(browser, page.as_uri(), wanted, functions)
        finally:
            browser.close()


def check_typing(browser, address, wanted, functions):
    """Types dates into the page, and switches a head off."""
    for theme, width in (("light", 390), ("dark", 1200)):
        browser.open(address, theme, width)
        browser.frames(2)
        too_wide = browser.run("document.documentElement.scrollWidth - innerWidth")
        expect(too_wide <= 0, f"{too_wide} pixels too wide at {width}")
        facts = browser.run("document.getElementById('facts').textContent")
        expect(all(name in facts for name in functions) and "600 training steps" in facts, facts)
        for text, answer in zip(TYPED, wanted):
            browser.run("document.getElementById('date').select()")
            browser.call("Input.insertText", text=text)
            browser.frames(2)
            shown = browser.run(browsers.STATE)["answers"]
            expect(shown[0] == answer, f"{text}: the page says {shown}, the program {answer}")
        before = browser.run(browsers.STATE)
        browser.click("button.head")
        browser.frames(2)
        after = browser.run(browsers.STATE)
        expect(after["off"] == 1 and after["lines"][1] != before["lines"][1], "no head goes off")
        for complaint in browser.complaints(address):
            expect(False, complaint)


def main():
    program, course = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        check_films(course / "bin")
        check_drawings(course / "bin", pathlib.Path(folder))
        check_calls(program, pathlib.Path(folder))
        check_page(program, str(course / "bin/headroom"), pathlib.Path(folder))
    print(f"rewards: {wrong} finding(s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
