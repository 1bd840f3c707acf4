// Tests of pairs against values that were computed by hand.
#include "headroom/statistics/contrasts.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
bool within(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; }
}  // namespace

TEST_CASE("student's t and the p-value of it belong together") {
  for (std::size_t freedom = 1; freedom <= 60; ++freedom) {
    INFO(freedom << " degrees of freedom");
    CHECK(std::abs(student_p(student_t(freedom), Index(freedom)) - 0.05) < 1e-12);
  }
  CHECK_THROWS_AS(student_t(0), UsageError);
}

TEST_CASE("student's quantiles and p-values are those of scipy 1.17.1") {
  const std::vector<std::pair<std::size_t, double>> quantiles{
      // scipy.stats.t.ppf(0.975, freedom)
      {1, 12.706204736175},   {2, 4.302652729749},     {3, 3.182446305284},   {4, 2.776445105198},
      {5, 2.570581835636},    {6, 2.446911851145},     {9, 2.262157162798},   {10, 2.228138851986},
      {19, 2.093024054408},   {29, 2.045229642133},    {30, 2.042272456301},  {31, 2.039513446396},
      {60, 2.000297822014},   {100, 1.983971518524},   {101, 1.983731002956}, {150, 1.975905330897},
      {1000, 1.962339080826}, {100000, 1.959987707535}};
  for (const auto& [freedom, t] : quantiles) {
    INFO(freedom << " degrees of freedom");
    CHECK(within(student_t(freedom), t, freedom <= 100 ? 1e-9 : 2e-8));
  }
  struct Tail {
    double t;
    Index freedom;
    double p;  // 2 * scipy.stats.t.sf(abs(t), freedom)
  };
  for (const auto& [t, freedom, p] : std::vector<Tail>{{0.1, 1, 0.93654896513889},
                                                       {2.5, 4, 0.066766544811988},
                                                       {3.2, 9, 0.010831302589901},
                                                       {1.3, 19, 0.20915150029733},
                                                       {-4.5, 7, 0.0027983300778426},
                                                       {2, 31, 0.054327215367176},
                                                       {1.97, 200, 0.050218604518125},
                                                       {6, 4, 0.0038825370469605}}) {
    INFO("t = " << t << ", " << freedom << " degrees of freedom");
    CHECK(within(student_p(t, freedom), p, 1e-12));
  }
}

TEST_CASE("student's p-values are those of closed forms and tables") {
  // One degree of freedom: 1 - 2/pi atan t. Two: 1 - t / sqrt(2 + t^2). Three and four by parts.
  const double pi = std::acos(-1.0);
  for (const double t : {0.0, 0.3, 1.0, 2.5, 12.706, 100.0}) {
    INFO("t = " << t);
    CHECK(within(student_p(t, 1), 1 - 2 / pi * std::atan(t), 1e-14));
    CHECK(within(student_p(-t, 2), 1 - t / std::sqrt(2 + t * t), 1e-14));
    const double u = t / std::sqrt(3.0);
    CHECK(within(student_p(t, 3), 1 - 2 / pi * (std::atan(u) + u / (1 + u * u)), 1e-14));
    const double s = t / std::sqrt(4 + t * t);
    CHECK(within(student_p(t, 4), 1 - s * (3 - s * s) / 2, 1e-14));
  }
  // The 97.5 % points of the tables.
  CHECK(within(student_p(12.7062, 1), 0.05, 1e-6));
  CHECK(within(student_p(2.77645, 4), 0.05, 1e-6));
  CHECK(within(student_p(2.57058, 5), 0.05, 1e-6));
  CHECK(within(student_p(2.04227, 30), 0.05, 1e-6));
  CHECK(within(student_p(1.95996, 100000), 0.05, 1e-5));
  CHECK_THROWS_AS(student_p(1, 0), UsageError);
}

TEST_CASE("a paired contrast is the t-test of the differences") {
  // Differences 1, 2, 3, 4, 5: mean 3, s = sqrt(2.5), t = 3 sqrt(2), and by the closed form of four
  // degrees of freedom with s^2 = 18/22, p = 1 - sqrt(18/22) (3 - 18/22) / 2.
  const std::vector<double> x{11, 22, 33, 44, 55}, y{10, 20, 30, 40, 50};
  const PairedContrast contrast = paired_contrast(x, y);
  CHECK(within(contrast.mean, 3, 1e-14));
  CHECK(within(contrast.interval.value().value, 3, 1e-14));
  CHECK(within(contrast.interval.value().low, 3 - 2.776445105198 * std::sqrt(0.5), 1e-11));
  CHECK(within(contrast.p.value(), 1 - std::sqrt(18.0 / 22) * (3 - 18.0 / 22) / 2, 1e-14));
  CHECK(within(paired_contrast(y, x).mean, -3, 1e-14));
  CHECK(within(paired_contrast(y, x).p.value(), contrast.p.value(), 1e-15));
  CHECK_THROWS_AS(paired_contrast(x, std::vector<double>{1}), UsageError);
  CHECK_THROWS_AS(paired_contrast({}, {}), UsageError);
}

TEST_CASE("differences that do not vary have a mean, and neither interval nor p") {
  const std::vector<double> one{0.5}, two{0.52, 0.52}, control{0.5, 0.5};
  // Equal in exact arithmetic; in double the second difference is larger by 1e-16.
  const std::vector<double> rounded{0.52, 0.53, 0.9}, less{0.5, 0.51, 0.88};
  const std::vector<std::pair<std::vector<double>, std::vector<double>>> tied{
      {one, {0.25}}, {two, control}, {two, two}, {rounded, less}};
  for (const auto& [x, y] : tied) {
    const PairedContrast contrast = paired_contrast(x, y);
    CHECK(within(contrast.mean, x[0] - y[0], 1e-14));
    CHECK_FALSE(contrast.interval.has_value());
    CHECK_FALSE(contrast.p.has_value());
  }
  // One example of 1000 more in one seed of two: t = 1.5 / 0.5, so p = 1 - 2/pi atan 3.
  const PairedContrast nearly = paired_contrast(std::vector<double>{0.502, 0.501}, control);
  CHECK(within(nearly.p.value(), 1 - 2 / std::acos(-1.0) * std::atan(3.0), 1e-9));
  CHECK(nearly.interval.has_value());
}

TEST_CASE("Holm's correction of a family, by hand") {
  // Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.04; the last rises to 0.06.
  const std::vector<double> four = holm(std::vector<double>{0.04, 0.01, 0.03, 0.02});
  const std::vector<double> expected{0.06, 0.04, 0.06, 0.06};
  for (std::size_t i = 0; i < 4; ++i) CHECK(within(four[i], expected[i], 1e-15));
  CHECK(holm(std::vector<double>{0.5, 0.9, 0.001}) == std::vector<double>{1, 1, 0.003});
  CHECK(holm(std::vector<double>{0.2}) == std::vector<double>{0.2});
  CHECK(holm({}).empty());
}
