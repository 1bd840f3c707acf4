// Survey and Grid: the same measurement in many draws, of one case or of several, and its
// statistics: means, extremes, rows of a table, points of a chart.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom_lab/lab/lab_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One sample of each draw. A `part` selects a number of a sample: a member pointer or a function.
template <class Sample>
class Survey {
 public:
  Survey() = default;
  /// Calls measure(draw) for the draws 0, 1, ..., `draws` - 1.
  template <class Measure>
  Survey(Index draws, const Measure& measure) {
    for (Index draw = 0; draw < draws; ++draw) {
      samples_.push_back(measure(static_cast<std::uint64_t>(draw)));
    }
  }
  void add(Sample sample) { samples_.push_back(std::move(sample)); }
  const std::vector<Sample>& samples() const { return samples_; }

  /// A part of each sample: a member, or what a function gives for it.
  template <class Part>
  std::vector<double> all(const Part& part) const {
    std::vector<double> values;
    for (const Sample& sample : samples_) {
      values.push_back(double(std::invoke(part, sample)));
    }
    return values;
  }
  /// The mean with its 95 % interval.
  template <class Part>
  Interval mean(const Part& part) const {
    return mean_interval(all(part));
  }
  // NaN where a sample's part is NaN.
  template <class Part>
  double largest(const Part& part) const {
    return headroom::largest(all(part));
  }
  template <class Part>
  double smallest(const Part& part) const {
    return headroom::smallest(all(part));
  }
  /// The largest |part - expected|.
  template <class Part>
  double off(const Part& part, double expected) const {
    double most = 0;
    for (const double value : all(part)) most = larger(most, std::abs(value - expected));
    return most;
  }
  /// Number of samples with a property.
  template <class Property>
  Index count(const Property& property) const {
    Index found = 0;
    for (const Sample& sample : samples_) found += std::invoke(property, sample) ? 1 : 0;
    return found;
  }

 private:
  std::vector<Sample> samples_;
};

/// A Survey of each of several cases, in their order. Every sample is kept.
/// ```
/// const Grid<Clip, Kept> seen(clips, 5, [&](const Clip& clip, std::uint64_t draw) {
///   return kept(clip, draw);
/// });
/// book.table(title, caption, {"norm", "head 0", "largest cosine"},
///            seen.rows(&Clip::name, &Kept::head_0, largest_of(&Kept::cosine)));
/// book.at_most("global: cosine", seen.of("global").largest(&Kept::cosine), 1);
/// ```
template <class Case, class Sample>
class Grid {
 public:
  /// Calls measure(case, draw) for all draws of the first case, then of the next one. Or calls
  /// measure(draw), which returns a vector with a sample of each case.
  template <class Measure>
  Grid(std::vector<Case> cases, Index draws, const Measure& measure)
      : cases_(std::move(cases)), surveys_(cases_.size()) {
    if constexpr (std::is_invocable_v<const Measure&, const Case&, std::uint64_t>) {
      for (std::size_t i = 0; i < size(); ++i) {
        surveys_[i] =
            Survey<Sample>(draws, [&](std::uint64_t draw) { return measure(cases_[i], draw); });
      }
    } else {
      for (Index draw = 0; draw < draws; ++draw) {
        std::vector<Sample> samples = measure(static_cast<std::uint64_t>(draw));
        for (std::size_t i = 0; i < size(); ++i) surveys_[i].add(std::move(samples.at(i)));
      }
    }
  }

  std::size_t size() const { return cases_.size(); }
  const std::vector<Case>& cases() const { return cases_; }
  /// The samples of a case, by its position, or by the case itself or its member `name`. of()
  /// throws UsageError when there is no such case.
  const Survey<Sample>& operator[](std::size_t i) const { return surveys_.at(i); }
  template <class Key>
  const Survey<Sample>& of(const Key& key) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if constexpr (requires { cases_[i] == key; }) {
        if (cases_[i] == key) return surveys_[i];
      } else if constexpr (requires { cases_[i].name(); }) {
        if (cases_[i].name() == key) return surveys_[i];
      } else {
        if (std::string_view(cases_[i].name) == key) return surveys_[i];
      }
    }
    throw UsageError("Grid: there is no such case");
  }
  /// The samples of all cases with a property as one survey, and those of all cases.
  template <class Property>
  Survey<Sample> where(const Property& property) const {
    Survey<Sample> found;
    for (std::size_t i = 0; i < size(); ++i) {
      if (!std::invoke(property, cases_[i])) continue;
      for (const Sample& sample : surveys_[i].samples()) found.add(sample);
    }
    return found;
  }
  Survey<Sample> all() const {
    return where([](const Case&) { return true; });
  }

  /// A number of each case: the mean of a part, or a function of the case's Survey.
  template <class Column>
  std::vector<double> by_case(const Column& column) const {
    std::vector<double> numbers;
    for (const Survey<Sample>& survey : surveys_) {
      const auto found = statistic(column, survey);
      if constexpr (std::is_same_v<decltype(found), const Interval>) {
        numbers.push_back(found.value);
      } else {
        numbers.push_back(double(found));
      }
    }
    return numbers;
  }
  /// The points (x of the case, number of the case).
  template <class X, class Column>
  Chart::Series series(std::string name, const X& x, const Column& column) const {
    const std::vector<double> numbers = by_case(column);
    Chart::Series line{std::move(name), {}};
    for (std::size_t i = 0; i < size(); ++i) {
      line.points.emplace_back(double(std::invoke(x, cases_[i])), numbers[i]);
    }
    return line;
  }
  /// A row for each case. A column is a function or member of the case, a part of the samples,
  /// whose mean is shown with its interval, or a function of the case's Survey.
  template <class... Columns>
  std::vector<std::vector<Value>> rows(const Columns&... columns) const {
    std::vector<std::vector<Value>> rows;
    for (std::size_t i = 0; i < size(); ++i) rows.push_back({cell(columns, i)...});
    return rows;
  }

 private:
  template <class Column>
  static auto statistic(const Column& column, const Survey<Sample>& survey) {
    if constexpr (std::is_invocable_v<const Column&, const Survey<Sample>&>) {
      return std::invoke(column, survey);
    } else {
      return survey.mean(column);
    }
  }
  template <class Column>
  Value cell(const Column& column, std::size_t i) const {
    if constexpr (std::is_invocable_v<const Column&, const Case&>) {
      return std::invoke(column, cases_[i]);
    } else {
      return statistic(column, surveys_[i]);
    }
  }

  std::vector<Case> cases_;
  std::vector<Survey<Sample>> surveys_;
};

/// Columns of a Grid: the largest and the smallest sample of a case, in place of the mean.
template <class Part>
auto largest_of(Part part) {
  return [part]<class Sample>(const Survey<Sample>& survey) { return survey.largest(part); };
}
template <class Part>
auto smallest_of(Part part) {
  return [part]<class Sample>(const Survey<Sample>& survey) { return survey.smallest(part); };
}

/// The case itself, as a column or as the x of a chart.
inline constexpr std::identity as_it_is;

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
