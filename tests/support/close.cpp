// The array matchers.
#include "support/close.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

/// Row-major element number e as "[1, 0, 3]".
std::string place(const Shape& shape, Index e) {
  std::vector<Index> index(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<std::size_t>(axis)] = e % shape[axis];
    e /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ", "));
}

std::string at(const Array& actual, const Array& expected, Index e) {
  return fmt::format("at {}: expected {:.17g}, actual {:.17g}, difference {:.3g}",
                     place(actual.shape(), e), expected[e], actual[e], actual[e] - expected[e]);
}

std::string shapes_differ(const Array& actual, const Array& expected) {
  return fmt::format("has shape {}, expected {}", actual.shape().text(), expected.shape().text());
}

}  // namespace

bool CloseTo::match(const Array& actual) const {
  if (!(actual.shape() == expected_.shape())) {
    verdict_ = shapes_differ(actual, expected_);
    return false;
  }
  Index worst = -1;
  double worst_excess = 0;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (Index e = 0; e < actual.size(); ++e) {
    const Real want = expected_[e], got = actual[e];
    if (want == got) continue;
    const double allowed = double(atol_ + rtol_ * std::abs(want));
    const double difference = double(std::abs(got - want));
    double excess = allowed > 0 ? difference / allowed : infinity;
    if (!std::isfinite(got) || !std::isfinite(want)) excess = infinity;
    if (worst < 0 || excess > worst_excess) {
      worst = e;
      worst_excess = excess;
    }
  }
  const bool close = worst_excess <= 1;
  verdict_ = close ? "is close" : "is worst " + at(actual, expected_, worst);
  return close;
}

std::string CloseTo::describe() const {
  return fmt::format("{} (rtol {:.3g}, atol {:.3g})", verdict_, rtol_, atol_);
}

CloseTo close_at_scale(const Array& expected, Real tolerance, Real at_least) {
  Real scale = at_least;
  for (const Real x : expected.span()) scale = std::max(scale, std::abs(x));
  return {expected, 0, tolerance * scale};
}

bool SameBits::match(const Array& actual) const {
  if (!(actual.shape() == expected_.shape())) {
    verdict_ = shapes_differ(actual, expected_);
    return false;
  }
  for (Index e = 0; e < actual.size(); ++e) {
    if (std::memcmp(&actual[e], &expected_[e], sizeof(Real)) != 0) {
      verdict_ = "differs first " + at(actual, expected_, e);
      return false;
    }
  }
  verdict_ = "has the same bits";
  return true;
}

std::string SameBits::describe() const { return verdict_; }

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom

std::string Catch::StringMaker<headroom::Array>::convert(const headroom::Array& array) {
  const auto shown = static_cast<std::size_t>(std::min<headroom::Index>(array.size(), 8));
  return fmt::format("{} {{{:.9g}{}}}", array.shape().text(),
                     fmt::join(array.span().first(shown), ", "), array.size() > 8 ? ", ..." : "");
}
