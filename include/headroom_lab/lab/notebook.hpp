// Notebook: collects the blocks, claims and the answer of a running experiment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom_lab/lab/lab_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Collects the blocks, claims and the answer of one run. A title says what was found, so it is
/// written last: compute first, then write. Both precisions must write the same blocks in the same
/// order, and sentences of the same pattern where they can.
class Notebook {
 public:
  using Rows = std::vector<std::vector<Value>>;

  /// A table with the given caption. Throws ShapeError for a row of another length.
  void table(Text title, Text caption, std::vector<std::string> columns, Rows rows);

  /// One stage of a computation: its name, the tensor's shape, and how it is computed.
  struct Stage {
    std::string name, shape, how;
  };
  void shapes(Text title, Text caption, const std::vector<Stage>& stages);

  /// Curves over a common axis; `log` draws powers of ten at equal distances.
  using Series = Chart::Series;
  void chart(Text title, Text caption, std::string x, std::string y, bool log,
             std::vector<Series> series);

  /// Heat maps with common axes. Each array is [queries, keys]. Its numbers are in [0, 1], unless
  /// `top` is the largest magnitude. A `joint` "=" or "+" makes the map a term of an equation.
  struct Map {
    std::string name;
    Array weights;
    std::string joint = {};
  };
  void maps(Text title, Text caption, std::vector<std::string> queries,
            std::vector<std::string> keys, const std::vector<Map>& maps, double top = 1);

  /// Outlines of matrices with the rows and columns of each head.
  void heads(Text title, Text caption, std::vector<LabHeads::Matrix> matrices);

  /// A derivation, line by line: a name, its formula, and the upper left corner (3 x 4) of each
  /// resulting matrix: its last two axes, at index 0 of all others.
  struct Part {
    std::string name;
    Array matrix;
  };
  struct Step {
    std::string name, formula;
    std::vector<Part> parts;
  };
  void matrices(Text title, Text caption, const std::vector<Step>& steps);

  /// Makes the latest block the figure, which is shown beside the answer; an earlier one is not any
  /// more. Throws UsageError when there is no block.
  void figure();

  /// Makes the latest block, a table, one of many values: the page folds it, a terminal leaves its
  /// rows out. Throws UsageError when it is not a table.
  void folded();

  /// Claims: `measured` is compared with a bound. A claim about a number that is not finite fails.
  void at_most(std::string claim, double measured, double bound);
  void at_least(std::string claim, double measured, double bound);
  void more_than(std::string claim, double measured, double bound);
  void equal(std::string claim, double measured, double bound);
  void within(std::string claim, double measured, double low, double high);

  /// The answer in two sentences, and remarks for further findings; shown only if every claim
  /// holds.
  void answer(Text sentences, Text remarks = {}) {
    answer_ = std::move(sentences);
    remarks_ = std::move(remarks);
  }

  /// Writes answer, remarks, claims and blocks into the record, whose only precision is this
  /// build's.
  void write_into(LabRecord& record) const;

 private:
  void claim(std::string text, const char* relation, double measured, std::vector<double> bound,
             bool holds);

  std::vector<LabBlock> blocks_;
  std::vector<LabClaim> claims_;
  Text answer_, remarks_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
