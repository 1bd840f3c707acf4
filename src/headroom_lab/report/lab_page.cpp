// Pages of the laboratory: an experiment, and the list of all.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/lab/formula.hpp"
#include "headroom_lab/report/lab.hpp"
#include "report/compose_page.hpp"
#include "report/page.hpp"
#include "report/page_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Each step as one formula in MathML, "name = formula".
Record steps_of(const LabDerivation& derivation) {
  Record steps = json_of(derivation.steps);
  for (std::size_t i = 0; i < derivation.steps.size(); ++i) {
    const LabDerivation::Step& step = derivation.steps[i];
    steps[i]["formula"] = Formula(step.name + " = " + step.formula).mathml();
  }
  return steps;
}

/// The record with its sentences formatted and its formulas in MathML.
Record worded(const LabRecord& record) {
  Record page = json_of(record);
  page["answer"] = words(record.answer);
  page["remarks"] = words(record.remarks);
  for (Record& formula : page["formulas"]) {
    formula = Formula(formula.get_ref<const std::string&>()).mathml();
  }
  for (std::size_t i = 0; i < record.blocks.size(); ++i) {
    Record& block = page["blocks"][i];
    const auto* table = std::get_if<Table>(&record.blocks[i]);
    if (table != nullptr) block = for_page(*table);
    std::visit(
        [&](const auto& kind) {
          block["title"] = words(kind.title);
          block["caption"] = words(kind.caption);
        },
        record.blocks[i]);
    const auto* derivation = std::get_if<LabDerivation>(&record.blocks[i]);
    if (derivation != nullptr) block["steps"] = steps_of(*derivation);
  }
  return page;
}

}  // namespace

std::string lab_page(const LabRecord& record, const std::string& chart_js) {
  return compose_page(record.title, record.question, worded(record), chart_js, page::lab_js);
}

std::string lab_answer_page(const LabRecord& record, const std::string& chart_js) {
  if (!record.twin) throw UsageError(record.name + " has no program in PyTorch");
  Record contents = worded(record);
  contents["kind"] = "lab-answer";
  return compose_page(record.title, record.question, contents, chart_js, page::lab_js);
}

std::string lab_index_page(const LabRun& run, const std::string& chart_js) {
  Record index = {{"kind", "lab-index"}, {"experiments", Record::array()}};
  std::size_t claims = 0, failed = 0;
  for (const LabRecord& record : run.experiments) {
    const std::vector<std::string> failures = failed_claims(record);
    claims += record.claims.size();
    failed += failures.size();
    index["experiments"].push_back({{"name", record.name},
                                    {"title", record.title},
                                    {"group", record.group},
                                    {"asked_in", record.asked_in},
                                    {"file", record.file},
                                    {"answer", words(record.answer)},
                                    {"claims", record.claims.size()},
                                    {"failed", failures}});
  }
  if (!run.command.empty()) index["command"] = run.command;
  if (!run.experiments.empty() && !run.experiments.front().environment.is_null()) {
    index["environment"] = run.experiments.front().environment;
  }
  std::string summary =
      fmt::format("{} questions about multi-head attention, answered by running code. ",
                  run.experiments.size());
  summary += failed == 0 ? fmt::format("Each page asserts its results; all {} claims hold.", claims)
                         : fmt::format("{} of {} claims do not hold in this run.", failed, claims);
  return compose_page("The laboratory", summary, index, chart_js, page::lab_js);
}

void write_lab_page(const LabRecord& record, const std::filesystem::path& file) {
  write_file(file, lab_page(record, chart_js()));
}

void write_lab_pages(const LabRun& run, const std::filesystem::path& file) {
  for (const LabRecord& record : run.experiments) {
    write_lab_page(record, file.parent_path() / record.file);
  }
  write_file(file, lab_index_page(run, chart_js()));
}

bool is_lab_run(const Record& records) {
  if (!records.is_object() || !records.contains("kind")) return false;
  const Record& kind = records["kind"];
  return kind == "lab" || kind == "lab-all" || kind == "lab-answers";
}

namespace {
/// Throws DataError with the remedy when the records are broken or of another version.
template <class T>
T laboratory_records(const Record& records, const std::string& origin) {
  try {
    return struct_of<T>(records, origin);
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}; run the experiment again to renew its records", error.what()));
  }
}

/// The records of several experiments. Throws DataError unless each has a page in the run's folder.
LabRun checked_run(const Record& records, const std::string& origin) {
  auto run = laboratory_records<LabRun>(records, origin);
  for (const LabRecord& record : run.experiments) {
    check(record);
    const std::filesystem::path name = record.file;
    if (name.empty() || name != name.filename()) {
      throw DataError(fmt::format("{}: \"{}\" is not the name of a page", origin, name.string()));
    }
    if (run.kind == "lab-answers" && !record.twin) {
      throw DataError(fmt::format("{}: {} has no program in PyTorch", origin, record.name));
    }
  }
  return run;
}
}  // namespace

std::string lab_front_page(const Record& records) {
  if (records["kind"] == "lab") return "report.html";
  if (records["kind"] == "lab-all") return "index.html";
  const LabRun run = checked_run(records, "records.json");
  if (run.experiments.empty()) throw DataError("records.json: there is no answer");
  return run.experiments.front().file;
}

void write_lab_run(const Record& records, const std::filesystem::path& file) {
  const std::string origin = "records.json";
  if (records["kind"] == "lab") {
    const auto record = laboratory_records<LabRecord>(records, origin);
    check(record);
    write_lab_page(record, file);
    return;
  }
  const LabRun run = checked_run(records, origin);
  if (run.kind == "lab-all") {
    write_lab_pages(run, file);
    return;
  }
  for (const LabRecord& record : run.experiments) {
    write_file(file.parent_path() / record.file, lab_answer_page(record, chart_js()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
