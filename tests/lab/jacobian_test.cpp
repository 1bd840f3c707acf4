// jacobian: a block against finite differences of a plain softmax, and the effect of a mask on it.
#include <cmath>

#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

namespace {

std::vector<double> softmax_of(const std::vector<double>& scores) {
  std::vector<double> weights;
  double sum = 0;
  for (const double score : scores) {
    weights.push_back(std::exp(score));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// The row of a table that begins with these two cells.
Record row_of(const Record& table, const std::string& mask, const std::string& heads) {
  for (const Record& row : table["rows"]) {
    if (row[0] == mask && row[1] == heads) return row;
  }
  FAIL("no row " << mask << ", " << heads);
  return {};
}

}  // namespace

TEST_CASE("jacobian holds for any seed and size") {
  check_holds("jacobian", {{4, 1, 1}, {8, 2, 2}, {24, 3, 3}, {64, 16, 4}, {64, 2, 5}}, 7);
}

TEST_CASE("jacobian's block is what finite differences of a plain softmax give") {
  const Index width = 8, heads = 2, d = 4, tokens = 3;
  const Record record = run("jacobian", width, heads, 3);

  // The same draws: W_Q, W_K, W_V, the input.
  Rng rng(3, "jacobian");
  const Real deviation = Real(1 / std::sqrt(double(width)));
  const Array wq = normal({width, width}, deviation, rng);
  const Array wk = normal({width, width}, deviation, rng);
  normal({width, width}, deviation, rng);
  const Array x = normal({2, tokens, width}, 1, rng);
  const auto projected = [&](const Array& weight, Index token, Index column) {
    double sum = 0;
    for (Index c = 0; c < width; ++c) {
      sum += double(x[token * width + c]) * double(weight[c * width + column]);
    }
    return sum;
  };
  std::vector<double> scores;  // of the last query of head 0
  for (Index key = 0; key < tokens; ++key) {
    double score = 0;
    for (Index c = 0; c < d; ++c) score += projected(wq, tokens - 1, c) * projected(wk, key, c);
    scores.push_back(score / 2);
  }
  const Record& parts = block_with(record, "J of one row")["steps"][0]["parts"];
  const double step = 1e-5, tolerance = is_double ? 1e-9 : 1e-6;
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(std::abs(parts[0]["corner"][0][k].get<double>() - softmax_of(scores)[k]) < tolerance);
    std::vector<double> up = scores, down = scores;
    up[k] += step;
    down[k] -= step;
    for (std::size_t i = 0; i < 3; ++i) {
      const double slope = (softmax_of(up)[i] - softmax_of(down)[i]) / (2 * step);
      CHECK(std::abs(parts[1]["corner"][i][k].get<double>() - slope) < tolerance);
      CHECK(std::abs(parts[2]["corner"][i][k].get<double>() - slope) < tolerance);
    }
  }
}

TEST_CASE("jacobian counts blocks, entries and ranks as the masks leave them") {
  const Index heads = 3, batch = 2;
  const Record record = run("jacobian", 12, heads, 1);
  const Record& table = block_with(record, "entries not 0");
  for (const auto& [name, count] : {std::pair("multi", heads), {"single", Index{1}}}) {
    const Record open = row_of(table, "none", name), causal = row_of(table, "causal", name);
    CHECK(open[3] == batch * count * 3);
    CHECK(open[4] == batch * count * 3 * 9);
    CHECK(open[6] == batch * count * 3 * 2);
    // Rows have 1, 2 and 3 allowed keys; a weight that is 1 is constant.
    CHECK(causal[4] == batch * count * (0 + 4 + 9));
    CHECK(causal[6] == batch * count * (0 + 1 + 2));
  }
  for (const Record& row : table["rows"]) {
    INFO(row[0]);
    const Index empty = row[8];
    if (row[0] == "with empty rows") {
      CHECK(empty >= batch);  // head 0's first of each example, and others
    } else {
      CHECK(empty == 0);
    }
  }
  CHECK(row_of(table, "with empty rows", "multi")[0] == "with empty rows");
  const Record& maps = block_with(record, "causal")["maps"];
  CHECK(maps.size() == 5);
  CHECK(maps[1]["rows"].size() == 2 * 9);
  CHECK(maps[1]["rows"][0][0] == 0);  // query 0 sees one key
  CHECK(maps[1]["rows"][3][3] > 0);
}
