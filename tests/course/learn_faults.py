#!/usr/bin/env python3
"""Answers with faults that are not those of an exercise: without the function, with an index out of
range, that print, fill the stack or leave a process. Also names of exercises and predictions.

usage: learn_faults.py PROGRAM
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

program = sys.argv[1]
wrong = 0


def expect(condition, text):
    """Prints what was expected and was not found."""
    global wrong
    if not condition:
        wrong += 1
        print("WRONG:", text, flush=True)


def processes_with(text):
    """The number of processes that have a text in their command line."""
    count = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += text.encode() in path.read_bytes()
        except OSError:  # it has ended
            pass
    return count


class Learner:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {**os.environ, "HEADROOM_WORKSPACE": folder, "COLUMNS": "80",
                            "OMP_WAIT_POLICY": "passive"}

    def learn(self, *words):
        return subprocess.run([program, "learn", *words], env=self.environment, text=True,
                              capture_output=True, check=False)

    def solution(self, name):
        """The learner's file of an exercise, and the text of its solution."""
        exercise = next(e for e in json.loads(self.learn("list", "--json").stdout)
                        if e["id"] == name)
        self.learn("generate", name, str(self.folder / "answers"))
        own = pathlib.Path(exercise["file"])
        own.parent.mkdir(exist_ok=True)
        return own, (self.folder / "answers" / (own.stem + "_solution.cpp")).read_text()

    def check(self, name, text):
        """The output of a check that must not pass, in one line."""
        self.solution(name)[0].write_text(text)
        done = self.learn("check", name)
        expect(done.returncode == 3, f"exit code 3 for {name}, not {done.returncode}")
        return " ".join(done.stdout.split())

    def place(self, name, line):
        """The beginning of a diagnosis that is about a line of an answer."""
        return f"{self.solution(name)[0]}:{line}: "


def check_missing(learner):
    """Answers without their function are refused by name, and never recorded as passed."""
    softmax, right = learner.solution("04/1")
    text = learner.check("04/1", "")
    expect(f"04/1 softmax not defined {softmax}:1: your file does not define "
           "`Tensor softmax(const Tensor& x)`; it defines no other function." in text,
           f"the function is missing: {text}")
    text = learner.check("04/1", right.replace("Tensor softmax(", "Tensor softmax2("))
    expect("it defines `softmax2(const Tensor&)`." in text, f"the other name: {text}")
    text = learner.check("04/1", right.replace("softmax(const Tensor& ", "softmax(Tensor& "))
    expect("it defines `softmax(Tensor&)`." in text, f"the other parameter: {text}")
    text = learner.check("06/1", re.sub(r"\nnamespace composed \{|\n\}  // namespace composed", "",
                                        learner.solution("06/1")[1]))
    expect("in `headroom::HEADROOM_PRECISION`. It must be in "
           "`headroom::HEADROOM_PRECISION::composed`" in text, f"the other namespace: {text}")
    for word in ("inline", "__attribute__((weak))"):
        text = learner.check("04/1", right.replace("Tensor softmax(", f"{word} Tensor softmax("))
        expect(f"your `Tensor softmax(const Tensor& x)`, because it is `{word}`. Remove `{word}`."
               in text, f"{word}: {text}")
    text = learner.check("02/1", "")  # not a function of the library
    expect("your file does not define `Real central_difference(" in text, text)

    softmax.write_text("")
    graded = {e["id"]: e for e in json.loads(learner.learn("grade", "--json").stdout)}
    for name in ("02/1", "04/1", "06/1"):
        expect(not graded[name]["passed"], f"grade: {name} has not passed")
        expect(graded[name].get("message", "").startswith("your file does not define"),
               f"grade: {graded[name]}")
    checked = json.loads(learner.learn("check", "06/1", "--json").stdout)
    expect(checked["passed"] is False
           and checked["message"].startswith("your file does not define"),
           f"check --json: {checked}")


def check_crashes(learner):
    """What ended an answer is named."""
    scale, right = learner.solution("00/1")
    begin = right.index("return")
    end = right.index(";", begin) + 1

    def instead(code, before=""):
        return right[:begin] + code + right[end:] + before

    text = learner.check("00/1", instead("return attention_scale(head_dim + 1) + 1;"))
    line = right[:begin].count("\n") + 1
    expect(learner.place("00/1", line) + "your code crashed: its stack is full" in text,
           f"endless recursion: {text}")
    text = learner.check("00/1", instead(
        "volatile double large[4000000]; large[0] = large[3999999] = 1; return Real(large[0]);"))
    expect("crashed: its stack is full" in text, f"a large array: {text}")
    text = learner.check("00/1", instead("return *reinterpret_cast<volatile Real*>(head_dim);"))
    expect(learner.place("00/1", line) + "your code crashed: it used memory that is not there "
           "(segmentation fault)" in text, f"a wild pointer: {text}")
    text = learner.check("00/1", instead(
        "std::vector<Real> v(3);\n\n return v[std::size_t(head_dim)];"))
    expect(learner.place("00/1", line + 2) + "your code was stopped by a check of the standard "
           "library: __n < this->size() does not hold. An index is out of range." in text,
           f"the index of a vector: {text}")
    text = learner.check("00/1", instead("Array a = zeros({3});\n return a[head_dim];"))
    expect(learner.place("00/1", line + 1) + "the library stopped your code: index 16" in text,
           f"the index of an array: {text}")
    text = learner.check("00/1", instead("\nthrow 3;"))
    expect(learner.place("00/1", line + 1) + "your code threw something" in text, text)
    text = learner.check("00/1", instead("return 3 * head_dim;"))
    expect(learner.place("00/1", line - 1) + "with head_dim = 16 your function" in text,
           f"a wrong number is about the function: {text}")
    text = learner.check("00/1", instead("const int unused = 0; retrn 3;"))
    expect("does not compile " + learner.place("00/1", line) in text, f"the compiler: {text}")
    text = learner.check("00/1", instead("return 1; } static int early = (_exit(0), 0); "
                                         "Real unused() { return Real(early);")
                         .replace("#include", "#include <unistd.h>\n#include", 1))
    expect("ended the program" in text, f"an end before the first stage: {text}")
    text = learner.check("00/1", instead("return undefined_function(head_dim);").replace(
        "Real attention_scale", "Real undefined_function(Index n);\n\nReal attention_scale", 1))
    expect("your code calls `undefined_function(long)`, which nothing defines" in text, text)

    text = learner.check("00/1", instead(
        "for (int i = 0; i < 2000000; ++i) std::puts(\"many\"); return 1;"))
    expect(text.count("many") == 100 and "more lines" in text,
           f"{text.count('many')} lines of the output are shown")
    text = learner.check("00/1", instead(
        "for (int i = 0; i < 9000000; ++i) std::putchar('m'); return 1;"))
    expect(len(text) < 2000 and "more bytes" in text,
           f"a line without an end: {len(text)} bytes are shown")
    text = learner.check("00/1", instead(
        "for (int i = 0; i < 900; ++i) std::printf(\"%0250d\\n\", i); return 1;"))
    expect(len(text) < 10000 and "more lines" in text, f"long lines: {len(text)} bytes are shown")
    for name, words in (("SIGALRM", "was stopped after 60 seconds. Does it wait for something?"),
                          ("SIGXCPU", "was stopped after 10 seconds of processor time. Is there")):
        text = learner.check("00/1", instead(f"std::raise({name}); return 1;")
                             .replace("#include", "#include <csignal>\n#include", 1))
        expect(words in text, f"{name}: {text}")
    # A process that the answer leaves, out of its process group, with the name of a command.
    name = f"sleep{os.getpid()}"
    (learner.folder / name).symlink_to("/bin/sleep")
    learner.check("00/1", instead(
        f"if (fork() == 0) {{ setsid(); execl(\"{learner.folder / name}\", \"{name}\", \"60\", "
        f"nullptr); }} return 1;").replace("#include", "#include <unistd.h>\n#include", 1))
    time.sleep(0.2)
    expect(processes_with(name) == 0, "a process that the answer started is still there")


def check_mistakes(learner):
    """An answer that has a mistake of the master file, written in another way, gets its sentence;
    one with other wrong numbers gets none. A mistake is learned once, after the verdict."""
    _, right = learner.solution("05/4")
    line = "mean += P(b, h, i, j) * dp[j];"
    sentence = "It looks as if the mean was taken without the weights: it is the sum of P dP"
    known = pathlib.Path(program).resolve().parents[1] / "course/mistakes_f64/05_4"
    shutil.rmtree(known, ignore_errors=True)
    plain = right.replace(line, "mean = mean + dp[j] * (Real(1) / Real(sizes.keys));")
    text = learner.check("05/4", plain)
    expect(text.index("comparing with") < text.index(sentence), f"the sentence follows: {text}")
    text = learner.check("05/4", plain)
    expect("comparing with" not in text and sentence in text, f"with the verdict: {text}")
    text = learner.check("05/4", right.replace(line, "mean += P(b, h, i, j) * dp[j] / 7;"))
    expect("elements differ" in text and "It looks as if" not in text, f"another one: {text}")
    file = known / "plain_mean.txt"
    file.write_text(file.read_text().replace("weights", "w"))
    os.utime(file, (0, 0))
    text = learner.check("05/4", plain)
    expect("0 of 1 ..." in text and sentence in text, f"one is older than the checks: {text}")
    file.unlink()
    slow = subprocess.Popen([program, "learn", "check", "05/4"], env=learner.environment,
                            stdout=subprocess.PIPE, text=True)
    while "comparing with" not in slow.stdout.readline():
        pass
    slow.terminate()
    expect(slow.wait() < 0 and not file.exists(), "a signal ends the comparison")
    text = learner.check("05/4", plain)
    expect("0 of 1 ..." in text and sentence in text, f"after the signal: {text}")


def check_run(learner):
    """Commands on the learner's functions."""
    softmax, right = learner.solution("04/1")
    at = right.index("{", right.index("Tensor softmax")) + 1
    softmax.write_text(right[:at] + " for (int i = 0; i < 3; ++i) std::puts(\"MARKER\");" +
                       right[at:])
    done = learner.learn("check", "softmax")
    expect(done.returncode == 0, f"04/1 passes: {done.stdout}")
    lab = learner.learn("run", "lab", "head-slices")
    expect(lab.returncode == 0, f"lab runs with an answer that prints: {lab.stderr}")
    expect("MARKER" not in lab.stdout, "the answer's output is on standard output")
    own = learner.learn("run", "microgpt")
    expect("MARKER" not in own.stdout and own.stderr.count("MARKER") == 100,
           f"{own.stderr.count('MARKER')} lines of the output, of 100")
    expect(own.stdout.startswith("1 function is yours: softmax"), own.stdout[:300])
    expect(own.stdout.endswith("This command called your functions softmax.\n"), own.stdout[-300:])
    unused = learner.learn("run", "doctor").stdout
    expect(unused.endswith("Not used by this command: softmax.\n"), unused[-300:])
    softmax.write_text(right.replace("Tensor softmax(", "Tensor softmax2("))
    changed = " ".join(learner.learn("run", "doctor").stdout.split())
    expect("04/1: your file is not the one that passed. Its last right version is used" in changed,
           changed[:300])


def check_names(learner):
    """Names of exercises and predictions."""
    for name in ("9/3", "sinusoids", "Positions::Positions"):
        expect("09/3 sinusoids" in learner.learn("check", name).stdout, f"09/3 by {name}")
    both = learner.learn("hint", "project").stderr
    expect("06/2 SeparateHeads::project, 07/1 FusedHeads::project" in both, both)
    near = learner.learn("hint", "softmx").stderr
    expect("did you mean softmax?" in near, near)

    for words, parts in {
            ("00/zz", "3"): ["00/zz", "00/a, 00/b, 00/c, 00/d"],
            ("00/a", "banana"): ["00/a must be a number", "banana"],
            ("08/b", "banana"): ["a number", "or \"never\""]}.items():
        refused = learner.learn("predict", *words)
        expect(refused.returncode == 2 and all(part in refused.stderr for part in parts),
               f"predict {words}: {refused.stderr}")
    for words in (("0/a", "3"), ("08/b", "never"), ("07/a", "1e-8"), ("13/a", "35 %"),
                  ("00/d", "1/8")):
        expect(learner.learn("predict", *words).returncode == 0, f"predict {words}")
    for text in (learner.learn("hint", "04/1").stdout, learner.learn("hint", "04/1").stdout):
        expect(max(map(len, text.splitlines())) <= 80, f"hints fit 80 columns: {text}")


def main():
    for part in (check_missing, check_crashes, check_mistakes, check_run, check_names):
        with tempfile.TemporaryDirectory() as folder:
            part(Learner(folder))
    print(f"{wrong} faults")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
