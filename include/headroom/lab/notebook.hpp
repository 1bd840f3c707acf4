// Notebook: what an experiment writes into while it runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/record.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Collects the blocks, claims and the answer of one run. Titles say what was found, so they come
/// last: compute first, then write. Both precisions must write the same blocks in the same order.
class Notebook {
 public:
  using Rows = std::vector<std::vector<Record>>;

  /// A table; cells are texts, numbers, truth values or null. Throws ShapeError for a row of
  /// another length.
  void table(std::string title, std::string look, std::vector<std::string> columns, Rows rows);

  /// What happens to the shape of a tensor on its way: stage, shape, how it came about.
  struct Stage {
    std::string name, shape, how;
  };
  void shapes(std::string title, std::string look, const std::vector<Stage>& stages);

  /// Lines over a common axis; `log` draws powers of ten at equal distances.
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
  };
  void chart(std::string title, std::string look, std::string x, std::string y, bool log,
             const std::vector<Series>& series);

  /// Heat maps of numbers in [0, 1] with common axes. Each array is [queries, keys].
  struct Map {
    std::string name;
    Array weights;
  };
  void maps(std::string title, std::string look, std::vector<std::string> queries,
            std::vector<std::string> keys, const std::vector<Map>& maps);

  /// A derivation, line by line: a name, its formula, and the upper left corner (3 x 4) of the
  /// matrices that it gives; their last two axes, the first of all others.
  struct Part {
    std::string name;
    Array matrix;
  };
  struct Step {
    std::string name, formula;
    std::vector<Part> parts;
  };
  void matrices(std::string title, std::string look, const std::vector<Step>& steps);

  /// What must hold: `measured` against a bound. A number that is not finite never holds.
  void at_most(std::string claim, double measured, double bound);
  void at_least(std::string claim, double measured, double bound);
  void more_than(std::string claim, double measured, double bound);
  void equal(std::string claim, double measured, double bound);
  void within(std::string claim, double measured, double low, double high);

  /// The answer in about two sentences, said only when everything holds.
  void answer(std::string sentences) { answer_ = std::move(sentences); }

  bool all_hold() const;
  /// "answer", "claims" and "blocks" of the record, under the name of this build's precision.
  Record record() const;

 private:
  Record& block(const char* type, std::string title, std::string look);
  void claim(std::string text, const char* relation, double measured, Record bound, bool holds);

  Record blocks_ = Record::array(), claims_ = Record::array();
  std::string answer_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
