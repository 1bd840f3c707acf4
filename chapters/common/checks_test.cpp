// The messages of chapter::difference(), which must be true and readable.
#include <algorithm>
#include <numeric>

#include "common/checks.hpp"

namespace {

using namespace chapter;  // NOLINT: a test of its functions

Array numbers(const std::vector<Real>& values) {
  return Array({std::ssize(values)}, std::span<const Real>(values));
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const Names names{{"step"}, {}};

std::string message(const std::vector<Real>& expected, const std::vector<Real>& yours,
                    const std::vector<Hypothesis>& hypotheses = {}) {
  const std::string text =
      difference("the values", numbers(expected), numbers(yours), names, hypotheses);
  UNSCOPED_INFO(text);
  return text;
}

}  // namespace

TEST_CASE("\"in the order\" is said of permutations of few different slices") {
  CHECK(has(message({1, 2, 4}, {4, 1, 2}), "but in the order 2, 0, 1."));
  CHECK(has(message({1, 2, 4}, {2, 2, 2}), "Every step has the result of step 1."));
  CHECK_FALSE(has(message({1, 2, 4}, {4, 1, 1}), "order"));              // a selection
  CHECK_FALSE(has(message({0, 0, 1, 1, 2}, {0, 1, 1, 2, 0}), "order"));  // equal slices
  std::vector<Real> many(10);
  std::iota(many.begin(), many.end(), Real(1));
  CHECK(has(message(many, {many.rbegin(), many.rend()}), "in the order 9, 8"));
  many.push_back(11);
  CHECK_FALSE(has(message(many, {many.rbegin(), many.rend()}), "order"));
}

TEST_CASE("a factor near 1 is said in per cent") {
  CHECK(has(message({1, -2, 3}, {4, -8, 12}), "a constant factor: 4 times too large."));
  CHECK(has(message({1, -2, 3}, {Real(0.5), -1, Real(1.5)}), "2 times too small."));
  CHECK(has(message({1, -2, 3}, {Real(1.001), Real(-2.002), Real(3.003)}), "0.1 % too large."));
  CHECK(times_too(0.98) == "2 % too small");
  CHECK(times_too(1 + 1e-7) == "1e-5 % too large");
}

TEST_CASE("elements that look equal are followed by their difference") {
  const std::string text = message({Real(0.551), 2}, {Real(0.551) + Real(3e-9), 2});
  CHECK(has(text, "most at step 0, by 3e-9."));
  CHECK_FALSE(has(message({Real(0.551), 2}, {Real(0.552), 2}), ", by"));
}

TEST_CASE("where whole numbers are expected, whole numbers have no decimals") {
  const std::string text = message({7, 3, -100, 0}, {7, 4, Real(2.5), 0});
  CHECK(has(text, "[       7       3    -100       0 ]  [       7       4*  2.500*      0 ]"));
  CHECK(has(message({7, Real(0.5)}, {7, 1}), "[   7.000   0.500 ]"));
}

TEST_CASE("hypotheses that give the same numbers are named together") {
  const auto guess = [](const char* text, Real number) {
    return Hypothesis{text, [=] { return numbers({number, 2, 3}); }};
  };
  const std::vector<Hypothesis> list{guess("x was taken", 5), guess("y was taken", 6),
                                     guess("z was taken", 5), guess("x was taken", 5)};
  CHECK(has(message({1, 2, 3}, {5, 2, 3}, list),
            "\nIt looks as if either x was taken,\nor z was taken."));
  CHECK(has(message({1, 2, 3}, {6, 2, 3}, list), "\nIt looks as if y was taken."));
  CHECK(has(message({1, 2, 3}, {9, 2, 3}, list), "Only step 0, the first one, is wrong."));
}
