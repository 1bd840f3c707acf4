#!/usr/bin/env python3
"""Breaks every rule of the checks once, in a copy of the tree; the check must report each fault.

usage: planted_faults.py ROOT COMPILER
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from sources import TOP_FOLDERS

HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = "// A planted header.\n#pragma once\n"
LINEAR, NEW_SOURCE = "src/headroom/ops/linear.cpp", "src/headroom/ops/planted.cpp"

# (check, file that is made or added to, text, message that the check must print)
PLANTED = [
    ("floors", "src/headroom/base/rng.cpp", '#include "headroom/ops/ops.hpp"\n', "upward"),
    ("floors", "include/headroom/array/pool.hpp", '#include "headroom/nn/linear.hpp"\n', "upward"),
    ("floors", "include/headroom/ops/ops.hpp", '#include "array/map.hpp"\n', "public headers"),
    ("floors", LINEAR, '#include "headroom/xtensor.hpp"\n', "bridge"),
    ("floors", LINEAR, '#include "headroom/headroom.hpp"\n', "for users"),
    ("floors", LINEAR, '#include "../nn/linear.hpp"\n', "parent folder"),
    ("floors", LINEAR, '#include <headroom/base/rng.hpp>\n', 'with "..."'),
    ("floors", LINEAR, "#include <xtensor/xarray.hpp>\n", "array/xtensor.hpp"),
    ("floors", LINEAR, '#include "headroom/nn/no_such.hpp"\n', "no file of ours"),
    ("floors", "src/cli/planted.cpp", '#include "kernels/gemm.hpp"\n', "public headers only"),
    ("floors", "examples/planted.cpp", '#include "kernels/gemm.hpp"\n', "public headers only"),
    ("floors", "tests/ops/planted.cpp", '#include "kernels/gemm.hpp"\n', "public headers only"),
    ("floors", "tests/ops/planted.cpp", '#include "../cli/x.hpp"\n', "parent folder"),
    ("floors", "chapters/a/x.hpp", HEADER, None),
    ("floors", "chapters/b/x.cpp", '#include "a/x.hpp"\n', "sideways"),
    ("floors", "chapters/b/y.cpp", '#include "support/catch.hpp"\n', "common/checks.hpp"),
    ("floors", "chapters/common/x.cpp", '#include "support/random.hpp"\n', "sideways"),
    ("floors", "examples/course/x.cpp", '#include "support/random.hpp"\n', "sideways"),
    ("floors", "src/headroom/cellar/x.cpp", "// A file.\n", "on no floor"),
    ("floors", "src/headroom/optim2/x.cpp", "// A file.\n", "no tests/optim2"),
    ("floors", "src/cellar/x.cpp", "// A file.\n", "neither a library nor a program"),
    ("floors", "src/headroom/train/trainer.cpp", '#include "headroom_measure/pruning/pruner.hpp"\n',
     "upward"),
    ("floors", "src/headroom_runs/runs/folds.cpp", '#include "kernels/gemm.hpp"\n',
     "no file of ours"),
    ("floors", "include/headroom/kernels/x.hpp", HEADER, "private headers only"),
    ("floors", "include/headroom/nn/planted.hpp", HEADER, "does not reach it"),
    ("floors", "include/headroom/headroom.hpp", '#include "headroom_lab/lab/lab.hpp"\n',
     "above headroom"),
    ("floors", "scripts/x.sh", "true\n", "does not belong at the top"),
    ("promises", "docs/reliability.md", "| x | `test_io_f64` | `no such case` |\n", "has no case"),
    ("bans", LINEAR, "y = e / xt::sum(e, {1}, xt::keep_dims);\n", "lazy reducer"),
    ("bans", LINEAR, "xt::amax(e, {1});\n", "lazy reducer"),
    ("bans", LINEAR, "for (const Real v : linear(x, w).value().span()) s += v;\n",
     "no longer exists"),
    ("bans", LINEAR, "#pragma omp parallel for\n", "parallel_for"),
    ("bans", LINEAR, "std::thread t;\n", "parallel_for"),
    ("bans", LINEAR, "#include <regex>\n", "regex"),
    ("bans", LINEAR, "std::source_location l;\n", "source_location"),
    ("bans", LINEAR, "#include <immintrin.h>\n", "xsimd"),
    ("bans", LINEAR, "xt::pad(a, 1);\n", "wrong or drawn anew"),
    ("bans", LINEAR, "xt::linalg::dot(a, b);\n", "xt::blas::gemm"),
    ("bans", LINEAR, "map([](auto v) { return v; }, x);\n", "dangles"),
    ("bans", LINEAR, "using namespace std;\n", "std::"),
    ("bans", LINEAR, "namespace headroom::inline f32 {}\n", "ctags"),
    ("bans", LINEAR, "auto a = static_cast<double>(b);\n", "double(x)"),
    ("bans", LINEAR, "// TODO: later\n", "finish it"),
    ("bans", "src/cli/commands/attend.cpp", 'fmt::print("{}", path.string());\n', "shown()"),
    ("bans", LINEAR, 'throw Error("not implemented");\n', "skeletons"),
    ("bans", LINEAR, "int a;" + " " * 3 + "\n", "blanks"),
    ("bans", LINEAR, "int a;\r\n", "line endings"),
    ("bans", LINEAR, "\tint a;\n", "a tab"),
    ("bans", LINEAR, "// " + "x" * 98 + "\n", "101 columns"),
    ("bans", LINEAR, "// x\n" * 450, "split it"),
    ("bans", NEW_SOURCE, "int a;\n" * 20000, "the budget is"),
    ("bans", NEW_SOURCE, "int a;\n", "opens with a sentence"),
    ("bans", "src/headroom/ops/planted.hpp", "// A header.\n", "pragma once"),
    ("bans", "tests/ops/planted.cpp", "REQUIRE(a == Approx(1));\n", "matchers"),
    ("bans", "tests/ops/planted.cpp", "#include <catch2/catch.hpp>\n", "both versions"),
    ("bans", "tests/ops/planted.cpp", "#define CATCH_CONFIG_MAIN\n", "Catch2WithMain"),
    ("bans", "src/CMakeLists.txt", "add_compile_options(-ffast-math)\n", "std::isnan"),
    ("reading", "docs/reading.md", "| `src/headroom/ops/no_such.cpp` | Nothing is there. |\n",
     "there is no"),
    ("reading", "docs/reading.md", "| `src/headroom_runs/runs/folds.cpp` | Not the engine. |\n",
     "not a file of the engine"),
    ("reading", "docs/reading.md", "| `src/headroom/ops/blas.cpp` | Short. |\n", "no sentence"),
    ("reading", "src/headroom/ops/sigmoid.cpp", "// x\n" * 450, "fit into a day"),
    ("headers", "include/headroom/base/planted.hpp", HEADER + "inline std::string a;\n",
     "does not compile alone in f64"),
    ("headers", "include/headroom/base/planted.hpp",
     HEADER + "#ifdef HEADROOM_DOUBLE\nint a(int b) { return b_; }\n#endif\n",
     "does not compile alone in f64"),
    ("headers", "include/headroom/base/planted.hpp", HEADER + "#include <xtensor/xarray.hpp>\n",
     "needs xtensor"),
    ("alone", NEW_SOURCE, "std::string text;\n", "does not compile alone"),
]


def run(check, root, compiler):
    command = [sys.executable, os.path.join(HERE, check + ".py"), root]
    if check == "headers":
        command.append(compiler)
    if check == "alone":
        build, source = os.path.join(root, "build"), os.path.join(root, NEW_SOURCE)
        os.makedirs(build, exist_ok=True)
        command.append(os.path.join(build, "compile_commands.json"))
        with open(command[-1], "w", encoding="utf-8") as file:
            json.dump([{"directory": build, "file": source,
                        "command": f"{compiler} -std=c++20 -c {source} -o planted.o"}], file)
    return subprocess.run(command, text=True, capture_output=True)


def plant(root, path, text):
    """Adds the text at the end of the file; returns what is needed to undo it."""
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    before = None
    if os.path.exists(full):
        with open(full, encoding="utf-8", newline="") as file:
            before = file.read()
    with open(full, "a", encoding="utf-8", newline="") as file:
        file.write(text)
    return full, before


def main():
    root, compiler = sys.argv[1:3]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        for top in TOP_FOLDERS:
            shutil.copytree(os.path.join(root, top), os.path.join(copy, top))
        small = os.path.join(folder, "small")  # for compiling and for bans: few files are enough
        for part in ("src/headroom/ops", "tests/ops"):
            shutil.copytree(os.path.join(root, part), os.path.join(small, part))
        for file in ("src/CMakeLists.txt", "include/headroom/base/real.hpp"):
            os.makedirs(os.path.dirname(os.path.join(small, file)), exist_ok=True)
            shutil.copy(os.path.join(root, file), os.path.join(small, file))
        for check, path, text, expected in PLANTED:
            target = copy if check in ("floors", "reading", "promises") else small
            full, before = plant(target, path, text)
            if expected is None:
                continue  # only prepares the next one
            done = run(check, target, compiler)
            said = [line for line in done.stdout.split("\n") if expected in line]
            if done.returncode == 0 or not said:
                missed.append(f"{check}: {path}: {text.strip()[:60]!r}: should say {expected!r}")
            if before is None:
                os.remove(full)
                folder_of_it = os.path.dirname(full)
                while not os.listdir(folder_of_it):
                    os.rmdir(folder_of_it)
                    folder_of_it = os.path.dirname(folder_of_it)
            else:
                with open(full, "w", encoding="utf-8", newline="") as file:
                    file.write(before)
    for line in missed:
        print(line)
    print(f"planted_faults: {len(PLANTED)} planted, {len(missed)} missed")
    sys.exit(1 if missed else 0)


main()
