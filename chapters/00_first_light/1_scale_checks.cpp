// Checks attention_scale: the factor itself, the size of the scores that it scales, and that the
// library's attention uses it.
#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/ops.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

bool near(double value, double expected) {
  return std::abs(value - expected) <= chapter::tolerance * std::max(1.0, std::abs(expected));
}

constexpr Index sizes[] = {1, 2, 3, 10, 16, 50, 64};

/// True if the formula gives what the answer gives, for all sizes of a head.
template <class Formula>
bool returns(Formula formula) {
  for (const Index d : sizes) {
    const double yours = double(attention_scale(d)), guess = formula(d);
    if (!(std::abs(yours - guess) <= chapter::tolerance * std::abs(guess))) return false;
  }
  return true;
}

/// The sentence on the answer's numbers, or "".
std::string guess() {
  if (returns([](Index) { return 1.0; })) {
    return "\nA score is a sum of head_dim products, and the root of head_dim is the usual size of "
           "such a sum. The factor must undo that.";
  }
  if (returns([](Index d) { return -1 / std::sqrt(double(d)); }))
    return "\nRight, but the sign is flipped.";
  if (is_double && returns([](Index d) { return double(1 / std::sqrt(float(d))); })) {
    return "\nIt looks as if it was computed in float: Real is double here.";
  }
  const double first = double(attention_scale(1));
  if (returns([&](Index) { return first; })) {
    return "\nIt looks as if the function returns the same number for every head_dim.";
  }
  Array all({std::ssize(sizes)});
  for (Index i = 0; i < all.size(); ++i) all[i] = attention_scale(sizes[i]);
  return chapter::looks_as_if(all);
}

void compare(Index head_dim) {
  const double yours = double(attention_scale(head_dim)),
               expected = 1 / std::sqrt(double(head_dim));
  if (near(yours, expected)) {
    SUCCEED();
    return;
  }
  std::string text =
      fmt::format("with head_dim = {} your function returns {:.6g}", head_dim, yours);
  if (yours > 0 && std::isfinite(yours)) {
    text += fmt::format(", so the scores are {}", chapter::times_too(yours / expected));
  } else if (yours == 0) {
    text += ", so all scores are 0";
  }
  FAIL(text << '.' << guess());
}

}  // namespace

TEST_CASE("16 features", "[00/1]") { compare(16); }

TEST_CASE("other sizes of a head", "[00/1]") {
  for (const Index d : {1, 2, 10, 50, 64, 512}) compare(d);
}

TEST_CASE("random scores have size 1", "[00/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Index d : {4, 64}) {
      Rng rng(seed, "00/1");
      const Array query = random_array({100, d}, rng), key = random_array({100, d}, rng);
      const NoGrad quiet;
      const Array scores =
          (matmul(Tensor(query), transpose(Tensor(key))) * attention_scale(d)).value();
      double squares = 0;
      for (const Real score : scores.span()) squares += double(score) * double(score);
      const double size = std::sqrt(squares / double(scores.size()));
      chapter::require(size > 0.8 && size < 1.2,
                       fmt::format("{} scores of vectors with {} elements have the standard "
                                   "deviation {:.3g}; it should be near 1.",
                                   scores.size(), d, size));
    }
  }
}

TEST_CASE("the library's attention uses it", "[00/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    constexpr Index tokens = 5, d = 9;
    Rng rng(seed, "00/1");
    const Tensor query(random_array({1, tokens, d}, rng)), key(random_array({1, tokens, d}, rng)),
        value(random_array({1, tokens, d}, rng));
    const NoGrad quiet;
    const Tensor scores = matmul(query, transpose(key)) * (1 / std::sqrt(Real(d)));
    const Array expected = matmul(softmax(scores), value).value();
    const chapter::Names names{{"batch", "token", "feature"}, {}};
    chapter::require_equal("the outputs of attention()", expected,
                           attention({query, 0}, {key, 0}, {value, 0}, 1, d, d, {}).value(), names);
    chapter::require_equal(
        "the outputs of composed::attention()", expected,
        composed::attention({query, 0}, {key, 0}, {value, 0}, 1, d, d, {}).y.value(), names);
  }
}
