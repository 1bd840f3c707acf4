#!/usr/bin/env python3
"""Checks when the launcher prints a stored help text, and when it starts the program for it, and
compares its usage errors, which need no build, with the program's. The launcher runs in a copy of
its folder, with a script in place of the program.

usage: launcher.py [PROGRAM]

Without PROGRAM usage errors are not compared.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = '#!/bin/sh\necho "started by $HEADROOM_LAUNCHER: $*"\n'
HELP = {"": "overview", "--help": "help", "lab": "lab_list", "lab list": "lab_list",
        "lab --help": "lab", "train --help": "train", "graph -h": "graph"}

# Calls that the launcher answers as the program does.
ANSWERED = [
    ["--version"], ["help"], ["help", "train"], ["help", "trian"], ["reprot"], ["docter", "--json"],
    ["xyzzy"], ["Doctor"],
    ["help", "overview"], ["help", "lab_list"], ["help", "/etc/passwd"], ["help", "../help/train"],
    ["-x", "--help"], ["trian", "--help"], ["--versoin"], ["-x"], ["--json", "doctor"],
    ["--threads=2"], ["doctor", "bench"], ["doctor", "--jsn"], ["doctor", "--jsn=1"],
    ["doctor", "-q"], ["doctor", "--threads"], ["doctor", "--threads", "1", "2"],
    ["doctor", "--version"], ["demo", "--jobs", "2"], ["demo", "--arm-count"], ["attend"],
    ["attend", "--inptu", "abc"], ["attend", "abc", "--input", "abc"], ["study"],
    ["study", "--dry-run"], ["study", "a.json", "b.json"], ["bench", "step", "step"],
    ["bench", "--case"], ["inspect", "run"], ["lab", "--presicion", "both"], ["learn", "--lsit"],
    ["learn", "chekc", "04/1"], ["learn", "04/1", "05/1"], ["learn", "zzzzzz", "04/1"],
    ["train", "--lr"], ["train", "--seed"], ["train", "--stpes", "3"],
    ["train", "--learning_rate", "1"], ["train", "--momentum", "3"], ["train", "--n_layer", "2"],
    ["train", "--max_steps=3"],
    ["train", "--lr", "1", "--batch-size", "2", "--max-steps", "3", "x"],
    ["train", "--snapshots", "1,2", "--n"], ["prune", "--at-lest", "1"], ["translate", "--bam"],
]
# Calls that only the program can judge: the launcher builds it.
BUILT = [
    ["doctor"], ["doctor", "--threads", "-3"], ["attend", "--input", "--foo"], ["bench", "steps"],
    ["lab", "ask", "are", "heads", "shared"], ["train", "--snapshots", "1", "2", "--seed=3"],
    ["train", "--lr", "1", "--batch-size=2", "--max-steps", "3"], ["translate", "a", "b"],
    ["importance", "--trace", "a", "b", "--json"], ["learn", "check", "04/1", "--foo"],
    ["learn", "check", "--help"], ["help", "learn", "check"],
    ["sample", "-"], ["graph", "--dot"], ["parity", "cases", "--only", "mha"],
]

wrong = []


def expect(folder, when, words, started):
    """Compares what `./headroom WORDS` prints with the program's output or the stored text."""
    done = subprocess.run([folder / "headroom", *words.split()], text=True, capture_output=True)
    stored = ROOT / "docs/help" / (HELP.get(words, words.split()[0] if words else "") + ".txt")
    wanted = f"started by ./headroom: {words}\n" if started else stored.read_text()
    if done.returncode != 0 or done.stdout != wanted:
        wrong.append(f"{when}: ./headroom {words} prints {done.stdout[:60]!r} {done.stderr!r}")
    elif ("Printed from docs/help" in done.stderr) == started:
        wrong.append(f"{when}: ./headroom {words} prints on stderr {done.stderr!r}")


def copy_launcher(folder):
    """The launcher with its texts, sources as old as 1970, and a program without a stamp."""
    shutil.copy(ROOT / "headroom", folder)
    shutil.copytree(ROOT / "docs/help", folder / "docs/help")
    for name in ["CMakeLists.txt", "CMakePresets.json", "src/a.cpp", "include/a.hpp"]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    for path in [folder / "headroom", *folder.iterdir(), *folder.glob("src/**/*"),
                 *folder.glob("include/**/*")]:
        os.utime(path, (0, 0))
    program = folder / "build/release/bin/headroom"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)


def add_failing_tools(folder):
    """Programs that stand for those of a build and fail. Returns the environment that has them."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ["apt-get", "cmake", "dpkg-query", "ninja"]:
        (tools / name).write_text("#!/bin/sh\nexit 1\n")
        (tools / name).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "COLUMNS": "80"}


def expect_usage_errors(folder, program):
    """Compares the launcher in a folder without a build with the program."""
    copy_launcher(folder)
    shutil.rmtree(folder / "build")
    shutil.copy(ROOT / "CMakeLists.txt", folder)
    environment = add_failing_tools(folder)

    def run(command, words):
        done = subprocess.run([command, *words], text=True, capture_output=True, cwd=folder,
                              env={**environment, "HEADROOM_LAUNCHER": "./headroom"})
        note = [line for line in done.stderr.splitlines(True) if "Printed from" not in line]
        return done.returncode, done.stdout.rstrip("\n"), "".join(note)

    for words in ANSWERED:
        answer, truth = run("./headroom", words), run(program, words)
        if answer != truth:
            wrong.append(f"{words}: the launcher gives {answer}, the program {truth}")
        elif truth[0] not in (0, 2):
            wrong.append(f"{words}: the program ends with {truth}")
        if (folder / "build").exists():
            sys.exit(f"{words}: the launcher began to build")
    for words in BUILT:
        answer = run("./headroom", words)
        if "CMake could not configure" not in answer[2]:
            wrong.append(f"{words}: the launcher does not build, but gives {answer}")
        shutil.rmtree(folder / "build", ignore_errors=True)

    # A source that is newer than the last build may have a new option. The texts may be older than
    # both, as after a clone.
    stamp = folder / "build/release/program.stamp"
    (folder / "src/cli").mkdir()
    (folder / "src/cli/train.cpp").touch()
    (folder / "src/a.cpp").touch()
    os.utime(folder / "docs/help/help.txt", (0, 0))

    def run_with_stamp(words):
        stamp.parent.mkdir(parents=True, exist_ok=True)  # a build that fails removes it
        stamp.write_text(f"{folder}\n")
        os.utime(stamp, (2, 2))
        return run("./headroom", words)[2]

    if "CMake could not configure" not in run_with_stamp(["train", "--new"]):
        wrong.append("the launcher refuses an option that newer sources may have")
    for path in [folder / "src/cli/train.cpp", folder / "src/cli"]:
        os.utime(path, (1, 1))
    for words, text in [(["train", "--new"], "has no option --new"),
                        (["tarin"], "unknown command \"tarin\" (did you mean train?)"),
                        (["help", "trian"], "unknown command \"trian\" (did you mean train?)")]:
        answer = run_with_stamp(words)
        if text not in answer:
            wrong.append(f"an old program keeps the launcher from refusing {words}: {answer}")


def expect_clean_output(folder):
    """Messages of a build must not get into the file to which the program's output goes."""
    copy_launcher(folder)
    environment = add_failing_tools(folder)
    build = ("#!/bin/sh\necho '1 2 [1/2] Building a.o'\nmkdir -p build/release/bin\n"
             f"cat > build/release/bin/headroom <<'END'\n{PROGRAM}END\n"
             "chmod +x build/release/bin/headroom\n")
    for tool, text in {"cmake": "#!/bin/sh\n", "ninja": build, "dpkg-query": "#!/bin/sh\n",
                       "apt-get": "#!/bin/sh\n"}.items():
        (folder / "tools" / tool).write_text(text)
    (folder / "src/a.cpp").touch()
    done = subprocess.run(["./headroom", "doctor"], text=True, capture_output=True, cwd=folder,
                          env=environment)
    if done.stdout != "started by ./headroom: doctor\n" or "50 %" not in done.stderr:
        wrong.append(f"after a build, doctor prints {done.stdout!r} and on stderr {done.stderr!r}")


def expect_one_background_build(folder):
    """The rest of the course is built once at a time, and the next call tells an error of it."""
    copy_launcher(folder)
    environment = add_failing_tools(folder)
    for name in ["chapters", "examples", "tests/support"]:
        (folder / name).mkdir(parents=True)
    ninja = ("#!/bin/sh\necho \"$*\" >>calls\n"
             "case \"$*\" in *course_double) sleep 1; echo 'FAILED: a.o'; exit 1 ;; esac\n"
             "cp build/release/bin/headroom build/release/bin/headroom-learn\n")
    configured = f"CMAKE_HOME_DIRECTORY:INTERNAL={folder}"
    cmake = (f"#!/bin/sh\necho '{configured}' >build/release/CMakeCache.txt\n"
             "touch build/release/build.ninja\n")
    for tool, text in {"cmake": cmake, "ninja": ninja, "dpkg-query": "#!/bin/sh\n",
                       "apt-get": "#!/bin/sh\n"}.items():
        (folder / "tools" / tool).write_text(text)
    (folder / "build/release/CMakeCache.txt").write_text(configured + "\n")
    (folder / "build/release/build.ninja").touch()

    def check():
        return subprocess.run(["./headroom", "learn", "check"], text=True, capture_output=True,
                              cwd=folder, env=environment).stderr

    for _ in range(3):
        if "at the same time" not in (text := check()):
            wrong.append(f"the first calls of learn print on stderr {text!r}")
    log, end = folder / "build/course.log", time.monotonic() + 60
    while not (log.exists() and "error:" in log.read_text()) and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.5)
    calls = (folder / "calls").read_text().count("course_double")
    if calls != 1:
        wrong.append(f"three calls of learn build the rest of the course {calls} times")
    (folder / "tools/ninja").write_text("#!/bin/sh\n")
    if "could not be built: the build failed" not in (text := check()):
        wrong.append(f"after a build that failed, learn prints on stderr {text!r}")
    while not (folder / "build/release/learn.stamp").exists() and time.monotonic() < end:
        time.sleep(0.1)


def main():
    with tempfile.TemporaryDirectory() as name:
        expect_one_background_build(pathlib.Path(name).resolve())
    with tempfile.TemporaryDirectory() as name:
        expect_clean_output(pathlib.Path(name).resolve())
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as name:
            expect_usage_errors(pathlib.Path(name).resolve(), os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        copy_launcher(folder)
        release = folder / "build/release"
        for words in HELP:
            expect(folder, "not built", words, started=False)
        for command in ["program", "lab", "learn", "graph"]:
            stamp = release / f"{command}.stamp"
            stamp.write_text(f"{folder}\n")
            for words in HELP:
                expect(folder, f"built by {command}", words, started=True)
            expect(folder, f"built by {command}", "learn --help", started=False)
            expect(folder, f"built by {command}", "parity --help", started=False)
            (folder / "src/a.cpp").touch()
            os.utime(stamp, (1, 1))
            for words in HELP:
                expect(folder, f"{command} is old", words, started=False)
            os.utime(folder / "src/a.cpp", (0, 0))
            stamp.write_text("/another/folder\n")
            expect(folder, f"{command} is of another folder", "lab list", started=False)
            stamp.unlink()
        shutil.copy(release / "bin/headroom", release / "bin/headroom-learn")
        (release / "learn_first.stamp").write_text(f"{folder}\n")
        expect(folder, "the course is built", "learn --help", started=True)
    if wrong:
        sys.exit("\n".join(wrong))
    print("the launcher starts a program that is up to date, and prints stored texts otherwise")


main()
