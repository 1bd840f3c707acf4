#!/usr/bin/env python3
"""Checks in headless Chromium that the site hides each answer of a chapter until a reader opens it.

usage: predictions.py SOURCE [SITE]

SOURCE is the repository, SITE the built site. Without SITE, Sphinx builds the chapters alone. An
answer is the part of a chapter's README.md from a box "Predict." to the next box or heading. For
each chapter:

* the blocks of output and the paragraphs of an answer are hidden, and a click, Enter in a field
  for a guess, or a space on the control shows them; a second one hides them,
* each prediction of ask.json has one field, and a line with the guess and a measured value, which
  the answer has, too,
* a link into a fold opens it, also the second time, and so does the browser's search for words,
* on paper everything is shown; without JavaScript there are no fields, and the folds work,
* with all folds open, the page is no wider than 390 and 1000 pixels, and its figure is drawn,
* there is no message in the console and no request to another host.

Then faults are planted in a page, and each has to be found. Exits with 77, "skipped", if Chromium
or Sphinx is not installed.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
from loading import loaded  # noqa: E402

site = loaded(HERE / "site.py")
build, ROOT = site.build, site.ROOT
WORDS_OF_A_PARAGRAPH = 8
KEYS = {"Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
        " ": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "}}

# The words of the page that can be seen.
SEEN = """(() => {
  const words = [], walk = document.createTreeWalker(document.querySelector("main"), 4);
  while (walk.nextNode()) {
    if (walk.currentNode.parentElement.checkVisibility()) words.push(walk.currentNode.data);
  }
  return words.join("\\n");
})()"""

# Changes of a page with which the check must fail.
FAULTS = {
    "an open fold": ('<details class="prediction"', '<details open class="prediction"'),
    "an answer behind its fold": ("</li></ul>", "</li></ul></details>"),
    "no field": ("<label>Your guess", "<label hidden>Your guess"),
    "no value": ("measured <b>", "measured <b hidden>"),
    "no answers on paper": (
        "</head>", "<style>@media print { .prediction * { display: none } }</style></head>"),
    "a key that closes again": ("event.preventDefault();", ""),
}


class Answer:
    """An answer of README.md: the names of its predictions, and words that show it is visible."""

    def __init__(self):
        self.names, self.lines = [], []

    def words(self):
        """Pieces of the answer: a block of output each, and the beginning of each paragraph."""
        text = "\n".join(self.lines)
        for block in re.findall(r"^<!-- output: [^\n]*\n```\n(.*?)^```", text, re.M | re.S):
            if re.search(r"\d", block):
                yield plain(block)
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        for paragraph in re.split(r"\n\s*\n", re.sub(r"<!--.*?-->", "", prose)):
            first = plain(paragraph).split(" ")[:WORDS_OF_A_PARAGRAPH]
            if len(first) == WORDS_OF_A_PARAGRAPH and paragraph.strip()[0] not in "!|*<>$":
                yield " ".join(first)


def plain(text):
    """The words and numbers of a text without its marks."""
    return " ".join(re.findall(r"[\w.]*\w", re.sub(r"\]\([^)]*\)", "]", text)))


def answers_of(text):
    """The answers of a chapter. One that has neither output nor numbers comes with the next one."""
    found, answer, at, fenced = [], None, "text", False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("> **Predict.**"):
            begun = answer and not any("<!--" in one for one in answer.lines)
            answer = answer if begun else Answer()
            answer.lines, at = [], "box"
            if not begun:
                found.append(answer)
        elif at != "text" and line.startswith("#") and not fenced:
            answer, at = None, "text"
        if at == "box" and line.startswith(">"):
            answer.names += re.findall(r"predict (\d\d/[a-z])", line)
        elif at != "text":
            answer.lines.append(line)
            at = "answer"
    return found


class Page:
    """A chapter's page with its answers, and the faults that were found."""

    def __init__(self, browser, address, chapter):
        self.browser, self.address, self.wrong = browser, address, []
        self.scripts = True
        folder = ROOT / "chapters" / chapter
        self.answers = answers_of((folder / "README.md").read_text())
        self.asked = list(json.loads((folder / "ask.json").read_text())["predictions"])

    def expect(self, right, text):
        if not right:
            self.wrong.append(text)

    def open(self, theme="light", width=390, fragment=""):
        self.browser.open("about:blank", theme, width)  # a new fragment alone would load nothing
        self.browser.open(self.address + fragment, theme, width)
        self.wait()

    def wait(self):
        """Lets the browser draw; frames are counted by a script."""
        if self.scripts:
            self.browser.frames(4)
        else:
            time.sleep(0.3)

    def allow_scripts(self, allowed):
        self.scripts = allowed
        self.browser.call("Emulation.setScriptExecutionDisabled", value=not allowed)

    def run(self, script):
        return self.browser.run(script)

    def press(self, key):
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", **KEYS[key])
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", **KEYS[key])

    def sees(self, which, visible, when):
        """Expects all words of some answers to be visible, or none of them."""
        seen = plain(self.run(SEEN))
        for answer in which:
            for words in answer.words():
                self.expect((words in seen) == visible, f"{when}: \"{words[:60]}\" of "
                            f"{' '.join(answer.names)} is {'not ' if visible else ''}visible")

    def folds(self):
        return self.run("document.querySelectorAll('details.prediction').length")

    def state(self, i):
        return self.run(f"document.querySelectorAll('details.prediction')[{i}].open")

    def toggle(self, i, way):
        """Opens or closes a fold by a click, or by a key on its control or in a field."""
        if way == "field":
            name = self.answers[i].names[0]
            self.run(f"""document.querySelector('.guesses input[name="{name}"]').focus()""")
            self.press("Enter")
            self.wait()
            return
        self.run(f"document.querySelectorAll('details.prediction summary')[{i}].id = 'control'")
        if way == "click":
            self.browser.click("#control")
        else:
            self.run("document.getElementById('control').focus()")
            self.press(" ")
        self.run("document.getElementById('control').removeAttribute('id')")
        self.wait()


def check_guesses(page):
    """Writes a guess for each prediction, and opens and closes each fold."""
    fields = page.run("""[...document.querySelectorAll(".guesses input")].filter((e) =>
        e.checkVisibility() && e.labels[0]?.textContent.includes(e.name)).map((e) => e.name)""")
    page.expect(fields == page.asked, f"the fields ask for {fields}, ask.json for {page.asked}")
    for name in fields:
        page.run(f"""document.querySelector('.guesses input[name="{name}"]').focus()""")
        page.browser.call("Input.insertText", text=f"0.{ord(name[-1])}")
    for i, answer in enumerate(page.answers):
        page.toggle(i, ("click", "field", "key")[i % 3])
        page.sees([answer], True, "opened")
        page.sees(page.answers[i + 1:], False, f"with {' '.join(answer.names)} open")
        for name in answer.names:
            line = page.run(f"""(() => {{ const e =
                document.querySelector('.measured [data-prediction="{name}"]');
                return e?.checkVisibility() ? e.innerText : ""; }})()""")
            said = re.fullmatch(rf"{name}: you predicted 0\.{ord(name[-1])}, measured "
                                r"(?:about |less than )?(\S*\d\S*)", line)
            page.expect(said and said[1] in "\n".join(answer.lines),
                        f"{name}: the line of the guess is \"{line}\"")
        page.toggle(i, "key" if i % 2 else "click")
        page.sees([answer], False, "closed")


def check_links(page):
    """A link into a closed fold opens it, also when the address stays the same."""
    for way in ("location.hash = '#inside'",
                "document.querySelector('a.planted').click()"):
        page.run("""(() => {
            const fold = [...document.querySelectorAll("details.prediction")].at(-1);
            fold.open = false; fold.lastElementChild.id = "inside";
            if (document.querySelector("a.planted")) return;
            document.querySelector("main").insertAdjacentHTML("beforeend",
              "<a class='planted' href='#inside'>inside</a>"); })()""")
        page.run(way)
        page.wait()
        page.sees(page.answers[-1:], True, f"after {way}")
    words = page.run("""[...document.querySelectorAll("details.prediction > p")].map((e) =>
        e.firstChild.data?.match(/[A-Za-z]+( [A-Za-z]+){4}/)?.[0]).find(Boolean)""")
    page.open(fragment="#:~:text=" + words.replace(" ", "%20"))
    page.wait()
    page.expect(page.run("document.querySelectorAll('details.prediction[open]').length") == 1,
                f"the browser does not find \"{words}\"")


def check_looks(page):
    """The width with all folds open, paper, and a page without scripts."""
    open_all = "document.querySelectorAll('details').forEach((fold) => { fold.open = true; })"
    for width in (390, 1000):
        page.open("dark", width)
        page.run(open_all)
        page.wait()
        wide = page.run("document.documentElement.scrollWidth - innerWidth")
        page.expect(wide <= 0, f"{wide} pixels too wide at {width}")
        gap = page.run("""(() => { const picture = document.querySelector(".moving .picture");
            return picture ? Math.min(720, picture.clientWidth)
              - picture.querySelector("svg").getBoundingClientRect().width : 0; })()""")
        page.expect(abs(gap) < 2, f"the figure is {gap} pixels too narrow at {width}")
    page.open()
    page.browser.call("Emulation.setEmulatedMedia", media="print")
    page.sees(page.answers, True, "on paper")
    page.expect(not page.run("document.querySelector('.guesses').checkVisibility()"),
                "on paper there are fields")
    page.browser.call("Emulation.setEmulatedMedia", media="")
    for event, visible in (("beforeprint", True), ("afterprint", False)):
        page.run(f"dispatchEvent(new Event('{event}'))")
        page.sees(page.answers, visible, event)
    page.allow_scripts(False)
    page.open()
    page.sees(page.answers, False, "without JavaScript")
    page.expect(not page.run("document.querySelector('.guesses').checkVisibility()"),
                "without JavaScript there are fields")
    page.toggle(0, "click")
    page.sees(page.answers[:1], True, "without JavaScript, opened")
    page.allow_scripts(True)


def check(browser, address, chapter):
    """Returns the faults of a chapter's page."""
    page = Page(browser, address, chapter)
    named = sum((answer.names for answer in page.answers), [])
    page.expect(named == page.asked, f"README.md names {named}, ask.json has {page.asked}")
    page.open()
    folds = page.folds()
    page.expect(folds == len(page.answers), f"{folds} folds for {len(page.answers)} answers")
    page.sees(page.answers, False, "before")
    if folds != len(page.answers):
        return page.wrong
    check_guesses(page)
    check_links(page)
    check_looks(page)
    page.wrong += browser.complaints(address.rsplit("/chapters/", 1)[0] + "/")
    return page.wrong


class Chapters(build.Site):
    """The pages of the chapters without those of source files."""

    def page_of(self, path):
        name = str(path.relative_to(ROOT))
        return name if name in self.written else None

    def write_to(self, folder):
        build.PAGES = folder / "source"
        (build.WORK / "static").mkdir(parents=True, exist_ok=True)
        self.written = {name for name in self.chapters if re.match(r"chapters/\d\d_", name)}
        for name in self.written:
            path = ROOT / name
            text = self.converted(build.predictions.of_chapter(path), path.parent)
            build.write(name, text)
        build.write("empty.md", "# Empty\n")  # in the place of the front page, which needs a model
        subprocess.run([build.python_with_sphinx(), "-m", "sphinx", "-Q", "-b", "html", "-c",
                        build.HERE, "-D", "root_doc=empty", "-d", folder / "doctrees",
                        build.PAGES, folder / "site"], check=True)
        return folder / "site"


def check_faults(browser, folder, chapter):
    """Plants each fault in a copy of a page, and returns those that no check finds."""
    path = folder / "chapters" / chapter / "README.html"
    text = path.read_text()
    planted = path.with_name("planted.html")
    missed = []
    for fault, (old, new) in FAULTS.items():
        at = text.rindex(old)
        planted.write_text(text[:at] + new + text[at + len(old):])
        try:
            found = check(browser, planted.as_uri(), chapter)
        except (RuntimeError, TypeError):
            found = True
        if not found:
            missed.append(f"not found: {fault}")
    planted.unlink()
    return missed


def main():
    if pathlib.Path(sys.argv[1]).resolve() != ROOT:
        sys.exit(f"error: {sys.argv[1]} is not {ROOT}")
    if not shutil.which("chromium") or not build.python_with_sphinx():
        print(f"skipped: no chromium (apt-get install chromium), or {build.NO_SPHINX}")
        return site.SKIPPED
    began, findings = time.monotonic(), []
    chapters = sorted(path.parent.name for path in ROOT.glob("chapters/[0-9][0-9]_*/README.md"))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = pathlib.Path(sys.argv[2]).resolve() if sys.argv[2:] else Chapters().write_to(folder)
        browser = site.Browser(folder / "profile")
        try:
            for chapter in chapters:
                address = (pages / "chapters" / chapter / "README.html").as_uri()
                try:
                    wrong = check(browser, address, chapter)
                except (RuntimeError, TypeError, IndexError) as error:
                    wrong = [str(error)]
                findings += [f"{chapter}: {text}" for text in wrong]
            planted = 0 if findings or sys.argv[2:] else len(FAULTS)
            if planted:
                findings += check_faults(browser, pages, chapters[0])
        finally:
            browser.close()
    print(*findings, f"predictions: {len(chapters)} chapters, {planted} faults planted, "
          f"{len(findings)} findings ({time.monotonic() - began:.0f} s)", sep="\n")
    return 1 if findings or not chapters else 0


if __name__ == "__main__":
    sys.exit(main())
