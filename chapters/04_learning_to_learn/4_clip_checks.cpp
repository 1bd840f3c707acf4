// Checks the library's clip_grad_norm, whoever wrote it, on a module of three parameters.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/checks.hpp"
#include "headroom/optim/clipping.hpp"
#include "parameters.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Parameters;
using chapter::random_array;

const Shape shapes[] = {{4, 3}, {5}, {2, 3}};
const std::string all_names[] = {"a.weight", "b.bias", "c.weight"};

double length(const Array& x) {
  double squares = 0;
  for (const Real v : x.span()) squares += double(v) * double(v);
  return std::sqrt(squares);
}

Array times(const Array& x, double factor) {
  Array result = x.clone();
  for (Real& v : result.span()) v *= Real(factor);
  return result;
}

/// Three parameters with random gradients. c has gradients of another size than the others.
struct Case {
  explicit Case(std::uint64_t seed) : rng(seed, "04/4") {
    for (std::size_t i = 0; i < 3; ++i) {
      values.push_back(random_array(shapes[i], rng));
      gradients.push_back(times(random_array(shapes[i], rng), i == 2 ? 5 : 1));
      model.add(all_names[i], values[i].clone()).set_grad(gradients[i].clone());
    }
  }
  /// The root of the sum of squares of the gradients.
  double norm() const {
    double squares = 0;
    for (const Array& gradient : gradients) squares += std::pow(length(gradient), 2);
    return std::sqrt(squares);
  }
  const Array& now(std::size_t i) { return model.tensors.at(all_names[i]).grad(); }

  /// Compares the gradients with the former ones, scaled to the norm `limit`.
  void check_gradients(double limit) {
    const double factor = limit / (norm() + 1e-6);
    for (std::size_t i = 0; i < 3; ++i) {
      const Array& before = gradients[i];
      chapter::require_equal(fmt::format("the elements of {}", all_names[i]), values[i],
                             model.tensors.at(all_names[i]).value());
      chapter::require_equal(fmt::format("the elements of the gradient of {}", all_names[i]),
                             times(before, factor), now(i), {},
                             {{"the 1e-6 is missing: limit / (norm + 1e-6)",
                               [&] { return times(before, limit / norm()); }}});
    }
  }

  Rng rng;
  Parameters model;
  std::vector<Array> values, gradients;
};

bool equal(double a, double b) {
  return std::abs(a - b) <= chapter::tolerance * std::max(1.0, std::abs(a));
}

void check_norm(const Case& c, double yours) {
  const double norm = c.norm();
  const std::string text =
      fmt::format("the norm that was returned is {:.6g}, expected {:.6g}.", yours, norm);
  if (!equal(norm, yours)) FAIL(text << chapter::looks_as_if(yours));
  SUCCEED();
}

/// The elements of gradients that are finite before and are changed afterwards.
Index changed_elements(Case& c) {
  Index count = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (Index j = 0; j < c.gradients[i].size(); ++j) {
      count += std::isfinite(c.gradients[i][j]) && c.now(i)[j] != c.gradients[i][j] ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("a gradient above the limit: its norm", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    check_norm(c, clip_grad_norm(c.model, 0.5));
  }
}

TEST_CASE("a gradient above the limit: its elements", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    clip_grad_norm(c.model, 0.5);
    c.check_gradients(0.5);
  }
}

TEST_CASE("a gradient below the limit", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const double limit = 2 * c.norm();
    check_norm(c, clip_grad_norm(c.model, limit));
    chapter::require(
        changed_elements(c) == 0,
        fmt::format("a gradient that was short enough was changed: the limit is {:.3g}, its "
                    "norm was {:.3g} and is now {:.3g}.",
                    limit, c.norm(), grad_norm(c.model)));
  }
}

TEST_CASE("a parameter without a gradient", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    Tensor& idle = c.model.add("a.idle", random_array({3}, c.rng));
    check_norm(c, clip_grad_norm(c.model, 0.5));
    chapter::require(!idle.grad().defined(), "a parameter that had no gradient got one.");
    c.check_gradients(0.5);
  }
}

TEST_CASE("a norm that is NaN, and an infinite one", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool infinite : {false, true}) {
      Case c(seed);
      c.gradients[1][2] =
          infinite ? std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::quiet_NaN();
      c.model.tensors.at(all_names[1]).set_grad(c.gradients[1].clone());
      const double norm = clip_grad_norm(c.model, 0.5);
      const char* const name = infinite ? "infinite" : "NaN";
      chapter::require(infinite ? std::isinf(norm) : std::isnan(norm),
                       fmt::format("one element of the gradient is {}, and the norm that was "
                                   "returned is {}: nobody would notice.",
                                   name, norm));
      chapter::require(
          changed_elements(c) == 0,
          fmt::format("one element of the gradient is {}, and {} of the others were changed.\n{}",
                      name, changed_elements(c),
                      infinite
                          ? "limit / norm: an infinite norm makes the factor 0, which erases "
                            "all finite elements."
                          : "limit / norm is NaN: one NaN was multiplied into all gradients."));
    }
  }
}

TEST_CASE("an array that somebody else holds", "[04/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    const Array kept = c.gradients[0].clone();
    c.model.tensors.at(all_names[0]).set_grad(kept);
    clip_grad_norm(c.model, 0.5);
    chapter::require(kept[0] == c.gradients[0][0],
                     "an array that somebody else holds was changed: an Array is a handle, and a "
                     "gradient can have several. Scale a clone, and set it as the gradient.");
    c.check_gradients(0.5);
  }
}
