// speed-of-layouts: the cost of one attention in each layout: products, arithmetic, time.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <set>

#include "headroom/base/extremes.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace layout_speed {

constexpr Index batch = 4, tokens = 64;
constexpr int warm_up = 3, rounds = 15;
constexpr int thread_counts[] = {1, 2};

/// Restores the number of threads at the end of the scope.
class ThreadsKept {
 public:
  ThreadsKept() : before_(num_threads()) {}
  ~ThreadsKept() { set_num_threads(before_); }
  ThreadsKept(const ThreadsKept&) = delete;
  ThreadsKept& operator=(const ThreadsKept&) = delete;

 private:
  int before_;
};

/// Milliseconds of a forward pass with its tape, and of the backward pass to weights and input.
struct Times {
  double forward = 0, backward = 0;
  double both() const { return forward + backward; }
};

/// Floating-point operations, those in products with weights, and the number of such products.
struct Work {
  double flops = 0, by_weights = 0;
  Index operations = 0;
};

/// One layout's layer with its input.
struct Runner {
  Attention& layer;
  Tensor x;
  const Array& cotangent;

  Times run() {
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

  /// The work of both passes, as the profile counts it.
  Work work() {
    set_profiling(true);
    run();
    set_profiling(false);
    Work sum;
    for (const ProfileRow& row : profile()) {
      sum.flops += row.flops;
      if (row.name != "linear" && row.name != "linear_side_by_side") continue;
      sum.by_weights += row.flops;
      sum.operations += row.calls;
    }
    return sum;
  }
};

/// Both layouts at one number of threads, in every round.
struct Timed {
  Survey<Times> separate, fused;
  Interval ratio;     // separate / fused of each round, the median
  bool busy = false;  // more threads made the fused layout slower than one
};

/// Times both layouts in turn, so that other load on the machine affects both.
Timed time_interleaved(std::array<Runner, 2>& runners) {
  Timed timed;
  std::vector<double> ratios;
  for (int round = -warm_up; round < rounds; ++round) {
    const Times separate = runners[0].run(), fused = runners[1].run();
    if (round < 0) continue;
    timed.separate.add(separate);
    timed.fused.add(fused);
    ratios.push_back(separate.both() / fused.both());
  }
  timed.ratio = median_interval(ratios);
  return timed;
}

/// The measurements for one width of a head.
struct Measured {
  Index head_dim = 0, heads = 0;
  Work separate, fused;
  std::array<Timed, std::size(thread_counts)> times{};  // by threads
};

Measured measure(Index width, Index head_dim, std::uint64_t seed) {
  const Index heads = width / head_dim;
  Rng rng(seed, "speed-of-layouts");
  const TwinLayouts twins = twin_layouts({.width = width, .heads = heads}, rng);
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array cotangent = normal(x.shape(), 1, rng);
  std::array<Runner, 2> runners{Runner{*twins.separate, Tensor(x, true), cotangent},
                                Runner{*twins.fused, Tensor(x, true), cotangent}};
  Measured result{head_dim, heads, runners[0].work(), runners[1].work()};
  for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
    set_num_threads(thread_counts[t]);
    result.times[t] = time_interleaved(runners);
    const auto time = [&](std::size_t i) {
      return median(result.times[i].fused.all(&Times::both));
    };
    result.times[t].busy = time(t) > time(0);
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

void show_arithmetic(const LabOptions& options, const std::vector<Measured>& all, Notebook& book) {
  // Operations of one product [B T, C] x [C, C], and of one [T, C] x [C, T] for every example.
  const auto c = double(options.width);
  const double weights = batch * tokens * c * c, pairs = batch * tokens * tokens * c;
  Notebook::Rows rows;
  double by_weights = 0, others = 0;
  Index operations = 0;
  for (const Measured& m : all) {
    for (const Work* work : {&m.separate, &m.fused}) {
      by_weights = larger(by_weights, std::abs(work->by_weights / (2 * 12 * weights) - 1));
      others = larger(others, std::abs((work->flops - work->by_weights) / (2 * 7 * pairs) - 1));
    }
    operations += m.separate.operations != 2 * (3 + 1) || m.fused.operations != 2 * (1 + 1);
    rows.push_back({m.head_dim, m.heads, m.separate.flops / 2e6, m.fused.flops / 2e6,
                    m.separate.operations, m.fused.operations, 3 * m.heads + 1, 2});
  }
  book.table(
      sentence("{:,} million multiply-adds in both layouts", all.front().separate.flops / 2e6),
      sentence("One self-attention on [{}, {}, C], forward and backward. Multiply-adds in "
               "millions and operations with weights are counted by the profile. Each Linear is "
               "one product forward and two backward, for weights and for inputs. One operation "
               "of the separate layout applies the Linears of all heads, one after the other.",
               batch, tokens),
      {"features per head", "heads", "multiply-adds, separate", "multiply-adds, fused",
       "operations, separate", "operations, fused", "Linears, separate", "Linears, fused"},
      rows);
  book.at_most("multiply-adds with weights over 3 times 4 B T C^2, largest distance from 1",
               by_weights, 1e-12);
  book.at_most("the other multiply-adds over (2 + 5) B T^2 C, largest distance from 1", others,
               1e-12);
  book.equal("widths of a head without 8 operations with weights (separate) and 4 (fused)",
             double(operations), 0);
}

std::string threads_text(std::size_t t) {
  return fmt::format("{} thread{}", thread_counts[t], thread_counts[t] == 1 ? "" : "s");
}

void show_ratios(const std::vector<Measured>& all, Notebook& book) {
  std::vector<Notebook::Series> lines;
  Notebook::Rows rows;
  for (const Measured& m : all) rows.push_back({m.head_dim});
  std::vector<std::string> columns{"features per head"};
  for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
    lines.push_back({threads_text(t), {}});
    columns.push_back("separate / fused, " + threads_text(t));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Timed& timed = all[i].times[t];
      rows[i].push_back(timed.busy ? Value("busy") : Value(timed.ratio));
      if (timed.busy) continue;
      lines.back().points.emplace_back(double(all[i].head_dim), timed.ratio.value);
    }
  }
  book.chart("Time of the separate layout over that of the fused one",
             sentence("Forward and backward, median of {} rounds in which the layouts alternate. "
                      "Above 1 the fused layout is faster. Times vary from run to run.",
                      rounds),
             "features per head", "separate / fused", false, lines);
  book.figure();
  static_assert(rounds == 15);  // the coverage and the ranks in this title and caption depend on it
  book.table(
      sentence("Median ratio of {} rounds, with 96 % intervals", rounds),
      "Separate over fused in the same round; the interval is from the 4th to the 12th ratio in "
      "ascending order. \"busy\": two threads took longer than one, because the machine had other "
      "work or the layer is too small; the ratio is left out.",
      columns, rows);
}

void show_times(const std::vector<Measured>& all, Notebook& book) {
  for (const auto part : {&Times::forward, &Times::backward}) {
    Notebook::Rows rows;
    for (std::size_t t = 0; t < std::size(thread_counts); ++t) {
      for (const Measured& m : all) {
        const Survey<Times>&a = m.times[t].separate, &b = m.times[t].fused;
        rows.push_back({threads_text(t), m.head_dim, median(a.all(part)), a.smallest(part),
                        median(b.all(part)), b.smallest(part)});
      }
    }
    book.table(
        part == &Times::forward ? "Forward, in ms" : "Backward, in ms",
        sentence("Median and minimum of {} rounds.", rounds),
        {"", "features per head", "separate", "separate, minimum", "fused", "fused, minimum"},
        rows);
  }
}

/// "5.1 [4.9, 5.3] with heads of 8 features and 0.9 [0.8, 1.0] with 64": the ratios with one number
/// of threads, for the narrowest and the widest heads.
Text ratios_text(const std::vector<Measured>& all, std::size_t t) {
  const Timed &narrow = all.front().times[t], &wide = all.back().times[t];
  if (narrow.busy || wide.busy) return "not measured, because two threads were slower than one";
  Text text = sentence("{} with heads of {} features", narrow.ratio, all.front().head_dim);
  if (all.size() > 1) text = text + sentence(" and {} with {}", wide.ratio, all.back().head_dim);
  return text;
}

void run(const LabOptions& options, Notebook& book) {
  const ThreadsKept kept;
  std::vector<Measured> all;
  for (const Index head_dim : head_dims(options)) {
    all.push_back(measure(options.width, head_dim, options.seed));
  }
  show_arithmetic(options, all, book);
  show_ratios(all, book);
  show_times(all, book);
  book.answer(
      sentence("Both layouts do the same arithmetic, but the separate one uses 3 h + 1 Linears "
               "instead of 2, so narrower heads make its products smaller. In this run, the time "
               "of the separate layout over that of the fused one, forward and backward, is on one "
               "thread {}; on two threads it is {}.",
               ratios_text(all, 0), ratios_text(all, 1)));
}

}  // namespace layout_speed
}  // namespace

Experiment speed_of_layouts_experiment() {
  return {.name = "speed-of-layouts",
          .title = "How fast are separate heads compared with fused ones?",
          .question =
              "Is one Linear for all heads faster than one per head, and how does that depend on "
              "the width of a head and the number of threads?",
          .words = "faster slower time",
          .computed =
              "One attention holds the same weights in both layouts. Their forward and backward "
              "passes are timed alternately, with 1 and with 2 threads independent of --threads, "
              "for heads of 8 to 64 features at the same width of the layer. The arithmetic is "
              "counted and asserted; the times are shown, not asserted.",
          .formulas =
              {"\"separate:\" 3 h \"products\" [BT, C] [C, D] \"and the output product\"",
               "\"fused: one product\" [BT, C] [C, 3C] \"and the output product\"",
               "\"multiply-adds forward:\" 4 B T C^2 + 2 B T^2 C",
               "\"backward:\" 8 B T C^2 + 5 B T^2 C\", because the scores are computed again\""},
          .defaults = {.width = 256, .heads = 8},
          .limits = {},
          .run = layout_speed::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
