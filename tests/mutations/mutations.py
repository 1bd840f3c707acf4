#!/usr/bin/env python3
"""Plants the faults of tests/mutations/faults one by one and runs the tests that must catch them.

usage: mutations.py ROOT [--check] [--build FOLDER] [--only TEXT] [--again STATES]
                         [--sample N --seed S] [--known N] [--hours H] [--syntax] [--record]
                         [--summary] [--limit SECONDS] [--failfast]

ROOT is the project's folder. It is not changed: the campaign works on a copy of it in
FOLDER/source (default FOLDER: ROOT/build/mutations) and builds it there with the options of
`./headroom test`, so that a compiler cache has what that command compiled. Results are written to
FOLDER/results.json after each fault, so a stopped campaign goes on where it was. A fault is tried
again when its text changed.

  --check     only checks that every fault applies exactly once and names programs that exist
  --only      only faults whose name (FLOOR/NAME) contains this text
  --again     also those with these results again, for example survived,"does not compile"
  --sample N  a random choice of N faults; which ones depends on --seed (default 0) and their names,
              so that it stays nearly the same when others are added
  --known N   N of the faults in caught.txt, whatever their results; the number of commits says
              which, so that all have their turn
  --hours H   begins no fault after H hours, over all calls together
  --syntax    only compiles each fault's file, with -fsyntax-only
  --record    writes the names of caught faults that took at most a minute to caught.txt
  --summary   only prints the results so far, with Wilson's interval of the share that is caught
  --limit     seconds for a test program (default 600)
  --failfast  ends at the first fault that survives

Results: caught (by which test), survived, equivalent (the reason is written beside the fault), does
not compile. Exit codes: 0 no fault survived, 1 otherwise, or a fault does not apply.

A file of faults is named after its floor. Each of its faults is a paragraph:

  fault: a name
  file: the source file, from ROOT
  wrong: what the fault does
  seen: what a user would notice
  tests: the programs that must catch it, as in test_NAME_f64; runs_slow: its cases [slow]; parity;
         or scripts of tests/reliability
  equivalent: only where no test can catch it: the reason
   a line of the file as it is
  -a line of the file that the fault removes
  +a line that it puts in place

The lines with ' ' and '-' are consecutive lines of the file and occur there once. Their indentation
does not count.
"""

import argparse
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "checks"))
from sources import commits

KEYS = ("fault", "file", "wrong", "seen", "tests", "equivalent")
COPIED = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "headroom", "src", "include", "tests",
          "docs", "examples", "chapters", "README.md", "CHANGELOG.md", "CONTRIBUTING.md")
OPTIONS = ("--preset", "release", "-DHEADROOM_TESTS=ON", "-DHEADROOM_PRECISIONS=f64",
           "-DHEADROOM_COURSE=OFF", "-DHEADROOM_EXAMPLES=OFF")
# ccache calls this around the compiler for what it does not have. A fault may cause a warning.
LENIENT = '#!/bin/sh\nexec "$@" -Wno-error\n'
SHORT = 60  # seconds that a fault in caught.txt may take


CAUGHT = Path(__file__).parent / "caught.txt"


class Bad(Exception):
    """A fault that is written wrongly or does not apply."""


class Fault:
    def __init__(self, floor, fields, lines):
        self.floor, self.fields, self.lines = floor, fields, lines
        self.name = f"{floor}/{fields.get('fault', '?')}"
        for key in KEYS[:5]:
            if key not in fields:
                raise Bad(f"{self.name}: no line '{key}:'")
        self.path, self.tests = fields["file"], fields["tests"].split()
        self.equivalent = fields.get("equivalent")
        self.old = [line[1:].strip() for line in lines if line[0] in " -"]
        if self.old == [line[1:].strip() for line in lines if line[0] in " +"]:
            raise Bad(f"{self.name}: changes nothing")
        text = json.dumps([fields, lines], sort_keys=True)
        self.key = hashlib.sha256(text.encode()).hexdigest()[:16]

    def applied_to(self, text):
        """The text with the fault in it."""
        given = text.split("\n")
        stripped = [line.strip() for line in given]
        places = [i for i in range(len(given) - len(self.old) + 1)
                  if stripped[i:i + len(self.old)] == self.old]
        if len(places) != 1:
            raise Bad(f"{self.name}: its lines occur {len(places)} times in {self.path}; "
                      "they must occur once")
        at, result = places[0], given[:places[0]]
        for line in self.lines:
            if line[0] == "+":
                margin = given[min(at, len(given) - 1)]
                result.append(margin[:len(margin) - len(margin.lstrip())] + line[1:].strip())
            else:
                if line[0] == " ":
                    result.append(given[at])
                at += 1
        return "\n".join(result + given[at:])


def read_faults(folder):
    faults = []
    for path in sorted(folder.glob("*.txt")):
        for paragraph in re.split(r"\n{2,}", path.read_text().strip("\n")):
            fields, lines = {}, []
            for line in paragraph.split("\n"):
                found = re.match(r"(\w+): (.+)", line)
                if found and found[1] in KEYS:
                    fields[found[1]] = found[2]
                elif line[0] in " -+":
                    lines.append(line)
                elif line[0] != "#":
                    raise Bad(f"{path.name}: cannot read this line: {line}")
            if fields:
                faults.append(Fault(path.stem, fields, lines))
    names = [fault.name for fault in faults]
    for name in names:
        if names.count(name) > 1:
            raise Bad(f"{name}: two faults have this name")
    return faults


def check(root, faults):
    """The errors in the faults: empty when all of them apply."""
    known = set(re.findall(r"headroom_test(?:_once)?\((\w+)",
                           (root / "tests/CMakeLists.txt").read_text()))
    known |= {name + "_slow" for name in known} | {"parity"}
    known |= set(re.findall(r"headroom_reliability_test\((\w+)",
                            (root / "tests/reliability/CMakeLists.txt").read_text()))
    errors = []
    for fault in faults:
        try:
            fault.applied_to((root / fault.path).read_text())
        except (Bad, OSError) as error:
            errors.append(str(error))
        errors += [f"{fault.name}: there is no test program '{name}'"
                   for name in fault.tests if name not in known]
    return errors


# ---------------------------------------------------------------- the campaign's folder
def copy_sources(root, to):
    """Copies what changed, so that only this is compiled again; leaves the folder build alone."""
    for name in COPIED:
        for path in [root / name] if (root / name).is_file() else sorted((root / name).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            target = to / path.relative_to(root)
            if not target.exists() or target.read_bytes() != path.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)  # with its time, on which precompiled headers depend
    for path in sorted(to.rglob("*")):
        inside = path.relative_to(to)
        if path.is_file() and inside.parts[0] != "build" and not (root / inside).exists():
            path.unlink()


def run(command, folder, limit=None, environment=None):
    """(exit code or None after the limit, output)."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True,
                               stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, errors="replace",
                               env=environment, start_new_session=True)
    try:
        output = process.communicate(timeout=limit)[0]
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the tests' own children too
        except ProcessLookupError:
            pass
        process.wait()


class Campaign:
    def __init__(self, root, folder, limit):
        self.root, self.folder, self.limit = root, folder, limit
        self.source = folder / "source"
        self.build = self.source / "build/release"
        self.results_file = folder / "results.json"
        self.results = {}
        if self.results_file.exists():
            self.results = json.loads(self.results_file.read_text())

    def prepare(self):
        self.source.mkdir(parents=True, exist_ok=True)
        copy_sources(self.root, self.source)
        options = list(OPTIONS)
        if shutil.which("ccache"):
            lenient = self.folder / "lenient"
            lenient.write_text(LENIENT)
            lenient.chmod(0o755)
            os.environ["CCACHE_PREFIX"] = str(lenient)
            os.environ["CCACHE_BASEDIR"] = str(self.source)
            os.environ["CCACHE_NAMESPACE"] = str(self.root)
            options.append("-DHEADROOM_WERROR=ON")  # as `./headroom test` compiles
        code, output = run(["cmake", *options], self.source)
        if code != 0:
            raise Bad("CMake could not configure the build:\n" + output[-2000:])

    def remember(self, fault, result, detail, seconds):
        self.results[fault.name] = {"key": fault.key, "result": result, "detail": detail,
                                    "seconds": round(seconds)}
        temporary = self.results_file.with_suffix(".new")
        temporary.write_text(json.dumps(self.results, indent=1, sort_keys=True))
        temporary.replace(self.results_file)

    def result_of(self, fault):
        known = self.results.get(fault.name)
        return known if known and known["key"] == fault.key else None

    def target(self, test):
        if test.startswith("failing_") or test in ("power_cuts", "kills"):
            return "failing_calls"  # scripts over the program
        return "headroom_parity" if test == "parity" else f"test_{test.removesuffix('_slow')}_f64"

    def build_and_run(self, tests):
        """(result, detail) with the sources as they are now."""
        for test in tests:
            code, output = run(["ninja", "-C", str(self.build), self.target(test)], self.folder)
            if code != 0:
                errors = [line for line in output.split("\n")
                          if re.search(r"\berror\b|undefined", line)]
                return "does not compile", (errors or [output[-300:]])[0]
            code, output = run(["ctest", "--timeout", str(self.limit), "--output-on-failure", "-R",
                                f"^{test}(_f64)?$"], self.build)
            if "No tests were found" in output:
                return "survived", f"ctest knows no test {test}_f64"
            if code != 0:
                return "caught", f"{test}: {first_failure(output)}"
        return "survived", " ".join(tests)

    def attempt(self, fault):
        path = self.source / fault.path
        whole = path.read_text()
        try:
            path.write_text(fault.applied_to(whole))
            return self.build_and_run(fault.tests)
        finally:
            path.write_text(whole)

    def syntax(self, fault):
        """The first error of the compiler in the fault's file, or nothing."""
        if not fault.path.endswith(".cpp"):
            return ""
        path = self.source / fault.path
        commands = json.loads((self.build / "commands.json").read_text())
        unity = [c for c in commands if c["file"].endswith(".cxx") or c["file"] == str(path)]
        match = [c for c in unity if c["file"] == str(path)
                 or ("unity" in c["file"] and os.path.exists(c["file"])
                     and f'"{path}"' in Path(c["file"]).read_text())]
        if not match:
            return f"no compiler command for {fault.path}"
        words = shlex.split(match[0]["command"])
        words = words[words.index(next(w for w in words if re.search(r"(g|clang)\+\+|c\+\+", w))):]
        words = words[:words.index("-o")] + ["-fsyntax-only", "-w", str(path)]
        whole = path.read_text()
        try:
            path.write_text(fault.applied_to(whole))
            code, output = run(words, match[0]["directory"])
        finally:
            path.write_text(whole)
        errors = [line for line in output.split("\n") if "error" in line]
        return "" if code == 0 else (errors or [output[-300:]])[0]


def interval(caught, tried):
    """Wilson's 95 % interval of a proportion."""
    z = 1.959964
    share, spread = caught / tried, z * z / tried
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(share * (1 - share) * spread + spread * spread / 4) / (1 + spread)
    return middle - half, middle + half


def first_failure(output):
    """The name of the first test case that failed, as Catch2 prints it."""
    found = re.search(r"^-{70,}\n((?:.+\n)+?)-{70,}$", output, re.M)
    if found:
        return " ".join(found[1].split())
    if "***Timeout" in output:
        return "time limit"
    found = re.search(r"\*\*\*(Exception: \w+|Failed)", output)
    return found[1] if found else "failed"


# ---------------------------------------------------------------- what is printed
def summary(campaign, faults):
    floors = list(dict.fromkeys(fault.floor for fault in faults))
    print(f"\n{'floor':<12}{'faults':>7}{'caught':>8}{'survived':>10}{'equivalent':>12}"
          f"{'no result':>11}   caught of those that are tried and not equivalent")
    for floor in [*floors, "all"]:
        own = [fault for fault in faults if floor in ("all", fault.floor)]
        results = [(campaign.result_of(fault) or {}).get("result") for fault in own]
        count = {name: results.count(name) for name in ("caught", "survived", "equivalent")}
        tried = count["caught"] + count["survived"]
        share = "-"
        if tried:
            low, high = (100 * bound for bound in interval(count["caught"], tried))
            share = (f"{100 * count['caught'] / tried:.1f} %, "
                     f"95 % interval {low:.1f} to {high:.1f} %")
        print(f"{floor:<12}{len(own):>7}{count['caught']:>8}{count['survived']:>10}"
              f"{count['equivalent']:>12}{len(own) - sum(count.values()):>11}   {share}")


def main():
    parser = argparse.ArgumentParser(description="Plants faults and runs the tests.")
    parser.add_argument("root", type=Path)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--known", type=int)
    parser.add_argument("--hours", type=float, default=math.inf)
    parser.add_argument("--limit", type=int, default=600)
    for name in ("check", "syntax", "record", "summary", "failfast"):
        parser.add_argument("--" + name, action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    try:
        faults = read_faults(Path(__file__).parent / "faults")
        known = CAUGHT.read_text().split()
        names = [fault.name for fault in faults]
        errors = check(root, faults)
        errors += [f"{CAUGHT.name}: there is no fault {name}"
                   for name in known if name not in names]
    except Bad as error:
        errors = [str(error)]
    if errors:
        print("\n".join(errors))
        return 1
    if options.check:
        print(f"{len(faults)} faults apply")
        return 0
    chosen = [fault for fault in faults if options.only in fault.name]
    if options.known:
        chosen = [fault for fault in chosen if fault.name in known]
        if not chosen:
            print(f"{CAUGHT.name}: it names no fault; --record after a campaign writes it")
            return 1
        first = commits(root) * options.known
        chosen = [chosen[(first + i) % len(chosen)] for i in range(min(options.known, len(chosen)))]
    if options.sample and options.sample < len(chosen):
        def place(fault):
            return hashlib.sha256(f"{options.seed} {fault.name}".encode()).digest()
        drawn = sorted(chosen, key=place)[:options.sample]
        chosen = [fault for fault in chosen if fault in drawn]
    campaign = Campaign(root, (options.build or root / "build/mutations").resolve(), options.limit)
    if options.record:
        quick = [fault.name for fault in faults
                 if (done := campaign.result_of(fault)) and done["result"] == "caught"
                 and done["seconds"] <= SHORT]
        CAUGHT.write_text("\n".join(quick) + "\n")
        return 0
    again = ["caught", "survived"] if options.known else options.again.split(",")
    if not options.summary:
        try:
            campaign.prepare()
            tried = plant(campaign, chosen, again, options)
        except Bad as error:
            print(error)
            return 1
        if options.syntax:
            return tried
    summary(campaign, chosen)
    return 1 if any((campaign.result_of(fault) or {}).get("result") == "survived"
                    for fault in chosen) else 0


def plant(campaign, faults, again, options):
    if options.syntax:
        code, output = run(["ninja", "-C", str(campaign.build), "-t", "compdb"], campaign.folder)
        (campaign.build / "commands.json").write_text(output[output.index("["):])
        bad = 0
        for fault in faults:
            error = campaign.syntax(fault)
            bad += bool(error)
            print(f"{fault.name}: {error or 'compiles'}", flush=True)
        return 1 if bad else 0
    sound = set()  # tests that pass without a fault
    for fault in faults:
        spent = sum(done["seconds"] for done in campaign.results.values()) / 3600
        if spent >= options.hours:
            print(f"{spent:.1f} hours were spent; --hours allows {options.hours:g}")
            break
        known = campaign.result_of(fault)
        if known and known["result"] not in again:
            continue
        began = time.monotonic()
        if fault.equivalent:
            result, detail = "equivalent", fault.equivalent
        else:
            fresh = [test for test in fault.tests if test not in sound]
            if fresh:
                outcome, detail = campaign.build_and_run(fresh)
                if outcome != "survived":
                    raise Bad(f"without a fault: {outcome}: {detail}")
                sound.update(fresh)
            began = time.monotonic()
            result, detail = campaign.attempt(fault)
        seconds = time.monotonic() - began
        campaign.remember(fault, result, detail, seconds)
        print(f"{fault.name}: {result} ({detail}; {seconds:.0f} s)", flush=True)
        if options.failfast and result == "survived":
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
