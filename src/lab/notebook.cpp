// What an experiment writes into while it runs.
#include "headroom/lab/notebook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/lab/lab_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* own_precision = is_double ? "double" : "float";
constexpr Index corner_rows = 3, corner_columns = 4;  // of a printed matrix

/// The first rows and columns of a matrix (of the first one, where there are more axes).
Record corner_of(const Array& matrix, Index most_rows, Index most_columns) {
  const Index columns = matrix.dim(-1), rows = matrix.rank() > 1 ? matrix.dim(-2) : 1;
  Record corner = Record::array();
  for (Index i = 0; i < std::min(rows, most_rows); ++i) {
    Record row = Record::array();
    for (Index j = 0; j < std::min(columns, most_columns); ++j) {
      row.push_back(static_cast<double>(matrix[i * columns + j]));
    }
    corner.push_back(std::move(row));
  }
  return corner;
}

}  // namespace

Record& Notebook::block(const char* type, std::string title, std::string look) {
  blocks_.push_back({{"type", type}, {"title", std::move(title)}, {"look", std::move(look)}});
  return blocks_.back();
}

void Notebook::table(std::string title, std::string look, std::vector<std::string> columns,
                     Rows rows) {
  for (const auto& row : rows) {
    if (row.size() == columns.size()) continue;
    throw ShapeError(fmt::format("notebook: \"{}\" has a row of {} cells under {} columns", title,
                                 row.size(), columns.size()));
  }
  Record& table = block("table", std::move(title), std::move(look));
  table["columns"] = std::move(columns);
  table["rows"] = std::move(rows);
}

void Notebook::shapes(std::string title, std::string look, const std::vector<Stage>& stages) {
  Record& table = block("shapes", std::move(title), std::move(look));
  table["columns"] = {"stage", "shape", "how it came about"};
  table["rows"] = Record::array();
  for (const Stage& stage : stages) {
    table["rows"].push_back({stage.name, stage.shape, stage.how});
  }
}

void Notebook::chart(std::string title, std::string look, std::string x, std::string y, bool log,
                     const std::vector<Series>& series) {
  Record& chart = block("chart", std::move(title), std::move(look));
  chart["x"] = std::move(x);
  chart["y"] = std::move(y);
  chart["log"] = log;
  for (const Series& one : series) {
    Record points = Record::array();
    for (const auto& [at, value] : one.points) points.push_back({at, value});
    chart["series"].push_back({{"name", one.name}, {"points", std::move(points)}});
  }
}

void Notebook::maps(std::string title, std::string look, std::vector<std::string> queries,
                    std::vector<std::string> keys, const std::vector<Map>& maps) {
  const auto rows = static_cast<Index>(queries.size()), columns = static_cast<Index>(keys.size());
  for (const Map& map : maps) {
    if (map.weights.shape() == Shape{rows, columns}) continue;
    throw ShapeError(fmt::format("notebook: the map \"{}\" is {}, its axes have {} and {} names",
                                 map.name, map.weights.shape().text(), rows, columns));
  }
  Record& block_ = block("maps", std::move(title), std::move(look));
  block_["queries"] = std::move(queries);
  block_["keys"] = std::move(keys);
  for (const Map& map : maps) {
    block_["maps"].push_back({{"name", map.name}, {"rows", corner_of(map.weights, rows, columns)}});
  }
}

void Notebook::matrices(std::string title, std::string look, const std::vector<Step>& steps) {
  Record& derivation = block("matrices", std::move(title), std::move(look));
  for (const Step& step : steps) {
    Record parts = Record::array();
    for (const Part& part : step.parts) {
      parts.push_back({{"name", part.name},
                       {"shape", part.matrix.shape().text()},
                       {"corner", corner_of(part.matrix, corner_rows, corner_columns)}});
    }
    derivation["steps"].push_back(
        {{"name", step.name}, {"formula", step.formula}, {"parts", std::move(parts)}});
  }
}

void Notebook::claim(std::string text, const char* relation, double measured, Record bound,
                     bool holds) {
  claims_.push_back({{"text", std::move(text)},
                     {"relation", relation},
                     {own_precision,
                      {{"measured", measured},
                       {"bound", std::move(bound)},
                       {"holds", holds && std::isfinite(measured)}}}});
}

void Notebook::at_most(std::string text, double measured, double bound) {
  claim(std::move(text), "<=", measured, bound, measured <= bound);
}

void Notebook::at_least(std::string text, double measured, double bound) {
  claim(std::move(text), ">=", measured, bound, measured >= bound);
}

void Notebook::more_than(std::string text, double measured, double bound) {
  claim(std::move(text), ">", measured, bound, measured > bound);
}

void Notebook::equal(std::string text, double measured, double bound) {
  claim(std::move(text), "==", measured, bound, measured == bound);
}

void Notebook::within(std::string text, double measured, double low, double high) {
  claim(std::move(text), "in", measured, {low, high}, low <= measured && measured <= high);
}

bool Notebook::all_hold() const {
  return std::all_of(claims_.begin(), claims_.end(),
                     [](const Record& claim) { return claim[own_precision]["holds"].get<bool>(); });
}

Record Notebook::record() const {
  Record result = {{"claims", claims_}, {"blocks", blocks_}};
  std::string said = answer_;
  if (!all_hold()) {
    // A run that breaks a claim must not go on to say what the claim would have shown.
    result["precisions"] = {own_precision};
    said = "This run does not support an answer: " + failed_claims(result).front() + ".";
    result.erase("precisions");
  }
  result["answer"] = {{own_precision, std::move(said)}};
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
