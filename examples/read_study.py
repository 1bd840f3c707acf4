#!/usr/bin/env python3
"""Reads results.json of a study with Python's standard library alone, and prints the means of
a measure with their 95 % intervals, and the comparisons that the study declared to be tested
together. With --check it computes them again from the values of the seeds, and compares; so it
does with all intervals of an experiment of the laboratory (`headroom lab NAME --json`).

usage: read_study.py [--check] runs/study-NAME/results.json [MEASURE]
       read_study.py --check EXPERIMENT.json
"""
import json
import math
import os
import signal
import sys


def read_study(path):
    """The results of a study: a dict; docs/studies.md describes its keys."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def means(results, measure):
    """(condition, arm, heads, mean, seeds) of every arm and control that has the measure."""
    for entry in results["means"]:
        if entry["measure"] == measure:
            yield (results["conditions"][entry["condition"]], entry["arm"], entry["heads"],
                   entry["mean"], len(entry["seeds"]))


def family(results):
    """The declared comparisons: the smallest corrected p first, those without a p last."""
    declared = [entry for entry in results["contrasts"] if entry["in_family"]]
    tested = [entry for entry in declared if entry["p"] is not None]
    return (sorted(tested, key=lambda entry: (entry["holm"], entry["p"]))
            + [entry for entry in declared if entry["p"] is None])


def unlearned(results):
    """The checks of models with all heads that have not learned the task, or have no check."""
    return [entry for entry in results["task_checks"]
            if entry["check"] is None or not entry["check"]["learned"]]


def interval_text(interval, seeds):
    """"[0.1000, 0.2000]", or why there is none."""
    if seeds == 1:
        return "(no interval: one seed)"
    if interval is None or interval["low"] == interval["high"]:
        return "(no interval: the value is the same in all seeds)"
    return f"[{interval['low']:.4f}, {interval['high']:.4f}]"


def student_p(t, freedom):
    """Two-sided p of Student's t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle, odd = math.atan(abs(t) / math.sqrt(freedom)), freedom % 2
    term, total = math.cos(angle) if odd else 1.0, 0.0
    for k in range(odd, freedom - 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (k + 1) / (k + 2)
    return 1 - (2 / math.pi * (angle + math.sin(angle) * total) if odd
                else math.sin(angle) * total)


def student_t(freedom):
    """The t with p = 0.05, by halving."""
    low, high = 1.0, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, freedom) > 0.05 else (low, middle)
    return low


def mean_and_interval(values, share=False):
    """Mean, the ends of its 95 % t-interval, and p of "the mean is 0", from independent values.
    For shares the interval is on the scale of logits, log(m / (1 - m))."""
    n, mean = len(values), sum(values) / len(values)
    if n == 1 or max(values) - min(values) <= 1e-12 * abs(mean):
        return mean, mean, mean, None
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    half, p = student_t(n - 1) * error, student_p(mean / error, n - 1)
    if share and 0 <= min(values) and max(values) <= 1:
        logit, half = math.log(mean / (1 - mean)), half / (mean * (1 - mean))
        return mean, *(1 / (1 + math.exp(-end)) for end in (logit - half, logit + half)), p
    return mean, mean - half, mean + half, p


def median_and_interval(values):
    """Median, and the widest pair of the k-th values from both ends that covers 95 % or more."""
    values, n, k = sorted(values), len(values), 0
    while k + 1 < n and 2 * sum(math.comb(n, i) for i in range(k + 2)) / 2**n <= 0.05:
        k += 1
    return (values[(n - 1) // 2] + values[n // 2]) / 2, values[k], values[n - 1 - k]


def interval_again(of, draws):
    """Value and ends of an interval of the laboratory, from the independent draws behind it."""
    if of == "median":
        return median_and_interval(draws)
    if of == "geometric mean":
        return [math.exp(end) for end in mean_and_interval([math.log(v) for v in draws])[:3]]
    return mean_and_interval(draws, of == "mean of shares")[:3]


def intervals_in(record):
    """Every interval in a part of a record that has its draws."""
    if isinstance(record, dict) and "draws" in record:
        yield record
    elif isinstance(record, (dict, list)):
        for part in record.values() if isinstance(record, dict) else record:
            yield from intervals_in(part)


def verify_experiment(record):
    """Computes all intervals of an experiment again from their draws."""
    intervals = list(intervals_in(record))
    for entry in intervals:
        again = interval_again(entry["of"], entry["draws"])
        must_be(f"{entry['of']} of {entry['draws']}", again,
                [entry[end] for end in ("value", "low", "high")])
    print(f"computed again, equal to 1e-6: {len(intervals)} intervals")


def fnv1a64(data):
    """The hash of a declaration: FNV-1a with 64 bits."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2**64
    return f"fnv1a64:{value:016x}"


def must_be(name, found, stored):
    """Compares the numbers of a result with those that were computed again."""
    for here, there in zip(found, stored):
        assert here is not None and abs(here - there) <= 1e-6 * max(1, abs(there)), \
            f"{name}: {found}, stored {stored}"


def verify(results, folder):
    """Computes means, differences with p, and regrets again from the values of the seeds."""
    of_seeds = {}
    for entry in results["means"]:
        share = entry["measure"].split(".")[-1] in ("exact_match", "accuracy", "per", "wer")
        seeds = {seed["seed"]: seed["value"] for seed in entry["seeds"]}
        place = entry["condition"], entry["arm"], entry["measure"]
        of_seeds[place] = seeds
        stored = [entry["mean"][end] for end in ("value", "low", "high")]
        must_be(f"mean of {place}", mean_and_interval(list(seeds.values()), share)[:3], stored)
    for entry in results["contrasts"]:
        arm, against = (of_seeds[entry["condition"], name, entry["measure"]]
                        for name in (entry["arm"], entry["against"]))
        differences = [arm[seed] - against[seed] for seed in arm if seed in against]
        mean, low, high, p = mean_and_interval(differences)
        place = entry["arm"], entry["against"], entry["measure"]
        must_be(f"difference of {place}", [mean], [entry["difference"]])
        if entry["p"] is not None:  # else the differences do not vary
            interval = entry["interval"]
            must_be(f"test of {place}", [low, high, p],
                    [interval["low"], interval["high"], entry["p"]])
    for entry in results["regret"]:
        values = [seed["value"] for seed in entry["seeds"]]
        stored = [entry["regret"][end] for end in ("value", "low", "high")]
        must_be(f"regret of {entry['metric']}", mean_and_interval(values)[:3], stored)
    declaration = os.path.join(folder, "declaration.json")
    known = results["provenance"]["declaration"]
    if os.path.exists(declaration) and known:
        with open(declaration, "rb") as file:
            assert fnv1a64(file.read()) == known, f"{declaration} is not that of the results"
    print(f"computed again, equal to 1e-6: {len(results['means'])} means with intervals, "
          f"{len(results['contrasts'])} differences with p, {len(results['regret'])} regrets")


def main(arguments):
    checks = arguments[:1] == ["--check"]
    arguments = arguments[checks:]
    if len(arguments) not in (1, 2):
        sys.exit(__doc__.strip())
    results = read_study(arguments[0])
    if checks and "blocks" in results:
        verify_experiment(results)
        return
    if checks:
        verify(results, os.path.dirname(arguments[0]))
        return
    measures = results["declaration"]["measures"]
    measure = arguments[1] if len(arguments) == 2 else measures[0]
    if measure not in measures:
        sys.exit(f"error: the study has no measure {measure}; it has {', '.join(measures)}")
    failed = unlearned(results)
    if failed:
        print(f"{len(failed)} of {len(results['task_checks'])} models with all heads have not "
              "learned the task, so the differences below are noise:")
    for entry in failed:
        check = entry["check"]
        print(f"  {entry['run']}, seed {entry['seed']}: " + (
            "not checked" if check is None else
            f"{check['measure']} {check['model']:.4g}, "
            f"best constant answer {check['constant']:.4g}"))
    print(f"{measure}, mean over seeds with 95 % t-interval")
    for condition, arm, heads, mean, seeds in means(results, measure):
        print(f"  {condition or '-':40} {arm:32} {heads:5.1f} heads  "
              f"{mean['value']:.4f} {interval_text(mean, seeds)}  {seeds} seeds")
    print(f"{results['family']} comparisons are tested together (Holm)")
    for entry in family(results):
        tested = ("no p" if entry["p"] is None else
                  f"p {entry['p']:.4f}, corrected {entry['holm']:.4f}")
        print(f"  {entry['arm']} - {entry['against']}, "
              f"{results['conditions'][entry['condition']] or '-'}, {entry['measure']}: "
              f"{entry['difference']:+.4f} "
              f"{interval_text(entry['interval'], len(entry['seeds']))}  {tested}")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly when a reader such as head does
    main(sys.argv[1:])
