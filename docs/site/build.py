#!/usr/bin/env python3
"""Builds the site with Sphinx: the front page, the chapters, the documents, and a page for each
source file that they name.

usage: build.py PROGRAM OUT

PROGRAM is the program headroom. Its demo trains the model of the front page, unless runs/ has one.
Its laboratory writes answers to questions from forums, answers/NAME.html. Pages go to the
folder OUT, other files to build/site.
"""

import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import predictions  # noqa: E402
import reference  # noqa: E402

ROOT = HERE.parents[1]
WORK = ROOT / "build/site"
PAGES = WORK / "source"

DOCUMENTS = ["README.md", "docs/first-steps.md", "docs/teaching.md", "docs/glossary.md",
             "docs/results.md", "docs/performance.md", "docs/architecture.md", "CONTRIBUTING.md",
             "docs/dependencies.md", "CHANGELOG.md"]
FOLDERS = ["src", "include", "examples", "tests", "docs", "chapters"]
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".py": "python", ".js": "javascript", ".css": "css",
             ".html": "html", ".json": "json", ".sh": "bash", ".cmake": "cmake", ".txt": "none",
             ".in": "none", "headroom": "bash", "CMakeLists.txt": "cmake", "LICENSE": "none"}

FENCED = predictions.FENCED
COMMENT = re.compile(r"^<!--(?:(?!-->).)*-->\n|<!--.*?-->", re.M | re.S)
FOLD = re.compile(r"^( *)(<details><summary>.*?</summary>)\s*(.*?)\s*</details>", re.M | re.S)
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
LINK_OR_CODE = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^()\s]+\)|(?<!`)`([\w./-]+)`(?!`)")

CHECKPOINT = "before_removal.safetensors"  # of a run of the demo: the model with all heads
NO_SPHINX = "no Sphinx or MyST (Debian's packages: python3-sphinx, python3-myst-parser)"


def python_with_sphinx():
    """This Python or the system's, whichever has the generator; or None."""
    for python in filter(None, (sys.executable, shutil.which("/usr/bin/python3"))):
        test = [python, "-c", "import sphinx, myst_parser"]
        if subprocess.run(test, stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def documents():
    """The documents, and the chapters with their index first."""
    texts, chapters, others = (
        sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))
        for pattern in ("docs/*.md", "chapters/*/README.md", "chapters/*.md"))
    return (list(dict.fromkeys(DOCUMENTS + texts)),
            list(dict.fromkeys(["chapters/README.md", *chapters, *others])))


def language(path):
    return LANGUAGES.get(path.name, LANGUAGES.get(path.suffix))


class Site:
    """The sources of the site, written into PAGES."""

    def __init__(self):
        self.documents, self.chapters = documents()
        self.written = {*self.documents, *self.chapters}

    def found(self, name, folder):
        """The file or folder that a text in `folder` means by `name`, or None."""
        for base in (ROOT, folder, ROOT / "include/headroom", ROOT / "include"):
            path = (base / name).resolve()
            first = os.path.relpath(path, ROOT).split("/")[0]
            if first in FOLDERS and path.exists() or path.parent == ROOT and path.is_file():
                return path
        return None

    def page_of(self, path):
        """The page of a file or folder, written if there is none; None for binary files."""
        name = str(path.relative_to(ROOT))
        if name in self.written:
            return name
        page = f"{name}/files.md" if path.is_dir() else f"{name}.md"
        if page not in self.written:
            if path.is_file() and language(path) is None:
                return None
            self.written.add(page)
            text = self.listing(path) if path.is_dir() else source_text(path)
            write(page, f"---\nnosearch: true\norphan: true\n---\n\n# `{name}`\n\n{text}\n")
        return page

    def listing(self, folder):
        lines = []
        for path in sorted(folder.glob("[!._]*")):
            page = self.page_of(path) if path.is_file() else None
            link = f"[`{path.name}`]({os.path.relpath(ROOT / page, folder)})" if page else ""
            lines.append("* " + (link or f"`{path.name}`"))
        return "\n".join(lines)

    def linked(self, text, folder):
        """The text with links to pages of the site; paths in backticks become links."""
        def relative(page):
            return os.path.relpath(ROOT / page, folder)

        def link(match):
            target, hash_sign, fragment = match[2].partition("#")
            path = (folder / target).resolve()
            if not target or "://" in target or not path.exists():
                return match[0]
            page = self.page_of(path)
            if page:
                return match[1] + relative(page) + hash_sign + fragment + match[3]
            copy = PAGES / path.relative_to(ROOT)  # a picture
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
            return match[0]

        def link_or_code(match):
            if match[1] is None:
                return LINK.sub(link, match[0])
            path = self.found(match[1], folder) if re.search(r"[./]", match[1]) else None
            page = path and self.page_of(path)
            return f"[{match[0]}]({relative(page)})" if page else match[0]

        return LINK_OR_CODE.sub(link_or_code, text)

    def converted(self, text, folder):
        """A document without comments, with links to pages, formulas, and Markdown in folds."""
        text = FOLD.sub(r"\1\2\n\n\1\3\n\n\1</details>\n", text)
        parts, at = [], 0
        for block in FENCED.finditer(text):
            parts.append(self.linked(COMMENT.sub("", text[at:block.start()]), folder))
            parts.append(re.sub(r"^( *`{3,})math$", r"\1{math}", block[0], count=1, flags=re.M))
            at = block.end()
        return "".join(parts) + self.linked(COMMENT.sub("", text[at:]), folder)

    def write(self, answers):
        for name in self.documents + self.chapters:
            text = predictions.of_chapter(ROOT / name)
            write(name, self.converted(text, (ROOT / name).parent))
        api = reference.pages(ROOT)
        for name, text in api.items():
            write(name, text)
        rows = re.findall(r"^\|.*\|$", (ROOT / "chapters/README.md").read_text(), re.M)
        table = "\n".join(rows).replace("](", "](chapters/")
        text = (HERE / "index.md").read_text().replace("CHAPTERS", table)
        front = self.converted(text.replace("ANSWERS", answers), ROOT)
        write("index.md", front + contents("The course", self.chapters)
              + contents("Documents", ["Overview <README>", *self.documents[1:]])
              + contents(reference.CAPTION, api))


def contents(title, names):
    """A hidden table of contents, which the pages show at the side."""
    entries = "\n".join(name.removesuffix(".md") for name in names)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n"


def source_text(path):
    fence = "`" * 12
    options = f"{{code-block}} {language(path)}\n:linenos:\n:force:\n"
    return f"{fence}{options}\n{path.read_text()}\n{fence}"


def write(name, text):
    (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
    (PAGES / name).write_text(text)


def write_record(program):
    """Writes the record of the page of `headroom attend` for the model of the newest demo."""
    found = [*pathlib.Path("runs").glob(f"demo-*/{CHECKPOINT}"), *WORK.glob(f"demo/{CHECKPOINT}")]
    if not found:
        subprocess.run([program, "demo", "--out", WORK / "demo", "--force"], check=True)
        found = [WORK / "demo" / CHECKPOINT]
    newest = max(found, key=lambda path: path.stat().st_mtime)
    subprocess.run([program, "attend", "--model", newest, "--input", "May 3rd, 2021", "--out",
                    WORK / "attend", "--force"], check=True, stdout=subprocess.DEVNULL)
    page = (WORK / "attend/report.html").read_text()
    record = json.loads(page.split('id="run">')[1].split("</script>")[0])
    del record["environment"], record["model"]["file"]
    (WORK / "record.json").write_text(json.dumps(record))


def write_answers(program, out):
    """Writes the pages of the laboratory's answers beside PyTorch, answers/NAME.html."""
    subprocess.run([program, "lab", "answer", "--out", WORK / "answers", "--force"], check=True,
                   stdout=subprocess.DEVNULL)
    (out / "answers").mkdir(parents=True, exist_ok=True)
    for page in (WORK / "answers").glob("*.html"):
        shutil.copy(page, out / "answers")


def forum_answers(program):
    """The links to these pages: the questions, by the list of experiments."""
    listed = subprocess.run([program, "lab", "list", "--json"], check=True, capture_output=True)
    return "\n".join(f'* <a href="answers/{one["name"]}.html">{html.escape(one["title"])}</a>'
                     for one in json.loads(listed.stdout) if one["pytorch"])


def main():
    program, out = sys.argv[1:]
    python = python_with_sphinx()
    if not python:
        print("error:", NO_SPHINX, file=sys.stderr)
        sys.exit(2)
    (WORK / "static").mkdir(parents=True, exist_ok=True)
    program = os.path.abspath(program)
    write_record(program)
    shutil.rmtree(PAGES, ignore_errors=True)
    Site().write(forum_answers(program))
    subprocess.run([python, "-m", "sphinx", "-q", "-E", "-b", "html", "-c", HERE,
                    "-d", WORK / "doctrees", PAGES, out], check=True)
    write_answers(program, pathlib.Path(out))
    print(pathlib.Path(out) / "index.html")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:  # the program or Sphinx has said why
        sys.exit(error.returncode if error.returncode > 0 else 2)
