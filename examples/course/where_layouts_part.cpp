// Where the layouts part: the numbers of chapter 08. Separate and fused heads start from the same
// weights. What makes their first weights, their training and their clipped gradients differ?
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/optim.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab_facts.hpp"

using namespace headroom;

namespace {

constexpr std::uint64_t seeds = 5;

Array uniform(const Shape& shape, Rng& rng) {
  Array array(shape);
  for (Real& value : array.span()) value = rng.uniform();
  return array;
}

double norm(const Array& array) {
  double sum = 0;
  for (const Real value : array.span()) sum += double(value) * double(value);
  return std::sqrt(sum);
}

double cosine(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum / norm(a) / norm(b);
}

/// Normal weights, such that the scores are about 1, and small biases.
void randomise(Attention& layer, Rng& rng) {
  for (NamedParameter& p : parameters(layer)) {
    const Real deviation = p.tensor.rank() == 1 ? Real(0.1) : 1 / std::sqrt(Real(p.tensor.dim(1)));
    p.tensor.set_value(normal(p.tensor.shape(), deviation, rng));
  }
}

// --- the first weights ---

/// Standard deviation of the scores q k / sqrt(D) of head 0, and the mean over the queries of their
/// largest attention weight.
void measure_start(FanPolicy policy, const char* name, double expected, const char* prediction) {
  constexpr Index width = 256, heads = 8, head_dim = width / heads, tokens = 32;
  double deviation = 0, largest = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Rng rng(seed, "first weights");
    const FusedHeads layer({.width = width, .heads = heads, .init = policy}, rng);
    const Array x = normal({1, tokens, width}, 1, rng);
    const auto part = [&](Index third) {
      const Index first = third * width;
      const Array rows = slice(layer.in_proj_weight.value(), {0, first, first + head_dim});
      return matmul(x, transposed(rows));
    };
    const Array scores = matmul(part(0), transposed(part(1)));
    deviation += norm(scores) * double(attention_scale(head_dim)) / tokens / seeds;
    const Tensor input(x);
    AttentionAsk ask;
    ask.maps = true;
    const Array maps = layer(input, input, input, AttentionMask::none(), ask).maps.value();
    for (Index row = 0; row < heads * tokens; ++row) {
      const auto begin = maps.span().begin() + row * tokens;
      largest += double(*std::max_element(begin, begin + tokens)) / (heads * tokens * seeds);
    }
  }
  const std::string key = std::string("scores, ") + name;
  claim(key.c_str(), deviation, 0.9 * expected, 1.1 * expected, prediction);
  fact((std::string("largest weight, ") + name).c_str(), largest);
}

// --- rounding ---

/// Two attentions with residual connections, so that the gradient of the second one's input
/// reaches the weights of the first.
struct Stack : Module {
  Stack(Layout layout, const AttentionConfig& config, Rng& rng)
      : first(make_attention(layout, config, rng)), second(make_attention(layout, config, rng)) {
    second->set_location({AttentionKind::encoder_self, 1});
  }
  void members(Members& visit) override {
    visit("first", *first);
    visit("second", *second);
  }
  std::string title() const override { return "Stack"; }
  Tensor operator()(const Tensor& x) const {
    const Tensor middle = x + (*first)(x, x, AttentionMask::none());
    return middle + (*second)(middle, middle, AttentionMask::none());
  }
  std::unique_ptr<Attention> first, second;
};

/// A separate and a fused stack with the same weights, which learn from the same batches.
struct Lockstep {
  Lockstep(std::uint64_t seed, double rate_of_both, Real nudge)
      : rng(seed, "lockstep"),
        separate(Layout::separate, config, rng),
        fused(Layout::fused, config, rng),
        teacher(Layout::fused, config, rng),
        rate(rate_of_both),
        of_separate(separate),
        of_fused(fused) {
    for (Stack* const stack : {&separate, &teacher}) {
      randomise(*stack->first, rng);
      randomise(*stack->second, rng);
    }
    transplant(separate, fused);
    parameters(fused).front().tensor.edit_value()[0] += nudge;
  }
  /// A step of both; returns the difference of their weights, relative.
  double step() {
    const Tensor x(normal({4, 6, config.width}, 1, rng));
    const Tensor target = teacher(x).detach();
    for (Stack* const stack : {&separate, &fused}) {
      zero_grad(*stack);
      squared_error((*stack)(x), target).backward();
    }
    of_separate.step(rate);
    of_fused.step(rate);
    return parameter_distance(separate, fused).largest;
  }

  static constexpr AttentionConfig config{.width = 16, .heads = 4};
  Rng rng;
  Stack separate, fused, teacher;
  double rate;
  Adam of_separate, of_fused;
};

struct Parting {
  double after_one = 0;  // the difference of the weights, relative
  Index parted = 0;      // the first step after which it is above 1 %; 0: none
  double last = 0;
};

Parting train_both(std::uint64_t seed, double rate, Real nudge, Index steps) {
  Lockstep both(seed, rate, nudge);
  Parting result;
  for (Index step = 1; step <= steps && result.parted == 0; ++step) {
    result.last = both.step();
    if (step == 1) result.after_one = result.last;
    if (result.last > 0.01) result.parted = step;
  }
  return result;
}

void measure_lockstep() {
  part("08/b");
  constexpr Index most = 60;
  constexpr double rate = 0.15;
  double after_one = 1, slow = 0;
  Index first = most, last = 0, float_first = most, float_last = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Parting doubles = train_both(seed, rate, 0, most);
    const Parting floats = train_both(seed, rate, Real(6e-8), most);
    const Parting careful = train_both(seed, rate / 10, 0, most);
    after_one *= std::pow(doubles.after_one, 1. / seeds);
    first = std::min(first, doubles.parted);
    last = std::max(last, doubles.parted);
    float_first = std::min(float_first, floats.parted);
    float_last = std::max(float_last, floats.parted);
    slow = std::max(slow, careful.last);
  }
  claim("apart after one step", after_one, 1e-17, 1e-12);
  claim("1 % apart, first seed", double(first), 10, most);
  claim("1 % apart, last seed", double(last), 10, most, "08/b");
  claim("from 6e-8, first seed", double(float_first), 5, double(first));
  claim("from 6e-8, last seed", double(float_last), 5, double(last));
  claim("a tenth of the rate, 60 steps", slow, 0, 1e-11);
}

// --- rules about whole tensors ---

constexpr Index small_width = 32, small_heads = 4;

/// A layer that learns to imitate another one, in both layouts.
struct Pair {
  explicit Pair(std::uint64_t seed)
      : rng(seed, "imitation"),
        config{.width = small_width, .heads = small_heads},
        separate(config, rng),
        fused(config, rng),
        teacher(config, rng) {
    randomise(separate, rng);
    randomise(teacher, rng);
    transplant(separate, fused);
  }
  /// The gradients of the mean squared error on a new batch.
  void gradients(const std::vector<Attention*>& layers) {
    const Tensor x(normal({4, 8, small_width}, 1, rng));
    const Tensor target = teacher(x, x, AttentionMask::none()).detach();
    for (Attention* const layer : layers) {
      zero_grad(*layer);
      squared_error((*layer)(x, x, AttentionMask::none()), target).backward();
    }
  }
  Rng rng;
  AttentionConfig config;
  SeparateHeads separate;
  FusedHeads fused, teacher;
};

using Maker = std::function<std::unique_ptr<Optimizer>(Module&)>;

void measure_optimizer(const char* key, const Maker& make, bool notices, double rate) {
  double least = 1e9, most = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Pair pair(seed);
    const auto of_separate = make(pair.separate), of_fused = make(pair.fused);
    for (int step = 0; step < 10; ++step) {
      pair.gradients({&pair.separate, &pair.fused});
      of_separate->step(rate);
      of_fused->step(rate);
    }
    const double apart = parameter_distance(pair.separate, pair.fused).largest;
    least = std::min(least, apart);
    most = std::max(most, apart);
  }
  // Bounds of the minimum or maximum over all seeds.
  if (notices) {
    claim(key, least, 1e-3, 10);
  } else {
    claim(key, most, 0, 1e-12);
  }
}

void measure_optimizers() {
  part("08/c");
  const auto lamb = [](Granularity granularity) -> Maker {
    return [=](Module& model) {
      return std::make_unique<Lamb>(model, LambOptions{.granularity = granularity});
    };
  };
  measure_optimizer(
      "SGD", [](Module& m) { return std::make_unique<Sgd>(m); }, false, 1);
  measure_optimizer(
      "Adam", [](Module& m) { return std::make_unique<Adam>(m); }, false, 0.01);
  measure_optimizer("LAMB per tensor", lamb(Granularity::tensor), true, 0.02);
  measure_optimizer("LAMB per projection", lamb(Granularity::projection), false, 0.02);
  measure_optimizer("LAMB per head", lamb(Granularity::head), false, 0.02);
  const LabRecord clipping = run_lab("clipping", {.width = small_width, .heads = small_heads});
  fact("clipped, a norm per tensor", clipping,
       "per tensor: clipped gradients of the two layouts, smallest difference", "08/c");
  fact("clipped, by other norms", clipping,
       "global, per projection, per head: clipped gradients of the two layouts");
}

// --- twins ---

void measure_twins() {
  part("08/d");
  const LabRecord twins = run_lab("symmetry", {.width = small_width, .heads = small_heads});
  fact("twins after 100 steps", twins, "equal: largest distance of Q, K, V in 100 steps", "08/d");
  const char* const other = "different output block: smallest distance ";
  fact("other columns, after one step", twins, std::string(other) + "of Q, K, V after 1 step");
  fact("other columns, after 100 steps", twins, std::string(other) + "after 100 steps");
  fact("twins with dropout, 100 steps", twins, "dropout: smallest distance after 100 steps");
}

// --- one wide head ---

void measure_one_wide_head() {
  part("");  // answers nothing: shown in any case
  constexpr Index width = 256, heads = 8, tokens = 10;
  Array identity = zeros({width, width});
  for (Index i = 0; i < width; ++i) identity[i * width + i] = 1;
  Rng nowhere(0);
  FusedHeads wide({.width = width, .heads = 1, .bias = false}, nowhere);
  FusedHeads multi({.width = width, .heads = heads, .bias = false}, nowhere);
  for (FusedHeads* const layer : {&wide, &multi}) layer->out_proj.weight.set_value(identity);
  const auto give = [&](const Array& weights) {
    wide.in_proj_weight.set_value(weights.clone());
    multi.in_proj_weight.set_value(weights.clone());
  };
  const auto output = [](const Attention& layer, const Tensor& x) {
    return layer(x, x, AttentionMask::none());
  };

  constexpr int draws = 10;
  int equal = 0;
  for (int draw = 0; draw < draws; ++draw) {
    Rng rng(std::uint64_t(draw), "torch.rand");
    give(uniform({3 * width, width}, rng));
    const Tensor x(uniform({2, tokens, width}, rng));
    const NoGrad quiet;
    equal += largest_difference(output(wide, x).value(), output(multi, x).value()) == 0 ? 1 : 0;
  }
  claim("equal with torch.rand, of 10", equal, 1, 9);

  double of_query = 0, of_value = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    Rng rng(seed, "one wide head");
    give(normal({3 * width, width}, 1 / std::sqrt(Real(width)), rng));
    const Tensor x(normal({2, tokens, width}, 1, rng));
    const Array dy = normal(x.shape(), 1, rng);
    for (FusedHeads* const layer : {&wide, &multi}) {
      zero_grad(*layer);
      output(*layer, x).backward(dy);
    }
    const auto third = [&](Index i) {
      const AxisRange rows{0, i * width, (i + 1) * width};
      return cosine(slice(wide.in_proj_weight.grad(), rows),
                    slice(multi.in_proj_weight.grad(), rows)) /
             double(seeds);
    };
    of_query += third(0);
    of_value += third(2);
  }
  part("08/e");
  claim("cosine of dW_Q", of_query, 0.2, 0.3, "08/e");
  claim("cosine of dW_V", of_value, 0.6, 0.7);
}

// --- the gradient of a head ---

double norm_of_head(Attention& layer, Index head) {
  double squares = 0;
  for (const auto& [name, tensor] : parameters(layer)) {
    for (const HeadSlice& part : layer.head_slices()) {
      if (part.head == head && part.name == name) {
        squares += std::pow(norm(slice(tensor.grad(), part)), 2);
      }
    }
  }
  return std::sqrt(squares);
}

void measure_heads() {
  part("");  // answers nothing: shown in any case
  Pair pair(1);
  Array& output = pair.separate.out.weight.edit_value();  // head 2 can hardly be heard
  for (Index i = 0; i < output.size(); ++i) {
    if (i % small_width / pair.separate.head_dim() == 2) output[i] *= Real(0.01);
  }
  transplant(pair.separate, pair.fused);
  pair.gradients({&pair.separate, &pair.fused});
  double apart = 0;
  for (Index head = 0; head < small_heads; ++head) {
    const double one = norm_of_head(pair.separate, head), other = norm_of_head(pair.fused, head);
    fact(("gradient of head " + std::to_string(head)).c_str(), other);
    apart = std::max(apart, std::abs(one - other) / one);
  }
  claim("in the other layout", apart, 0, 1e-12);
  const Array of_output = slice(pair.fused.out_proj.weight.grad(),
                                {1, 2 * small_width / small_heads, 3 * small_width / small_heads});
  const double all = norm_of_head(pair.fused, 2);
  claim("head 2 without W_O", std::sqrt(all * all - std::pow(norm(of_output), 2)), 0, 0.05 * all);
  double queries = 0, keys = 0;
  for (Index head = 0; head < small_heads; ++head) {
    const auto h = std::size_t(head);
    queries = std::max(queries, norm(pair.separate.query[h]->bias.grad()));
    keys = std::max(keys, norm(pair.separate.key[h]->bias.grad()));
  }
  claim("gradient of b_Q", queries, 1e-6, 1);
  claim("gradient of b_K", keys, 0, 1e-15);
}

// ---------------------------------------------------------------- the figure

/// The first weight of a stack, with all digits of a double.
std::string digits(Stack& stack) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15f", double(parameters(stack).front().tensor.value()[0]));
  return text;
}

/// The distance of the two stacks and their first weight after each step. It begins as a rounding
/// error, so it is "rough": not the same on every processor.
void write_partings() {
  if (!figure_wanted()) return;
  const struct {
    const char* name;
    double rate;
    Real nudge;
  } ways[] = {{"layouts", 0.15, 0}, {"nudged", 0.15, Real(6e-8)}, {"slow", 0.015, 0}};
  Record runs = Record::array();
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    for (const auto& way : ways) {
      Lockstep both(seed, way.rate, way.nudge);
      Record apart = Record::array(), weights = Record::array();
      for (Index step = 1; step <= 60; ++step) {
        apart.push_back(rounded_number(both.step(), 3));
        weights.push_back({digits(both.separate), digits(both.fused)});
      }
      runs.push_back(
          {{"seed", seed + 1}, {"way", way.name}, {"apart", apart}, {"weights", weights}});
    }
  }
  write_figure({{"rough", {"apart", "weights"}}, {"runs", runs}});
}

}  // namespace

int main() {
  part("08/a");
  measure_start(FanPolicy::packed, "packed", 0.5, "08/a");
  measure_start(FanPolicy::per_matrix, "per matrix", 1, "");
  measure_start(FanPolicy::per_head, "per head", 16. / 9, "");
  measure_lockstep();
  measure_optimizers();
  measure_twins();
  measure_one_wide_head();
  measure_heads();
  write_partings();
  return finish();
}
