#!/usr/bin/env python3
"""Packs of exercises and translations: one that `learn new` makes, the samples, and broken ones.

usage: learn_packs.py PROGRAM
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

program = str(pathlib.Path(sys.argv[1]).resolve())
samples = pathlib.Path(__file__).resolve().parent


class Learner:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "HEADROOM_WORKSPACE": str(folder / "workspace"),
                            "COLUMNS": "80", "OMP_WAIT_POLICY": "passive"}

    def learn(self, *words, code=0):
        """The output of a command, on both streams, in one line."""
        done = subprocess.run([program, "learn", *map(str, words)], env=self.environment, text=True,
                              cwd=self.folder, capture_output=True, check=False)
        text = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == code, f"{words}: exit code {done.returncode}, not {code}: {text}"
        return text


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{file} has no {old}"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def check_new(learner):
    assert "check-pack sums" in learner.learn("new", "sums")
    assert "is there and not empty" in learner.learn("new", "sums", code=2)
    assert "cannot be the name" in learner.learn("new", "07", code=2)
    text = learner.learn("check-pack", "sums")
    assert "9 answers, 0 not as promised 0 texts are missing" in text, text
    assert text.count("ok sums:01/1") == 9, text


def check_sample(learner):
    """A learner uses the sample pack, once and then always."""
    pack = samples / "sample_pack"
    text = learner.learn("check-pack", pack)
    assert "9 answers, 0 not as promised 0 texts are missing" in text, text
    assert "letters:01/1" in learner.learn("--pack", pack, "list")
    assert "letters:01/1" not in learner.learn("list")
    learner.learn("pack", "add", pack)
    assert "Counting letters" in learner.learn("pack")
    everything = json.loads(subprocess.run([program, "learn", "list", "--json"], text=True,
                                           env=learner.environment, capture_output=True,
                                           check=True).stdout)
    own = pathlib.Path(next(e["file"] for e in everything if e["id"] == "letters:01/1"))
    text = learner.learn("check", "letters:01/1", code=3)
    assert "to do the longest run" in text and "1_longest_run.cpp:10: " in text, text
    learner.learn("generate", "letters:01/1", learner.folder / "answers")

    def save(answer):
        shutil.copy(learner.folder / f"answers/1_longest_run_{answer}.cpp", own)

    save("last_run")
    text = learner.learn("check", "longest_run", code=3)
    assert "as if the last run was returned, not the longest." in text, text
    text = learner.learn("--pack", samples / "sample_translation", "check", "letters:01/1", code=3)
    assert "der letzte Lauf zur\u00fcckgegeben wurde" in text, text
    assert "der l\u00e4ngste Lauf" in text and "sample_translation" not in text, text
    text = learner.learn("--pack", samples / "sample_translation", "questions", "letters:01")
    assert "Wie lang ist der l\u00e4ngste Lauf" in text, text
    save("solution")
    text = learner.learn("check", "longest_run")
    assert "Right. All checks pass." in text and "learn questions letters:01" in text, text
    text = learner.learn("run", "doctor")
    assert "1 function is yours: longest_run" in text, text[:300]
    attempts = json.loads((learner.folder / "workspace/attempts.json").read_text())["events"]
    assert [e["diagnosis"] for e in attempts if e["what"] == "attempt"] == ["last_run", "none"]
    assert "answers stay" in learner.learn("pack", "remove", "letters")
    # Another pack of that name, all of whose files are older than the checks that were built.
    other = learner.folder / "other"
    shutil.copytree(pack, other)
    replace(other / "01_runs/1_longest_run_checks.cpp", "no letter, no run", "nothing, no run")
    for file in other.rglob("*"):
        os.utime(file, (0, 0))
    text = learner.learn("--pack", other, "check", "letters:01/1")
    assert "ok nothing, no run" in text, text
    assert "there is no exercise" in learner.learn("check", "letters:01/1", code=2)


def check_translation(learner):
    translation = learner.folder / "translation"
    shutil.copytree(samples / "sample_translation", translation)
    pack = samples / "sample_pack"
    assert "translates \"letters\"" in learner.learn("check-pack", translation, code=4)
    text = learner.learn("--pack", pack, "check-pack", translation)
    assert text == "0 texts are missing", text
    texts = translation / "01_runs/texts.json"
    replace(texts, "\"last_run\"", "\"lost_run\"")
    (translation / "01_runs/README.md").unlink()
    text = learner.learn("--pack", pack, "check-pack", translation, code=3)
    for part in ("README.md is missing", "sentences.last_run is missing",
                 "sentences.lost_run: the exercise has no such mistake", "3 texts are missing"):
        assert part in text, f"{part}: {text}"


def check_broken(learner):
    """check-pack prints a line for each text that the author forgot."""
    pack = learner.folder / "broken"
    shutil.copytree(samples / "sample_pack", pack)
    chapter = pack / "01_runs"
    master = chapter / "1_longest_run.cpp"
    replace(master, "//! minutes: 10\n", "")
    replace(chapter / "README.md", "letters:01/1", "letters")
    replace(chapter / "README.md", "letters:01/1", "letters")
    replace(chapter / "ask.json", "\"right\": 1", "\"right\": 3")
    replace(chapter / "1_longest_run.hpp", "\n//\n", "\n\n//\n")
    replace(master, "//! mistake last_run: the last run was returned", "//! mistake last_run: it")
    replace(master, "//! mistake never_new: a run", "//! wrong never_new: another run")
    text = learner.learn("check-pack", pack, code=3)
    for part in ("minutes: is missing", "README.md: does not lead to letters:01/1",
                 "right is 3", "hpp: no comment", "WRONG letters:01/1 never_new",
                 "ok letters:01/1 last_run", "1 not as promised 4 texts are missing"):
        assert part in text, f"{part}: {text}"
    replace(master, "Index longest = 0", "Index longest = nothing")
    text = learner.learn("check-pack", pack, code=2)
    assert "the solution does not compile: line 1" in text, text
    (pack / "pack.json").write_text("{\"name\": \"letters\"}")
    assert "\"title\" is missing" in learner.learn("check-pack", pack, code=4)
    (pack / "pack.json").unlink()
    text = learner.learn("check-pack", pack, code=2)
    assert "is not a pack: it has no pack.json" in text, text
    assert "has no exercise" in learner.learn(
        "check-pack", learner_pack_without_chapters(learner), code=4)


def learner_pack_without_chapters(learner):
    pack = learner.folder / "empty"
    pack.mkdir()
    shutil.copy(samples / "sample_pack/pack.json", pack)
    return pack


def main():
    for part in (check_new, check_sample, check_translation, check_broken):
        with tempfile.TemporaryDirectory() as folder:
            part(Learner(pathlib.Path(folder)))
    print("packs are used, judged and translated")


if __name__ == "__main__":
    main()
