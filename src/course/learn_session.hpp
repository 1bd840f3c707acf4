// Options and session that all commands of `headroom learn` use.
#pragma once

#include <string>
#include <vector>

#include "course/learn_authors.hpp"
#include "course/learn_editor.hpp"
#include "course/learn_workspace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The options of all its commands.
struct LearnOptions {
  std::string id, chapter, value, folder, file;
  std::vector<std::string> items, packs;
  TrialOptions trial;
  EditorOptions editor;
  bool json = false, csv = false, junit = false, give_up = false, on = false, off = false,
       in_float = false, sanitize = false;
};

/// The course and the learner's files; every command begins with them.
struct Session {
  Course course = load_course();
  Workspace workspace{course};

  /// Adds the packs that the workspace remembers, and those of the options.
  explicit Session(const LearnOptions& options);

  /// The exercise with an id, or the current one.
  const Exercise& exercise(const std::string& id) const;
};

/// The exit code of an answer that did not pass: that of a claim that does not hold.
inline constexpr int not_passed = 3;

// The commands that are not the learner's daily ones. They return the exit code.
int list(const LearnOptions& options);
int grade(const LearnOptions& options);
int generate(const LearnOptions& options);
int try_all(const LearnOptions& options);
int pack_command(const LearnOptions& options);
int new_pack(const LearnOptions& options);
int check_pack(const LearnOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
