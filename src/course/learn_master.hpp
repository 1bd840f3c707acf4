// The master file of an exercise: its solution, and in comments the skeleton and wrong answers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// A master file compiles as it stands: it is the solution. Lines that begin with `//!` direct the
// generator. At the top they describe the exercise; a line that begins with two spaces continues
// the one before:
// ```
// //! title: FusedHeads::project
// //! replaces: headroom::FusedHeads::project
// //! minutes: 20
// //! difficulty: 2
// //! path: short
// //! needs: 06/2
// //! hint: How many rows of in_proj_weight belong to the queries of all heads? Does that
// //!   number change when a head is removed?
// //! after: The columns of W_O are divided in the same way.
// ```
// In an exercise that begins with a file that works and is wrong, `//! mistake: TEXT` is a part of
// the message that the checks must give for that file, the skeleton.
//
// Below, a block has the code of the solution and, as comments, that of the other answers. An
// answer without a part of its own has the solution's:
// ```
//   //! solution
//   const Index rows = live() * head_dim();
//   //! skeleton
//   // const Index rows = chapter::todo("rows: the number of rows of a third");
//   //! mistake counts_removed: removed heads were counted: live() is the number of those that are
//   //!   there
//   // const Index rows = config().heads * head_dim();
//   //! wrong no_result: the function returned an undefined tensor
//   // return Tensor();
//   //! end
// ```
// The sentence of a `mistake` completes "It looks as if ...". The checks say it of every answer
// that gives the same wrong numbers in the same comparison. Of a `wrong` answer, in which they find
// something else, they must say its text by themselves.
//
// Where it is shorter, a part is a patch of the whole file, in the format of the faults of
// tests/mutations. `//-` removes a line of the solution, `//+` adds one; lines that stay, after
// `// `, tell places apart. `// ...` goes on at another place:
// ```
//   //! mistake last_batch: only the last batch counts
//   //  sums_.resize(heads);
//   //+ std::fill(sums_.begin(), sums_.end(), 0);
//   // ...
//   //- examples_ += batch.examples;
//   //+ examples_ = batch.examples;
// ```
// The lines between two `// ...` that stay or go are consecutive lines of the solution and occur
// there once. Their indentation does not count; that of an added line is relative to the first of
// them.

/// One answer to an exercise as a source file.
struct CourseAnswer {
  std::string name;      // "solution", "skeleton", or that of a wrong answer
  std::string promised;  // a part of the message that the checks must give; "" for the solution
  std::string code;
  bool is_mistake = false;  // `promised` completes "It looks as if ..."
};

/// The contents of a master file.
struct MasterFile {
  /// The promise of a skeleton.
  static constexpr const char* not_implemented = "not implemented";

  std::string title, replaces, path, after;
  Index minutes = 0, difficulty = 0;
  std::vector<std::string> needs, hints;
  std::vector<CourseAnswer> answers;  // solution, skeleton, wrong answers

  const CourseAnswer& solution() const { return answers[0]; }
  const CourseAnswer& skeleton() const { return answers[1]; }
  /// Whether the skeleton has gaps. Otherwise it works, and has a mistake.
  bool begins_empty() const { return skeleton().promised == not_implemented; }
};

/// Throws FileError, and DataError naming the line that is wrong.
MasterFile read_master(const std::filesystem::path& path);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
