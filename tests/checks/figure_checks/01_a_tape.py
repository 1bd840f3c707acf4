"""The tape of chapter 01: gradients arrive in the order of the record, and add up."""


def check(page, record):
    one_round, doublings = record["programs"]
    for program, plan, steps in ((one_round, "tape", (1, 9, 10, 14, 20)),
                                 (doublings, "tape", (4, 8)), (doublings, "eager", (6, 10))):
        page.set("program", program["name"])
        page.set("plan", plan)
        for step in steps:
            page.set("step", step)
            expected = [0] * len(program["nodes"])
            for event in program[plan][:max(0, step - len(expected))]:
                expected[event["to"]] += event["add"]
            found = page.values()["gradients"]
            page.expect(len(found) == len(expected) and all(
                abs(a - b) < 1e-3 for a, b in zip(found, expected)),
                f"gradients at {page.state()}: {found}, expected {expected}")
        if program is one_round:  # L = y (1.5 - 0.5 x y^2)
            x, y = (node["value"] for node in program["nodes"][:2])
            for place, derivative in enumerate((-0.5 * y**3, 1.5 - 1.5 * x * y**2)):
                page.expect(abs(found[place] - derivative) < 1e-3,
                            f"the derivative is {derivative}, not {found[place]}")
        else:
            page.expect(found[0] == {"tape": 4, "eager": 8}[plan], f"{plan}: a gets {found[0]}")
