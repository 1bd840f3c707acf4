#!/usr/bin/env python3
"""Runs every fuzz target until 10 million inputs or 2 processor hours, and keeps the results.

usage: campaign.py BUILD [--only TEXT] [--inputs N] [--seconds S] [--together N] [--summary]

BUILD is the folder of the preset `fuzz`, which is built. A target runs in turns of at most five
minutes. After each turn the inputs, processor seconds and findings so far, the size of the corpus,
the most memory and the slowest input (of targets that measure it) are written to
BUILD/campaign/results.json, so a stopped campaign goes on where it was.
Inputs that reach new code are kept in BUILD/campaign/corpus/TARGET, inputs that fail in
BUILD/campaign/findings/TARGET. A target with a finding rests until its program is rebuilt; then the
kept findings run first, and those that pass now are removed. A rebuilt program begins again at 0,
because the results must be those of one program.

  --only      only targets whose name contains this text, or one of several between commas
  --inputs    inputs per target (default 10000000)
  --seconds   processor seconds per target (default 7200)
  --together  targets that run at the same time (default 2)
  --summary   only prints the results so far

Exit codes: 0 every target is done without a finding, 1 otherwise.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import threading
from pathlib import Path

TURN = 300  # seconds


class Target:
    def __init__(self, line, build):
        self.name, arguments, seeds = line.split("|")
        self.arguments, self.seeds = arguments.split(), seeds.split()
        self.program = build / "tests/fuzz" / f"fuzz_{self.name}"
        self.corpus = build / "campaign/corpus" / self.name
        self.findings = build / "campaign/findings" / self.name
        for folder in (self.corpus, self.findings):
            folder.mkdir(parents=True, exist_ok=True)

    def key(self):
        """Identifies the program."""
        return hashlib.sha256(self.program.read_bytes()).hexdigest()[:16]

    def kept_findings(self):
        return sorted(path for path in self.findings.iterdir()
                      if not path.name.startswith("slow-unit"))  # slow, but within the limit

    def command(self, *arguments):
        # Its own process gives the processor time of the program alone.
        return [sys.executable, __file__, "--measured", str(self.program), *self.arguments,
                *arguments]

    def environment(self, build):
        memory = Path("/dev/shm")  # the targets write many small files
        environment = dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS="1",
                           OPENBLAS_NUM_THREADS="1",
                           HEADROOM_CHART_JS=str(build / "tests/fuzz/chart.js"),
                           ASAN_OPTIONS="quarantine_size_mb=32")  # what it keeps is no leak
        if memory.is_dir() and os.access(memory, os.W_OK):
            environment.setdefault("TMPDIR", str(memory))
        return environment


class Campaign:
    def __init__(self, build, options):
        self.build, self.options = build, options
        self.file = build / "campaign/results.json"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.results = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.lock = threading.Lock()

    def result(self, target):
        return self.results.get(target.name,
                                {"program": "", "inputs": 0, "seconds": 0.0, "findings": 0,
                                 "corpus": 0, "megabytes": 0, "slowest_ms": None})

    def remember(self, target, result):
        with self.lock:
            self.results[target.name] = result
            temporary = self.file.with_suffix(".new")
            temporary.write_text(json.dumps(self.results, indent=1, sort_keys=True) + "\n")
            temporary.replace(self.file)

    def is_done(self, result):
        return result["inputs"] >= self.options.inputs or result["seconds"] >= self.options.seconds

    def run(self, target, *arguments):
        """(exit code, inputs, processor seconds, output) of one run of the program."""
        done = subprocess.run(target.command(*arguments), env=target.environment(self.build),
                              capture_output=True, text=True, errors="replace", check=False)
        measured = re.search(r"measured: (-?\d+) ([\d.]+)\s*$", done.stdout)
        code, seconds = (int(measured[1]), float(measured[2])) if measured else (1, 0.0)
        counts = re.findall(r"^#(\d+)\s", done.stderr, re.M)
        final = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
        inputs = int(final[1]) if final else max(map(int, counts), default=0)
        return code, inputs, seconds, done.stderr

    def begin(self, target):
        """The results of this program so far; a rebuilt one first runs the kept findings."""
        result = self.result(target)
        if result["program"] == target.key():
            return result
        for path in target.kept_findings():
            if self.run(target, str(path))[0] == 0:
                path.unlink()
        result = {"program": target.key(), "inputs": 0, "seconds": 0.0,
                  "findings": len(target.kept_findings()), "corpus": 0, "megabytes": 0,
                  "slowest_ms": None}
        self.remember(target, result)
        return result

    def turn(self, target, result):
        """One run of at most TURN seconds. Updates the result."""
        seconds = max(1, min(TURN, int(self.options.seconds - result["seconds"])))
        code, inputs, took, output = self.run(
            target, f"-max_total_time={seconds}",
            f"-runs={self.options.inputs - result['inputs']}", "-print_final_stats=1",
            f"-artifact_prefix={target.findings}/", str(target.corpus), *target.seeds)
        result["inputs"] += inputs
        result["seconds"] = round(result["seconds"] + took, 1)
        result["findings"] = len(target.kept_findings())
        peak = re.search(r"stat::peak_rss_mb:\s*(\d+)", output)
        slowest = re.search(r"^slowest of \d+ inputs: ([\d.]+) ms", output, re.M)
        result["megabytes"] = max(result.get("megabytes", 0), int(peak[1]) if peak else 0)
        if slowest:
            result["slowest_ms"] = max(result.get("slowest_ms") or 0, float(slowest[1]))
        if (code != 0 or inputs == 0) and result["findings"] == 0:
            # It does not start, or was killed.
            result["findings"] = 1
            (target.findings / "output.txt").write_text(output[-20000:])
        result["corpus"] = sum(1 for _ in target.corpus.iterdir())
        self.remember(target, result)

    def fuzz(self, target):
        result = self.begin(target)
        while not self.is_done(result) and result["findings"] == 0:
            self.turn(target, result)
            print(f"{target.name}: {result['inputs']} inputs, {result['seconds']:.0f} s, "
                  f"{result['findings']} findings, corpus of {result['corpus']}", flush=True)

    def summary(self, targets):
        print(f"\n{'target':<16}{'inputs':>12}{'processor s':>13}{'findings':>10}{'corpus':>8}"
              f"{'MB':>6}{'slowest ms':>12}")
        complete = True
        for target in targets:
            result = self.result(target)
            done = self.is_done(result) and result["findings"] == 0
            complete = complete and done
            print(f"{target.name:<16}{result['inputs']:>12}{result['seconds']:>13.0f}"
                  f"{result['findings']:>10}{result['corpus']:>8}{result.get('megabytes', 0):>6}"
                  f"{result.get('slowest_ms') or '':>12}   {'done' if done else 'open'}")
            for path in target.kept_findings():
                print(f"  {path}")
        return complete


def measured(command):
    """Runs a program and prints its exit code and its processor seconds."""
    code = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"measured: {code} {used.ru_utime + used.ru_stime:.1f}")
    return 0


def main():
    if sys.argv[1:2] == ["--measured"]:
        return measured(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Runs the fuzz targets for long.")
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--inputs", type=int, default=10_000_000)
    parser.add_argument("--seconds", type=int, default=7200)
    parser.add_argument("--together", type=int, default=2)
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()
    listed = build / "tests/fuzz/targets.txt"
    if not listed.exists():
        print(f"{build}: the targets are not built: cmake --preset fuzz && "
              "cmake --build --preset fuzz")
        return 1
    targets = [target for target in (Target(line, build)
                                     for line in listed.read_text().splitlines())
               if any(text in target.name for text in options.only.split(","))]
    campaign = Campaign(build, options)
    if not options.summary:
        with concurrent.futures.ThreadPoolExecutor(options.together) as pool:
            for finished in [pool.submit(campaign.fuzz, target) for target in targets]:
                finished.result()
    return 0 if campaign.summary(targets) else 1


if __name__ == "__main__":
    sys.exit(main())
