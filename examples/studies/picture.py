#!/usr/bin/env python3
"""Draws means with their 95 % intervals from a study's results.json as SVG, with Python's standard
library alone: a panel for each measure and condition, a row for each arm and control. Two or four
conditions of a measure are on one line.

usage: picture.py RESULTS.json OUT.svg MEASURE...
"""
import html
import json
import math
import sys

ROW, LEFT, WIDTH, GAP = 17, 212, 250, 26


def ticks(most):
    """At most six round numbers from 0 to `most`."""
    step = 10 ** math.floor(math.log10(most))
    for factor in (0.2, 0.5, 1, 2):
        if most / (step * factor) <= 5:
            step *= factor
            break
    return [i * step for i in range(int(most / step + 1e-9) + 1)]


def end_of_axis(panels):
    """An axis for all values and intervals of these panels."""
    return 1.05 * max(v if high is None else high
                      for _, values in panels for v, _, high in values.values())


def dot_plot(title, panels, mosts, across=3):
    """The SVG. panels: (title, {row: (value, low, high)}); low and high are None where there is no
    interval. mosts: where each panel's axis ends; values beyond it are a triangle at the end."""
    rows = list(dict.fromkeys(row for _, values in panels for row in values))
    height = 50 + ROW * len(rows)
    lines = (len(panels) + across - 1) // across
    size = (LEFT + min(across, len(panels)) * (WIDTH + GAP), lines * height + 8)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" '
           f'font-family="sans-serif" font-size="11" role="img"><title>{html.escape(title)}</title>'
           '<rect width="100%" height="100%" fill="#fff"/>']
    for index, ((name, values), most) in enumerate(zip(panels, mosts)):
        x0 = LEFT + index % across * (WIDTH + GAP)
        y0 = index // across * height

        def x(value):
            return x0 + min(max(value, 0), most) / most * WIDTH

        out.append(f'<text x="{x0}" y="{y0 + 16}" font-weight="bold">{html.escape(name)}</text>')
        bottom = y0 + 28 + ROW * len(rows)
        for mark in ticks(most):
            out.append(f'<path d="M{x(mark):.1f} {y0 + 24}V{bottom}" stroke="#ddd"/><text '
                       f'x="{x(mark):.1f}" y="{bottom + 13}" text-anchor="middle">{mark:g}</text>')
        for i, row in enumerate(rows):
            y = y0 + 34 + i * ROW
            if index % across == 0:
                out.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">'
                           f'{html.escape(row)}</text>')
            if row not in values:
                continue
            value, low, high = values[row]
            if low is not None:
                out.append(f'<path d="M{x(low):.1f} {y}H{x(high):.1f}" stroke="#4477aa" '
                           'stroke-width="1.5"/>')
            out.append(f'<path d="M{x(most) - 6:.1f} {y - 4}v8l6 -4z" fill="#4477aa"/>'
                       if value > most else
                       f'<circle cx="{x(value):.1f}" cy="{y}" r="3.2" fill="#4477aa"/>')
    return "\n".join(out) + "\n</svg>\n"


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__.strip())
    with open(arguments[0], encoding="utf-8") as file:
        results = json.load(file)
    panels, mosts = [], []
    for measure in arguments[2:]:
        of_measure = []
        for index, condition in enumerate(results["conditions"]):
            values = {}
            for entry in results["means"]:
                if entry["measure"] == measure and entry["condition"] == index:
                    mean = entry["mean"]
                    values[entry["arm"]] = (mean["value"], mean["low"], mean["high"])
            if values:
                of_measure.append((f"{measure}{': ' if condition else ''}{condition}", values))
        panels += of_measure
        mosts += [end_of_axis(of_measure)] * len(of_measure) if of_measure else []
    if not panels:
        sys.exit(f"error: {arguments[0]} has no means of {', '.join(arguments[2:])}; its measures "
                 f"are {', '.join(results['declaration']['measures'])}")
    with open(arguments[1], "w", encoding="utf-8") as file:
        conditions = len(results["conditions"])
        across = conditions if conditions in (2, 4) else 3
        file.write(dot_plot(results["declaration"]["question"], panels, mosts, across))


if __name__ == "__main__":
    main(sys.argv[1:])
