// Records of experiments: JSON, checks, and which claims do not hold.
#include "headroom_lab/lab/lab_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/listed.hpp"
#include "headroom_lab/lab/formula.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class Block>
LabBlock block_as(const JsonNode& from) {
  Block block;
  read_json(from, block);
  return block;
}

[[noreturn]] void refuse(const LabRecord& record, const std::string& why) {
  throw DataError(fmt::format("the record of \"{}\": {}", record.name, why));
}

void check_rows(const LabRecord& record, const Text& title, std::size_t columns, const auto& rows) {
  for (const auto& row : rows) {
    if (row.size() == columns) continue;
    refuse(record, fmt::format("\"{}\" has a row of {} cells under {} columns", words(title),
                               row.size(), columns));
  }
}

void check_block(const LabRecord& record, const Table& table) {
  check_rows(record, table.title, table.columns.size(), table.rows);
  if (table.columns.empty()) refuse(record, "a table has no columns");
}
void check_block(const LabRecord& record, const LabMaps& maps) {
  for (const LabMaps::Map& map : maps.maps) {
    check_rows(record, maps.title, maps.keys.size(), map.rows);
    if (map.rows.size() != maps.queries.size()) {
      refuse(record, fmt::format("the map \"{}\" has {} rows for {} queries", map.name,
                                 map.rows.size(), maps.queries.size()));
    }
  }
}
void check_block(const LabRecord& record, const LabHeads& block) {
  for (const LabHeads::Matrix& matrix : block.matrices) {
    for (const LabHeads::Block& one : matrix.blocks) {
      const bool rows = 0 <= one.first_row && one.first_row <= one.last_row,
                 columns = 0 <= one.first_column && one.first_column <= one.last_column;
      if (one.head >= 0 && rows && columns && one.last_row < matrix.rows &&
          one.last_column < matrix.columns) {
        continue;
      }
      refuse(record, fmt::format("a block of head {} is outside of the matrix \"{}\"", one.head,
                                 matrix.name));
    }
  }
}
void check_block(const LabRecord&, const Chart&) {}
void check_formula(const LabRecord& record, const std::string& formula) {
  try {
    const Formula parsed(formula);
  } catch (const UsageError& error) {
    refuse(record, error.what());
  }
}
void check_block(const LabRecord& record, const LabDerivation& derivation) {
  for (const LabDerivation::Step& step : derivation.steps) {
    check_formula(record, step.name + " = " + step.formula);
  }
}

}  // namespace

Record json_of(const LabBlock& block) {
  return std::visit([](const auto& kind) { return json_of(kind); }, block);
}

void read_json(const JsonNode& from, LabBlock& to) {
  const Record& json = from.value();
  const Record type = json.is_object() && json.contains("type") ? json["type"] : Record();
  if (type == "table" || type == "shapes") {
    to = block_as<Table>(from);
  } else if (type == "chart") {
    to = block_as<Chart>(from);
  } else if (type == "maps") {
    to = block_as<LabMaps>(from);
  } else if (type == "heads") {
    to = block_as<LabHeads>(from);
  } else if (type == "matrices") {
    to = block_as<LabDerivation>(from);
  } else {
    from.must_be("a block with \"type\" table, shapes, chart, maps, heads or matrices");
  }
}

void check(const LabRecord& record) {
  if (record.precisions.empty()) refuse(record, "no precisions");
  for (const std::string& formula : record.formulas) check_formula(record, formula);
  for (const LabBlock& block : record.blocks) {
    std::visit([&](const auto& kind) { check_block(record, kind); }, block);
  }
  for (const LabClaim& claim : record.claims) {
    for (const auto& [precision, run] : claim.runs) {
      const auto& known = record.precisions;
      if (std::find(known.begin(), known.end(), precision) == known.end()) {
        refuse(record, fmt::format("the claim \"{}\" names a precision \"{}\" that did not run",
                                   claim.text, precision));
      }
    }
  }
}

std::string LabMeasurement::bound_text() const {
  std::string text;
  for (const double one : bound) text += (text.empty() ? "" : ", ") + figure_text(one);
  return bound.size() == 1 ? text : "[" + text + "]";
}

std::vector<std::string> failed_claims(const LabRecord& record) {
  std::vector<std::string> failed;
  for (const LabClaim& claim : record.claims) {
    std::string runs;
    for (const std::string& precision : record.precisions) {
      const auto run = claim.runs.find(precision);
      if (run == claim.runs.end() || run->second.holds) continue;
      runs += fmt::format("{} {} in {}, must be {} {}", runs.empty() ? ":" : ";",
                          figure_text(run->second.measured), precision, claim.relation,
                          run->second.bound_text());
    }
    if (!runs.empty()) failed.push_back(fmt::format("\"{}\"{}", claim.text, runs));
  }
  return failed;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
