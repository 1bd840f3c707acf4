"""The paths of chapter 04, against the three rules on the same valley."""


def walk(rule, rate, steps, bend, start=(-8, 2)):
    """The losses of `rule`, element by element, as its formula has it."""
    point, first, second = list(start), [0, 0], [0, 0]
    for t in range(1, steps + 1):
        for i in range(2):
            g = 2 * bend[i] * point[i]
            if rule == "Adam":
                first[i] += 0.1 * (g - first[i])
                second[i] += 0.001 * (g * g - second[i])
                step = first[i] / (1 - 0.9**t) / ((second[i] / (1 - 0.999**t))**0.5 + 1e-8)
            else:
                step = first[i] = (0.9 if rule == "momentum" else 0) * first[i] + g
            point[i] -= rate * step
    return sum(b * p * p for b, p in zip(bend, point))


def check(page, record):
    for rate, step in (("0.03", 80), ("0.3", 10), ("0.9", 35), ("1.1", 20)):
        page.set("rate", rate)
        page.set("step", step)
        for rule in ("plain descent", "momentum", "Adam"):
            page.near(rule, walk(rule, float(rate), step, record["bend"]), 1e-2)
