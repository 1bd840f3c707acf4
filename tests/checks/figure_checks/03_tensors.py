"""The contributions of chapter 03: sums of dy by other rules than the record's arrows."""


def check(page, record):
    operations = {one["name"]: one for one in record["operations"]}
    for name, element, reached in (
            ("x + b", 5, lambda j: j % 8 == 5), ("x + s", 4, lambda j: j // 8 % 6 == 4),
            ("permute(x)", 7, lambda j: j == 7 % 4 * 3 + 7 // 4)):
        page.set("operation", name)
        page.set("element", element)
        dy = [value for j, value in enumerate(operations[name]["dy"]) if reached(j)]
        page.expect(page.values()["count"] == len(dy), f"{name}: {page.text()}")
        page.expect(abs(page.values()["gradient"] - sum(dy)) < 1e-2, f"{name}: {page.text()}")
        outlined = page.run(
            "document.querySelectorAll('.picture rect[stroke=\"var(--ink)\"]').length")
        page.expect(outlined == len(dy) + 1, f"{name}: {outlined} outlined elements")
    page.set("operation", "a · b")
    page.set("element", 4)
    one = operations["a · b"]
    page.near("gradient", sum(one["dy"][j] * factor for j, factor in one["arrows"][4]), 5e-3)
    page.expect([j for j, _ in one["arrows"][4]] == [4, 5, 6, 7], "a[1][1] moves row 1 of y")
