"""The life of the heads of chapter 13."""


def check(page, record):
    arms = {arm["name"]: arm["frames"] for arm in record["arms"]}
    for gone, step, after in (("6, greedy", 100, False), ("6, greedy", 650, False),
                              ("6, greedy", 650, True), ("none", 900, True),
                              ("the decoder's own", 650, True), ("the encoder's", 800, True)):
        page.set("gone", gone)
        page.set("at", step + 0.5 if after and step == 650 else step)
        frame, = (one for one in (arms[gone] if after else record["before"])
                  if one["step"] == step)
        costs = [cost for cost in frame["costs"] if cost is not None]
        page.near("exact", frame["exact"])
        page.near("heads", len(costs))
        page.near("cost", max(costs))
        texts = page.run("[...document.querySelectorAll('.picture text')]"
                         ".map((text) => text.textContent)")
        page.expect(texts.count("gone") == len(frame["costs"]) - len(costs),
                    f"{texts.count('gone')} heads are gone at {step}")
        for cost in costs:
            page.expect(any(text in texts for text in (f"{cost:.2f}", f"{cost + 1e-9:.2f}")),
                        f"the cost {cost} is not shown at step {step}")
    page.set("gone", "none")
    page.expect("after it" not in page.run("shown.given.controls[0].element.textContent"),
                "there is a removal although no head goes")
    width = page.run("shown.picture.firstElementChild.viewBox.baseVal.width")
    at = page.run(f"x_of({width})(300)")
    page.drag(at, 300, at, 300)
    page.expect(page.state()["at"] == 300, f"a pointer at step 300 moves to {page.state()}")
