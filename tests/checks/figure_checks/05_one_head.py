"""The softmax of chapter 05, against a softmax in Python and the library's own weights."""
import math


def softmax(scores):
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def check(page, record):
    scores = record["scores"]

    def paint(allowed):
        for key, wanted in enumerate(allowed):
            if page.state()["allowed"][key] != bool(wanted):
                page.press(f"key-{key}")

    def same(expected, what):
        found = page.values()["weights"]
        page.expect(all(isinstance(p, (int, float)) and abs(p - q) < 3e-3
                        for p, q in zip(found, expected, strict=True)), f"{what}: {found}")

    for one in record["checked"]:
        scale = min(page.run("scales"), key=lambda value: abs(value - one["scale"]))
        page.set("scale", scale)
        paint(one["allowed"])
        same(one["weights"], f"the library at {scale}, {one['allowed']}")
        if all(one["allowed"]):
            shares = softmax([scale * score for score in scores])
            same(shares, f"Python at {scale}")
            page.near("entropy", -sum(p * math.log(p) for p in shares), 1e-2)
    page.set("masked", "number")
    same([1 / len(scores)] * len(scores), "-1e9 in place of all scores")
    page.set("masked", "infinity")
    page.expect(page.values()["weights"] == ["not a number"] * len(scores), "all infinite")
    page.set("masked", "skipped")
    page.press("Allow all")
    page.drag(20, 212, 300, 212)  # the mask, from its first key towards its last
    page.expect(not page.state()["allowed"][0] and not all(page.state()["allowed"][1:]),
                f"painted by the pointer: {page.state()}")
