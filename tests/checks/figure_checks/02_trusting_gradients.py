"""The error over the step in chapter 02."""


def check(page, record):
    for precision, powers in (("double", (0, -2, -5, -12, -15)), ("float", (-1, -3, -7))):
        curves = record["log10_of_errors"][precision]
        page.set("precision", precision)
        for power in powers:
            page.set("power", power)
            for formula in ("one side", "both sides", "four points"):
                page.near(formula, 10 ** curves[formula][-power * record["steps_per_power"]])
        both = curves["both sides"]
        page.near("best", 10 ** (-both.index(min(both)) / record["steps_per_power"]))
    page.set("precision", "double")
    page.set("power", -2)
    width = page.run("document.querySelector('.picture svg').viewBox.baseVal.width")
    page.drag(width - 20, 200, 44 + (width - 56) / 3, 200)  # the axis has 15 powers of ten
    page.expect(page.state()["power"] == -10, f"dragged to {page.state()}, not to -10")
