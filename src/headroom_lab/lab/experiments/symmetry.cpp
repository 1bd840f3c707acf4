// symmetry: two equal heads stay equal during training, unless something breaks the symmetry.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <initializer_list>

#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/optim/optim.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/head_blocks.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/optimizer_rules.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace symmetric_heads {

constexpr int draws = 5;
constexpr std::size_t fused = 1;  // among both_layouts
constexpr Index steps = 100;

/// Initial state of head 1, a copy of head 0.
struct Start {
  const char* name;
  bool different_output = false;  // W_O^1 is drawn independently
  Real dropout = 0;               // on the attention weights
  Real nudge = 0;                 // added to one element of W_V^1
  bool adam = false;              // trained with AdamW, else with SGD with momentum
};
constexpr Start starts[] = {{.name = "equal in everything"},
                            {.name = "different output block", .different_output = true},
                            {.name = "equal, with dropout", .dropout = Real(0.1)},
                            {.name = "equal except for one element", .nudge = Real(1e-5)},
                            {.name = "equal, with AdamW", .adam = true}};
constexpr std::size_t equal = 0, different_output = 1, dropped = 2, nudged = 3, by_adam = 4;

/// max |head 0 - head 1| / max |head 0| of the blocks of some roles together. NaN if all elements
/// are zero, because vanished blocks are always equal.
double distance(const HeadBlocks& blocks, std::initializer_list<HeadRole> roles) {
  double difference = 0, size = 0;
  for (const HeadRole role : roles) {
    const Array& block = blocks.at({role, 0});
    difference = larger(difference, largest_difference(block, blocks.at({role, 1})));
    size = larger(size, largest(block));
  }
  return size > 0 ? difference / size : std::nan("");
}

/// distance() of the input blocks: W_Q with b_Q, W_K, W_V with b_V. The key bias has no effect on
/// the function and is left out.
double input_distance(const HeadBlocks& blocks) {
  return largest(std::array{distance(blocks, {HeadRole::query, HeadRole::query_bias}),
                            distance(blocks, {HeadRole::key}),
                            distance(blocks, {HeadRole::value, HeadRole::value_bias})});
}

/// One training run of a layer whose heads 0 and 1 began equal.
struct Course {
  std::vector<double> inputs;            // distance of Q, K, V after 0, 1, ..., `steps` steps
  std::vector<double> gradient;          // distance of their gradients at each step
  double largest_output = 0;             // of W_O, over all steps
  double first_output_gradient = 0;      // of dL/dW_O at the first step
  double first_loss = 0, last_loss = 0;  // without dropout, on the same batches, all new
};

std::unique_ptr<Attention> first_layer(const Start& start, const LabOptions& options,
                                       std::uint64_t draw) {
  Rng rng(options.seed, "symmetry", draw);
  auto layer = make_attention(
      Layout::fused, {.width = options.width, .heads = options.heads, .dropout = start.dropout},
      rng);
  randomise(*layer, rng);
  HeadBlocks twin;
  for (const auto& [place, block] : head_values(*layer)) {
    const auto [role, head] = place;
    if (head != 0 || (role == HeadRole::output && start.different_output)) continue;
    twin[{role, 1}] = block;
  }
  twin.at({HeadRole::value, 1})[0] += start.nudge;
  set_head_values(*layer, twin);
  return layer;
}

/// SGD's learning rate grows with the width, because the mean over the features makes gradients
/// smaller, and AdamW's shrinks as the weights do. AdamW's epsilon is 1 % of the gradients: with
/// the usual 1e-8, a gradient that is only rounding noise moves its weight by a full step.
std::unique_ptr<Optimizer> optimizer_for(const Start& start, Attention& layer) {
  return start.adam ? make_adamw(1e-5)(layer) : make_sgd(0.9)(layer);
}
double rate_for(const Start& start, Index width) {
  const auto features = double(width);
  return start.adam ? 0.03 / std::sqrt(features) : 0.004 * features;
}

Course train(const Start& start, Layout layout, const LabOptions& options, std::uint64_t draw) {
  const auto first = first_layer(start, options, draw);
  const auto layer = same_heads(*first, layout);
  const Imitation task(options.width, options.heads, seed_of_draw(options.seed, draw));
  const auto optimizer = optimizer_for(start, *layer);
  Course course;
  for (Index step = 0; step <= steps; ++step) {
    const HeadBlocks values = head_values(*layer);
    course.inputs.push_back(input_distance(values));
    course.largest_output = larger(course.largest_output, distance(values, {HeadRole::output}));
    if (step == steps) break;
    const RandomStep random(seed_of_draw(options.seed, draw), static_cast<std::uint64_t>(step));
    imitation_gradients(*layer, task.batch(step));
    const HeadBlocks gradients = head_gradients(*layer);
    course.gradient.push_back(input_distance(gradients));
    if (step == 0) course.first_output_gradient = distance(gradients, {HeadRole::output});
    optimizer->step(rate_for(start, options.width));
  }
  first->eval();
  layer->eval();
  for (Index step = steps; step < steps + 10; ++step) {
    course.first_loss += imitation_gradients(*first, task.batch(step));
    course.last_loss += imitation_gradients(*layer, task.batch(step));
  }
  return course;
}

/// All runs of one start: every draw in both layouts.
struct Runs {
  Survey<Course> layouts[std::size(both_layouts)];

  template <class Part>
  double largest_of(const Part& part) const {
    return larger(layouts[0].largest(part), layouts[1].largest(part));
  }
  double smallest_after(Index step) const {
    const auto inputs = [&](const Course& course) { return at(course.inputs, step); };
    return smaller(layouts[0].smallest(inputs), layouts[1].smallest(inputs));
  }
  /// Mean over the draws in one layout.
  Interval after(std::size_t layout, Index step) const {
    return layouts[layout].mean([&](const Course& course) { return at(course.inputs, step); });
  }
};

Runs runs_of(const Start& start, const LabOptions& options) {
  Runs runs;
  for (std::size_t layout = 0; layout < std::size(both_layouts); ++layout) {
    runs.layouts[layout] = Survey<Course>(draws, [&](std::uint64_t draw) {
      return train(start, both_layouts[layout], options, draw);
    });
  }
  return runs;
}

using AllRuns = std::array<Runs, std::size(starts)>;

/// Relative difference between the layouts of the distance after the first step.
double disagreement(const AllRuns& all) {
  double most = 0;
  for (const std::size_t start : {different_output, dropped, nudged}) {
    for (std::size_t i = 0; i < draws; ++i) {
      const auto after_one = [&](std::size_t layout) {
        return all[start].layouts[layout].samples()[i].inputs[1];
      };
      const double a = after_one(0), b = after_one(1);
      most = larger(most, std::abs(a - b) / a);
    }
  }
  return most;
}

void show(const AllRuns& all, Notebook& book) {
  std::vector<Notebook::Series> lines;
  Notebook::Rows rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lines.push_back({starts[i].name, {}});
    for (const Index step : {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100}) {
      lines[i].points.emplace_back(step, all[i].after(fused, step).value);
    }
    for (std::size_t layout = 0; layout < std::size(both_layouts); ++layout) {
      rows.push_back({starts[i].name, name_of(both_layouts[layout]), all[i].after(layout, 1),
                      all[i].after(layout, 10), all[i].after(layout, steps)});
    }
  }
  const std::string about = fmt::format(
      "Distance of head 1 from head 0: max |difference| / max |value|, the largest of W_Q with its "
      "bias, W_K, and W_V with its bias. Mean of {} draws; SGD with momentum, or AdamW.",
      draws);
  book.chart(
      sentence("With a different output block, the copied head differs by {:.2g} after one "
               "step and by {:.2g} after {}",
               lines[different_output].points[1].second,
               lines[different_output].points.back().second, steps),
      about +
          " Fused heads. Heads that stay equal to the bit have distance 0, which is not on the "
          "logarithmic axis.",
      "step", "distance of the two heads", true, lines);
  book.figure();
  book.table(sentence("After one step the distances in the two layouts agree to {:.1g}",
                      disagreement(all)),
             about + " With 95 % intervals.",
             {"head 1 starts", "layout", "after 1 step", "after 10", "after 100"}, rows);
}

void claims(const AllRuns& all, Notebook& book) {
  // Only rounding can make equal heads diverge, because it may differ between their columns.
  constexpr double same = by_precision(1e-12, 1e-5);
  for (const std::size_t start : {equal, by_adam}) {
    const char* name = start == equal ? "equal" : "equal, AdamW";
    const Runs& twins = all[start];
    book.at_most(fmt::format("{}: largest distance of Q, K, V in {} steps", name, steps),
                 twins.largest_of([](const Course& c) { return largest(c.inputs); }), same);
    book.at_most(fmt::format("{}: largest distance of the output blocks in {} steps", name, steps),
                 twins.largest_of(&Course::largest_output), same);
    book.at_most(fmt::format("{}: largest distance of the gradients of Q, K, V", name),
                 twins.largest_of([](const Course& c) { return largest(c.gradient); }), same);
  }
  const Runs &free = all[different_output], &random = all[dropped];
  book.at_most("different output block: distance of the output blocks' gradients at the first step",
               free.largest_of(&Course::first_output_gradient), same);
  book.more_than("different output block: smallest distance of Q, K, V after 1 step",
                 free.smallest_after(1), 1e-4);
  book.more_than(fmt::format("different output block: smallest distance after {} steps", steps),
                 free.smallest_after(steps), 0.05);
  book.more_than("dropout: smallest distance after 1 step", random.smallest_after(1), 1e-5);
  book.more_than(fmt::format("dropout: smallest distance after {} steps", steps),
                 random.smallest_after(steps), 0.01);
  Index not_fallen = 0;
  for (const Runs& runs : all) {
    for (const Survey<Course>& courses : runs.layouts) {  // counts NaN, too
      not_fallen +=
          courses.count([](const Course& c) { return !(c.last_loss / c.first_loss < 1); });
    }
  }
  book.equal("runs whose loss does not fall", double(not_fallen), 0);
  book.at_most("separate against fused: the distances after 1 step", disagreement(all),
               by_precision(1e-9, 2e-2));
}

/// The growth of the nudge in one layout, as a sentence.
Text growth_of_nudge(const Survey<Course>& courses) {
  const Interval growth =
      courses.mean([](const Course& c) { return c.inputs.back() / c.inputs.front(); });
  const char* verb = growth.low > 1    ? "has grown"
                     : growth.high < 1 ? "has shrunk"
                                       : "has neither clearly grown nor shrunk";
  return sentence("{}, by a factor of {}", verb, growth);
}

void run(const LabOptions& options, Notebook& book) {
  AllRuns all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = runs_of(starts[i], options);
  show(all, book);
  claims(all, book);
  double drift = 0;
  for (const std::size_t start : {equal, by_adam}) {
    drift = larger(drift, all[start].largest_of([](const Course& c) { return largest(c.inputs); }));
  }
  const Text stayed = drift == 0 ? Text("to the bit") : sentence("up to rounding ({:.1g})", drift);
  book.answer(
      sentence("They stay equal, {}, if their output blocks are equal too: they then receive equal "
               "gradients in every step, in both layouts, with SGD and with AdamW. With different "
               "output blocks they diverge at the first step (by {:.2g}, and by {:.2g} after {}), "
               "and with dropout on the attention weights too (by {:.2g} after {}).",
               stayed, all[different_output].after(fused, 1).value,
               all[different_output].after(fused, steps).value, steps,
               all[dropped].after(fused, steps).value, steps),
      sentence("A difference of 1e-5 in one weight {}.",
               growth_of_nudge(all[nudged].layouts[fused])));
}

}  // namespace symmetric_heads
}  // namespace

Experiment symmetry_experiment() {
  return {
      .name = "symmetry",
      .title = "Do two equal heads stay equal during training?",
      .question =
          "Do two heads of a layer that start from the same weights ever become different, and "
          "what makes them diverge?",
      .computed =
          "Layers in which head 1 starts as a copy of head 0 learn to imitate another layer: equal "
          "in everything, with SGD and with AdamW, equal but for the output block, equal with "
          "dropout of 0.1 on the attention weights, and equal but for one weight that differs by "
          "1e-5. SGD has momentum 0.9 and the learning rate 0.004 C, AdamW the learning rate 0.03 "
          "/ sqrt(C) and an epsilon of 1e-5, about 1 % of the gradients: with the usual 1e-8, a "
          "gradient that is only rounding noise moves its weight by a full step. After every step "
          "the two heads and their gradients are compared, in both layouts.",
      .formulas = {"{dL}/{dW_V^h} = (P_h^T dy W_O^h)^T x",
                   "dP_h = (dy W_O^h) V_h^T\", and through it\" W_Q^h, W_K^h: \"equal for equal "
                   "heads with equal\" W_O^h",
                   "{dL}/{dW_O^h} = dy^T A_h: \"equal as long as Q, K and V are\""},
      .defaults = {.width = 32, .heads = 4},
      .limits = {.least_heads = 2, .most_heads = 16, .least_head_dim = 2, .most_width = 128},
      .run = symmetric_heads::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
