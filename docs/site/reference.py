"""The pages of the API: one for each floor of a library, made of the comments of its public
headers, and an index of all names."""

import re

import headers

LIBRARIES = ["headroom", "headroom_measure", "headroom_runs", "headroom_lab"]
FENCE = "`" * 8
CAPTION = "API"
INTRODUCTION = """# API reference

The public headers by library and floor ([architecture](../docs/architecture.md) says what these
are). A floor's page has for each header its declarations with their comments: what it does, its
formula, shapes and units, the errors that it throws, and its source. Shapes are in brackets; B is
the batch, T the time, C the width, H the number of heads, D the width of a head, V the size of a
vocabulary. `Throws` names an error of `headroom/base/error.hpp`.
"""


def escaped(text):
    """Plain text as Markdown; what stands in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if i % 2 else re.sub(r"([*_\\[\]<>#|$~])", r"\\\1", part)
                   for i, part in enumerate(parts))


def anchor(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "operator"


def header_text(path, include, title, all_of):
    lines = [f"## {include}", "", escaped(title), ""]
    names = set()
    for one in all_of:
        if one.access != "public" or not one.comment and one.kind == "other":
            continue
        if one.name not in names:
            lines += [f"({anchor(include + ' ' + one.name)})=", f"### {escaped(one.name)}", ""]
        names.add(one.name)
        code = headers.public_code(one).strip()
        lines += [escaped(one.comment), "", FENCE + "cpp", code, FENCE, ""]
    return "\n".join(lines)


def pages(root):
    """{page: text}, the index first."""
    texts, index, listed = {}, [], []
    for library in LIBRARIES:
        for folder in sorted((root / "include" / library).glob("*/")):
            if not folder.is_dir():
                continue
            page = f"reference/{library}-{folder.name}.md"
            parts = [f"# {library}/{folder.name}", ""]
            for path in sorted(folder.glob("*.hpp")):
                title, all_of = headers.read(path)
                include = str(path.relative_to(root / "include"))
                parts.append(header_text(path, include, title, all_of))
                for one in all_of:
                    if one.comment and one.access == "public" and one.kind != "other":
                        listed.append((one.name, page, anchor(include + " " + one.name),
                                       one.comment.split(". ")[0].rstrip(".")))
            texts[page] = "\n".join(parts)
            titles = "; ".join(f"`{path.name}`" for path in sorted(folder.glob("*.hpp")))
            index.append(f"| [{library}/{folder.name}]({page.split('/')[1]}) | {titles} |")
    rows = "\n".join(f"| [{escaped(name)}]({where}) | {escaped(says)} |"
                     for name, page, where, says in sorted(set(listed), key=lambda r: r[0].lower()))
    first = (f"{INTRODUCTION}\n| floor | headers |\n|---|---|\n" + "\n".join(index)
             + f"\n\n## All names\n\n| name | |\n|---|---|\n{rows}\n")
    return {"reference/README.md": first, **texts}
