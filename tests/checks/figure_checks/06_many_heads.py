"""The slices and maps of chapter 06."""


def check(page, record):
    places, width = record["places"], record["width"]
    for layer in record["layers"]:
        heads = layer["heads"]
        page.set("heads", heads)
        page.near("parameters", 4 * width * (width + 1))
        page.near("right", layer["right"])
        page.near("weights", heads * places**2)
        for name, by in (("before", -1), ("after", 1)):
            shares = [sum(layer["maps"][head][i * places + (i + by) % places]
                          for i in range(places)) / places for head in range(heads)]
            found = page.values()[name]
            page.expect(len(found) == heads and all(
                abs(a - b) < 1e-6 for a, b in zip(found, shares)), f"{heads} heads: {name} {found}")
        slices = page.run("document.querySelectorAll('.picture rect[rx=\"3\"]').length")
        page.expect(slices == heads, f"{slices} slices for {heads} heads")
