// transplant: what is the same in both layouts once they hold the same heads.
#include "headroom/heads/transplant.hpp"
#include "headroom/base/extremes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "headroom/autograd/tape.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/lab_record.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/optim/optim.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace transplants {

constexpr Index batch = 2, tokens = 10, memory_tokens = 7;
constexpr int draws = 5, steps = 20;
constexpr double rate = 1e-3, clip_limit = 0.1;
/// max |difference| / max |value| of one pass, and of parameters and moments after the steps.
constexpr double bound = by_precision(1e-12, 2e-6);

/// The worst relative difference of each quantity, by its name, in the order of `quantities`.
using Worst = std::map<std::string, double>;

void raise(Worst& worst, const std::string& what, double difference) {
  worst[what] = larger(worst[what], difference);
}

constexpr const char* quantities[] = {
    "forward: y",        "dW: W_Q, W_K, W_V, W_O", "db: b_Q, b_V, b_O",
    "dX: by the inputs", "norm of all gradients",  "clipping factor"};

/// What one pass through a layer leaves; the gradients of its parameters are in the layer.
struct Pass {
  Array y, dx, dmemory;
};

/// y and all gradients of <cotangent, y>. Without a memory the layer attends to x itself, causally.
Pass run_pass(Attention& layer, const Array& x, const Array& memory, const Array& cotangent) {
  zero_grad(layer);
  const Tensor input(x, true), other = memory.defined() ? Tensor(memory, true) : Tensor();
  const Tensor y = other.defined() ? layer(input, other, AttentionMask::none())
                                   : layer(input, input, AttentionMask::causal());
  y.backward(cotangent);
  return {y.value(), input.grad(), other.defined() ? other.grad() : Array()};
}

bool of_key_bias(const std::string& name) { return name == "self.key.bias"; }

/// Compares two sets of arrays by part: `what` gets the worst of those that `holds`. Key biases,
/// which have no effect, are not compared.
template <class Holds>
void compare_parts(Worst& worst, const std::string& what, const NamedArrays& a,
                   const NamedArrays& b, Holds holds) {
  for (const auto& [name, array] : a) {
    if (of_key_bias(name) || !holds(name)) continue;
    raise(worst, what, relative_difference(array, b.at(name)));
  }
}

bool is_bias(const std::string& name) { return name.ends_with("bias"); }

double relative_gap(double a, double b) { return std::abs(a - b) / larger(a, b); }

/// Both layouts on the same random input and cotangent: everything that one pass gives.
void compare_pass(const TwinLayouts& twins, bool cross, Rng& rng, Worst& worst) {
  const Index width = twins.separate->config().width;
  const Array x = normal({batch, tokens, width}, 1, rng);
  const Array memory = cross ? normal({batch, memory_tokens, width}, 1, rng) : Array();
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  const Pass a = run_pass(*twins.separate, x, memory, cotangent);
  const Pass b = run_pass(*twins.fused, x, memory, cotangent);
  raise(worst, quantities[0], relative_difference(a.y, b.y));
  raise(worst, quantities[3], relative_difference(a.dx, b.dx));
  if (cross) raise(worst, quantities[3], relative_difference(a.dmemory, b.dmemory));

  const NamedArrays of_a = export_gradients(*twins.separate, ForeignLayout::bert);
  const NamedArrays of_b = export_gradients(*twins.fused, ForeignLayout::bert);
  compare_parts(worst, quantities[1], of_a, of_b, [](const auto& name) { return !is_bias(name); });
  compare_parts(worst, quantities[2], of_a, of_b, [](const auto& name) { return is_bias(name); });
  double biases = 0, key_biases = 0;
  for (const auto* parts : {&of_a, &of_b}) {
    for (const auto& [name, array] : *parts) {
      if (is_bias(name)) biases = larger(biases, largest(array));
      if (of_key_bias(name)) key_biases = larger(key_biases, largest(array));
    }
  }
  raise(worst, "key bias", key_biases / biases);

  const double norm_a = clip_grad_norm(*twins.separate, clip_limit);
  const double norm_b = clip_grad_norm(*twins.fused, clip_limit);
  const auto factor = [](double norm) { return std::min(1.0, clip_limit / (norm + 1e-6)); };
  raise(worst, quantities[4], relative_gap(norm_a, norm_b));
  raise(worst, quantities[5], relative_gap(factor(norm_a), factor(norm_b)));
}

constexpr const char* optimizer_names[] = {"SGD with momentum", "Adam", "AdamW"};

std::unique_ptr<Optimizer> make_optimizer(int which, Module& model) {
  switch (which) {
    case 0: return std::make_unique<Sgd>(model, SgdOptions{.momentum = 0.9});
    case 1: return std::make_unique<Adam>(model);
    default: return std::make_unique<AdamW>(model);
  }
}

/// An attention behind a Linear, so that dX decides how parameters move.
class Behind : public Module {
 public:
  Behind(Attention& attention, const Array& weight) : before_(weight.clone(), {}) {
    attention_ = &attention;
  }
  void members(Members& visit) override {
    visit("before", before_);
    visit("attention", *attention_);
  }
  std::string title() const override { return "Linear and attention"; }
  Attention& attention() const { return *attention_; }
  Tensor operator()(const Tensor& x) const {
    const Tensor seen = before_(x);
    return (*attention_)(seen, seen, AttentionMask::causal());
  }

 private:
  Linear before_;
  Attention* attention_;
};

/// Arrays of a model by part: those of the attention and the Linear's.
NamedArrays parts_of(Behind& model, const std::function<const Array&(const std::string&)>& find) {
  NamedArrays parts = by_part(model.attention(), [&](const std::string& name) -> const Array& {
    return find("attention." + name);
  });
  parts["before.weight"] = find("before.weight").clone();
  return parts;
}

/// Trains both layouts on the same random cotangents and compares parameters and moments.
void compare_steps(const TwinLayouts& twins, int which, Rng& rng, Worst& worst) {
  const Index width = twins.separate->config().width;
  const Array weight = xavier_uniform({width, width}, width, width, rng);
  Behind models[] = {{*twins.separate, weight}, {*twins.fused, weight}};
  const std::unique_ptr<Optimizer> optimizers[] = {make_optimizer(which, models[0]),
                                                   make_optimizer(which, models[1])};
  for (int step = 0; step < steps; ++step) {
    const Tensor x(normal({batch, tokens, width}, 1, rng));
    const Array cotangent = normal(x.shape(), Real(1) / (batch * tokens), rng);
    for (std::size_t i = 0; i < 2; ++i) {
      optimizers[i]->zero_grad();
      models[i](x).backward(cotangent);
      optimizers[i]->step(rate);
    }
  }
  const std::string name = optimizer_names[which];
  const auto compare = [&](const char* what, const auto& array_of) {
    NamedArrays parts[2];
    for (std::size_t i = 0; i < 2; ++i) {
      parts[i] = parts_of(models[i], [&](const std::string& parameter) -> const Array& {
        return array_of(i, parameter);
      });
    }
    compare_parts(worst, fmt::format("{}: {}", name, what), parts[0], parts[1],
                  [](const std::string&) { return true; });
  };
  std::map<std::string, Tensor> values[2];
  for (std::size_t i = 0; i < 2; ++i) {
    for (const auto& [parameter, tensor] : parameters(models[i])) values[i][parameter] = tensor;
  }
  compare("parameters", [&](std::size_t i, const std::string& parameter) -> const Array& {
    return values[i].at(parameter).value();
  });
  compare("first moment", [&](std::size_t i, const std::string& parameter) -> const Array& {
    return std::as_const(*optimizers[i]).state(parameter).first;
  });
  if (which == 0) return;
  compare("second moment", [&](std::size_t i, const std::string& parameter) -> const Array& {
    return std::as_const(*optimizers[i]).state(parameter).second;
  });
}

/// The corner of one head's dW_Q in both layouts, for the page.
Notebook::Step show_gradient(const LabOptions& options) {
  Rng rng(options.seed, "transplant picture");
  const TwinLayouts twins = twin_layouts({.width = options.width, .heads = options.heads}, rng);
  const Array x = normal({batch, tokens, options.width}, 1, rng);
  const Array cotangent = normal(x.shape(), 1, rng);
  const Index last = options.heads - 1, d = options.head_dim();
  Notebook::Step step{fmt::format("dW_Q of head {}", last), "dQ_h^T X", {}};
  for (Attention* layer : {twins.separate.get(), twins.fused.get()}) {
    run_pass(*layer, x, {}, cotangent);
    const HeadSlice slice = [&] {
      for (const HeadSlice& one : layer->head_slices()) {
        if (one.role == HeadRole::query && one.head == last) return one;
      }
      return HeadSlice{};
    }();
    for (const auto& [name, tensor] : parameters(*layer)) {
      if (name != slice.name) continue;
      step.parts.push_back({fmt::format("{}: {}.grad, rows {} to {}", name_of(layer->layout()),
                                        name, slice.begin, slice.end - 1),
                            part_of(tensor.grad(), 0, slice.begin, slice.begin + d)});
    }
  }
  return step;
}

/// Parameters and tensors of both layouts for every count of heads; true when they are as many.
bool show_counts(Index width, const std::vector<Index>& counts, Notebook& book) {
  Notebook::Rows rows;
  bool equal = true;
  for (const Index heads : counts) {
    Rng rng(0);
    const TwinLayouts twins = twin_layouts({.width = width, .heads = heads}, rng);
    const Index in_separate = count_parameters(*twins.separate);
    const Index in_fused = count_parameters(*twins.fused);
    equal = equal && in_separate == in_fused;
    rows.push_back({heads, in_separate, in_fused, parameters(*twins.separate).size(),
                    parameters(*twins.fused).size()});
  }
  book.table(
      equal ? "The parameters are as many, cut into other pieces"
            : "The numbers of parameters differ",
      "One attention with biases, 4 C (C + 1) parameters for any number of heads.",
      {"heads", "parameters, separate", "parameters, fused", "tensors, separate", "tensors, fused"},
      rows);
  return equal;
}

constexpr Layout directions[] = {Layout::separate, Layout::fused};  // where the weights come from

/// Everything that is compared: the worst of each quantity, for both directions.
struct Findings {
  Worst pass[2], after_steps[2];
  std::map<Index, Worst> by_heads;
  double strangers = 1e300;  // least difference of outputs without a transplant: a control

  double worst_pass(const std::string& what) const {
    return larger(pass[0].at(what), pass[1].at(what));
  }
  double worst_after_steps(const std::string& what) const {
    return larger(after_steps[0].at(what), after_steps[1].at(what));
  }
};

/// How far the outputs of two layers with weights of their own are apart.
double difference_of_strangers(const Attention& layer, const AttentionConfig& config, Rng& rng) {
  const auto stranger = make_attention(Layout::fused, config, rng);
  const Tensor x(normal({batch, tokens, config.width}, 1, rng));
  const NoGrad quiet;
  return relative_difference(layer(x, x, AttentionMask::causal()).value(),
                             (*stranger)(x, x, AttentionMask::causal()).value());
}

Findings measure(const LabOptions& options, const std::vector<Index>& counts) {
  Findings found;
  for (std::size_t to = 0; to < 2; ++to) {
    Rng rng(options.seed, "transplant", to);
    for (const Index heads : counts) {
      const AttentionConfig config{.width = options.width, .heads = heads};
      for (int i = 0; i < draws; ++i) {
        const TwinLayouts twins = twin_layouts(config, rng, directions[to]);
        for (const bool cross : {false, true}) {
          Worst here;
          compare_pass(twins, cross, rng, here);
          for (const auto& [what, difference] : here) {
            raise(found.pass[to], what, difference);
            raise(found.by_heads[heads], what, difference);
          }
        }
        found.strangers =
            smaller(found.strangers, difference_of_strangers(*twins.separate, config, rng));
      }
    }
    for (int which = 0; which < 3; ++which) {
      const AttentionConfig config{.width = options.width, .heads = options.heads};
      compare_steps(twin_layouts(config, rng, directions[to]), which, rng, found.after_steps[to]);
    }
  }
  return found;
}

std::string after_steps_text(const std::string& what) {
  return fmt::format("{} after {} steps", what, steps);
}

void show_findings(const Findings& found, double of_pass, double of_steps, Notebook& book) {
  Notebook::Rows rows;
  for (const char* what : quantities) {
    rows.push_back({what, found.pass[0].at(what), found.pass[1].at(what), bound});
  }
  for (const auto& [what, difference] : found.after_steps[0]) {
    rows.push_back({after_steps_text(what), difference, found.after_steps[1].at(what), bound});
  }
  book.table(fmt::format("Nothing is further apart than {} in one pass, {} after {} steps",
                         figure_text(of_pass), figure_text(of_steps), steps),
             fmt::format("max |difference| / max |value| of the worst tensor, over {} draws for "
                         "each number of heads, self- and cross-attention. The key bias is left "
                         "out: it has no effect, and what its gradient holds is rounding.",
                         draws),
             {"", "separate -> fused", "fused -> separate", "bound"}, rows);
  std::vector<Notebook::Series> lines{{"forward", {}}, {"dW", {}}, {"dX", {}}};
  for (const auto& [heads, differences] : found.by_heads) {
    const auto at = static_cast<double>(heads);
    lines[0].points.emplace_back(at, differences.at(quantities[0]));
    lines[1].points.emplace_back(at, differences.at(quantities[1]));
    lines[2].points.emplace_back(at, differences.at(quantities[3]));
  }
  book.chart(fmt::format("The differences of one pass, up to {}, for {} numbers of heads",
                         figure_text(of_pass), found.by_heads.size()),
             "The worst of both directions. What is exactly 0 has no place on this axis.", "heads",
             "relative difference", true, lines);
}

void run(const LabOptions& options, Notebook& book) {
  const std::vector<Index> counts = counts_of_heads(options.width, 16, options.heads);
  const Findings found = measure(options, counts);
  double of_pass = 0, of_steps = 0;
  for (const char* what : quantities) of_pass = larger(of_pass, found.worst_pass(what));
  for (const auto& [what, difference] : found.after_steps[0]) {
    of_steps = larger(of_steps, found.worst_after_steps(what));
  }
  show_findings(found, of_pass, of_steps, book);
  const bool equal_counts = show_counts(options.width, counts, book);
  book.matrices("The gradient of one head in both layouts",
                "The upper left corner; the fused one holds it in rows of the packed matrix.",
                {show_gradient(options)});

  for (const char* what : quantities) {
    book.at_most(fmt::format("{}, separate against fused", what), found.worst_pass(what), bound);
  }
  book.at_most("largest |db_K| over the largest of all biases' gradients (0 but for rounding)",
               found.worst_pass("key bias"), bound);
  for (const auto& [what, difference] : found.after_steps[0]) {
    book.at_most(after_steps_text(what), found.worst_after_steps(what), bound);
  }
  book.equal("counts of heads for which the numbers of parameters are the same",
             static_cast<double>(equal_counts ? counts.size() : 0),
             static_cast<double>(counts.size()));
  book.more_than("control: two layers without a transplant differ by at least", found.strangers,
                 1e-2);
  book.answer(fmt::format(
      "Once they hold the same heads, both layouts are one function: forward pass, gradients by "
      "parameters and inputs, and the clipping factor agree to {}, and so do, to {}, "
      "parameters and moments after {} steps of SGD, Adam and AdamW. What is left is rounding, in "
      "both directions and for {} to {} heads.",
      figure_text(of_pass), figure_text(of_steps), steps, counts.front(), counts.back()));
}

}  // namespace transplants
}  // namespace

Experiment transplant_experiment() {
  return {.name = "transplant",
          .text = "",
          .asked_in = "",
          .title = "What is the same in both layouts?",
          .question =
              "One Linear per head, or one for all heads: when both hold the same weights, what is "
              "the same, to the last digits that rounding leaves?",
          .computed =
              "An attention with random weights and biases is drawn in one layout and transplanted "
              "into the other, in both directions and for several numbers of heads. Both get the "
              "same random inputs and cotangents; outputs, gradients and the factor of global-norm "
              "clipping are compared. Then a Linear is put before each, so that dX moves weights, "
              "and parameters and moments are compared after steps of elementwise optimizers.",
          .formulas = {"in_proj_weight[hD:(h+1)D] = W_Q^h, [C + hD: ...] = W_K^h, [2C + hD: ...] = "
                       "W_V^h",
                       "dX = sum_h (dQ_h W_Q^h + dK_h W_K^h + dV_h W_V^h) = dQKV in_proj_weight",
                       "factor = min(1, limit / (|g| + 1e-6)), |g| over all parameters"},
          .defaults = {.width = 64, .heads = 8},
          .limits = {.least_head_dim = 4},
          .run = transplants::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
