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
    """(condition, arm, heads, mean, low, high, seeds) of every arm and control with the measure."""
    for entry in results["means"]:
        if entry["measure"] == measure:
            mean = entry["mean"]
            yield (results["conditions"][entry["condition"]], entry["arm"], entry["heads"],
                   mean["value"], mean["low"], mean["high"], len(entry["seeds"]))


def family(results):
    """The declared comparisons, those with the smallest corrected p first."""
    declared = [entry for entry in results["contrasts"] if entry["in_family"]]
    return sorted(declared, key=lambda entry: (entry["holm"], entry["p"]))


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__.strip())
    results = read_study(arguments[0])
    measures = results["declaration"]["measures"]
    measure = arguments[1] if len(arguments) == 2 else measures[0]
    if measure not in measures:
        sys.exit(f"error: the study has no measure {measure}; it has {', '.join(measures)}")
    print(f"{measure}, mean over seeds with 95 % t-interval")
    for condition, arm, heads, value, low, high, seeds in means(results, measure):
        print(f"  {condition or '-':40} {arm:32} {heads:5.1f} heads  "
              f"{value:.4f} [{low:.4f}, {high:.4f}]  {seeds} seeds")
    print(f"{results['family']} comparisons are tested together (Holm)")
    for entry in family(results):
        mean = entry["difference"]
        print(f"  {entry['arm']} - {entry['against']}, "
              f"{results['conditions'][entry['condition']] or '-'}, {entry['measure']}: "
              f"{mean['value']:+.4f} [{mean['low']:+.4f}, {mean['high']:+.4f}]  "
              f"p {entry['p']:.4f}, corrected {entry['holm']:.4f}")


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly when a reader such as head does
    main(sys.argv[1:])
