//! title: mean_interval and paired_interval
//! replaces: headroom::mean_interval
//! minutes: 15
//! difficulty: 1
//! path: short
//! hint: Which of the two spreads tells you how sure the mean is: that of the values, or that of
//!   means of n values? The first one does not get smaller with more seeds.
//! hint: Sum the squares around the mean, divide by n - 1 for the variance, and by n once more for
//!   that of the mean. For the pairs, first make one list of numbers out of two.
//! hint: h = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n)). paired_interval is
//!   mean_interval of the differences a[i] - b[i].
//! after: Every interval that the program prints over seeds or draws is now yours: those of
//!   importance --trace, of sampled Shapley values, of the laboratory.
// Exercise 13/4, mean_interval and paired_interval: how sure a mean of five seeds is.
#include "4_interval.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Interval mean_interval(std::span<const double> values) {
  if (values.empty()) throw UsageError("mean_interval: no values");
  const std::size_t n = values.size();
  double mean = 0, squares = 0;
  //! solution
  for (const double v : values) mean += v / double(n);
  for (const double v : values) squares += (v - mean) * (v - mean);
  if (n == 1) return {mean, mean, mean};
  const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //! skeleton
  // mean = chapter::todo("the mean of the values");
  // squares = chapter::todo("the sum of the squared distances from the mean");
  // if (n == 1) return {mean, mean, mean};
  // const double half = chapter::todo("half the width of the interval", squares);
  //! mistake normal: 1.96 was taken for t: that is right for many values. Of five, the spread is
  //!   not known well either, and t is 2.776
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = 1.959964 * std::sqrt(squares / double(n - 1) / double(n));
  //! mistake rounded_normal: 1.96 was taken for t: that is right for many values. Of five, the
  //!   spread is not known well either, and t is 2.776
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = 1.96 * std::sqrt(squares / double(n - 1) / double(n));
  //! mistake whole_width: h is the whole width of the interval: it is half of it, to each side of
  //!   the mean
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = 2 * student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //! wrong sum_of_squares: lose the digits in which they differ
  //- for (const double v : values) squares += (v - mean) * (v - mean);
  //+ for (const double v : values) squares += v * v;
  //+ squares -= double(n) * mean * mean;
  //! mistake n_for_n_minus_1: the squares were divided by n: the mean was made from the same values
  //!   and lies among them, so that is too small. It is n - 1
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = student_t(n - 1) * std::sqrt(squares / double(n) / double(n));
  //! mistake of_the_values: it is the interval of a value, not that of the mean: the mean of n
  //!   values spreads sqrt(n) times less
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1));
  //! mistake freedom_n: t was taken for n degrees of freedom: the mean has used up one
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = student_t(n) * std::sqrt(squares / double(n - 1) / double(n));
  //! mistake one_error: it is one standard error to each side, without t: such an interval misses
  //!   the truth in a third of all cases
  //- const double half = student_t(n - 1) * std::sqrt(squares / double(n - 1) / double(n));
  //+ const double half = std::sqrt(squares / double(n - 1) / double(n));
  //! wrong nan_for_one: a single value has no interval that is a number
  // for (const double v : values) mean += v / double(n);
  // for (const double v : values) squares += (v - mean) * (v - mean);
  // const double half =
  //     student_t(std::max<std::size_t>(n, 2) - 1) * std::sqrt(squares / double(n - 1) /
  //     double(n));
  //! end
  return {mean, mean - half, mean + half};
}

Interval paired_interval(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) throw UsageError("paired_interval: not the same number of values");
  //! solution
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  return mean_interval(differences);
  //! skeleton
  // std::vector<double> differences = chapter::todo("the numbers whose mean is asked for");
  // return mean_interval(differences);
  //! mistake unpaired: the seeds were ignored: both lists contain the same luck of the seed, which
  //!   the difference of a pair does not have
  // const Interval x = mean_interval(a), y = mean_interval(b);
  // const double value = x.value - y.value, half = std::hypot(x.high - x.value, y.high - y.value);
  // return {value, value - half, value + half};
  //! mistake ends: the ends of two intervals were subtracted: an interval is not made of its ends
  // const Interval x = mean_interval(a), y = mean_interval(b);
  // return {x.value - y.value, x.low - y.low, x.high - y.high};
  //! mistake absolute: the signs of the differences were dropped: then no result could be 0
  //- for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  //+ for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(std::abs(a[i] - b[i]));
  //! mistake other_sign: a was subtracted from b
  //- for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  //+ for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(b[i] - a[i]);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
