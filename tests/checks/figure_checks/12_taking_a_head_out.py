"""The weights and moments of chapter 12, of a layer that loses a head."""

import math


def norm_of(state, quantity, head, heads, size, width):
    """The norm of what a head owns: rows of the first matrix, columns of the second."""
    rows, columns = state["in_proj_weight"][quantity], state["out_proj.weight"][quantity]
    own = [value for i, value in enumerate(rows) if i // width // size % heads == head]
    own += [value for i, value in enumerate(columns) if i % width // size == head]
    return math.sqrt(sum(value * value for value in own))


def check(page, record):
    heads, size, gone = record["heads"], record["head_dim"], record["gone"]
    width = heads * size
    for way, step in (("zeroed", 0), ("zeroed", 1), ("masked", 0), ("masked", 10), ("removed", 0),
                      ("removed", 100)):
        page.set("way", way)
        page.set("step", step)
        frame, = (one for one in record["ways"][way] if one["step"] == step)
        state = frame["state"]
        removed = way == "removed"
        count = 4 * width * width * (heads - removed) // heads
        page.near("count", count)
        cells = page.run("document.querySelectorAll('.picture rect[fill-opacity]').length")
        filled = sum(value != 0 for arrays in state.values() for array in arrays for value in array)
        page.expect(cells == filled, f"{cells} cells are filled, not {filled}")
        for name, quantity in (("back", 0), ("moment", 1)):
            now, before = (norm_of(one, quantity, gone, heads, size, width)
                           for one in (state, record["before"]))
            page.near(name, 0 if removed else now / before)
    zeroed = [one["state"] for one in record["ways"]["zeroed"]]
    norms = [norm_of(state, 0, gone, heads, size, width) for state in zeroed]
    page.expect(norms[0] == 0 and norms == sorted(norms) and norms[1] > 0, "it does not grow back")
    # The rows of the last head have moved up, and their moments with them.
    cut = record["ways"]["removed"][0]["state"]
    for quantity in (0, 1, 2):
        rows = record["before"]["in_proj_weight"][quantity][2 * size * width:3 * size * width]
        page.expect(rows == cut["in_proj_weight"][quantity][size * width:2 * size * width],
                    "the rows of head 2 have changed")
