#!/usr/bin/env python3
"""Fails on banned constructs, on files of wrong form, and above a budget of lines
(docs/architecture.md gives the reasons).

usage: bans.py ROOT
"""

import re
import sys

from sources import CODE, files, read, report

BUILD = ("CMakeLists.txt", ".cmake", ".in", "CMakePresets.json")

# (files, but not these, pattern, what is wrong)
BANS = [
    (CODE, r"^src/headroom/base/parallel\.cpp|^tests/benchmarks/matrix_products\.cpp",
     r"#pragma omp (?!simd|declare simd)", "threads come from parallel_for only"),
    (CODE, r"^tests/|^src/(cli|course)/", r"std::(thread|jthread|async)\b",
     "threads come from parallel_for only"),
    (CODE, None, r"\bstd::regex\b|#include <regex>", "std::regex is slow and overflows the stack"),
    (CODE, None, r"\bstd::source_location\b", "clang 14 has no std::source_location"),
    (CODE, None, r"#include <\w*intrin\.h>|\b_mm\d*_\w+\(", "SIMD by xsimd or omp simd"),
    (CODE, None, r"\bxt::(random|pad)\b", "wrong or drawn anew in xtensor 0.24"),
    (CODE, None, r"\bxt::linalg::dot\b", "wrong for shared or sliced operands: xt::blas::gemm"),
    (CODE, None, r"\b(Catch::Detail::)?Approx\(", "Approx accepts 1.2e-5: use the array matchers"),
    (CODE, r"^(tests/support/catch\.hpp|chapters/common/main\.cpp)", r"#include <catch2/",
     'include "support/catch.hpp", which fits both versions of Catch2'),
    (CODE + BUILD, None, r"CATCH_CONFIG_MAIN", "link Catch2::Catch2WithMain instead"),
    (CODE, r"^tests/|^chapters/|^examples/", r"\bfmt::print\(stderr\b",
     "it throws when standard error is closed: print_error()"),
    (CODE, None, r"\busing namespace std\b", "write std::"),
    (CODE, None, r"\bstatic_cast<(double|float|int|Real|Index)>", "write double(x), Index(n)"),
    (CODE, None, r"\bnamespace [\w:]+::inline\b",
     "ctags and clang-format do not parse it: open the namespaces on two lines"),
    (CODE, r"^chapters/", r"\b(TODO|FIXME|XXX)\b", "finish it or leave it out"),
    (CODE, r"^(chapters|src/course)/", r"(?i)\bnot implemented\b",
     "only skeletons of exercises say this"),
    (CODE, r"^(tests|src/(cli|course)|examples|chapters)/"
     r"|^src/headroom_lab/(study/(commands|estimate)\.cpp|lab/experiments/)",
     r"\"([^\"\n]*[ (])?--[a-z]", "a library has no options: see Error::settings()"),
    (BUILD, None, r"^[^#]*-(ffast-math|Ofast)", "fast math turns std::isnan into false"),
    (CODE, None, r"\bmap\(\s*\[[^\]]*\]\((?!\s*const auto& \w+(\s*,\s*const auto& \w+)*\s*\))",
     "the lambda given to map() takes const auto&: by value its expression dangles"),
    (CODE, None, r"for \([^;:]+ : [^;]*\)\.(value|grad|at)\([^;]*\)\.span\(\)",
     "the loop is over a tensor that no longer exists: give it a name before"),
]

REDUCER = re.compile(r"\bxt::(sum|prod|mean|average|amax|amin|variance|stddev|minmax|norm_\w+"
                     r"|argmax|argmin|cumsum|nansum|nanmean|count_nonzero)\s*\(")

COLUMNS = 100
MOST_LINES, FEWER_LINES = 450, 400
LONGER_WITH_REASON = {}  # path: why this file is better in one piece

# The maximum number of lines of code of the engine, without blank lines and comments. A commit that
# raises it gives the reason.
BUDGET = 19000
ENGINE = ("src/headroom/", "include/headroom/")


def call_at(text, start):
    """The text from the parenthesis at `start` to the one that closes it."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i + 1]
    return text[start:]


def without_comments(text):
    """The code, comments blanked out line by line; strings that hold // stay as they are."""
    pattern = r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/'
    return re.sub(pattern, lambda m: m.group(0) if m.group(0)[0] == '"'
                  else re.sub(r"[^\n]", "", m.group(0)), text, flags=re.S)


def lines_of_code(code):
    """The lines of code without comments that are not blank."""
    return sum(1 for line in code.split("\n") if line.strip())


def check_bans(root, path, text, code):
    for suffixes, spared, pattern, rule in BANS:
        if not path.endswith(suffixes) or (spared and re.search(spared, path)):
            continue
        searched = text if "TODO" in pattern else code
        for match in re.finditer(pattern, searched, flags=re.M):
            line = searched.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: {match.group(0).strip()}: {rule}"


def check_reducers(path, code):
    immediate = re.findall(r"(\w+) = xt::evaluation_strategy::immediate;", code) + ["immediate"]
    for match in REDUCER.finditer(code):
        if not set(immediate) & set(re.findall(r"\w+", call_at(code, match.end() - 1))):
            line = code.count("\n", 0, match.start()) + 1
            yield (f"{path}:{line}: xt::{match.group(1)}: a lazy reducer gives wrong numbers,"
                   " pass xt::evaluation_strategy::immediate")


def check_shown(path, code):
    for match in re.finditer(r"\b(?:fmt::print|print_error)\(", code):
        call = call_at(code, match.end() - 1)
        if re.search(r"\.(?:string|what)\(\)", call) and "shown(" not in call:
            line = code.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: a path that is printed can control the terminal: shown()"


def check_form(path, text):
    if "\r" in text:
        yield f"{path}: line endings of another system"
    if text and not text.endswith("\n"):
        yield f"{path}: no newline at the end"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, the most is {COLUMNS}"
        if line != line.rstrip():
            yield f"{path}:{number}: blanks at the end of the line"
        if "\t" in line:
            yield f"{path}:{number}: a tab"
    if path.endswith(CODE) and not text.startswith("//"):
        yield f"{path}:1: a file opens with a sentence that says what it is"
    if path.endswith(".hpp") and "\n#pragma once\n" not in text:
        yield f"{path}: no #pragma once"


def main():
    root = sys.argv[1]
    findings, longest, lines_so_far = [], [], 0
    for path in files(root, CODE + BUILD + (".py", ".sh")):
        text = read(root, path)
        if path.startswith("tests/checks/bans"):
            continue  # names what it bans
        code = without_comments(text) if path.endswith(CODE) else text
        findings += check_form(path, text)
        findings += check_bans(root, path, text, code)
        if path.endswith(CODE):
            findings += check_reducers(path, code)
            if path.startswith(("src/cli/", "src/course/")):
                findings += check_shown(path, code)
            lines = text.count("\n")
            if lines > FEWER_LINES:
                longest.append(f"{path} ({lines})")
            if lines > MOST_LINES and path not in LONGER_WITH_REASON:
                findings.append(f"{path}: {lines} lines, the most is {MOST_LINES}: split it")
            if path.startswith(ENGINE):
                lines_so_far += lines_of_code(code)
    if lines_so_far > BUDGET:
        findings.append(f"the engine: {lines_so_far} lines of code, the budget is {BUDGET}: shorten, "
                        "or raise it and say why")
    summary = f"{lines_so_far} of {BUDGET} lines of code in the engine"
    if longest:
        summary += f"; over {FEWER_LINES} lines: {', '.join(longest)}"
    report("bans", findings, summary)


main()
