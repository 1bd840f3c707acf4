// A user's program with its own experiment: runs it, prints its results and writes its page.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "headroom/headroom.hpp"
#include "headroom_lab/headroom_lab.hpp"

using namespace headroom;

namespace {

/// Measures the maximum weight of a row when queries and keys are random.
void largest_weight(const LabOptions& options, Notebook& book) {
  const Index keys = 8;
  std::vector<double> measured;
  for (Index draw = 0; draw < 20; ++draw) {
    Rng rng(options.seed, "own experiment", static_cast<std::uint64_t>(draw));
    Array q({1, options.head_dim()}), k({keys, options.head_dim()});
    for (Real& x : q.span()) x = rng.normal();
    for (Real& x : k.span()) x = rng.normal();
    const Real scale = 1 / std::sqrt(Real(options.head_dim()));
    const Array weights = softmax(matmul(Tensor(q), transpose(Tensor(k))) * scale).value();
    double most = 0;
    for (const Real w : weights.span()) most = std::max(most, double(w));
    measured.push_back(most);
  }
  const Interval mean = mean_interval(measured);
  book.table("The largest of 8 weights is " + mean.text(), "Mean of 20 draws.", {"keys", "weight"},
             {{keys, mean.value}});
  book.more_than("the largest weight is above 1/8", mean.low, 1.0 / 8);
  book.answer("The largest of 8 weights is " + mean.text() + " on average.");
}

}  // namespace

int main() {
  Experiment own;
  own.name = "largest-weight";
  own.title = "How sharp attention is at first";
  own.question = "How large is the largest attention weight before training?";
  own.computed = "Random queries and keys, the softmax of their scaled scores.";
  own.formulas = {"A = softmax(q K^T / sqrt(D))"};
  own.defaults = {64, 4};
  own.run = largest_weight;
  add_experiment(own);

  const auto record = run_experiment(find_experiment("largest-weight"), LabOptions());
  std::printf("%s", lab_text(record, TerminalStyle::of(stdout)).c_str());
  write_lab_page(record, "largest_weight.html");
  if (sizeof(Real) != EXPECTED_BYTES) return 2;
  return failed_claims(record).empty() && std::filesystem::exists("largest_weight.html") ? 0 : 1;
}
