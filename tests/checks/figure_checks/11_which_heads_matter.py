"""The game of heads of chapter 11."""

import itertools


def check(page, record):
    losses, heads = record["losses"], range(len(record["heads"]))
    whole = len(losses) - 1

    def loss(*off):
        return losses[whole - sum(1 << head for head in off)]
    alone = [loss(head) - loss() for head in heads]
    adds = {pair: loss(*pair) - loss() - alone[pair[0]] - alone[pair[1]]
            for pair in itertools.combinations(heads, 2)}
    best = max(adds, key=adds.get)
    for off in (best, (0, 3), (2,), (1, 4, 9)):
        page.press("All on")
        for head in off:
            page.press(f"head-{head}")
        page.near("loss", loss(*off))
        page.near("expected", loss() + sum(alone[head] for head in off))
        page.near("off", len(off))
        page.expect(("No other pair" in page.text()) == (off == best), page.text())
        for head in set(heads) - set(off):
            name = page.run("document.querySelector('[data-key=\"head-%d\"] text').textContent"
                            % head)
            page.expect(abs(float(name) - (loss(*off, head) - loss(*off))) < 0.0051,
                        f"without {off}, head {head} costs {name}")
    page.press("All on")
    page.press("Switch off the cheapest")
    page.near("loss", min(loss(head) for head in heads))
    page.press("All off")
    page.near("loss", losses[0])
    # By keyboard: the chip keeps the focus.
    page.run("document.querySelector('[data-key=\"head-5\"]').focus();"
             "document.activeElement.dispatchEvent("
             "new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
    page.near("loss", losses[1 << 5])
    page.expect(page.run("document.activeElement.dataset.key") == "head-5", "the focus is lost")
