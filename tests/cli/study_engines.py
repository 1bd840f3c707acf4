#!/usr/bin/env python3
"""A study by the programs that distribute work gives the results of the study alone, to the digit.

usage: study_engines.py PROGRAM SOURCE ENGINE

ENGINE is one of: again (stopped by signals in the middle, and started again), parallel, snakemake,
slurm (its daemons are started for this test, as root, on this machine only). Exits with 77 where
the engine is not installed or does not start.
"""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

AGAIN = 75
STUDY = {
    "name": "tiny",
    "base": {"task": "reverse", "steps": 20, "width": 16, "heads": 2, "layers": 1, "batch": 8,
             "warmup": 2, "evaluate_every": 10, "validation": 40, "rate": 0.01},
    "seeds": [1, 2],
    "trunk": {"until": 10},
    "removal": {"prune": [3], "prune_from": 11, "prune_over": 2},
    "arms": {"least sensitive": {}},
    "controls": ["none", "random", "costliest_first", "same_mask_reinitialised"],
    "random_draws": 1,
    "importance": {"metrics": "cheap", "examples": 8},
    "measures": ["validation_loss", "exact_match"],
}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def require(condition, text):
    if not condition:
        print(f"FAILED: {text}")
        sys.exit(1)


class Studies:
    """A folder with a study, and the program."""

    def __init__(self, program, folder, study):
        self.program, self.folder = program, pathlib.Path(folder)
        (self.folder / "study.json").write_text(json.dumps(study))
        # Variables of a launcher would make this a copy of a larger study.
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "OMPI_", "PMI_"))}
        self.environment["HEADROOM"] = program

    def command(self, *options):
        return [self.program, "study", "study.json", *options]

    def call(self, words, code=0):
        done = subprocess.run(words, cwd=self.folder, env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        require(done.returncode == code,
                f"{words} ended with {done.returncode}, not {code}:\n{done.stdout[-4000:]}")
        return done.stdout

    def run(self, *options, code=0):
        return self.call(self.command(*options), code)

    def pieces(self, out):
        text = subprocess.run(self.command("--out", out, "--list", "--json"), cwd=self.folder,
                              env=self.environment, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
        return json.loads(text)["pieces"]

    def results(self, out):
        """results.json with numbers as texts, without where and when they were computed."""
        text = (self.folder / out / "results.json").read_text()
        results = json.loads(text, parse_float=str, parse_int=str)
        results.pop("provenance", None)
        return results

    def finished(self, out):
        return len(list((self.folder / out).glob("cells/*/summary.json")))

    def compare(self, out):
        pieces = self.pieces(out)
        require(all(piece["state"] == "done" for piece in pieces), f"not all are done: {pieces}")
        require(len(self.results("alone")["cells"]) > 0, "the study alone has no cells")
        require(self.results(out) == self.results("alone"),
                f"{out}/results.json differs from that of the study alone")
        require(not list((self.folder / out / "claims").iterdir()), "claims are left")
        print(f"{out}: the same results, {len(pieces)} pieces")


def again(studies):
    """Pieces one by one, each of which is asked to stop once, by signals in turn."""
    signals = [signal.SIGUSR1, signal.SIGTERM]
    unknown = studies.run("--out", "again", "--run", "cell-1", code=2)
    require('no piece "cell-1"' in unknown, unknown)
    first = studies.pieces("again")
    late = next(piece for piece in first if piece["stage"] == 2)
    refused = studies.run("--out", "again", "--run", late["key"], code=2)
    require("which is not done" in refused and len(refused.splitlines()) == 1, refused)
    require(not (studies.folder / "again").exists(), "refused pieces leave a folder")
    stopped = 0
    for number, piece in enumerate(sorted(first, key=lambda piece: piece["stage"])):
        words = studies.command("--out", "again", "--run", piece["key"])
        child = subprocess.Popen(words, cwd=studies.folder, env=studies.environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        claim = studies.folder / "again" / "claims" / piece["key"]
        result = studies.folder / "again" / piece["result"]
        while child.poll() is None and not claim.exists() and not result.exists():
            time.sleep(0.001)
        time.sleep(0.01 * (number % 6))
        if child.poll() is None:
            child.send_signal(signals[number % 2])
        child.communicate(timeout=60)
        require(child.returncode in (0, AGAIN), f"{piece['key']} ended with {child.returncode}")
        stopped += child.returncode == AGAIN
        require(not claim.exists(), f"{piece['key']} is still claimed")
        require(child.returncode == AGAIN or result.exists(), f"{piece['key']} has no result")
        if child.returncode == AGAIN:
            studies.call(words)
        require(result.exists(), f"{piece['key']} is not done")
    require(stopped >= 3, f"only {stopped} pieces were stopped")
    studies.run("--out", "again", "--page")
    studies.compare("again")
    # The whole study, too.
    words = studies.command("--out", "stopped")
    child = subprocess.Popen(words, cwd=studies.folder, env=studies.environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while child.poll() is None and studies.finished("stopped") < 2:
        time.sleep(0.001)
    child.send_signal(signal.SIGUSR1)
    text = child.communicate(timeout=60)[0].decode()
    require(child.returncode == AGAIN, f"stopped, it ended with {child.returncode}: {text}")
    status = studies.run("--out", "stopped", "--status")
    require("nobody works on it" in status and "0 stale claims" in status, status)
    studies.run("--out", "stopped", "--resume")
    studies.compare("stopped")


def parallel(studies):
    if not shutil.which("parallel"):
        skip("there is no GNU parallel; install parallel")
    version = subprocess.run(["parallel", "--version"], stdout=subprocess.PIPE, text=True,
                             stderr=subprocess.DEVNULL, check=False).stdout
    if "GNU parallel" not in version:
        skip("parallel is another program than GNU parallel")
    studies.call(["bash", "-c", """
set -e -o pipefail
"$HEADROOM" study study.json --out parallel --list > pieces.txt
for stage in $(awk 'NR > 1 { print $2 }' pieces.txt | sort -nu); do
  awk -v s="$stage" '$2 == s { print $1 }' pieces.txt |
    parallel --will-cite -j 2 "$HEADROOM" study study.json --out parallel --run {}
done
"""])
    studies.run("--out", "parallel", "--page")
    studies.compare("parallel")


def snakemake(studies, source):
    if not shutil.which("snakemake"):
        skip("there is no snakemake; install snakemake")
    studies.environment["HOME"] = str(studies.folder)
    words = ["snakemake", "-s", f"{source}/examples/studies/Snakefile", "--cores", "2",
             "--config", "study=study.json", "out=snakemake"]
    studies.call(words)
    studies.compare("snakemake")
    require("Nothing to be done" in studies.call(words), "snakemake does finished work again")


class Slurm:
    """munged, slurmctld and slurmd of one node, in a folder. They end with this object."""

    CONF = """
ClusterName=test
SlurmctldHost={host}
SlurmctldPort={port1}
SlurmdPort={port2}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
KillWait=5
NodeName={host} CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

    def __init__(self, folder):
        self.folder, self.daemons = pathlib.Path(folder), []
        host = socket.gethostname().split(".")[0]
        for part in ("state", "spool"):
            (self.folder / part).mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        self.folder.chmod(0o755)
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(self.CONF.format(folder=self.folder, host=host,
                                              port1=free_port(), port2=free_port()))
        os.environ["SLURM_CONF"] = str(self.conf)

    def start(self):
        at = str(self.folder)
        self.daemon("munged", "--foreground", "--force", f"--key-file={at}/munge.key",
                    f"--socket={at}/munge.socket", f"--pid-file={at}/munge.pid",
                    f"--log-file={at}/munge.log", f"--seed-file={at}/munge.seed")
        self.wait(lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        self.wait(lambda: "idle" in subprocess.run(
            ["sinfo", "-h", "-o", "%T"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, check=False).stdout)

    def daemon(self, *words):
        log = open(self.folder / f"{words[0]}.out", "w", encoding="utf8")
        self.daemons.append(subprocess.Popen(words, stdout=log, stderr=log))

    def wait(self, condition):
        for _ in range(300):
            if condition():
                return
            time.sleep(0.1)
        for log in self.folder.glob("*.log"):
            print(log.name, log.read_text(errors="replace")[-1500:])
        self.stop()
        skip("Slurm does not start here")

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        self.daemons = []


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def no_jobs(seconds):
    """Waits until no job is in the queue."""
    for _ in range(5 * seconds):
        jobs = subprocess.run(["squeue", "-h"], stdout=subprocess.PIPE, text=True, check=True)
        if not jobs.stdout.strip():
            return
        time.sleep(0.2)
    require(False, f"jobs are left: {jobs.stdout}")


def slurm(studies, source):
    for program in ("munged", "slurmctld", "slurmd", "sbatch"):
        if not shutil.which(program):
            skip(f"there is no {program}; install slurm-wlm and munge")
    if os.geteuid() != 0:
        skip("Slurm's daemons need root")
    with tempfile.TemporaryDirectory() as folder:
        daemons = Slurm(folder)
        daemons.start()
        studies.environment["SLURM_CONF"] = os.environ["SLURM_CONF"]
        try:
            slurm_jobs(studies, f"{source}/examples/studies")
        finally:
            daemons.stop()


def slurm_jobs(studies, scripts):
    # One allocation, whose tasks are asked to save in the middle. The job goes on by itself.
    job = studies.call(["sbatch", "--parsable", "--ntasks=2", f"{scripts}/slurm.sh", "study.json",
                        "--out", "slurm"]).strip()
    for _ in range(3000):
        if studies.finished("slurm") >= 2:
            break
        time.sleep(0.01)
    studies.call(["scancel", "--signal=USR1", job])
    no_jobs(120)
    log = (studies.folder / f"study-{job}.log").read_text()
    require("stopped; continue with" in log, f"the job was not stopped:\n{log}")
    studies.compare("slurm")
    studies.call(["bash", f"{scripts}/array.sh", "study.json", "--out", "array"])
    no_jobs(120)
    require((studies.folder / "array" / "results.json").exists(),
            "\n".join(log.read_text() for log in studies.folder.glob("study-*.log")))
    studies.compare("array")


def main():
    program, source, engine = sys.argv[1:]
    study = dict(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        studies = Studies(os.path.abspath(program), folder, study)
        studies.run("--out", "alone")
        if engine == "again":
            again(studies)
        elif engine == "parallel":
            parallel(studies)
        elif engine == "snakemake":
            snakemake(studies, source)
        elif engine == "slurm":
            slurm(studies, source)
        else:
            sys.exit(f"no engine {engine}")


if __name__ == "__main__":
    main()
