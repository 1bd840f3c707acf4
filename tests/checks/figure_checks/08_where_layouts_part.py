"""The two runs of chapter 08, which part."""

import os.path


def check(page, record):
    for seed, way, step in ((1, "layouts", 1), (1, "layouts", 20), (3, "nudged", 4),
                            (5, "slow", 60), (2, "layouts", 60)):
        for name, value in (("seed", seed), ("way", way), ("step", step)):
            page.set(name, value)
        run, = (one for one in record["runs"] if one["seed"] == seed and one["way"] == way)
        page.near("apart", run["apart"][step - 1])
        both = os.path.commonprefix(run["weights"][step - 1])
        page.near("digits", sum(letter.isdigit() for letter in both))
        page.expect(page.run("document.querySelector('.picture tspan').textContent") == both,
                    f"the digits in common are not {both}")
        page.expect(("two models" in page.text()) == (run["apart"][step - 1] > 0.01), page.text())
    for run in record["runs"]:
        page.expect((run["apart"][-1] > 0.1) == (run["way"] != "slow"), "the runs do not part")
