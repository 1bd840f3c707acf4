#!/usr/bin/env python3
"""Checks that nothing printed in a chapter is untrue.

usage: chapters.py SOURCE PROGRAMS

SOURCE is the repository, PROGRAMS a folder with the experiments (two_layouts, ...) and the program
headroom-f64. The rules, for each chapters/NN_*/README.md, for chapters/README.md,
chapters/questions.md and docs/teaching.md:

* `<!-- snippet: FILE -->` before a block of code: its lines are consecutive lines of FILE, apart
  from a common indentation. A line `...` skips lines.
* `<!-- output: WORDS -->` before a block: the command `WORDS` prints each of its lines in this
  order, apart from spaces and numbers; `$` lines are skipped. Numbers are compared as facts are.
* `<!--= KEY = -->0`, `~`, `<`: the number after the mark is the value that an experiment prints
  for KEY: as printed, within a factor of 3, or an upper bound. With `~`, all numbers below 1e-12
  are the same: they are rounding errors, which depend on the processor. A "time of" something
  depends on the load, too, and is only compared in its sign. Experiments are named in
  `<!-- facts: two_layouts -->`; a claim of the laboratory is `lab NAME: CLAIM`, and
  `minutes 07/1` is the time that a master file states, and `minutes 07` the sum of a chapter's.
* Any other number above 12 fails, unless it is code or listed in `<!-- harmless: 2018 60853 -->`.
* `learn predict 07/a` names a prediction. The names are 07/a, 07/b, ... in the order of the text;
  the experiments of the chapter have a part for each, and ask.json has their questions.
* figure.json is the record that one of the chapter's experiments writes: the same keys, lengths and
  texts, and numbers within 2 % or 1e-6. The parts that the record calls "rough", which another
  processor may change, only have the same form.
* At most 270 lines. Every picture and every linked file exists.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

MARK = re.compile(r"<!--= (.+?) ([=~<]) -->\**(-?[\d,.]*\d(?:e[-+]?\d+)?)")
NUMBER = re.compile(r"(?<![\w.#/-])\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
MOST_LINES = 270
ROUNDING = 1e-12


class Experiments:
    """Runs experiments when their numbers are first asked for."""

    def __init__(self, programs, minutes):
        self.programs, self.minutes = programs, minutes
        self.outputs, self.known, self.figures = {}, {}, {}

    def output(self, words):
        if words not in self.outputs:
            self.outputs[words] = self.run(words.split())
        return self.outputs[words]

    def run(self, words):
        figure = tempfile.NamedTemporaryFile(suffix=".json")
        own = os.path.join(self.programs, words[0])
        if os.path.exists(own):
            command = [own] + words[1:]
        else:
            command = [os.path.join(self.programs, "headroom-f64")] + words
        environment = {**os.environ, "OMP_WAIT_POLICY": "passive",
                       "HEADROOM_FIGURE": figure.name}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            printed = done.stdout[-300:] + done.stderr[-300:]
            raise RuntimeError(f"{' '.join(words)} exits with {done.returncode}: {printed}")
        written = open(figure.name, encoding="utf-8").read()
        if written:
            self.figures[words[0]] = json.loads(written)
        return done.stdout

    def figure(self, names):
        """The record of the figure that one of a chapter's experiments writes, or None."""
        for name in names:
            self.output(name)
        return next((self.figures[name] for name in names if name in self.figures), None)

    def facts(self, name):
        if name not in self.known:
            if name.startswith("lab "):
                record = json.loads(self.output(name + " --json"))
                self.known[name] = {claim["text"]: claim["double"]["measured"]
                                    for claim in record["claims"]}
            else:
                lines = re.findall(r"^(\S.*?) {2,}(\S+)", self.output(name), re.M)
                self.known[name] = dict(lines)
        return self.known[name]

    def value(self, key, names):
        if key.startswith("minutes "):
            return self.minutes.get(key.split()[1])
        if key.startswith("lab "):
            name, claim = key.split(": ", 1)
            return self.facts(name).get(claim)
        for name in names:
            if key in self.facts(name):
                return self.facts(name)[key]
        return None


def holds(relation, printed, value, key):
    number, measured = float(printed.replace(",", "")), float(value)
    if key.startswith("time of "):
        return relation == "~" and number * measured > 0
    if relation == "<":
        return abs(measured) < number
    if relation == "~":
        if abs(number) < ROUNDING and abs(measured) < ROUNDING:
            return True
        return number * measured > 0 and 1 / 3 <= measured / number <= 3
    digits = len(re.sub(r"e.*|[^0-9]", "", printed).lstrip("0")) or 1
    return number == measured or f"{measured:.{digits}g}" == f"{number:.{digits}g}"


def snippet_error(block, text):
    """Why the block's lines are not lines of the text; "" if they are."""
    lines = [line.strip() for line in text.splitlines()]
    position, consecutive = 0, False
    for wanted in block:
        wanted = wanted.strip()
        if wanted == "...":
            consecutive = False
            continue
        try:
            found = lines.index(wanted, position)
        except ValueError:
            return wanted
        if consecutive and found != position:
            if lines[position] != wanted:
                return wanted
        position, consecutive = found + 1, True
    return ""


def figure_errors(committed, written, place="figure.json", rough=False, names=()):
    """The differences of two records of a figure; a rough part only has to have the same form."""
    if type(committed) is not type(written) and not (
            is_number(committed) and is_number(written)):
        return [f"{place} is {committed}, the experiment writes {written}"]
    if isinstance(committed, dict):
        if list(committed) != list(written):
            return [f"{place} has the keys {list(committed)}, not {list(written)}"]
        names = {*names, *committed.get("rough", [])}  # also of the parts of its parts
        return sum((figure_errors(committed[key], written[key], f"{place}.{key}",
                                  rough or key in names, names) for key in committed), [])
    if isinstance(committed, list):
        if len(committed) != len(written):
            return [f"{place} has {len(committed)} entries, the experiment writes {len(written)}"]
        return sum((figure_errors(one, other, f"{place}[{i}]", rough, names)
                    for i, (one, other) in enumerate(zip(committed, written))), [])
    near = is_number(committed) and abs(committed - written) <= max(1e-6, 0.02 * abs(committed))
    if rough or near or committed == written:
        return []
    return [f"{place} is {committed}, the experiment writes {written}"]


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def prediction_errors(root, folder, text, names):
    """The mistakes in the names of a chapter's predictions, and in their order."""
    number = os.path.basename(folder)[:2]
    in_text = list(dict.fromkeys(re.findall(r"(?:predict |`)(\d\d/[a-z])\b", text)))
    wanted = [f"{number}/{chr(ord('a') + i)}" for i in range(len(in_text))]
    errors = []
    if in_text != wanted:
        errors.append(f"the predictions are {in_text}, not {wanted}")
    parts = []
    for name in names:
        path = os.path.join(root, "examples/course", name + ".cpp")
        if os.path.exists(path):
            code = open(path, encoding="utf-8").read()
            for call in re.findall(r"\bpart\((.*?)\);", code, re.S):
                parts += re.findall(r'"(\d\d/[a-z])"', call)
    parts = list(dict.fromkeys(parts))
    if sorted(parts) != wanted:
        errors.append(f"the experiments have parts for {parts}, not for {wanted}")
    with open(os.path.join(folder, "ask.json"), encoding="utf-8") as file:
        asked = list(json.load(file)["predictions"])
    if asked != wanted:
        errors.append(f"ask.json asks for {asked}, not for {wanted}")
    return errors


def check(root, path, experiments):
    text = open(os.path.join(root, path), encoding="utf-8").read()
    folder = os.path.join(root, os.path.dirname(path))
    errors = []
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        errors.append(f"{len(lines)} lines, the most is {MOST_LINES}")
    names = sum((m.split() for m in re.findall(r"<!-- facts: (.*?) -->", text)), [])

    for kind, argument, block in re.findall(
            r"<!-- (snippet|output): (.*?) -->\n```\w*\n(.*?)```", text, re.S):
        if kind == "snippet":
            source = os.path.join(root, argument)
            if not os.path.exists(source):
                errors.append(f"snippet: there is no {argument}")
            elif wrong := snippet_error(block.splitlines(),
                                        open(source, encoding="utf-8").read()):
                errors.append(f"snippet: {argument} has no line \"{wrong}\" at this place")
        else:
            printed = [line.split() for line in experiments.output(argument).splitlines()]
            for line in block.splitlines():
                words = re.sub(r" {2,}[a-zA-Z(].*", "", line).split()
                if not words or words[0] == "$":
                    continue
                if not any(same_line(words, other) for other in printed):
                    errors.append(f"output: {argument} does not print \"{line.strip()}\"")

    for key, relation, number in MARK.findall(text):
        value = experiments.value(key, names)
        if value is None:
            errors.append(f"no experiment prints \"{key}\"")
        elif not holds(relation, number, value, key):
            errors.append(f"\"{key}\" is {value}, the text says {relation} {number}")

    if re.match(r"\d\d_", os.path.basename(folder)):
        errors += prediction_errors(root, folder, text, names)
        record = os.path.join(folder, "figure.json")
        if os.path.exists(record):
            written = experiments.figure(names)
            with open(record, encoding="utf-8") as file:
                committed = json.load(file)
            errors += (["no experiment of the chapter writes figure.json"] if written is None else
                       figure_errors(committed, written)[:5])

    harmless = set(sum((m.split() for m in re.findall(r"<!-- harmless: (.*?) -->", text)), []))
    prose = re.sub(r"```.*?```|`[^`\n]*`", " ", text, flags=re.S)
    prose = MARK.sub(" ", prose)
    prose = re.sub(r"<!--.*?-->|\]\([^)]*\)|<[^>]*>", " ", prose, flags=re.S)
    for number in NUMBER.findall(prose):
        if number in harmless or float(number.replace(",", "")) <= 12 and "." not in number:
            continue
        errors.append(f"{number} has no fact mark and is not listed as harmless")

    without_code = re.sub(r"```.*?```", " ", text, flags=re.S)  # a lambda looks like a link
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", without_code):
        if not link.startswith("http") and not os.path.exists(os.path.join(folder, link)):
            errors.append(f"the link {link} leads nowhere")
    return [f"{path}: {error}" for error in errors]


def minutes_of_exercises(root):
    """{"07/1": "20"}: the minutes that the master files state."""
    minutes = {}
    for folder, _, names in os.walk(os.path.join(root, "chapters")):
        for name in names:
            text = open(os.path.join(folder, name), encoding="utf-8", errors="replace").read()
            if stated := re.search(r"^//! minutes: (\d+)", text, re.M):
                minutes[os.path.basename(folder)[:2] + "/" + name[0]] = stated[1]
    for exercise in list(minutes):
        chapter = exercise[:2]
        minutes[chapter] = str(int(minutes.get(chapter, 0)) + int(minutes[exercise]))
    return minutes


def same_line(words, printed):
    """Whether two lines agree: words are equal, numbers within a factor of 3."""
    if len(words) > len(printed):
        return False
    for word, other in zip(words, printed):
        if word == other:
            continue
        try:
            if not holds("~", word, other, " ".join(words)):
                return False
        except ValueError:
            return False
    return True


def main():
    root, programs = sys.argv[1:3]
    experiments = Experiments(programs, minutes_of_exercises(root))
    chapters = sorted(name for name in os.listdir(os.path.join(root, "chapters"))
                      if re.match(r"\d\d_", name))
    errors = []
    paths = [os.path.join("chapters", name, "README.md") for name in chapters]
    for path in [*paths, "chapters/README.md", "chapters/questions.md", "docs/teaching.md"]:
        if os.path.exists(os.path.join(root, path)):
            errors += check(root, path, experiments)
    for error in errors:
        print(error)
    print(f"chapters: {len(errors)} finding(s)")
    sys.exit(1 if errors else 0)


if __name__ == "__main__":
    main()
