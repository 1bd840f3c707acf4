"""The declarations of public headers with their comments, for the pages of the API and their check.

A comment of `///` belongs to the declaration below it and to all that follow without an empty line.
"""

import dataclasses
import re

SKIPPED = re.compile(r"#|namespace\b|inline namespace\b|extern \"C\"|\}  // namespace")
CLASS = re.compile(r"(?:template\s*<[^;{]*?>\s*)?(class|struct|enum class|enum|union)\s+"
                   r"(?:\[\[\w+\]\]\s*)?(\w+)")
ACCESSOR = re.compile(r"\) (const )?(noexcept )?\{ return [^;]*; \}$")
REQUIRES = r"\brequires\s*(\((?:[^()]|\([^()]*\))*\)|[\w:<>, ]+(?=\s[\w:]+\s))"
NOT_NAMES = re.compile(REQUIRES + r"|alignas\([^)]*\)|decltype\([^)]*\)|function<[^;]*>"
                       r"|\[\[[^\]]*\]\]")
DETAIL = re.compile(r"namespace (?:\w+_)?detail\b")
ACCESS = re.compile(r"\s*(public|protected|private):")
# What needs no comment of its own: it means what it means everywhere, or its base class says it.
OBVIOUS = re.compile(r"\boverride\b|= (delete|default)|~\w+\(|operator(=|==|<=>)|\bfriend\b"
                     r"|\bmembers\(Members&|\btitle\(\)|static_assert|\busing\b")


@dataclasses.dataclass
class Declaration:
    kind: str  # class, struct, enum, function, or other
    name: str
    code: str
    comment: str = ""
    access: str = "public"
    members: list = dataclasses.field(default_factory=list)

    def is_obvious(self, owner):
        """Whether it needs no comment of its own: a constructor, which its class describes; a
        function whose one line shows what it returns; see also OBVIOUS."""
        if self.kind != "function":
            return self.kind not in ("class", "struct", "enum")
        line = " ".join(self.code.split())
        accessor = len(line) < 120 and ACCESSOR.search(line)
        return bool(self.name == owner or OBVIOUS.search(line.split("{")[0]) or accessor)


def without_strings(line):
    return re.sub(r"//.*$", "", re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'", '""', line))


def statements(lines):
    """(comment, code lines, follows) of each declaration: `follows` if no empty line is above it
    and its comment is that of the one before. A comment after the code on its line counts, too."""
    comment, code, depth, follows, hidden = [], [], 0, False, False
    for line in lines:
        text = line.strip()
        hidden = bool(DETAIL.match(text)) or hidden and not text.startswith("}  // namespace")
        if hidden:
            continue
        if not code and (not text or SKIPPED.match(text)):
            comment, follows = [], False
            continue
        if not code and text.startswith("///"):
            comment.append(text[3:].removeprefix(" "))
            follows = False
            continue
        if not code and (text.startswith("//") or ACCESS.match(line)):
            if ACCESS.match(line):
                yield [], [line], False
                comment, follows = [], False
            continue
        code.append(line)
        plain = without_strings(line)
        depth += sum(plain.count(c) for c in "({[") - sum(plain.count(c) for c in ")}]")
        end = plain.rstrip()
        closed = end.endswith((";", "}")) or not end and text.endswith("*/")
        if depth <= 0 and closed:
            beside = re.search(r"//(?! NOLINT)\s*(.*)$", line)
            yield comment or ([beside[1]] if beside else []), code, follows
            comment, code, depth, follows = [], [], 0, True


def name_of(code):
    """The name of what a declaration without class declares."""
    head = without_strings(" ".join(code)).split("{")[0]
    head = re.sub(r"^\s*template\s*<.*?>\s*(?=[\w:\[])", "", head)
    head = NOT_NAMES.sub("", head)
    found = re.search(r"(operator\s*(?:\(\)|\[\]|[^\s(]+)|~?\w+)\s*\(", head)
    if found and not re.match(r"\s*(using|typedef)\b", head) and "=" not in head[:found.start()]:
        return "function", found[1].replace(" ", "")
    found = re.search(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=.*|\{.*)?;?\s*$", head.strip())
    return "other", found[1] if found else head.strip()


def declarations(lines, is_struct=True):
    """The declarations of a header's lines, or of a class's body."""
    found, access = [], "public" if is_struct else "private"
    for comment, code, follows in statements(lines):
        changed = ACCESS.match(code[0])
        if changed:
            access = changed[1]
            continue
        text = "\n".join(code)
        a_class = CLASS.match(text.strip())
        if a_class and "{" in text and not re.match(r"[^{]*\)\s*(const\s*)?\{", text):
            kind = a_class[1].replace("enum class", "enum")
            body = text[text.index("{") + 1:text.rindex("}")].split("\n")
            members = [] if kind == "enum" else declarations(body, kind == "struct")
            one = Declaration(kind, a_class[2], text, " ".join(comment), access, members)
        elif a_class and text.strip().endswith(";") and "(" not in text:
            continue  # a forward declaration
        else:
            one = Declaration(*name_of(code), text, " ".join(comment), access)
        if follows and not one.comment and found:
            one.comment = found[-1].comment
        found.append(one)
    return found


def read(path):
    """(first comment of the header, its declarations)"""
    lines = path.read_text().split("\n")
    title = []
    for line in lines:
        if not line.startswith("//"):
            break
        title.append(line[2:].strip())
    return " ".join(title), declarations(lines[len(title):])


def undocumented(root):
    """"file: declaration" for each public declaration without a comment of its own. Overloads share
    the comment of the first one in their header."""
    found = []

    def walk(path, all_of, owner, seen):
        for one in all_of:
            if one.access != "public":
                continue
            if one.comment:
                seen.add((owner, one.name))
            elif not one.is_obvious(owner) and (owner, one.name) not in seen:
                found.append(f"{path}: {owner + '::' if owner else ''}{one.name}")
            walk(path, one.members, one.name, seen)

    for path in sorted(root.glob("include/*/*/*.hpp")):
        walk(path.relative_to(root), read(path)[1], "", set())
    return found


def public_code(one):
    """The code of a declaration without private parts and without bodies of functions."""
    if one.kind == "function":
        text = one.code.split("\n")
        body = next((i for i, line in enumerate(text)
                     if without_strings(line).rstrip().endswith("{")), None)
        return one.code if body is None or body + 1 == len(text) else "\n".join(
            [*text[:body], re.sub(r"\s*(:.*)?\{$", ";", text[body])])
    lines, hidden = [], False
    for line in one.code.split("\n"):
        access = ACCESS.match(line)
        if access:
            hidden = access[1] == "private"
            if hidden:
                continue
        if not hidden or line.startswith("}"):
            lines.append(line)
    while len(lines) > 1 and not lines[-2].strip():
        del lines[-2]
    return "\n".join(lines)
