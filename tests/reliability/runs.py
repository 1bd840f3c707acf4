"""Tiny runs of the program, with calls that fail, and comparisons of their folders."""
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

TINY = ("train --task brackets --layers 1 --width 8 --heads 4 --hidden 8 --batch 4 --validation 40 "
        "--save-every 1 --telemetry 2 --no-test --threads 1 --out run").split()
TRAIN = TINY + ("--steps 4 --evaluate-every 2 --snapshots 2 "
                "--prune 2 --prune-from 1 --prune-to 3").split()
RESUME = "train --out run --resume --threads 1".split()
TIMED = ("records.json", "report.html")  # hold times, which differ between equal runs


@dataclasses.dataclass
class Done:
    """The result of a program."""
    code: int  # negative: the signal that ended it
    out: str
    err: str
    failed: str = ""  # "write PATH": the first call that was made to fail
    calls: dict = dataclasses.field(default_factory=dict)  # how many of each kind there were

    def text(self):
        return f"exit code {self.code}, stderr: {self.err.strip() or 'empty'}"


class Program:
    """headroom, run in a folder of its own with the library of failing calls."""

    def __init__(self, program, library):
        self.program, self.library = os.path.abspath(program), os.path.abspath(library)
        self.scratch = scratch_folder()
        self.folder = self.scratch.name + "/runs"  # one for all: some files name their folder

    def environment(self, folder, scratch, fail="", record=None):
        settings = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive",
                    "LD_PRELOAD": self.library, "HEADROOM_CALLS_IN": str(folder),
                    "HEADROOM_CALLS_COUNTS": f"{scratch}/counts"}
        if fail:
            settings["HEADROOM_CALLS_FAIL"] = fail
        if record:
            settings["HEADROOM_CALLS_RECORD"] = str(record)
        return {**os.environ, **settings}

    def run(self, folder, arguments, fail="", record=None):
        with tempfile.TemporaryDirectory() as scratch:
            done = subprocess.run([self.program, *arguments], cwd=folder, capture_output=True,
                                  env=self.environment(folder, scratch, fail, record),
                                  stdin=subprocess.DEVNULL, timeout=300, check=False)
            result = Done(done.returncode, done.stdout.decode("utf-8", "replace"),
                          done.stderr.decode("utf-8", "replace"))
            for line in (pathlib.Path(scratch) / "counts").read_text().splitlines():
                words = line.split(" ")
                if words[0] == "calls":
                    result.calls[words[1]] = int(words[2])
                elif not result.failed:
                    result.failed = " ".join(words[1:])
            return result

    def must(self, folder, arguments, record=None):
        """Runs what is undisturbed."""
        done = self.run(folder, arguments, record=record)
        if done.code != 0:
            raise SystemExit(f"error: {' '.join(arguments)}: {done.text()}")
        return done


def files_in(folder):
    """{path relative to the folder: content}; folders have the content None."""
    folder = pathlib.Path(folder)
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
            for path in sorted(folder.rglob("*"))}


def write_files(folder, files):
    for name, content in files.items():
        path = pathlib.Path(folder) / name
        if content is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def without_times(name, content):
    if content is None or name.endswith(TIMED):
        return None
    if not name.endswith("metrics.jsonl"):
        return content
    lines = [json.loads(line) for line in content.splitlines()]
    for line in lines:
        line.pop("ms", None)
    return lines


def differences(found, expected):
    """Texts; none when the files are those of an undisturbed run, times aside."""
    texts = [f"{name} is missing" for name in expected if name not in found]
    texts += [f"{name} is left over" for name in found if name not in expected]
    for name, content in found.items():
        if name not in expected:
            continue
        try:
            if without_times(name, content) != without_times(name, expected[name]):
                texts.append(f"{name} differs")
        except ValueError as error:
            texts.append(f"{name}: {error}")
    return texts


def temporary(name):
    """True for files that the program removes when it needs them again."""
    base = name.rsplit("/", 1)[-1]
    return base == ".lock" or (base.startswith(".") and base.endswith(".tmp"))


def begun(folder):
    run = pathlib.Path(folder) / "run"
    return (run / "config.json").exists() or (run / "checkpoint.safetensors").exists()


def goes_on(program, folder, begin):
    """Resumes the run in the folder, or begins it if nothing was saved. Returns what is wrong."""
    if begun(folder):
        done = program.run(folder, RESUME)
        return "" if done.code == 0 else f"resume: {done.text()}"
    told = program.run(folder, RESUME)
    clear = "does not exist" in told.err or "there is no run to resume" in told.err
    if told.code == 0 or not clear or told.err.count("\n") != 1:
        return f"resume without a run: {told.text()}"
    done = program.run(folder, begin)
    return "" if done.code == 0 else f"start: {done.text()}"


def killed_while_saving(program):
    """The files of a run that was killed with its second checkpoint written, but not in place."""
    for k in range(1, 100):
        folder = emptied(program.folder)
        done = program.run(folder, TRAIN, fail=f"rename {k} KILL")
        place = pathlib.Path(folder) / "run/checkpoint.safetensors"
        if done.failed == f"rename {place}" and place.exists():
            return files_in(folder)
    raise SystemExit("error: no second checkpoint is saved")


class Results:
    """Verdicts by case, kept in a file if there is one, so that an interrupted test continues."""

    def __init__(self, path, program):
        stamp = os.stat(program)
        self.key = f"{stamp.st_size} {stamp.st_mtime_ns}"
        self.verdicts, self.file = {}, None
        if not path:
            return
        path = pathlib.Path(path)
        if path.exists():
            lines = path.read_text().splitlines()
            if lines and lines[0] == self.key:
                self.verdicts = dict(json.loads(line) for line in lines[1:] if line.endswith("]"))
        path.write_text("".join(f"{line}\n" for line in [
            self.key, *(json.dumps(list(item)) for item in self.verdicts.items())]))
        self.file = open(path, "a", encoding="utf-8")

    def add(self, case, verdict):
        self.verdicts[case] = verdict
        if self.file:
            self.file.write(json.dumps([case, verdict]) + "\n")
            self.file.flush()


def scratch_folder():
    """A folder in memory if there is one: the tests write much and keep nothing."""
    return tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder
