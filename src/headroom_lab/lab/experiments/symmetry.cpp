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
#include "lab/head_shares.hpp"
#include "lab/imitation.hpp"
#include "lab/numbers.hpp"
#include "lab/optimizer_rules.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace symmetric_heads {

constexpr int draws = 5;
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
constexpr const Start &equal = starts[0], &different_output = starts[1], &dropped = starts[2],
                      &nudged = starts[3], &by_adam = starts[4];

/// max |head 0 - head 1| / max |head 0| of the blocks of some roles together. NaN if all elements
/// are zero, because vanished blocks are always equal.
double distance(const HeadArrays& of_0, const HeadArrays& of_1,
                std::initializer_list<HeadRole> roles) {
  double difference = 0, size = 0;
  for (const HeadRole role : roles) {
    difference = larger(difference, largest_difference(of_0.at(role), of_1.at(role)));
    size = larger(size, max_abs(of_0.at(role)));
  }
  return size > 0 ? difference / size : std::nan("");
}

/// distance() of the input blocks: W_Q with b_Q, W_K, W_V with b_V. The key bias has no effect on
/// the function and is left out.
double input_distance(const HeadArrays& of_0, const HeadArrays& of_1) {
  return largest(std::array{distance(of_0, of_1, {HeadRole::query, HeadRole::query_bias}),
                            distance(of_0, of_1, {HeadRole::key}),
                            distance(of_0, of_1, {HeadRole::value, HeadRole::value_bias})});
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
  HeadShare twin = shares_of(*layer).front();
  twin.head.head = 1;
  if (start.different_output) twin.value.erase(HeadRole::output);
  twin.value.at(HeadRole::value)[0] += start.nudge;
  set_values(*layer, twin);
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
    const HeadShares values = shares_of(*layer);
    const HeadArrays &of_0 = values[0].value, &of_1 = values[1].value;
    course.inputs.push_back(input_distance(of_0, of_1));
    course.largest_output = larger(course.largest_output, distance(of_0, of_1, {HeadRole::output}));
    if (step == steps) break;
    const RandomStep random(seed_of_draw(options.seed, draw), static_cast<std::uint64_t>(step));
    imitation_gradients(*layer, task.batch(step));
    const HeadShares gradients = shares_of(*layer);
    const HeadArrays &d_0 = gradients[0].gradient, &d_1 = gradients[1].gradient;
    course.gradient.push_back(input_distance(d_0, d_1));
    if (step == 0) course.first_output_gradient = distance(d_0, d_1, {HeadRole::output});
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

/// A start in one layout: a row of the table.
struct StartIn {
  const Start* start;
  Layout layout;

  const char* start_name() const { return start->name; }
  const char* layout_name() const { return name_of(layout); }
  bool operator==(const StartIn&) const = default;
};

using AllRuns = Grid<StartIn, Course>;

AllRuns all_runs(const LabOptions& options) {
  std::vector<StartIn> cases;
  for (const Start& start : starts) {
    for (const Layout layout : both_layouts) cases.push_back({&start, layout});
  }
  return AllRuns(cases, draws, [&](const StartIn& one, std::uint64_t draw) {
    return train(*one.start, one.layout, options, draw);
  });
}

const Survey<Course>& fused(const AllRuns& all, const Start& start) {
  return all.of(StartIn{&start, Layout::fused});
}
Survey<Course> in_both_layouts(const AllRuns& all, const Start& start) {
  return all.where([&](const StartIn& one) { return one.start == &start; });
}

/// The distance of the inputs after `step` steps.
auto after(Index step) {
  return [step](const Course& course) { return at(course.inputs, step); };
}
double largest_input(const Course& course) { return largest(course.inputs); }

/// Relative difference between the layouts of the distance after the first step.
double disagreement(const AllRuns& all) {
  double most = 0;
  for (const Start* start : {&different_output, &dropped, &nudged}) {
    const std::vector<double> a = all.of(StartIn{start, Layout::separate}).all(after(1)),
                              b = fused(all, *start).all(after(1));
    for (std::size_t i = 0; i < a.size(); ++i) most = larger(most, std::abs(a[i] - b[i]) / a[i]);
  }
  return most;
}

void show(const AllRuns& all, Notebook& book) {
  std::vector<Notebook::Series> lines;
  for (const Start& start : starts) {
    lines.push_back({start.name, {}});
    for (const Index step : {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100}) {
      lines.back().points.emplace_back(step, fused(all, start).mean(after(step)).value);
    }
  }
  const Notebook::Series& free = lines[1];
  const std::string about = fmt::format(
      "Distance of head 1 from head 0: max |difference| / max |value|, the largest of W_Q with its "
      "bias, W_K, and W_V with its bias. Mean of {} draws; SGD with momentum, or AdamW.",
      draws);
  book.chart(
      sentence("With a different output block, the copied head differs by {:.2g} after one "
               "step and by {:.2g} after {}",
               free.points[1].second, free.points.back().second, steps),
      about +
          " Fused heads. Heads that stay equal to the bit have distance 0, which is not on the "
          "logarithmic axis.",
      "step", "distance of the two heads", true, lines);
  book.figure();
  book.table(
      sentence("After one step the distances in the two layouts agree to {:.1g}",
               disagreement(all)),
      about + " With 95 % intervals.",
      {"head 1 starts", "layout", "after 1 step", "after 10", "after 100"},
      all.rows(&StartIn::start_name, &StartIn::layout_name, after(1), after(10), after(steps)));
}

void claims(const AllRuns& all, Notebook& book) {
  // Only rounding can make equal heads diverge, because it may differ between their columns.
  constexpr double same = by_precision(1e-12, 1e-5);
  for (const Start* start : {&equal, &by_adam}) {
    const char* name = start == &equal ? "equal" : "equal, AdamW";
    const Survey<Course> twins = in_both_layouts(all, *start);
    book.at_most(fmt::format("{}: largest distance of Q, K, V in {} steps", name, steps),
                 twins.largest(largest_input), same);
    book.at_most(fmt::format("{}: largest distance of the output blocks in {} steps", name, steps),
                 twins.largest(&Course::largest_output), same);
    book.at_most(fmt::format("{}: largest distance of the gradients of Q, K, V", name),
                 twins.largest([](const Course& c) { return largest(c.gradient); }), same);
  }
  const Survey<Course> free = in_both_layouts(all, different_output),
                       random = in_both_layouts(all, dropped);
  book.at_most("different output block: distance of the output blocks' gradients at the first step",
               free.largest(&Course::first_output_gradient), same);
  book.more_than("different output block: smallest distance of Q, K, V after 1 step",
                 free.smallest(after(1)), 1e-4);
  book.more_than(fmt::format("different output block: smallest distance after {} steps", steps),
                 free.smallest(after(steps)), 0.05);
  book.more_than("dropout: smallest distance after 1 step", random.smallest(after(1)), 1e-5);
  book.more_than(fmt::format("dropout: smallest distance after {} steps", steps),
                 random.smallest(after(steps)), 0.01);
  const Index not_fallen = all.all().count(
      [](const Course& c) { return !(c.last_loss / c.first_loss < 1); });  // counts NaN, too
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
  const AllRuns all = all_runs(options);
  show(all, book);
  claims(all, book);
  const double drift = larger(in_both_layouts(all, equal).largest(largest_input),
                              in_both_layouts(all, by_adam).largest(largest_input));
  const Text stayed = drift == 0 ? Text("to the bit") : sentence("up to rounding ({:.1g})", drift);
  book.answer(
      sentence("They stay equal, {}, if their output blocks are equal too: they then receive equal "
               "gradients in every step, in both layouts, with SGD and with AdamW. With different "
               "output blocks they diverge at the first step (by {:.2g}, and by {:.2g} after {}), "
               "and with dropout on the attention weights too (by {:.2g} after {}).",
               stayed, fused(all, different_output).mean(after(1)).value,
               fused(all, different_output).mean(after(steps)).value, steps,
               fused(all, dropped).mean(after(steps)).value, steps),
      sentence("A difference of 1e-5 in one weight {}.", growth_of_nudge(fused(all, nudged))));
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
