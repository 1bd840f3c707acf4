#!/usr/bin/env python3
"""Checks the site page by page in headless Chromium.

usage: site.py FOLDER [PROGRAM]

FOLDER is the built site. With PROGRAM, the program headroom, docs/site/build.py builds it first.

Every page is opened 390 and 1200 pixels wide, light and dark. It must cause no message in the
console and no request to another host, be no wider than the screen, and have no dead link to a page
of the site. Documents must have all words of their Markdown file, no comment of it, and no fault
that tests/support/page_probe.js finds. The front page must answer a date that is typed, and a head
that is switched off must change answer and maps. The search must find pages.

Exits with 77, "skipped", if Chromium or Sphinx is not installed.
"""

import collections
import fcntl
import functools
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs/site"))
import build  # noqa: E402

SKIPPED = 77
WIDTHS, THEMES = (390, 1200), ("light", "dark")
DATES = {"3rd of May, 2021": "2021-05-03", "14 July 1989": "1989-07-14",
         "December 24, 1968": "1968-12-24", "2.11.1999": "1999-11-02"}
SECONDS = 60  # for an answer of Chromium

OPTIONS = """--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run
  --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars
  --remote-debugging-pipe""".split()


class Browser:
    """A page of headless Chromium, driven by the DevTools protocol: JSON messages in two pipes."""

    def __init__(self, profile):
        commands, self.commands = os.pipe()
        self.answers, answers = os.pipe()
        low = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (commands, answers)]
        words = ["chromium", *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{low[0]} 4>&{low[1]}', "bash", *words],
            pass_fds=low, stderr=subprocess.DEVNULL)
        for fd in (commands, answers, *low):
            os.close(fd)
        self.unread, self.events, self.count, self.session = b"", [], 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=SECONDS)

    def message(self):
        while b"\0" not in self.unread:
            if not select.select([self.answers], [], [], SECONDS)[0]:
                raise RuntimeError("Chromium does not answer")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("Chromium has ended")
            self.unread += part
        text, self.unread = self.unread.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        """Calls a method and returns its result; keeps the events that come before it."""
        self.count += 1
        request = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def run(self, script):
        """The value of a script, or of the promise that it returns."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{script[:60]}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def open(self, address, theme, width):
        self.events = []
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": theme}])
        self.resize(width)
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=1000,
                  deviceScaleFactor=1, mobile=False)

    def click(self, selector):
        x, y = self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center"}}); const box = e.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def frames(self, count):
        self.run(f"""new Promise((done) => {{ let n = {count};
            const next = () => n-- ? requestAnimationFrame(next) : done(); next(); }})""")

    def complaints(self, base):
        """The console's messages, failed requests, and requests to other addresses than `base`."""
        for event in self.events:
            method, about = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                yield details.get("exception", {}).get("description", details["text"])
            elif method == "Runtime.consoleAPICalled":
                yield f"console: {about['args']}"
            elif method == "Log.entryAdded":
                yield f"{about['entry']['text']} {about['entry'].get('url', '')}"
            elif method == "Network.requestWillBeSent":
                url = about["request"]["url"]
                if not url.startswith((base, "data:")):
                    yield f"request to {url}"


PROBE = """(() => { addEventListener("message", ({data}) => { window.probed = data.found; }); })();
""" + (ROOT / "tests/support/page_probe.js").read_text()

STATE = """({answers: [...document.querySelectorAll(".answers code")].map((e) => e.textContent),
  lines: [...document.querySelectorAll(".answers dd")].map((e) => e.textContent),
  maps: [...document.querySelectorAll("#demo canvas")].map((canvas) => canvas.toDataURL()),
  off: document.querySelectorAll("button.head[aria-pressed=false]").length})"""


class Check:
    def __init__(self, folder, browser):
        self.folder, self.browser = folder, browser
        self.base = folder.as_uri() + "/"
        self.wrong, self.ids, self.links, self.hosts = [], {}, [], set()

    def expect(self, right, text):
        if not right:
            self.wrong.append(text)

    def open(self, page, theme, width=WIDTHS[0], base=None):
        self.browser.open((base or self.base) + page, theme, width)

    def finish(self, page, base=None):
        """Collects what the console has said since the page was opened."""
        for text in self.browser.complaints(base or self.base):
            self.wrong.append(f"{page}: {text}")

    def page(self, page, source):
        """Checks a page, with `source`, the Markdown file of a document, or None."""
        run = self.browser.run
        for theme in THEMES:
            self.open(page, theme)
            for width in WIDTHS:
                self.browser.resize(width)
                too_wide = run("document.documentElement.scrollWidth - innerWidth")
                self.expect(too_wide <= 0, f"{page}: {too_wide} pixels too wide at {width}")
            red = run("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
            self.expect((red < 128) == (theme == "dark"), f"{page}: is not {theme}")
            self.expect(run("document.querySelectorAll('h1').length") == 1, f"{page}: needs one h1")
            self.finish(page)
        self.ids[page] = set(run("[...document.querySelectorAll('[id]')].map((e) => e.id)"))
        self.links += [(page, link) for link in run("[...document.links].map((a) => a.href)")]
        for text in run("[...document.querySelectorAll('span.xref')].filter((e) => !e.closest('a'))"
                        ".map((e) => e.textContent)"):
            self.wrong.append(f"{page}: dead link of \"{text}\"")
        if source:
            self.words(page, source)
        if source and "](figure.svg)" in source.read_text():
            drawn = run("document.querySelectorAll('figure.moving .picture svg').length")
            self.expect(drawn == 1, f"{page}: shows {drawn} figures that move")

    def words(self, page, source):
        """A document's page has all words of its text outside blocks, and no comment."""
        text = build.FENCED.sub("", source.read_text())
        plain = "".join(part.split("-->", 1)[-1] for part in text.split("<!--"))
        plain = re.sub(r"!\[[^]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]+>|\$[^$\n]+\$|^ *\d+\.", " ", plain,
                       flags=re.M)
        shown, prose = self.browser.run("""(() => { const main = document.querySelector("main");
            const words = main.innerHTML.replace(/<[^>]*>/g, " ");
            main.querySelectorAll("pre, code").forEach((e) => e.remove());
            return [words, main.textContent]; })()""")
        lost = (collections.Counter(re.findall(r"[A-Za-z0-9]{2,}", plain))
                - collections.Counter(re.findall(r"[A-Za-z0-9]{2,}", shown)))
        self.expect(not lost, f"{page}: lost words {sorted(lost)[:8]}")
        for mark in ("<!--", "`", "](", "**"):
            self.expect(mark not in prose, f"{page}: shows {mark}")

    def probe(self, page):
        """Searches for barriers to readers; every fold is opened."""
        identifier = self.browser.call("Page.addScriptToEvaluateOnNewDocument",
                                       source=PROBE)["identifier"]
        for theme in THEMES:
            for width in WIDTHS:
                self.open(page, theme, width)
                found = self.browser.run("""new Promise((done) => { const look = () =>
                    window.probed ? done(window.probed) : setTimeout(look, 20); look(); })""")
                # Browsers give a part that scrolls the focus, without a tabindex.
                found["unreachable"] = [name for name in found["unreachable"]
                                        if not name.startswith(("pre ", "table.", "div.formula "))]
                for fault, where in found.items():
                    self.expect(not where, f"{page}, {theme}, {width}: {fault}: {where[:4]}")
        self.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=identifier)

    def dead_links(self):
        for page, link in self.links:
            address = urllib.parse.urlsplit(link)
            if address.scheme != "file":
                self.hosts.add(address.netloc)
                self.expect(address.scheme == "https", f"{page}: link to {link}")
                continue
            path = pathlib.Path(urllib.parse.unquote(address.path))
            target = str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else ""
            fragment = urllib.parse.unquote(address.fragment)
            self.expect(path.is_file() and target, f"{page}: dead link to {target or path}")
            if fragment and target in self.ids:
                self.expect(fragment in self.ids[target], f"{page}: no #{fragment} in {target}")

    def front_page(self, width):
        """Types dates and switches heads off, as a visitor does."""
        browser = self.browser
        self.open("index.html", "light", width)
        browser.frames(2)
        right = 0
        for text, date in DATES.items():
            browser.run("document.getElementById('date').select()")
            browser.call("Input.insertText", text=text)
            browser.frames(2)
            right += browser.run(STATE)["answers"][0] == date
        # The model is trained anew on each machine, and may miss a date.
        self.expect(right >= 3, f"front page: {right} of {len(DATES)} dates are right")
        before = browser.run(STATE)
        browser.click("button.head")
        browser.frames(2)
        one = browser.run(STATE)
        changed = sum(a != b for a, b in zip(before["maps"], one["maps"]))
        self.expect(one["off"] == 1, "front page: a click switches no head off")
        self.expect(changed > 1, "front page: a head that is off changes no other map")
        # A good model may be as sure without its first head: others follow until the line changes.
        some = one
        while some["lines"][1] == before["lines"][1] and some["off"] < len(before["maps"]):
            browser.click("button.head[aria-pressed=true]")
            browser.frames(2)
            some = browser.run(STATE)
        self.expect(some["lines"][0] == before["lines"][0]
                    and some["lines"][1] != before["lines"][1],
                    f"front page: {some['off']} heads that are off do not change {some['lines']}")
        browser.click(".status button")  # all heads on
        browser.frames(2)
        for _ in range(2):  # the second click switches all heads of the kind off
            browser.click("button.link")
            browser.frames(2)
            if browser.run(STATE)["off"] > 1:
                break
        without = browser.run(STATE)
        self.expect(without["answers"][0] != without["answers"][1],
                    "front page: without cross-attention the answer stays")
        browser.click(".status button")
        browser.frames(2)
        self.expect(browser.run(STATE) == before, "front page: heads on again, another state")
        times = browser.run("""[...Array(9)].map(() => { const before = performance.now();
            input += " "; show(); input = input.trim(); return performance.now() - before; })""")
        self.expect(browser.run("document.querySelectorAll('math').length") >= 2, "no formula")
        self.finish("index.html")
        return f"{changed} of {len(before['maps'])} maps changed, {sorted(times)[4]:.0f} ms"

    def search(self, base):
        self.open("search.html?q=softmax", "light", base=base)
        found, end = 0, time.monotonic() + 10
        while found < 2 and time.monotonic() < end:
            found = self.browser.run("document.querySelectorAll('#search-results li a').length")
        time.sleep(0.5)  # summaries of the pages
        self.browser.run("0")
        self.expect(found >= 2, f"the search by {base[:5]} finds {found} pages with \"softmax\"")
        self.finish("search.html", base)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def check(folder, browser):
    check, began = Check(folder, browser), time.monotonic()
    documents = {name[:-3] + ".html": ROOT / name for group in build.documents() for name in group}
    pages = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    check.expect(set(documents) <= set(pages), f"missing: {sorted(set(documents) - set(pages))}")
    for page in pages:
        check.page(page, documents.get(page))
    check.dead_links()
    for page in ["index.html", *documents]:
        check.probe(page)
    speed = [f"{width} px: {check.front_page(width)}" for width in WIDTHS]
    check.search(check.base)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    check.search(f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    for text in check.wrong:
        print(text)
    print(f"{len(pages)} pages, {len(check.links)} links, {len(check.hosts)} other hosts linked; "
          f"front page: {'; '.join(speed)}; {len(check.wrong)} findings "
          f"({time.monotonic() - began:.0f} s)")
    return 1 if check.wrong else 0


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("chromium"):
        print("skipped: no chromium (apt-get install chromium)")
        return SKIPPED
    if len(sys.argv) > 2:
        if not build.python_with_sphinx():
            print(f"skipped: {build.NO_SPHINX}")
            return SKIPPED
        done = subprocess.run([sys.executable, ROOT / "docs/site/build.py", *sys.argv[2:0:-1]],
                              stderr=subprocess.PIPE, text=True)
        # Of Sphinx and the program; the demo's progress is there, too.
        complaints = re.findall(r".*(?:WARNING|ERROR|error:).*", done.stderr)
        if done.returncode or complaints:
            print(f"docs/site/build.py exits with {done.returncode}:", *complaints, sep="\n")
            return 1
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(profile)
        try:
            return check(folder, browser)
        finally:
            browser.close()


if __name__ == "__main__":
    sys.exit(main())
