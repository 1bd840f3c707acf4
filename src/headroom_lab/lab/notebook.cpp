// Notebook: collects the blocks, claims and the answer of a run.
#include "headroom_lab/lab/notebook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* own_precision = is_double ? "double" : "float";
constexpr Index corner_rows = 3, corner_columns = 4;  // of a printed matrix

/// The first rows and columns of a matrix (of the first one, where there are more axes).
std::vector<std::vector<double>> corner_of(const Array& matrix, Index most_rows,
                                           Index most_columns) {
  const Index columns = matrix.dim(-1), rows = matrix.rank() > 1 ? matrix.dim(-2) : 1;
  std::vector<std::vector<double>> corner;
  for (Index i = 0; i < std::min(rows, most_rows); ++i) {
    const Real* row = matrix.data() + i * columns;
    corner.emplace_back(row, row + std::min(columns, most_columns));
  }
  return corner;
}

}  // namespace

void Notebook::table(Text title, Text caption, std::vector<std::string> columns, Rows rows) {
  for (const auto& row : rows) {
    if (row.size() == columns.size()) continue;
    throw ShapeError(fmt::format("notebook: \"{}\" has a row of {} cells under {} columns",
                                 words(title), row.size(), columns.size()));
  }
  blocks_.push_back(Table{.title = std::move(title),
                          .caption = std::move(caption),
                          .columns = std::move(columns),
                          .rows = std::move(rows)});
}

void Notebook::shapes(Text title, Text caption, const std::vector<Stage>& stages) {
  Table table{.type = "shapes",
              .title = std::move(title),
              .caption = std::move(caption),
              .columns = {"stage", "shape", "how it is computed"}};
  for (const Stage& stage : stages) table.rows.push_back({stage.name, stage.shape, stage.how});
  blocks_.push_back(std::move(table));
}

void Notebook::chart(Text title, Text caption, std::string x, std::string y, bool log,
                     std::vector<Series> series) {
  blocks_.push_back(Chart{.title = std::move(title),
                          .caption = std::move(caption),
                          .x = std::move(x),
                          .y = std::move(y),
                          .log = log,
                          .series = std::move(series)});
}

void Notebook::maps(Text title, Text caption, std::vector<std::string> queries,
                    std::vector<std::string> keys, const std::vector<Map>& maps, double top) {
  const auto rows = Index(queries.size()), columns = Index(keys.size());
  LabMaps block;
  block.title = std::move(title);
  block.caption = std::move(caption);
  block.top = top;
  block.queries = std::move(queries);
  block.keys = std::move(keys);
  for (const Map& map : maps) {
    if (map.weights.shape() != Shape{rows, columns}) {
      throw ShapeError(fmt::format("notebook: the map \"{}\" is {}, its axes have {} and {} names",
                                   map.name, map.weights.shape().text(), rows, columns));
    }
    block.maps.push_back({map.name, corner_of(map.weights, rows, columns), map.joint});
  }
  blocks_.push_back(std::move(block));
}

void Notebook::heads(Text title, Text caption, std::vector<LabHeads::Matrix> matrices) {
  blocks_.push_back(
      LabHeads{"heads", false, std::move(title), std::move(caption), std::move(matrices)});
}

void Notebook::figure() {
  if (blocks_.empty()) throw UsageError("notebook: there is no block to be the figure");
  for (LabBlock& block : blocks_) std::visit([](auto& kind) { kind.figure = false; }, block);
  std::visit([](auto& kind) { kind.figure = true; }, blocks_.back());
}

void Notebook::folded() {
  Table* const table = blocks_.empty() ? nullptr : std::get_if<Table>(&blocks_.back());
  if (table == nullptr) throw UsageError("notebook: the latest block is not a table to be folded");
  table->shown = "folded";
}

void Notebook::matrices(Text title, Text caption, const std::vector<Step>& steps) {
  LabDerivation block{"matrices", false, std::move(title), std::move(caption), {}};
  for (const Step& step : steps) {
    block.steps.push_back({step.name, step.formula, {}});
    for (const Part& part : step.parts) {
      block.steps.back().parts.push_back({part.name, part.matrix.shape().text(),
                                          corner_of(part.matrix, corner_rows, corner_columns)});
    }
  }
  blocks_.push_back(std::move(block));
}

void Notebook::claim(std::string text, const char* relation, double measured,
                     std::vector<double> bound, bool holds) {
  const LabMeasurement run{measured, std::move(bound), holds && std::isfinite(measured)};
  claims_.push_back({std::move(text), relation, {{own_precision, run}}});
}

void Notebook::at_most(std::string text, double measured, double bound) {
  claim(std::move(text), "<=", measured, {bound}, measured <= bound);
}

void Notebook::at_least(std::string text, double measured, double bound) {
  claim(std::move(text), ">=", measured, {bound}, measured >= bound);
}

void Notebook::more_than(std::string text, double measured, double bound) {
  claim(std::move(text), ">", measured, {bound}, measured > bound);
}

void Notebook::equal(std::string text, double measured, double bound) {
  claim(std::move(text), "==", measured, {bound}, measured == bound);
}

void Notebook::within(std::string text, double measured, double low, double high) {
  claim(std::move(text), "in", measured, {low, high}, low <= measured && measured <= high);
}

void Notebook::write_into(LabRecord& record) const {
  record.precisions = {own_precision};
  record.claims = claims_;
  record.blocks = blocks_;
  record.answer = answer_;
  record.remarks = remarks_;
  // The answer assumes that every claim holds, so it is replaced if one fails.
  const std::vector<std::string> failed = failed_claims(record);
  if (failed.empty()) return;
  record.answer = sentence("This run does not support an answer: {}.", failed.front());
  record.remarks = {};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
