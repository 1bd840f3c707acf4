// Links the answers that have passed.
#include "course/learn_mine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "course/learn_build.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_mistakes.hpp"
#include "course/learn_symbols.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

constexpr const char* own_prefix = "headroom_own_";  // the learner's functions in libmine.so

/// The program that is timed with the learner's functions.
fs::path timed_program(const Course& course) { return course.folder() / "bin/headroom"; }

/// The objects of the answers that have passed, and their files, in one precision.
fs::path objects(const Workspace& workspace, const CoursePrecision& precision) {
  return workspace.build() / ("passed" + precision.suffix);
}

/// The learner's functions in an object file: mangled name -> the name that is shown.
using NamedFunctions = std::map<std::string, std::string>;

/// Those of all exercises whose object is in a folder, in the order of the course: functions of the
/// library, and those of exercises whose function is not in the library, with their title.
std::vector<std::pair<const Exercise*, NamedFunctions>> named_functions(
    const Course& course, const CoursePrecision& precision, const fs::path& folder) {
  std::vector<std::pair<const Exercise*, NamedFunctions>> all;
  for (const Exercise& exercise : course.exercises) {
    const fs::path object = folder / (exercise.target() + ".o");
    if (!fs::exists(object)) continue;
    const Functions defined = defined_functions(object);
    NamedFunctions& named = all.emplace_back(&exercise, NamedFunctions()).second;
    for (const std::string& function : replaced_functions(course, precision, defined)) {
      named[function] = short_name(function);
    }
    if (!exercise.master.replaces.empty() || !exercise.master.begins_empty()) continue;
    for (const std::string& function : defined) named.emplace(function, exercise.master.title);
  }
  return all;
}

/// Every name once, in the order of named_functions().
std::vector<std::string> names_shown(
    const std::vector<std::pair<const Exercise*, NamedFunctions>>& functions) {
  std::vector<std::string> names;
  for (const auto& [exercise, named] : functions) {
    std::set<std::string> own;
    for (const auto& [function, name] : named) own.insert(name);
    names.insert(names.end(), own.begin(), own.end());
  }
  return names;
}

/// Runs a tool that makes libmine.so. Throws Error if it fails.
void run_tool(const std::vector<std::string>& words) {
  const ChildResult result = run_child(words);
  if (result.code != 0) {
    throw Error(fmt::format("your functions could not be linked: {}: {}", words[0], result.err));
  }
}

/// Assembler code of a function that notes its call and continues in the learner's function, whose
/// name begins with `own`. It changes a register that no caller expects to keep.
std::string noting_function(const std::string& function, std::size_t number) {
  return fmt::format(
      "  .text\n  .globl {0}\n  .type {0}, @function\n{0}:\n  endbr64\n"
      "  movq headroom_calls(%rip), %r11\n  movb $1, {1}(%r11)\n  jmp {2}{0}\n"
      "  .size {0}, . - {0}\n  .hidden {2}{0}\n",
      function, number, own_prefix);
}

/// New names for functions and streams of output in the learner's objects, for objcopy;
/// chapters/common/own.cpp defines them.
std::string output_names(const fs::path& object) {
  std::string lines;
  for (const char* name : {"printf", "vprintf", "puts", "putchar", "__printf_chk", "__vprintf_chk",
                           "stdout", "stderr", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
    lines += fmt::format("{0} headroom_answer_{0}\n", name);
  }
  for (const std::string& name : undefined_functions(object)) {  // fmt::v9::vprint(string_view, ..)
    const bool prints = name.find("6vprintENS0_17basic_string_view") != std::string::npos;
    if (name.starts_with("_ZN3fmt") && prints) lines += name + " headroom_answer_vprint\n";
  }
  return lines;
}

/// Links the objects of the answers that have passed to the learner's library of a precision.
void link_mine(const Course& course, const Workspace& workspace, const CoursePrecision& precision) {
  const fs::path kept = objects(workspace, precision), folder = folder_of_mine(workspace);
  const fs::path changed = folder / ("objects" + precision.suffix);
  fs::create_directories(changed);
  const auto functions = named_functions(course, precision, kept);
  const std::vector<std::string> names = names_shown(functions);
  std::string code, strings;
  std::vector<std::string> files;
  for (const auto& [exercise, named] : functions) {
    const std::string file = exercise->target() + ".o";
    std::string renamed = output_names(kept / file);
    for (const auto& [function, name] : named) {
      if (!calls_are_noted) continue;
      renamed += fmt::format("{0} {1}{0}\n", function, own_prefix);
      const auto number = std::find(names.begin(), names.end(), name) - names.begin();
      code += noting_function(function, std::size_t(number));
    }
    write_file(changed / "names", renamed);
    files.push_back((changed / file).string());
    run_tool({"objcopy", "--redefine-syms=" + (changed / "names").string(), (kept / file).string(),
              files.back()});
  }
  code += "  .hidden headroom_calls\n  .globl headroom_own_names\n  .hidden headroom_own_names\n";
  code += "  .section .data.rel.ro, \"aw\"\n  .balign 8\nheadroom_own_names:\n";
  for (std::size_t i = 0; calls_are_noted && i < names.size(); ++i) {
    code += fmt::format("  .quad .Lname{}\n", i);
    strings += fmt::format(".Lname{}:\n  .string \"{}\"\n", i, names[i]);
  }
  code += "  .quad 0\n  .section .rodata\n" + strings;
  code += "  .section .note.GNU-stack, \"\", %progbits\n";
  const fs::path assembler = changed / "calls.s";
  write_file(assembler, code);
  // Linked under another name first: a program that runs keeps the library that it has loaded.
  const std::string name = fmt::format("libmine{}.so", precision.suffix);
  const fs::path linked = folder / (name + ".new");
  std::vector<std::string> words{course.compiler, "-shared", "-o", linked.string(),
                                 "-Wl,-soname," + name};
  words.insert(words.end(), course.link_flags.begin(), course.link_flags.end());
  words.insert(words.end(), files.begin(), files.end());
  words.insert(words.end(),
               {assembler.string(), (course.folder() / "lib/libcourse_own.a").string(), "-lfmt"});
  run_tool(words);
  fs::rename(linked, folder / name);
}

/// The time of a training step of a small model, in ms, with the learner's library of a folder.
double time_of_step(const Course& course, const fs::path& folder, const char* layout) {
  const ChildResult timed =
      run_child({"env", "LD_LIBRARY_PATH=" + folder.string(), timed_program(course).string(),
                 "bench", "step", "--case", "nano", "--layers", "1", "--batch", "2", "--steps",
                 "12", "--layout", layout, "--threads", "1", "--json"});
  if (timed.code != 0) return std::numeric_limits<double>::quiet_NaN();
  return parse_json(timed.out, "bench").value("min_ms", 0.0);
}

/// How many times as long a training step takes with the answer of the folder, in the layout where
/// that is more. Nothing if the program does not run.
std::optional<double> step_time(const Course& course, const fs::path& folder) {
  constexpr int rounds = 3;
  double most = 0;
  for (const char* layout : {"fused", "separate"}) {
    double with = std::numeric_limits<double>::infinity(), without = with;
    for (int round = 0; round < rounds; ++round) {  // in turn, since machines change their speed
      with = std::min(with, time_of_step(course, folder, layout));
      without = std::min(without, time_of_step(course, course.folder() / "lib", layout));
    }
    if (!std::isfinite(with / without)) return std::nullopt;
    most = std::max(most, with / without);
  }
  return most;
}

/// The last change of the objects in a folder: one was written, or files were added or removed.
fs::file_time_type last_change(const fs::path& folder) {
  fs::file_time_type newest = fs::last_write_time(folder);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".o") newest = std::max(newest, entry.last_write_time());
  }
  return newest;
}

/// The file with the step_time of an answer.
fs::path time_file(const Workspace& workspace, const Exercise& exercise) {
  return workspace.build() / "times" / (exercise.target() + ".json");
}

/// The code of an answer that has passed.
fs::path kept_code(const Workspace& workspace, const Exercise& exercise) {
  return objects(workspace, kept_double) / (exercise.target() + ".cpp");
}

/// A kept answer that is not compiled in a precision, or was another one when it was.
struct MissingObject {
  const Exercise* exercise;
  const CoursePrecision* precision;
};

std::vector<MissingObject> missing_objects(const Course& course, const Workspace& workspace) {
  std::vector<MissingObject> missing;
  for (const CoursePrecision* precision : {&kept_double, &course_float}) {
    const bool in_float = precision == &course_float;
    if (in_float && shared_libraries(course, course_float).size() < 2) continue;  // not built yet
    for (const Exercise& exercise : course.exercises) {
      const fs::path code = kept_code(workspace, exercise);
      const fs::path object = objects(workspace, *precision) / (exercise.target() + ".o");
      if (time_of(object) < time_of(code)) missing.push_back({&exercise, precision});
    }
  }
  return missing;
}

Index number_of_answers(const std::vector<MissingObject>& missing) {
  std::set<const Exercise*> answers;
  for (const MissingObject& object : missing) answers.insert(object.exercise);
  return std::ssize(answers);
}

/// Returns the compiler's first error, or "".
std::string compile_kept(const Course& course, const Workspace& workspace,
                         const MissingObject& missing) {
  const auto& [exercise, precision] = missing;
  const fs::path kept = objects(workspace, *precision);
  const fs::path folder = workspace.build() / ("in_work" + precision->suffix) / exercise->target();
  fs::create_directories(folder);
  fs::create_directories(kept);
  // A copy, since the learner may pass with another answer meanwhile. The object gets the time that
  // the code had before, so that this is noticed.
  const fs::path source = folder / (exercise->file + ".cpp");
  const fs::file_time_type time = time_of(kept_code(workspace, *exercise));
  fs::copy_file(kept_code(workspace, *exercise), source, fs::copy_options::overwrite_existing);
  std::string warnings;
  const std::string error = compile_answer(course, *exercise, *precision, source, folder, warnings);
  if (!error.empty()) return error;
  const fs::path object = folder / (exercise->target() + ".o");
  fs::last_write_time(object, time);
  fs::rename(object, kept / object.filename());
  return "";
}

/// Links the objects of a precision if they have changed.
void link_if_changed(const Course& course, const Workspace& workspace,
                     const CoursePrecision& precision) {
  const fs::path kept = objects(workspace, precision);
  if (!fs::exists(kept)) return;
  const fs::path library =
      folder_of_mine(workspace) / fmt::format("libmine{}.so", precision.suffix);
  // The library has the time of the objects from which it was linked, so that an answer which is
  // kept meanwhile is noticed.
  const fs::file_time_type change = last_change(kept);
  if (time_of(library) == change) return;
  link_mine(course, workspace, precision);
  fs::last_write_time(library, change);
}

}  // namespace

fs::path folder_of_mine(const Workspace& workspace) { return workspace.build() / "mine"; }

void keep_answer(const Workspace& workspace, const Exercise& exercise, const std::string& code) {
  const fs::path kept = kept_code(workspace, exercise);
  if (fs::exists(kept) && read_file(kept) == code) return;  // so that it is not compiled again
  fs::create_directories(kept.parent_path());
  write_file(kept, code);
}

Index waiting_answers(const Course& course, const Workspace& workspace) {
  return number_of_answers(missing_objects(course, workspace));
}

std::string update_mine(const Course& course, const Workspace& workspace,
                        const std::function<void(Index answers)>& compiles) {
  if (!fs::exists(objects(workspace, kept_double))) return "";
  const FileLock lock = waited_lock(workspace.build() / "mine.lock");
  const std::vector<MissingObject> missing = missing_objects(course, workspace);
  if (compiles && !missing.empty()) compiles(number_of_answers(missing));
  std::mutex mutex;
  std::string text;
  in_parallel(missing.size(), [&](std::size_t i) {
    const std::string error = compile_kept(course, workspace, missing[i]);
    if (error.empty()) return;
    const bool in_float = missing[i].precision == &course_float;
    const char* precision = in_float ? "float" : "double";
    const std::lock_guard only(mutex);
    text += fmt::format("{0} does not compile in {1}, so programs in {1} do not run on it: {2}\n",
                        missing[i].exercise->id, precision, error);
  });
  link_if_changed(course, workspace, kept_double);
  link_if_changed(course, workspace, course_float);
  return text;
}

void measure_mine(const Course& course, const Workspace& workspace) {
  if (!is_linked(timed_program(course))) return;
  const FileLock lock = waited_lock(workspace.build() / "times.lock");
  const fs::path kept = objects(workspace, course_float);
  for (const Exercise& exercise : course.exercises) {
    const fs::path object = kept / (exercise.target() + ".o");
    const fs::path result = time_file(workspace, exercise);
    if (!fs::exists(object) || time_of(result) > time_of(object)) continue;
    const fs::path alone = workspace.build() / "alone";
    fs::create_directories(alone);
    fs::create_directories(result.parent_path());
    std::vector<std::string> words{course.compiler, "-shared", "-o", alone / "libmine.so", object};
    words.insert(words.end(), course.link_flags.begin(), course.link_flags.end());
    run_tool(words);
    write_file(result, json_of(step_time(course, alone)).dump() + "\n");
  }
}

std::vector<OwnFunction> functions_of_mine(const Course& course, const Workspace& workspace) {
  std::vector<OwnFunction> functions;
  if (!fs::exists(folder_of_mine(workspace) / "libmine_f64.so")) return functions;
  const auto named = named_functions(course, kept_double, objects(workspace, kept_double));
  for (const auto& entry : named) {
    const fs::path time = time_file(workspace, *entry.first);
    std::optional<double> step_time;
    if (fs::exists(time))
      step_time = struct_of<std::optional<double>>(parse_json(read_file(time), time.string()),
                                                   time.string());
    for (const std::string& name : names_shown({entry})) functions.push_back({name, step_time});
  }
  return functions;
}

std::string changed_text(const Course& course, const Workspace& workspace) {
  std::string changed, without;
  for (const auto& [exercise, named] :
       named_functions(course, kept_double, objects(workspace, kept_double))) {
    const fs::path passed = kept_code(workspace, *exercise);
    const fs::path answer = workspace.answer(*exercise);
    const bool owns = !exercise->master.replaces.empty() || exercise->master.begins_empty();
    if (owns && named.empty()) {
      without += (without.empty() ? "" : ", ") + exercise->id;
    } else if (fs::exists(passed) &&
               (!fs::exists(answer) || read_file(answer) != read_file(passed))) {
      changed += (changed.empty() ? "" : ", ") + exercise->id;
    }
  }
  std::string text;
  if (!changed.empty()) {
    text += fmt::format(
        "{}: your file is not the one that passed. Its last right version is used here, until {} "
        "learn check finds the new one right.\n",
        changed, invocation());
  }
  if (!without.empty()) {
    text += fmt::format(
        "{}: your file passed, but does not define the function. The library's is used; {} learn "
        "check says more.\n",
        without, invocation());
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
