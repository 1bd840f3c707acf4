"""The alignment of chapter 10, which grows while the model writes."""


def check(page, record):
    for word, written, head in (("beach", 1, "mean"), ("headed", 3, 0), ("cab", 4, 1),
                                ("cabbage", 7, "mean"), ("face", 5, 1)):
        for name, value in (("word", word), ("head", head), ("written", written)):
            page.set(name, value)
        one, = (one for one in record["words"] if one["word"] == word)
        rows = one["rows"][:written]
        row = rows[-1]
        weights = row["heads"][head] if head != "mean" else [
            (a + b) / 2 for a, b in zip(*row["heads"])]
        page.near("weight", max(weights))
        page.near("at", weights.index(max(weights)))
        page.near("chance", row["chances"][row["writes"]])
        text = "".join(record["tokens"][row["writes"]] for row in rows).replace("<eos>", "")
        page.expect(f'Written: "{text}"' in page.text(), f"{text} is not written: {page.text()}")
        cells = page.run("[...document.querySelectorAll('.picture rect[rx=\"3\"]')]"
                         ".filter((cell) => cell.getAttribute('fill') === 'var(--first)').length")
        page.expect(cells == len(rows) * len(word), f"{cells} cells of {word} are filled")
        right = text == word[::-1]
        page.expect(right or len(word) > 6 or len(rows) < len(one["rows"]), f"{word}: {text}")
