// speed-of-layouts: what one attention costs in each layout: products, arithmetic, time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "headroom/base/extremes.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/lab_record.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace layout_speed {

constexpr Index batch = 4, tokens = 64;
constexpr int warm_up = 3, rounds = 15;
constexpr int thread_counts[] = {1, 2};

/// Gives back the number of threads that was set before.
class ThreadsKept {
 public:
  ThreadsKept() : before_(num_threads()) {}
  ~ThreadsKept() { set_num_threads(before_); }
  ThreadsKept(const ThreadsKept&) = delete;
  ThreadsKept& operator=(const ThreadsKept&) = delete;

 private:
  int before_;
};

/// The median and the least of several times, in ms.
struct Time {
  double median = 0, least = 0;
};

Time time_of(std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  return {ms[ms.size() / 2], ms.front()};
}

struct Cost {
  Time forward, backward;
  double total() const { return forward.median + backward.median; }
  double least_total() const { return forward.least + backward.least; }
};

/// One layout's layer with what it is run on.
struct Runner {
  Attention& layer;
  Tensor x;
  const Array& cotangent;

  /// Milliseconds of a forward pass with its tape, and of the backward pass by weights and input.
  std::pair<double, double> run() {
    using Clock = std::chrono::steady_clock;
    using Milliseconds = std::chrono::duration<double, std::milli>;
    zero_grad(layer);
    x.zero_grad();
    const auto begin = Clock::now();
    const Tensor y = layer(x, x, AttentionMask::none());
    const auto between = Clock::now();
    y.backward(cotangent);
    const auto end = Clock::now();
    return {Milliseconds(between - begin).count(), Milliseconds(end - between).count()};
  }

  /// Floating-point operations of both passes, as the operations report them.
  double flops() {
    set_profiling(true);
    run();
    set_profiling(false);
    double sum = 0;
    for (const ProfileRow& row : profile()) sum += row.flops;
    return sum;
  }

  /// Matrix products with weights: one forward and two backward (dW, dX) for each weight matrix.
  Index products() const {
    Index matrices = 0;
    for (const auto& [name, tensor] : parameters(layer)) matrices += tensor.rank() == 2;
    return 3 * matrices;
  }
};

/// Both layouts taking turns, so that whatever else the machine does meets both.
std::array<Cost, 2> time_interleaved(std::array<Runner, 2>& runners) {
  std::array<std::vector<double>, 2> forward, backward;
  for (int round = -warm_up; round < rounds; ++round) {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto [first, second] = runners[i].run();
      if (round < 0) continue;
      forward[i].push_back(first);
      backward[i].push_back(second);
    }
  }
  return {Cost{time_of(forward[0]), time_of(backward[0])},
          Cost{time_of(forward[1]), time_of(backward[1])}};
}

/// All that is measured for one width of a head.
struct Measured {
  Index head_dim = 0, heads = 0;
  std::array<Index, 2> products{};  // separate, fused
  std::array<double, 2> flops{};
  std::array<std::array<Cost, 2>, std::size(thread_counts)> costs{};  // by threads, by layout
};

Measured measure(Index width, Index head_dim, std::uint64_t seed) {
  const Index heads = width / head_dim;
  Rng rng(seed, "speed-of-layouts");
  const TwinLayouts twins = twin_layouts({.width = width, .heads = heads}, rng);
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array cotangent = normal(x.shape(), 1, rng);
  std::array<Runner, 2> runners{Runner{*twins.separate, Tensor(x, true), cotangent},
                                Runner{*twins.fused, Tensor(x, true), cotangent}};
  Measured result{.head_dim = head_dim, .heads = heads};
  for (std::size_t i = 0; i < 2; ++i) {
    result.products[i] = runners[i].products();
    result.flops[i] = runners[i].flops();
  }
  for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
    set_num_threads(thread_counts[t]);
    result.costs[t] = time_interleaved(runners);
  }
  return result;
}

/// 8, 16, 32, 64 and the given one, as far as they divide the width.
std::set<Index> head_dims(const LabOptions& options) {
  std::set<Index> dims{options.head_dim()};
  for (const Index d : {8, 16, 32, 64}) {
    if (options.width % d == 0) dims.insert(d);
  }
  return dims;
}

void show_arithmetic(const std::vector<Measured>& all, Notebook& book) {
  Notebook::Rows rows;
  for (const Measured& m : all) {
    rows.push_back(
        {m.head_dim, m.heads, m.flops[0] / 2e6, m.flops[1] / 2e6, m.products[0], m.products[1]});
  }
  book.table(
      fmt::format("{} million multiply-adds in {} products with weights, or in {}",
                  figure_text(all.front().flops[0] / 2e6), all.front().products[0],
                  all.front().products[1]),
      fmt::format("One self-attention on [{}, {}, C], forward and backward. Multiply-adds in "
                  "millions, as the operations count them; products with weight matrices: "
                  "one forward, two backward for each matrix.",
                  batch, tokens),
      {"features a head", "heads", "multiply-adds, separate", "multiply-adds, fused",
       "products, separate", "products, fused"},
      rows);
}

std::string threads_text(std::size_t t) {
  return fmt::format("{} thread{}", thread_counts[t], thread_counts[t] == 1 ? "" : "s");
}

void show_times(const std::vector<Measured>& all, Notebook& book) {
  std::vector<Notebook::Series> ratios;
  for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
    ratios.push_back({threads_text(t), {}});
    for (const Measured& m : all) {
      ratios.back().points.emplace_back(static_cast<double>(m.head_dim),
                                        m.costs[t][0].total() / m.costs[t][1].total());
    }
  }
  book.chart("Time of the separate layout over that of the fused one",
             "Forward and backward, medians of rounds in which the layouts take turns. Above 1 the "
             "fused layout is faster. Times change from run to run.",
             "features a head", "separate / fused", false, ratios);
  for (const bool forward : {true, false}) {
    Notebook::Rows rows;
    for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
      for (const Measured& m : all) {
        const auto& [separate, fused] = m.costs[t];
        const Time& a = forward ? separate.forward : separate.backward;
        const Time& b = forward ? fused.forward : fused.backward;
        rows.push_back({threads_text(t), m.head_dim, a.median, a.least, b.median, b.least});
      }
    }
    book.table(forward ? "Forward, in ms" : "Backward, in ms",
               fmt::format("Median and least of {} rounds.", rounds),
               {"", "features a head", "separate", "separate, least", "fused", "fused, least"},
               rows);
  }
}

struct Range {
  double low = 1e300, high = 0;
  void add(double value) {
    low = smaller(low, value);
    high = larger(high, value);
  }
};

void run(const LabOptions& options, Notebook& book) {
  const ThreadsKept kept;
  std::vector<Measured> all;
  for (const Index head_dim : head_dims(options)) {
    all.push_back(measure(options.width, head_dim, options.seed));
  }
  show_arithmetic(all, book);
  show_times(all, book);

  double arithmetic = 0;
  Index products = 0, times = 0;
  Range of_medians, of_least;
  for (const Measured& m : all) {
    arithmetic = larger(arithmetic, std::abs(m.flops[0] / m.flops[1] - 1));
    products += m.products[0] != 3 * (3 * m.heads + 1) || m.products[1] != 3 * 2;
    for (const auto& [separate, fused] : m.costs) {
      for (const Cost* cost : {&separate, &fused}) {
        for (const Time& time : {cost->forward, cost->backward}) {
          times += std::isfinite(time.median) && time.least > 0 && time.least <= time.median;
        }
      }
      of_medians.add(separate.total() / fused.total());
      of_least.add(separate.least_total() / fused.least_total());
    }
  }
  const std::size_t wanted = all.size() * std::size(thread_counts) * 4;
  book.equal("multiply-adds, separate over fused, largest distance from 1", arithmetic, 0);
  book.equal("widths of a head without 3 (3 h + 1) products (separate) and 6 (fused)",
             static_cast<double>(products), 0);
  book.equal("times that are finite, above 0, and have their median above their least",
             static_cast<double>(times), static_cast<double>(wanted));
  book.answer(fmt::format(
      "Both layouts do the same arithmetic, but the separate one in {} instead of {} products with "
      "weights when heads have {} features. In this run it took {:.2f} to {:.2f} times as long as "
      "the fused one, forward and backward together, by medians, and {:.2f} to {:.2f} times by the "
      "least times, which other work on the machine lengthens less.",
      all.front().products[0], all.front().products[1], all.front().head_dim, of_medians.low,
      of_medians.high, of_least.low, of_least.high));
}

}  // namespace layout_speed
}  // namespace

Experiment speed_of_layouts_experiment() {
  return {.name = "speed-of-layouts",
          .text = "",
          .asked_in = "",
          .title = "What do separate heads cost in time?",
          .question =
              "One Linear per head or one for all: is the fused layout faster, and how much does "
              "that depend on the width of a head and on the number of threads?",
          .computed =
              "One attention holds the same weights in both layouts. Their forward and backward "
              "passes are timed in turns, with 1 and with 2 threads whatever --threads says, for "
              "heads of 8 to 64 features at the same width of the layer. Arithmetic and products "
              "are counted; the times are shown, not asserted.",
          .formulas = {"separate: 3 h products [B T, C] x [C, D] and the output's",
                       "fused: one product [B T, C] x [C, 3 C] and the output's",
                       "multiply-adds forward: B T 4 C^2 + 2 B T^2 C"},
          .defaults = {.width = 256, .heads = 8},
          .limits = {},
          .run = layout_speed::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
