#!/usr/bin/env python3
"""Moves the figures of the chapters in headless Chromium and compares what they say.

usage: figures.py SOURCE [SITE] [--update] [NN ...]
       figures.py SOURCE --pages FOLDER [NN ...]

SOURCE is the repository, SITE the built site; without SITE each figure is put on a page of its own.
The second form writes these pages, to look at: FOLDER/chapters/NN_name/README.html.
For each chapter, or for those with the numbers NN:

* there are chapters/NN_name/figure.json, figure.svg, docs/site/figures/NN_name.js and
  tests/checks/figure_checks/NN_name.py, and the README shows figure.svg,
* figure.svg is what the script draws today (--update writes it),
* check(page, record) in figure_checks/NN_name.py moves the figure as a reader does, and compares
  the numbers of its line of text with those that it computes from figure.json by itself,
* in every position of every control, 390 and 1000 pixels wide, the page is no wider than the
  screen, no text of the picture is cut off, and the line of text is a sentence,
* there is no message in the console and no request to another host,
* nothing moves by itself; a play button moves the figure, and is not there for readers who want no
  motion.

Exits with 77, "skipped", if Chromium is not installed.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[1] / "docs/site/figures"))
import pages  # noqa: E402
from loading import loaded  # noqa: E402

site = loaded(HERE / "site.py")
ROOT = site.ROOT
STYLES = ROOT / "src/headroom_lab/report/page/page.css"
PREVIEW = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><style>{styles}</style></head>
<body><div class="columns"><main class="text"><h1>{name}</h1>
{place}</main><nav class="side"></nav></div>
<script type="application/json" id="figure-record">{record}</script>
<script>
{script}
</script></body></html>"""

SWEEP = (ROOT / "tests/support/figure_sweep.js").read_text()


class Page:
    """A page with a figure, as the checks of the chapters use it."""

    def __init__(self, browser, address, wrong):
        self.browser, self.address, self.wrong = browser, address, wrong

    def open(self, theme, width, motion="no-preference"):
        self.browser.events = []
        self.browser.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": motion}])
        self.browser.resize(width)
        self.browser.call("Page.navigate", url=self.address)
        self.browser.wait_for("Page.loadEventFired")
        self.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        self.browser.frames(2)
        if not self.run("document.querySelector('.moving .picture svg') !== null"):
            raise RuntimeError("the page has no picture: "
                               + "; ".join(self.browser.complaints("file:")))

    def run(self, script):
        return self.browser.run(script)

    def expect(self, right, text):
        if not right:
            self.wrong.append(text)

    def near(self, name, expected, tolerance=1e-3):
        """Expects a number of the line of text, within a share of it (records have 4 digits)."""
        found = self.values().get(name)
        right = isinstance(found, (int, float)) and not isinstance(found, bool) and \
            abs(found - expected) <= tolerance * max(abs(expected), 1e-12)
        self.expect(right, f"{name} is {found}, expected {expected}, at {self.state()}")

    def values(self):
        return json.loads(self.run("document.querySelector('.moving output').dataset.values"))

    def state(self):
        return json.loads(self.run("document.querySelector('.moving output').dataset.state"))

    def text(self):
        return self.run("document.querySelector('.moving output').textContent")

    def set(self, name, value):
        """Moves the control `name` to a value, as its input does."""
        done = self.run(f"""(() => {{ const name = {json.dumps(name)}, value = {json.dumps(value)};
            const inputs = [...document.querySelectorAll(".moving input")].filter(
              (input) => input.name === name);
            const first = inputs[0];
            if (first?.type === "range") {{
              first.value = shown.given.controls.find((one) => one.name === name).values
                .indexOf(value);
              first.dispatchEvent(new Event("input", {{bubbles: true}}));
            }} else if (first?.type === "checkbox") {{
              if (first.checked !== value) first.click();
            }} else inputs.find((input) => input.value === JSON.stringify(value))?.click();
            return JSON.stringify(shown.state[name]) === JSON.stringify(value); }})()""")
        if not done:
            raise RuntimeError(f"no control {name} takes the value {value}")

    def press(self, key):
        """Clicks a part of the picture by its key, or a button by its text."""
        done = self.run(f"""(() => {{ const key = {json.dumps(key)};
            const part = document.querySelector(`.picture [data-key="${{key}}"]`)
              ?? [...document.querySelectorAll(".moving button")].find(
                (one) => one.textContent === key);
            part?.dispatchEvent(new MouseEvent("click", {{bubbles: true}}));
            return Boolean(part); }})()""")
        if not done:
            raise RuntimeError(f"nothing to press is called {key}")

    def drag(self, x, y, to_x, to_y):
        """Draws the pointer over the picture, between points in pixels of the picture."""
        left, top = self.run("""(() => { const drawn = document.querySelector(".picture svg");
            drawn.scrollIntoView({block: "center"}); const box = drawn.getBoundingClientRect();
            return [box.x, box.y]; })()""")
        for kind, at, buttons in (("mousePressed", (x, y), 1), ("mouseMoved", (to_x, to_y), 1),
                                  ("mouseReleased", (to_x, to_y), 0)):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=left + at[0], y=top + at[1],
                              button="left", buttons=buttons, clickCount=1)

    def still(self):
        """The still with the colours of the reports, light and dark."""
        drawn = self.run("still()")
        styles = STYLES.read_text()
        light = re.search(r":root \{(.*?)\n\}", styles, re.S)[1]
        dark = re.search(r":root:not\(\[data-print\]\) \{(.*?)\n  \}", styles, re.S)[1]
        used = sorted(set(re.findall(r"var\((--[\w-]+)\)", drawn)))

        def colours(text):
            known = dict(re.findall(r"(--[\w-]+): ([^;]+);", text))
            return " ".join(f"{name}: {known[name]};" for name in used)
        style = (f"<style>:root {{ {colours(light)} }}\n@media (prefers-color-scheme: dark) {{ "
                 f":root {{ {colours(dark)} }} }}\nsvg {{ font: 12px system-ui, sans-serif; }} "
                 ".mono { font-family: ui-monospace, monospace; }</style>\n")
        drawn = re.sub(r"></(rect|line|path|circle)>", r"/>\n", drawn)
        drawn = drawn.replace("</text>", "</text>\n")
        return re.sub(r"(<svg [^>]*>)", rf"\1{style}", drawn, count=1) + "\n"


def check_motion(page):
    """A play button moves the figure; without it, or for who wants no motion, it stands still."""
    look = "document.querySelector('.picture').innerHTML"
    before = page.run(look)
    page.browser.frames(15)
    page.expect(page.run(look) == before, "it moves by itself")
    if page.run("Boolean(shown.given.play)"):
        page.press("Play")
        page.browser.frames(5)
        end = time.monotonic() + 10
        while page.run(look) == before and time.monotonic() < end:
            page.browser.frames(5)
        page.expect(page.run(look) != before, "the play button does not move it")
        page.press("Pause")
    page.open("dark", 1000, "reduce")
    page.expect(page.run("document.querySelector('.moving [data-act=play]') === null"),
                "there is a play button although no motion is wanted")
    if page.run("Boolean(shown.given.play)"):
        page.run("document.querySelector('.moving [data-act=forward]').click()")
        page.expect(page.run(look) != before, "the button of one step does not move it")
    found = page.run(SWEEP)
    page.expect(not found, f"1000 pixels: {found}")


def check_figure(chapter, browser, address, update):
    """Returns what is wrong with the figure of a chapter."""
    wrong = []
    folder = ROOT / "chapters" / chapter
    check = HERE / "figure_checks" / f"{chapter}.py"
    page = Page(browser, address, wrong)
    base = address.rsplit("/chapters/", 1)[0] + "/"
    page.open("light", 390)
    still, kept = page.still(), folder / "figure.svg"
    if update:
        kept.write_text(still)
    page.expect(kept.exists() and kept.read_text() == still,
                "figure.svg is not what the script draws (figures.py SOURCE --update)")
    page.expect(re.search(r"!\[[^]]{20,}\]\(figure\.svg\)", (folder / "README.md").read_text()),
                "the README does not show figure.svg with an alternative text")
    found = page.run(SWEEP)
    page.expect(not found, f"390 pixels: {found}")
    if check.exists():
        said = page.text()
        loaded(check).check(page, json.loads((folder / "figure.json").read_text()))
        page.expect(page.text() != said, "the check does not change the line of text")
    page.expect(check.exists(), f"there is no {check.relative_to(ROOT)}")
    wrong += browser.complaints(base)
    page.open("light", 1000)
    check_motion(page)
    wrong += browser.complaints(base)
    return wrong


def preview(folder, chapter):
    """A page with nothing but the figure."""
    styles = "".join(path.read_text() for path in (
        STYLES, ROOT / "docs/site/site.css", ROOT / "docs/site/figures/figure.css"))
    readme = (ROOT / "chapters" / chapter / "README.md").read_text()
    shown = re.search(r"!\[([^]]*)\]\(figure\.svg\)", readme)
    path = pathlib.Path(folder) / "chapters" / chapter / "README.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PREVIEW.format(
        name=chapter, styles=styles, place=pages.place(shown[1] if shown else chapter),
        record=pages.record(chapter), script=pages.script(chapter)))


def main():
    words = sys.argv[2:]
    only_pages = words.pop(words.index("--pages") + 1) if "--pages" in words else None
    words = [word for word in words if word != "--pages"]
    update = "--update" in words
    numbers = [word for word in words if re.fullmatch(r"\d\d", word)]
    sites = [word for word in words if word != "--update" and word not in numbers]
    if pathlib.Path(sys.argv[1]).resolve() != ROOT:
        sys.exit(f"error: {sys.argv[1]} is not {ROOT}")
    chosen = sorted(path.parent.name for path in ROOT.glob("chapters/[0-9][0-9]_*/README.md")
                    if not numbers or path.parent.name[:2] in numbers)
    if only_pages:
        for chapter in set(chosen) & set(pages.chapters()):
            preview(only_pages, chapter)
        return 0
    if not shutil.which("chromium"):
        print("skipped: no chromium (apt-get install chromium)")
        return site.SKIPPED
    findings, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for chapter in set(chosen) & set(pages.chapters()) if not sites else ():
            preview(folder, chapter)
        root = pathlib.Path(sites[0] if sites else folder).resolve()
        browser = site.Browser(pathlib.Path(folder) / "profile")
        try:
            for chapter in chosen:
                if chapter not in pages.chapters():
                    findings.append(f"{chapter}: no figure (chapters/{chapter}/figure.json)")
                    continue
                address = (root / "chapters" / chapter / "README.html").as_uri()
                try:
                    wrong = check_figure(chapter, browser, address, update)
                except (RuntimeError, OSError, TypeError, KeyError, IndexError) as error:
                    wrong = [str(error)]
                findings += [f"{chapter}: {text}" for text in wrong]
        finally:
            browser.close()
    print(*findings, f"figures: {len(chosen)} chapters, {len(findings)} findings "
          f"({time.monotonic() - began:.0f} s)", sep="\n")
    return 1 if findings or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
