// Pages of the laboratory: an experiment, and the list of all.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/lab/lab_record.hpp"
#include "headroom/report/lab.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string lab_answer(const Record& record) {
  const std::vector<std::string> precisions = record["precisions"];
  std::string text = record["answer"][precisions.front()];
  for (std::size_t i = 1; i < precisions.size(); ++i) {
    text = joined_texts(text, precisions[i], record["answer"][precisions[i]]);
  }
  return text;
}

std::string lab_page(const Record& record, const std::string& chart_js) {
  return compose_page(record["title"], lab_answer(record), record, chart_js, page::lab_js);
}

std::string lab_index_page(const Record& records, const std::string& chart_js) {
  Record index = {{"kind", "lab-index"}, {"experiments", Record::array()}};
  std::size_t claims = 0, failed = 0;
  for (const Record& record : records) {
    const std::vector<std::string> failures = failed_claims(record);
    claims += record["claims"].size();
    failed += failures.size();
    index["experiments"].push_back({{"name", record["name"]},
                                    {"title", record["title"]},
                                    {"group", record["group"]},
                                    {"asked_in", record["asked_in"]},
                                    {"file", record["file"]},
                                    {"answer", lab_answer(record)},
                                    {"claims", record["claims"].size()},
                                    {"failed", failures}});
  }
  for (const char* key : {"command", "environment"}) {
    if (!records.empty() && records.front().contains(key)) index[key] = records.front()[key];
  }
  const std::string summary =
      failed == 0 ? fmt::format(
                        "{} questions about multi-head attention, answered by running "
                        "code. Each page asserts its numbers; all {} claims hold.",
                        records.size(), claims)
                  : fmt::format(
                        "{} questions about multi-head attention, answered by running "
                        "code. {} of {} claims do not hold in this run.",
                        records.size(), failed, claims);
  return compose_page("The laboratory", summary, index, chart_js, page::lab_js);
}

void write_lab_page(const Record& record, const std::filesystem::path& file) {
  write_file(file, lab_page(record, chart_js()));
}

void write_lab_index(const Record& records, const std::filesystem::path& file) {
  write_file(file, lab_index_page(records, chart_js()));
}

namespace {

bool is_of_kind(const Record& records, const char* kind) {
  return records.is_object() && records.contains("kind") && records["kind"] == kind;
}

/// Throws DataError unless the record of an experiment has what its page is made of.
void check_experiment(const Record& record) {
  const auto require = [](bool there, const std::string& what) {
    if (!there) throw DataError("records.json: not what the laboratory writes: no " + what);
  };
  for (const char* key : {"name", "title", "asked_in", "group", "question", "computed", "formulas",
                          "options", "precisions", "seconds", "answer", "claims", "blocks"}) {
    require(record.contains(key), fmt::format("\"{}\"", key));
  }
  require(!record["precisions"].empty(), "precision");
  for (const Record& precision : record["precisions"]) {
    require(record["answer"].contains(precision.get<std::string>()), "answer in a precision");
  }
}

void write_pages_of_all(const Record& records, const std::filesystem::path& file) {
  Record listed = records.at("experiments");
  for (Record& record : listed) {
    check_experiment(record);
    const std::filesystem::path name = record.at("file").get<std::string>();
    if (name != name.filename()) {
      throw DataError(fmt::format("records.json: \"{}\" is no name of a page", name.string()));
    }
    write_lab_page(record, file.parent_path() / name);
    record["command"] = records.at("command");
  }
  write_lab_index(listed, file);
}

}  // namespace

bool is_lab_run(const Record& records) {
  return is_of_kind(records, "lab") || is_of_kind(records, "lab-all");
}

const char* lab_front_page(const Record& records) {
  return is_of_kind(records, "lab-all") ? "index.html" : "report.html";
}

void write_lab_run(const Record& records, const std::filesystem::path& file) {
  try {
    if (is_of_kind(records, "lab-all")) {
      write_pages_of_all(records, file);
    } else {
      check_experiment(records);
      write_lab_page(records, file);
    }
  } catch (const Record::exception& error) {  // something is missing, or of another type
    throw DataError(fmt::format("records.json: not what the laboratory writes: {}", error.what()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
