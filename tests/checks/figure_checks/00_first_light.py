"""The film of chapter 00."""


def check(page, record):
    for step, word in ((0, "headroom"), (100, "headroom"), (100, "sunlight"), (500, "sunlight")):
        page.set("word", word)
        page.set("step", step)
        frame, = (one for one in record["frames"] if one["step"] == step)
        page.near("right", frame["right"])
        one, other = (words["weights"] for words in frame["words"])
        page.near("moved", sum(abs(a - b) for a, b in zip(one, other)) / 2 / len(word))
        shown, = (words for words in frame["words"] if words["read"] == word)
        cells = page.run("[...document.querySelectorAll('.picture rect[fill=\"var(--first)\"]')]"
                         ".map((cell) => Number(cell.getAttribute('fill-opacity')))")
        page.expect(cells == shown["weights"], f"the map at {step} is not that of {word}")
