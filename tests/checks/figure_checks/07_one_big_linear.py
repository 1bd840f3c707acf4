"""The rows of chapter 07, which move from one layout to the other."""


def check(page, record):
    channels = record["width"]
    for heads, order, copied in (
            (4, "blocked", 1), (4, "blocked", 47), (4, "blocked", 48), (2, "interleaved", 13),
            (4, "interleaved", 48), (1, "blocked", 20)):
        for name, value in (("heads", heads), ("order", order), ("copied", copied)):
            page.set(name, value)
        layer, = (one for one in record["layers"] if one["heads"] == heads)
        page.near("apart", layer[order][copied])
        size = channels // heads
        head, within = divmod(copied - 1, 3 * size)
        third, row = divmod(within, size)
        page.near("to", third * channels
                  + (head * size + row if order == "blocked" else row * heads + head))
        page.expect(f"Row {row} of {('query', 'key', 'value')[third]}.{head}.weight" in page.text()
                    or copied == 3 * channels, f"another row: {page.text()}")
    page.expect(layer["blocked"][-1] == 0, "copied rows do not make one function")
    # The first row of the fused matrix is copied first: a pointer on it goes back there.
    page.set("heads", 4)
    at = page.run("(() => { const drawn = shown.picture.firstElementChild;"
                  " const [x, y] = plan(drawn.viewBox.baseVal.width, 4).fused(0);"
                  " return [x + 20, y + 3]; })()")
    page.drag(*at, *at)
    page.near("copied", 1)
