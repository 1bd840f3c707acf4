// Checks the library's cross_entropy, whoever wrote it, against plain loops in long double.
#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/losses.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index batch = 2, tokens = 3, classes = 5, rows = batch * tokens;
const chapter::Names names{{"batch", "token"}, {}};
const chapter::Names names_of_logits{{"batch", "token", "class"}, {{"the number of rows", rows}}};

/// Random logits and targets.
struct Case {
  explicit Case(std::uint64_t seed)
      : rng(seed, "04/2"),
        x(random_array({batch, tokens, classes}, rng)),
        targets({batch, tokens}) {
    for (std::int32_t& target : targets.span()) {
      target = static_cast<std::int32_t>(rng.below(classes));
    }
  }
  Index target(Index row) const { return targets[row]; }
  bool ignored(Index row) const { return targets[row] == options.ignore_index; }
  Index counted() const {
    Index count = 0;
    for (Index row = 0; row < rows; ++row) count += ignored(row) ? 0 : 1;
    return count;
  }
  Real q(Index row, Index c) const {
    const Real smoothing = options.label_smoothing;
    return (c == targets[row] ? 1 - smoothing : Real(0)) + smoothing / Real(classes);
  }
  /// log p of a class, in a row of any logits of this shape.
  static long double log_share(const Array& logits, Index row, Index c) {
    long double sum = 0;
    const auto at = [&](Index k) { return static_cast<long double>(logits[row * classes + k]); };
    for (Index k = 0; k < classes; ++k) sum += std::exp(at(k) - at(c));
    return -std::log(sum);
  }
  Real p(Index row, Index c) const { return Real(std::exp(log_share(x, row, c))); }

  /// One number for each row.
  template <class Formula>
  Array each_row(Formula formula) const {
    Array result({batch, tokens});
    for (Index row = 0; row < rows; ++row) result[row] = ignored(row) ? Real(0) : formula(row);
    return result;
  }
  /// One number for each logit.
  template <class Formula>
  Array each(Formula formula) const {
    Array result({batch, tokens, classes});
    for (Index i = 0; i < result.size(); ++i) {
      result[i] = ignored(i / classes) ? Real(0) : formula(i / classes, i % classes);
    }
    return result;
  }
  Array losses() const {
    return each_row([this](Index row) {
      long double loss = 0;
      for (Index c = 0; c < classes; ++c) {
        loss -= static_cast<long double>(q(row, c)) * log_share(x, row, c);
      }
      return Real(loss);
    });
  }
  double sum_of_losses() const {
    double sum = 0;
    for (const Real loss : losses().span()) sum += double(loss);
    return sum;
  }
  Tensor run(const Tensor& logits) const { return cross_entropy(logits, targets, options); }
  Array values() const {
    const NoGrad quiet;
    return run(Tensor(x)).value();
  }

  Rng rng;
  Array x;
  Ids targets;
  CrossEntropyOptions options;
};

Case per_row(std::uint64_t seed) {
  Case c(seed);
  c.options.reduction = Reduction::none;
  return c;
}

bool equal(double a, double b) {
  return std::abs(a - b) <= chapter::tolerance * std::max(1.0, std::abs(a));
}

/// Compares a loss of one number.
void require_number(const std::string& what, double expected, const Array& yours) {
  chapter::require(yours.rank() == 0,
                   fmt::format("{} has the shape {}, expected [], a single number.", what,
                               yours.shape().text()));
  const auto number = double(yours[0]);
  std::string text =
      fmt::format("{} is {}, expected {:.6g}.", what,
                  std::isnan(number) ? "NaN" : fmt::format("{:.6g}", number), expected);
  if (std::isnan(number)) text += "\n0 / 0 is not a number. How many rows count here?";
  if (!equal(expected, number)) text += chapter::looks_as_if(number);
  chapter::require(equal(expected, number), text);
}

/// Compares the losses of rows whose logits are large or far apart.
void require_finite(const Case& c, const std::string& where, const std::string& reason) {
  const Array y = c.values();
  Index wrong = 0;
  for (const Real v : y.span()) wrong += std::isfinite(v) ? 0 : 1;
  chapter::require(wrong == 0, fmt::format("{} of {} losses are infinite or NaN {}.\n{}", wrong,
                                           y.size(), where, reason));
  chapter::require_equal("the losses", c.losses(), y, names);
}

void ignore_some(Case& c) { c.targets[1] = c.targets[5] = c.options.ignore_index; }

void check_gradients(const Case& c, const Array& dy) {
  const Tensor logits = parameter(c.x);
  const auto dloss = [&](Index row) {
    return dy.rank() != 0                           ? dy[row]
           : c.options.reduction == Reduction::mean ? dy[0] / Real(std::max<Index>(1, c.counted()))
                                                    : dy[0];
  };
  const Array dx =
      c.each([&](Index row, Index k) { return dloss(row) * (c.p(row, k) - c.q(row, k)); });
  chapter::require_gradients([&] { return c.run(logits); }, dy, {{"logits", logits, dx}},
                             names_of_logits);
}

}  // namespace

TEST_CASE("values: one loss for each row", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c = per_row(seed);
    chapter::require_values([&] { return c.run(parameter(c.x)); }, c.losses(), names);
  }
}

TEST_CASE("large logits", "[04/2]") {
  // Beyond the range of exp() in each precision, but not so far that float rounds the loss away.
  const Index far = is_double ? 1000 : 100;
  for (const std::uint64_t seed : chapter::seeds) {
    Case c = per_row(seed);
    for (Index i = 0; i < c.x.size(); ++i) c.x[i] += Real(i / classes % 2 == 0 ? far : -far);
    require_finite(
        c, fmt::format("where the logits of a row are near {0} or near -{0}", far),
        fmt::format("e^{0} is infinite and e^-{0} is stored as 0, so the logarithm of a sum that "
                    "contains e^{0}, or only such zeros, is of no use.",
                    far));
  }
}

TEST_CASE("a wrong class that leads by 800", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c = per_row(seed);
    for (Index row = 0; row < rows; ++row)
      c.x[row * classes + (c.target(row) + 1) % classes] += 800;
    require_finite(
        c, "where the logit of a wrong class is 800 above that of the target",
        "The share of the target is e^-800, and the logarithm of a share that is stored as 0 is "
        "infinite. log softmax(x)_c is x_c - lse: it needs no softmax.");
  }
}

TEST_CASE("the mean of all rows", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    require_number("the mean loss", c.sum_of_losses() / rows, c.values());
  }
}

TEST_CASE("padding: ignored targets", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    ignore_some(c);
    require_number("the mean loss, with two of six targets ignored",
                   c.sum_of_losses() / double(c.counted()), c.values());
    for (std::int32_t& target : c.targets.span()) target = c.options.ignore_index;
    require_number("the mean loss of a batch in which all targets are ignored", 0, c.values());
  }
}

TEST_CASE("gradients: dx_c = dloss (p_c - q_c)", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c = per_row(seed);
    ignore_some(c);
    check_gradients(c, random_array({batch, tokens}, c.rng));
  }
}

TEST_CASE("gradients of the mean", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    check_gradients(c, random_array(Shape{}, c.rng));
    ignore_some(c);
    check_gradients(c, random_array(Shape{}, c.rng));
  }
}

TEST_CASE("the sum", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    c.options.reduction = Reduction::sum;
    ignore_some(c);
    require_number("the sum of the losses", c.sum_of_losses(), c.values());
    check_gradients(c, random_array(Shape{}, c.rng));
  }
}

TEST_CASE("label smoothing", "[04/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c = per_row(seed);
    c.options.label_smoothing = Real(0.25);
    chapter::require_values([&] { return c.run(parameter(c.x)); }, c.losses(), names);
    check_gradients(c, random_array({batch, tokens}, c.rng));
  }
}
