#!/usr/bin/env python3
"""Reads results.json of a study with Python's standard library alone, and prints the means of
a measure with their 95 % intervals, and the comparisons that the study declared to be tested
together.

usage: read_study.py runs/study-NAME/results.json [MEASURE]
"""
import json
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


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__.strip())
    results = read_study(arguments[0])
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
