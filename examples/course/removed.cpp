// Taking a head out: the numbers of chapter 12. A layer learns, then three of its six heads go:
// their weights are set to 0, their gates are closed, or they are removed. Then it learns on.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "range.hpp"

using namespace headroom;

namespace {

constexpr Index heads = 6, head_dim = 4, width = heads * head_dim, batch = 2, tokens = 6;
constexpr int steps_before = 30, steps_after = 100;
const std::vector<Index> chosen{1, 3, 4};

bool goes(Index head) { return std::find(chosen.begin(), chosen.end(), head) != chosen.end(); }

/// Gates that are 0 for the chosen heads.
Tensor closed_gates() {
  Array gates({heads}, 1);
  for (const Index head : chosen) gates[head] = 0;
  return Tensor(gates);
}

enum class Rule { adam, sgd, momentum };

/// An attention layer that learns to imitate another one.
struct Learner {
  Learner(Layout layout, std::uint64_t seed, Rule rule = Rule::adam) {
    Rng rng(seed, "removed");
    const AttentionConfig config{.width = width, .heads = heads};
    const auto teacher = make_attention(Layout::fused, config, rng);
    const auto start = make_attention(Layout::fused, config, rng);
    layer = make_attention(layout, config, rng);
    transplant(*start, *layer);  // the same numbers in every layout
    x = Tensor(normal({batch, tokens, width}, 1, rng));
    target = Tensor((*teacher)(x, x, AttentionMask::none()).value());
    if (rule == Rule::adam) {
      optimizer = std::make_unique<Adam>(*layer);
    } else {
      optimizer =
          std::make_unique<Sgd>(*layer, SgdOptions{.momentum = rule == Rule::momentum ? 0.9 : 0.0});
    }
    rate = rule == Rule::adam ? 0.003 : rule == Rule::sgd ? 1.0 : 0.1;
    learn(steps_before);
  }

  Tensor output() const { return (*layer)(x, x, x, AttentionMask::none(), ask).y; }
  double loss() const {
    const NoGrad quiet;
    return double(squared_error(output(), target).item());
  }
  void learn(int steps) {
    for (int step = 0; step < steps; ++step) {
      optimizer->zero_grad();
      squared_error(output(), target).backward();
      optimizer->step(rate);
    }
  }

  std::unique_ptr<Attention> layer;
  std::unique_ptr<Optimizer> optimizer;
  Tensor x, target;
  AttentionAsk ask;
  double rate = 0;
};

/// Which of a head's weights are set to 0.
using Which = bool (*)(HeadRole role);
bool rows(HeadRole role) { return role != HeadRole::output; }
bool columns(HeadRole role) { return role == HeadRole::output; }
bool everything(HeadRole) { return true; }

/// Calls visit(value, gradient) for each weight of the chosen heads.
template <class Visit>
void each_weight(Attention& layer, Which which, Visit visit) {
  std::vector<NamedParameter> all = parameters(layer);
  for (const HeadSlice& slice : layer.head_slices()) {
    if (!goes(slice.head) || !which(slice.role)) continue;
    Tensor& tensor = std::find_if(all.begin(), all.end(), [&](const auto& p) {
                       return p.name == slice.name;
                     })->tensor;
    const Array gradient = tensor.grad();
    Array& value = tensor.edit_value();
    const Index inner = value.rank() == 2 ? value.dim(1) : 1;
    for (Index i = 0; i < value.size(); ++i) {
      const Index at = slice.axis == 0 ? i / inner : i % inner;
      if (at < slice.begin || at >= slice.end) continue;
      visit(value[i], gradient.defined() ? gradient[i] : Real(0));
    }
  }
}

double norm(Attention& layer, Which which) {
  double sum = 0;
  each_weight(layer, which, [&](Real& value, Real) { sum += std::pow(double(value), 2); });
  return std::sqrt(sum);
}

/// How much of the norm of the weights that were set to 0 has come back.
struct Regrowth {
  double after_one = 0, after_all = 0, loss_at_once = 0, loss = 0;
};

Regrowth zeroed(std::uint64_t seed, Which which, Rule rule = Rule::adam) {
  Learner learner(Layout::fused, seed, rule);
  const double before = norm(*learner.layer, which);
  each_weight(*learner.layer, which, [](Real& value, Real) { value = 0; });
  Regrowth result;
  result.loss_at_once = learner.loss();
  learner.learn(1);
  result.after_one = norm(*learner.layer, which) / before;
  learner.learn(steps_after - 1);
  result.after_all = norm(*learner.layer, which) / before;
  result.loss = learner.loss();
  return result;
}

struct Masked {
  double loss_at_once = 0, loss = 0, gradient = 0, moved = 0;
};

/// Closes the gates. `moved`: how far the weights behind the closed gates went, relative to their
/// norm.
Masked masked(std::uint64_t seed) {
  Learner learner(Layout::fused, seed);
  Masked result;
  learner.ask.gates = closed_gates();
  result.loss_at_once = learner.loss();
  std::vector<double> before;
  each_weight(*learner.layer, everything, [&](Real& w, Real) { before.push_back(double(w)); });
  learner.learn(steps_after);
  double squares = 0, all = 0;
  std::size_t i = 0;
  each_weight(*learner.layer, everything, [&](Real& w, Real gradient) {
    result.gradient = std::max(result.gradient, std::abs(double(gradient)));
    squares += std::pow(double(w) - before[i], 2);
    all += std::pow(before[i++], 2);
  });
  result.moved = std::sqrt(squares / all);
  result.loss = learner.loss();
  return result;
}

/// How far apart the outputs of a masked and a compact layer are, after 20 steps and after all.
/// `fresh`: the same for a compact layer whose optimizer forgot its moments.
struct Apart {
  double after_20 = 0, after_all = 0, fresh = 0, loss = 0;
};

Apart removed(Layout layout, std::uint64_t seed, bool to_the_end) {
  Learner mask(layout, seed), compact(layout, seed), forgetful(layout, seed);
  mask.ask.gates = closed_gates();
  compact.optimizer->apply(compact.layer->prune(chosen));
  forgetful.layer->prune(chosen);
  forgetful.optimizer = std::make_unique<Adam>(*forgetful.layer);
  const auto apart = [&](const Learner& learner) {
    return relative_difference(mask.output().value(), learner.output().value());
  };
  Apart result;
  for (Learner* learner : {&mask, &compact, &forgetful}) learner->learn(20);
  result.after_20 = apart(compact);
  result.fresh = apart(forgetful);
  if (!to_the_end) return result;
  for (Learner* learner : {&mask, &compact}) learner->learn(steps_after - 20);
  result.after_all = apart(compact);
  result.loss = compact.loss();
  return result;
}

/// Whether an optimizer that was not given the edits refuses its next step.
bool refused() {
  Learner learner(Layout::fused, 1);
  learner.layer->prune(chosen);
  try {
    learner.learn(1);
  } catch (const UsageError& error) {
    return std::string(error.what()).find("apply()") != std::string::npos;
  }
  return false;
}

/// The smaller half of the weights of in_proj_weight is set to 0, and a mask multiplies the
/// gradients. With `weights_too` it also multiplies the weights after each step.
struct Sparse {
  double at_once = 0, after_one = 0, after_all = 0;  // the share of weights that are 0, in percent
  double norm = 0;  // of the pruned weights at the end, relative to their norm before
};

Sparse sparse(std::uint64_t seed, bool weights_too) {
  Learner learner(Layout::fused, seed, Rule::momentum);
  Tensor weight = dynamic_cast<FusedHeads&>(*learner.layer).in_proj_weight;
  std::vector<double> sizes;
  for (Index i = 0; i < weight.size(); ++i) sizes.push_back(std::abs(double(weight.value()[i])));
  const double middle = median(sizes);
  Array mask(weight.shape());
  for (Index i = 0; i < weight.size(); ++i) mask[i] = sizes[std::size_t(i)] > middle ? 1 : 0;
  const auto apply = [&mask](Array& values) {
    for (Index i = 0; i < values.size(); ++i) values[i] *= mask[i];
  };
  const auto zeros = [&] {
    const Array& values = weight.value();
    return 100 * double(std::count(values.data(), values.data() + values.size(), Real(0))) /
           double(values.size());
  };
  const auto norm_of_pruned = [&](auto size_of) {
    double squares = 0;
    for (Index i = 0; i < weight.size(); ++i) {
      if (mask[i] == 0) squares += std::pow(size_of(i), 2);
    }
    return std::sqrt(squares);
  };
  Sparse result;
  apply(weight.edit_value());
  result.at_once = zeros();
  for (int step = 1; step <= steps_after; ++step) {
    learner.optimizer->zero_grad();
    squared_error(learner.output(), learner.target).backward();
    apply(weight.mutable_grad());
    learner.optimizer->step(learner.rate);
    if (weights_too) apply(weight.edit_value());
    if (step == 1) result.after_one = zeros();
  }
  result.after_all = zeros();
  result.norm = norm_of_pruned([&](Index i) { return double(weight.value()[i]); }) /
                norm_of_pruned([&](Index i) { return sizes[std::size_t(i)]; });
  return result;
}

/// Times of a training step with six of eight heads masked or removed, relative to that with all
/// heads. The three take turns, so that other work of the machine slows all of them.
void measure_time() {
  constexpr Index c = 128, time_tokens = 32, all = 8, rounds = 9;
  const std::vector<Index> six{0, 1, 3, 4, 6, 7};
  Rng rng(1, "time");
  const AttentionConfig config{.width = c, .heads = all};
  std::unique_ptr<Attention> layers[3];
  std::unique_ptr<Adam> adams[3];
  const Tensor x(normal({2, time_tokens, c}, 1, rng));
  AttentionAsk asks[3];
  for (int i = 0; i < 3; ++i) {
    layers[i] = make_attention(Layout::fused, config, rng);
    adams[i] = std::make_unique<Adam>(*layers[i]);
  }
  Array gates({all}, 1);
  for (const Index head : six) gates[head] = 0;
  asks[1].gates = Tensor(gates);
  adams[2]->apply(layers[2]->prune(six));
  std::vector<double> times[3];
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      adams[i]->zero_grad();
      (*layers[i])(x, x, x, AttentionMask::none(), asks[i]).y.backward(x.value());
      adams[i]->step(0.001);
      times[i].push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  }
  const double whole = median(times[0]);
  fact("time of a masked step", median(times[1]) / whole, "12/c");
  fact("time of a compact step", median(times[2]) / whole);
  claim("weights of all heads", double(count_parameters(*layers[0])), 66048, 66048);
  claim("weights of two heads", double(count_parameters(*layers[2])), 16608, 16608);
}

// ---------------------------------------------------------------- the figure

/// A layer of three heads, small enough to draw each weight, in which head 1 goes.
struct Drawn {
  static constexpr Index size = 3, own = 2, goes_out = 1;

  Drawn() {
    Rng rng(4, "drawn");
    const AttentionConfig config{.width = size * own, .heads = size, .bias = false};
    const auto teacher = make_attention(Layout::fused, config, rng);
    layer = make_attention(Layout::fused, config, rng);
    x = Tensor(normal({batch, tokens, config.width}, 1, rng));
    target = Tensor((*teacher)(x, x, AttentionMask::none()).value());
    optimizer = std::make_unique<Adam>(*layer);
    learn(steps_before);
  }
  void learn(int steps) {
    for (int step = 0; step < steps; ++step) {
      optimizer->zero_grad();
      squared_error((*layer)(x, x, x, AttentionMask::none(), ask).y, target).backward();
      optimizer->step(0.003);
    }
  }
  /// The weights and both moments of the two matrices.
  Record state() const {
    Record all = Record::object();
    for (const NamedParameter& p : parameters(*layer)) {
      const OptimizerState& memory = optimizer->state(p.name);
      Record arrays = Record::array();
      for (const Array& array : {p.tensor.value(), memory.first, memory.second}) {
        Record numbers = Record::array();
        for (const Real value : array.span()) numbers.push_back(rounded_number(double(value), 3));
        arrays.push_back(numbers);
      }
      all[p.name] = arrays;
    }
    return all;
  }

  std::unique_ptr<Attention> layer;
  std::unique_ptr<Optimizer> optimizer;
  Tensor x, target;
  AttentionAsk ask;
};

void set_head_to_zero(Drawn& drawn) {
  std::vector<NamedParameter> all = parameters(*drawn.layer);
  for (const HeadSlice& part : drawn.layer->head_slices()) {
    if (part.head != Drawn::goes_out) continue;
    for (NamedParameter& p : all) {
      if (p.name != part.name) continue;
      Array& value = p.tensor.edit_value();
      for (Index i = 0; i < value.size(); ++i) {
        const Index at = part.axis == 0 ? i / value.dim(1) : i % value.dim(1);
        if (at >= part.begin && at < part.end) value[i] = 0;
      }
    }
  }
}

void write_weights() {
  if (!figure_wanted()) return;
  Record ways = Record::object();
  for (const std::string way : {"zeroed", "masked", "removed"}) {
    Drawn drawn;
    if (way == "zeroed") {
      set_head_to_zero(drawn);
    } else if (way == "masked") {
      drawn.ask.gates = Tensor(Array({Drawn::size}, {1, 0, 1}));
    } else {
      drawn.optimizer->apply(drawn.layer->prune(std::array{Drawn::goes_out}));
    }
    Record frames = Record::array();
    int step = 0;
    for (const int until : {0, 1, 3, 10, 30, 100}) {
      drawn.learn(until - step);
      step = until;
      frames.push_back({{"step", step}, {"state", drawn.state()}});
    }
    ways[way] = frames;
  }
  write_figure({{"heads", Drawn::size},
                {"head_dim", Drawn::own},
                {"gone", Drawn::goes_out},
                {"before", Drawn().state()},
                {"ways", ways}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the layers are small, and the results do not depend on the threads
  Range of_rows, of_columns, of_all, by_sgd, by_momentum, moved, gradient, gain, apart, fresh, once,
      descent;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Regrowth no_rows = zeroed(seed, rows), no_columns = zeroed(seed, columns);
    const Regrowth nothing = zeroed(seed, everything);
    const Regrowth dead = zeroed(seed, everything, Rule::sgd);
    const Masked mask = masked(seed);
    const Apart fused = removed(Layout::fused, seed, seed == 1);
    const Apart separate = removed(Layout::separate, seed, false);
    if (seed == 1) {
      fact("loss, gates closed", mask.loss_at_once);
      fact("loss, columns zeroed", no_columns.loss_at_once);
      part("12/a");
      fact("columns after 1 step", no_columns.after_one);
      fact("columns after 100 steps", no_columns.after_all, "12/a");
      fact("rows after 100 steps", no_rows.after_all);
      part("12/b");
      fact("all weights after 1 step", nothing.after_one);
      fact("all weights after 100 steps", nothing.after_all);
      fact("all weights, plain descent", dead.after_all, "12/b");
      part("");  // answers nothing: shown in any case
      fact("loss after 100, zeroed", no_columns.loss);
      fact("loss after 100, masked", mask.loss);
      fact("loss after 100, removed", fused.loss);
      fact("moved behind closed gates", mask.moved);
      part("12/c");
      measure_time();
      part("12/d");
      fact("masked, removed: 20 steps", fused.after_20, "12/d");
      fact("masked, removed: 100 steps", fused.after_all);
      fact("fresh moments: 20 steps", fused.fresh);
    }
    of_rows.add(no_rows.after_all);
    of_columns.add(no_columns.after_all);
    of_all.add(nothing.after_all);
    by_momentum.add(nothing.after_one);
    by_sgd.add(dead.after_all);
    moved.add(mask.moved);
    gradient.add(mask.gradient);
    gain.add(mask.loss / no_columns.loss);
    once.add(std::abs(mask.loss_at_once / no_columns.loss_at_once - 1));
    for (const Apart& one : {fused, separate}) {
      apart.add(one.after_20);
      fresh.add(one.fresh);
    }
    descent.add(dead.loss / dead.loss_at_once);
  }
  part("12/a", "12/b", "12/d");
  std::printf("five seeds\n");
  claim("least regrowth of columns", of_columns.least, 0.1, 2);
  claim("least regrowth of rows", of_rows.least, 0.01, 2);
  claim("least regrowth of all weights", of_all.least, 0.01, 2);
  claim("least of all weights, 1 step", by_momentum.least, 1e-3, 1);
  claim("most by plain descent", by_sgd.most, 0, 0);
  claim("loss by plain descent falls to", descent.most, 0, 0.95);
  claim("losses at once differ by", once.most, 0, 1e-12);
  claim("masked loss / zeroed loss", gain.least, 1.05, 1e3);
  claim("gradient behind closed gates", gradient.most, 0, 0);
  claim("least moved behind them", moved.least, 1e-3, 1);
  claim("masked, removed: most", apart.most, 0, 1e-11);
  claim("fresh moments: least", fresh.least, 1e-4, 2);
  claim("refused without apply()", refused(), 1, 1);
  const Sparse gradients = sparse(1, false), weights = sparse(1, true);
  part("");
  claim("zeros right after pruning, %", gradients.at_once, 50, 50);
  part("12/e");
  claim("zeros 1 step later, %", gradients.after_one, 0, 0, "12/e");
  claim("pruned weights, 100 steps", gradients.norm, 0.01, 2);
  claim("with masked weights, %", weights.after_all, 50, 50);
  write_weights();
  return finish();
}
