// Opens the folder of a study, which belongs to one declaration.
#include "study/folder.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom/io/json.hpp"
#include "headroom_lab/study/run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The fields of a declaration that must be equal when a study is resumed.
Record comparable(const StudyDeclaration& declaration, const Record& precision) {
  Record record = json_of(declaration);
  record.erase("processes");
  record["precision"] = precision;
  return record;
}

Record comparable(const StudyDeclaration& declaration) {
  return comparable(declaration, is_double ? "double" : "float");
}

/// The same for a saved declaration. Fields that its version did not have get their defaults.
Record comparable(Record written, const std::string& origin) {
  const Record precision = written.value("precision", Record());
  written.erase("precision");
  return comparable(struct_of<StudyDeclaration>(written, origin), precision);
}

}  // namespace

void open_folder(const StudyDeclaration& declaration, const StudyOptions& options,
                 const StudyFolder& folder) {
  const std::string name = folder.path.string();
  const bool begun = fs::exists(folder.declaration());
  if (!begun && fs::exists(folder.path) && !fs::is_empty(folder.path) && !options.resume &&
      !options.copy.launched) {
    throw UsageError(
        fmt::format("{}: the folder is not empty and has no study; choose another folder", name),
        {"out"});
  }
  if (begun && !options.resume && !options.copy.launched) {
    throw UsageError(
        fmt::format("{}: the folder has a study; continue it, or choose another folder", name),
        {"resume", "out"});
  }
  if (begun) require_same(declaration, folder);
  for (const char* part : {"trunks", "cells", "claims", "failures", "work"}) {
    make_folder(folder.path / part);
  }
  if (!begun) write_file(folder.declaration(), comparable(declaration).dump(2) + "\n");
}

void require_same(const StudyDeclaration& declaration, const StudyFolder& folder) {
  const std::string file = folder.declaration().string();
  const Record theirs = comparable(parse_json(read_file(file), file), file);
  const auto difference = first_difference(theirs, comparable(declaration));
  if (!difference) return;
  throw UsageError(
      fmt::format("{}: the folder has a study with another declaration ({} differs); choose "
                  "another folder, so that the comparisons stay those that were declared before "
                  "the runs",
                  folder.path.string(), difference->place),
      {"out"});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
