#!/usr/bin/env python3
"""Makes the statistics of the exact study from the JSON that exact.sh wrote, with Python's standard
library alone: prints Markdown tables, and writes results.json and exact.svg to the folder.

usage: exact.py [FOLDER]        (default: runs/exact)
"""
import functools
import json
import math
import os
import sys

from picture import dot_plot

KINDS = {"dates": "dates", "brackets": "brackets",
         "dates-dropped": "dates, DropHead", "brackets-dropped": "brackets, DropHead"}
MORE_EXAMPLES = "sensitivity, 500 examples"
COOPERATION = "subsets improved, same set"
REMOVED = (3, 6, 9)


def is_dropped(kind):
    """Whether these models, trained with DropHead, are measured for their backups only."""
    return kind.endswith("-dropped")


def t_share_above(t, freedom):
    """The share of Student's t distribution above t >= 0, by Simpson's rule on its density."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    steps = 2000
    width = t / steps
    area = 0.0
    for i in range(steps + 1):
        weight = 1 if i in (0, steps) else 4 if i % 2 else 2
        area += weight * (1 + (i * width) ** 2 / freedom) ** (-(freedom + 1) / 2)
    return max(0.0, 0.5 - scale * area * width / 3)


@functools.cache
def t_quantile(freedom):
    """The t with 2.5 % above it, by bisection."""
    low, high = 0.0, 20.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if t_share_above(middle, freedom) > 0.025 else (low, middle)
    return low


def summary(values):
    """Mean, half of the 95 % t-interval and two-sided p of a mean of 0; None where undefined."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return {"mean": mean, "half": None, "p": None, "values": values}
    error = math.sqrt(sum((x - mean) ** 2 for x in values) / (count - 1) / count)
    if error == 0:
        return {"mean": mean, "half": None, "p": None, "values": values}
    return {"mean": mean, "half": t_quantile(count - 1) * error,
            "p": 2 * t_share_above(abs(mean) / error, count - 1), "values": values}


def ranks(values):
    """Ranks from 0, equal values share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    result = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in order[first:last + 1]:
            result[i] = (first + last) / 2
        first = last + 1
    return result


def spearman(a, b):
    """The rank correlation; None if one of them is constant."""
    a, b = ranks(a), ranks(b)
    middle = (len(a) - 1) / 2
    both = sum((x - middle) * (y - middle) for x, y in zip(a, b))
    own = sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b)
    return both / math.sqrt(own) if own > 0 else None


class Point:
    """One model at one step; more_examples: the same with sensitivity on 500 examples, not 64."""

    def __init__(self, point, more_examples):
        self.run, self.step, self.check = point["run"], point["step"], point["task_check"]
        if len(point["games"]) != 1:
            sys.exit(f"error: {self.run}: the game must be of all heads; it has "
                     f"{len(point['games'])} games")
        self.game = point["games"][0]
        self.heads = len(self.game["heads"])
        self.regret = dict(self.game["regret"])
        self.importance = {name: of["importance"] for name, of in point["metrics"].items()}
        self.with_cost = {name: of["with_cost"] for name, of in point["metrics"].items()}
        self.add(COOPERATION, self.subsets_improved())
        own = self.regret_by(self.importance["leave_one_out"])
        if any(abs(own[k] - self.regret["leave_one_out"][k]) > 1e-9 for k in own):
            sys.exit(f"error: {self.run}, step {self.step}: the regret of leave_one_out is {own} "
                     f"here and {self.regret['leave_one_out']} in the file")
        if more_examples:
            self.add(MORE_EXAMPLES, more_examples["metrics"]["sensitivity"]["importance"])

    def add(self, name, scores):
        """Adds a criterion by its score of every head."""
        self.importance[name], self.regret[name] = scores, self.regret_by(scores)

    def subsets_improved(self):
        """For every head the share of the subsets of the other heads that it improves, from the
        exact losses themselves. It follows the abstract of "A Cooperation Index for Model Pruning"
        (NeurIPS 2025), which counts cooperative contributions; its formula was not at hand."""
        losses = self.game["values"]
        return [sum(losses[kept] > losses[kept | 1 << head] for kept in range(len(losses))
                    if not kept >> head & 1) / (len(losses) / 2) for head in range(self.heads)]

    def regret_by(self, scores):
        """{heads kept: regret} where the heads with the highest scores are kept."""
        losses, by_size = self.game["values"], {}
        for kept, loss in enumerate(losses):
            by_size.setdefault(kept.bit_count(), []).append(loss)
        best_first = sorted(range(self.heads), key=lambda head: -scores[head])
        regret = {}
        for size in range(1, self.heads):
            loss = losses[sum(1 << head for head in best_first[:size])]
            best, mean = min(by_size[size]), sum(by_size[size]) / len(by_size[size])
            regret[size] = (loss - best) / (mean - best)
        return regret

    def shapley_rank(self, name):
        """The rank correlation of a metric with the exact Shapley values; None for a chooser."""
        scores = self.importance.get(name)
        return spearman(scores, self.game["shapley"]) if scores else None

    def regret_of(self, name, removed):
        """0: the best subset of its size, 1: the mean of random ones."""
        return self.regret[name][self.heads - removed]

    def span(self):
        """v(none) - v(all), the loss that all heads together save."""
        return self.game["values"][0] - self.game["values"][-1]

    def backup_mass(self):
        """The sum of the positive interactions of pairs, as a share of span()."""
        matrix = self.game["interactions"]
        return sum(max(0.0, matrix[i][j]) for i in range(self.heads)
                   for j in range(i)) / self.span()


def read_points(path):
    """The points of a JSON file that importance --trace wrote, by run and step."""
    with open(path, encoding="utf-8") as file:
        return {(p["run"], p["step"]): p for p in json.load(file)["points"]}


def read_kind(folder, kind):
    """The points of a kind by step: {step: [Point of each seed]}."""
    points = read_points(os.path.join(folder, kind + ".json"))
    again = {} if is_dropped(kind) else read_points(os.path.join(folder, kind + "-500.json"))
    by_step = {}
    for key, point in points.items():
        by_step.setdefault(point["step"], []).append(
            Point(point, None if is_dropped(kind) else again[key]))
    return {step: sorted(found, key=lambda p: p.run) for step, found in sorted(by_step.items())}


def over_seeds(points, number):
    """summary() of a number of every model; None where a model has none."""
    values = [number(point) for point in points]
    return None if any(v is None or math.isnan(v) for v in values) else summary(values)


def text(entry):
    """"0.12 ± 0.05"; an interval that is undefined is left out."""
    if entry is None:
        return "–"
    half = "" if entry["half"] is None else f" ± {entry['half']:.2f}"
    return f"{entry['mean']:.2f}{half}"


def p_text(entry):
    """" (p 0.03)"; nothing where p is undefined."""
    return "" if entry["p"] is None else f" (p {entry['p']:.2g})"


def table(titles, rows):
    """A Markdown table."""
    return "\n".join(["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
                     + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def choices(of_kind):
    """Every metric and chooser, by its record at each step, the best at the end first."""
    last = list(of_kind)[-1]
    found = []
    for name in of_kind[last][0].regret:
        entry = {"choice": name, "steps": {}}
        for step, points in of_kind.items():
            entry["steps"][step] = {
                "with_cost": over_seeds(points, lambda p: p.with_cost.get(name)),
                "with_shapley": over_seeds(points, lambda p: p.shapley_rank(name)),
                "regret": {r: over_seeds(points, lambda p, r=r: p.regret_of(name, r))
                           for r in REMOVED}}
        found.append(entry)
    worst = float("inf")
    found.sort(key=lambda e: e["steps"][last]["regret"][6]["mean"]
               if e["steps"][last]["regret"][6] else worst)
    return found


def choices_table(of_kind, found):
    """The table of all choices at the end, and their regret at the points before."""
    steps = list(of_kind)
    rows = []
    for entry in found:
        end = entry["steps"][steps[-1]]
        rows.append([entry["choice"], text(end["with_cost"]), text(end["with_shapley"])]
                    + [text(end["regret"][r]) for r in REMOVED]
                    + [text(entry["steps"][step]["regret"][6]) for step in steps[:-1]])
    return table(["chosen by", "rank with cost", "rank with Shapley"]
                 + [f"regret, {r} removed" for r in REMOVED]
                 + [f"6 removed, step {step}" for step in steps[:-1]], rows)


def contrasts(of_kind):
    """The paired differences that the hypotheses on zero gradients are about, at every step."""
    found = []
    pairs = [("random_masks", other) for other in (MORE_EXAMPLES, "path", "random_search")]
    for step, points in of_kind.items():
        for a, b in pairs + [("path", MORE_EXAMPLES)]:
            found.append({"step": step, "a": a, "b": b, "measure": "regret, 6 removed",
                          "difference": over_seeds(
                              points, lambda p: p.regret_of(a, 6) - p.regret_of(b, 6))})
        found.append({"step": step, "a": "path", "b": MORE_EXAMPLES, "measure": "rank with Shapley",
                      "difference": over_seeds(points, lambda p: p.shapley_rank("path")
                                               - p.shapley_rank(MORE_EXAMPLES))})
    return found


def contrasts_table(of_kind, found):
    """A row for each pair and measure, a column for each step."""
    rows = {}
    for entry in found:
        difference = entry["difference"]
        rows.setdefault(f"{entry['a']} − {entry['b']}: {entry['measure']}", []).append(
            text(difference) + p_text(difference))
    return table(["difference"] + [f"step {step}" for step in of_kind],
                 [[name] + cells for name, cells in rows.items()])


def correct(entries):
    """Adds Holm's corrected p to differences that have a p: one family."""
    tested = sorted((e["difference"] for e in entries if e["difference"]["p"] is not None),
                    key=lambda difference: difference["p"])
    least = 0.0
    for i, difference in enumerate(tested):
        least = max(least, min(1.0, (len(tested) - i) * difference["p"]))
        difference["holm"] = least
    return len(tested)


def standing_text(results, kinds):
    """The sentence on the differences of all kinds that stand after Holm's correction."""
    entries = {kind: results[kind]["contrasts"] for kind in kinds}
    count = correct([e for of_kind in entries.values() for e in of_kind])
    standing = [f"{e['a']} − {e['b']}, {e['measure']}, {KINDS[kind]}, step {e['step']} "
                f"({e['difference']['holm']:.2g})"
                for kind, of_kind in entries.items() for e in of_kind
                if e["difference"].get("holm", 1) < 0.05]
    return (f"Of these {count} differences {len(standing)} have a p below 0.05 after Holm's "
            f"correction{': ' if standing else ''}{'; '.join(standing)}.\n")


def backup(kinds):
    """Positive interactions, and how much more leave_one_out loses than greedy, at the end."""
    models = []
    for kind, of_kind in kinds.items():
        for point in of_kind[list(of_kind)[-1]]:
            loss = point.regret_of("leave_one_out", 6) - point.regret_of("greedy", 6)
            models.append({"kind": kind, "run": point.run, "mass": point.backup_mass(),
                           "lost": loss})
    result = {"models": models, "spearman": {}, "drop_head": {}, "triples": {}, "mass": {}}
    for name, chosen in [("all", models)] + [
            (task, [m for m in models if m["kind"].startswith(task)])
            for task in ("dates", "brackets")]:
        result["spearman"][name] = {
            "models": len(chosen),
            "value": spearman([m["mass"] for m in chosen], [m["lost"] for m in chosen])}
    for task in ("dates", "brackets"):
        plain, dropped = ([m["mass"] for m in models if m["kind"] == kind]
                          for kind in (task, task + "-dropped"))
        result["drop_head"][task] = summary([b - a for a, b in zip(plain, dropped)])
    for kind, of_kind in kinds.items():
        result["mass"][kind] = {step: over_seeds(points, Point.backup_mass)
                                for step, points in of_kind.items()}
        result["triples"][kind] = {step: {
            game: over_seeds(points, lambda p, g=game: sum(
                d < 0 for d in p.game["triple_dividends"][g])
                / len(p.game["triple_dividends"][g])) for game in ("loss", "entropy")}
            for step, points in of_kind.items()}
    return result


def backup_text(found, kinds):
    """The tables of backup()."""
    out = "Sum of the positive interactions of all 66 pairs, as a share of v(none) - v(all):\n\n"
    out += table(["models"] + [f"point {i + 1}" for i in range(4)],
                 [[KINDS[kind]] + [text(e) for e in found["mass"][kind].values()]
                  for kind in kinds])
    out += "\n" + "".join(
        f"* rank correlation of this sum with regret(leave_one_out) - regret(greedy), 6 removed, "
        f"at the end, {name} ({e['models']} models): {e['value']:.2f}\n"
        for name, e in found["spearman"].items())
    out += "".join(f"* DropHead minus none, {task}: {text(e)}{p_text(e)}\n"
                   for task, e in found["drop_head"].items())
    out += "\nShare of the 220 triples with a negative dividend, loss / entropy:\n\n"
    return out + table(["models"] + [f"point {i + 1}" for i in range(4)],
                       [[KINDS[kind]] + [f"{text(e['loss'])} / {text(e['entropy'])}"
                                         for e in found["triples"][kind].values()]
                        for kind in kinds])


def regrets(found, last):
    """The regret of each choice at the end, 6 removed, as dot_plot() takes them."""
    values = {}
    for entry in found:
        mean = entry["steps"][last]["regret"][6]
        if mean:
            half = mean["half"]
            values[entry["choice"]] = (mean["mean"], None if half is None else mean["mean"] - half,
                                       None if half is None else mean["mean"] + half)
    return values


def oracle_checks(kinds):
    """How far the exact values are from their axioms, and how many sampled intervals contain them,
    over all models and points. The program computes both for every model."""
    games = [point.game for of_kind in kinds.values() for points in of_kind.values()
             for point in points]
    sampled = [game["sampled"] for game in games]
    return {"games": len(games), "orders": sampled[0]["orders"],
            "cases": sum(s["cases"] for s in sampled), "inside": sum(s["inside"] for s in sampled),
            "sum_error": max(game["sum_error"] for game in games),
            "twin_error": max(game["twin_error"] for game in games)}


def oracle_checks_text(found):
    """The sentences of oracle_checks()."""
    return (f"{found['games']} games. 95 % intervals of Shapley values that are sampled with "
            f"{found['orders']} random orders contain the exact value in {found['inside']} of "
            f"{found['cases']} cases ({found['inside'] / found['cases']:.1%}). The sum of the "
            f"exact values differs from v(none) - v(all) by at most {found['sum_error']:.1e}, the "
            f"values of twins from each other by at most {found['twin_error']:.1e}.")


def main(arguments):
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        sys.exit(__doc__.strip())
    folder = arguments[0] if arguments else "runs/exact"
    missing = [kind for kind in KINDS if not os.path.exists(os.path.join(folder, kind + ".json"))]
    if missing:
        sys.exit(f"error: {folder}: no results of {', '.join(missing)}; run exact.sh to its end")
    kinds = {kind: read_kind(folder, kind) for kind in KINDS}
    results, panels = {}, []
    for kind, of_kind in kinds.items():
        last = list(of_kind)[-1]
        learned = {step: sum(p.check["learned"] for p in points)
                   for step, points in of_kind.items()}
        results[kind] = {"learned": learned}
        print(f"## {KINDS[kind]}\n\nModels that have learned the task: "
              + ", ".join(f"{n} of {len(of_kind[s])} at step {s}" for s, n in learned.items())
              + ".\n")
        if is_dropped(kind):
            continue
        found = choices(of_kind)
        results[kind].update(choices=found, contrasts=contrasts(of_kind))
        print(f"At step {last}, and the regret with 6 heads removed at each step before:\n")
        print(choices_table(of_kind, found))
        print(contrasts_table(of_kind, results[kind]["contrasts"]))
        panels.append((f"{KINDS[kind]}, step {last}: regret, 6 of 12 removed",
                       regrets(found, last)))
    print("## The differences of both tasks\n\n"
          + standing_text(results, [kind for kind in kinds if not is_dropped(kind)]))
    results["backup"] = backup(kinds)
    print("## Heads that cover for each other\n\n" + backup_text(results["backup"], kinds))
    results["oracle"] = oracle_checks(kinds)
    print("## The exact values\n\n" + oracle_checks_text(results["oracle"]))
    drawing = dot_plot("Regret of every criterion", panels, [2] * len(panels))
    for name, content in (("results.json", json.dumps(results, indent=1) + "\n"),
                          ("exact.svg", drawing)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)


if __name__ == "__main__":
    main(sys.argv[1:])
