// transplant: which quantities are equal in both layouts once they hold the same heads.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/experiments/transplanted_steps.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace transplants {

constexpr Index batch = 2, tokens = 10, memory_tokens = 7;
constexpr Index least_head_dim = 4;  // in narrower heads dW_Q and dW_K sometimes nearly vanish
constexpr int draws = 5;
constexpr double clip_limit = 0.1;
/// Bound after several steps. For one pass it is same_layouts; over the steps rounding errors add
/// up, and sums grow longer with the width.
double bound_of_steps(Index width) { return 2 * same_layouts * larger(1, double(width) / 128); }

constexpr const char* quantities[] = {
    "forward: y",        "dW: W_Q, W_K, W_V, W_O", "db: b_Q, b_V, b_O",
    "dX: of the inputs", "norm of all gradients",  "gradients after clipping"};

/// The results of one pass through a layer; the gradients of its parameters are in the layer.
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

bool is_bias(const std::string& name) { return name.ends_with("bias"); }

/// The weights, or the biases, among the exported arrays of a layer.
NamedArrays only(bool biases, NamedArrays parts) {
  std::erase_if(parts, [&](const auto& part) { return is_bias(part.first) != biases; });
  return parts;
}

double relative_gap(double a, double b) { return std::abs(a - b) / larger(a, b); }

/// Compares all results of one pass of both layouts on the same random input and cotangent.
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
  raise(worst, quantities[1], parts_apart(only(false, of_a), only(false, of_b)));
  raise(worst, quantities[2], parts_apart(only(true, of_a), only(true, of_b)));
  double biases = 0, key_biases = 0;
  for (const auto* parts : {&of_a, &of_b}) {
    for (const auto& [name, array] : only(true, *parts)) biases = larger(biases, max_abs(array));
    key_biases = larger(key_biases, max_abs(parts->at("self.key.bias")));
  }
  raise(worst, "key bias", key_biases / biases);

  const double norm_a = clip_grad_norm(*twins.separate, clip_limit);
  const double norm_b = clip_grad_norm(*twins.fused, clip_limit);
  raise(worst, quantities[4], relative_gap(norm_a, norm_b));
  raise(worst, "clipped to", larger(clip_limit / norm_a, clip_limit / norm_b));
  raise(worst, quantities[5],
        parts_apart(export_gradients(*twins.separate, ForeignLayout::bert),
                    export_gradients(*twins.fused, ForeignLayout::bert)));
}

/// Upper left corner of one head's dW_Q in both layouts.
Notebook::Step show_gradient(const LabOptions& options) {
  Rng rng(options.seed, "transplant picture");
  const TwinLayouts twins = twin_layouts({.width = options.width, .heads = options.heads}, rng);
  const Array x = normal({batch, tokens, options.width}, 1, rng);
  const Array cotangent = normal(x.shape(), 1, rng);
  const Index last = options.heads - 1;
  Notebook::Step step{fmt::format("dW_Q of head {}", last), "dQ_h^T X", {}};
  for (Attention* layer : {twins.separate.get(), twins.fused.get()}) {
    run_pass(*layer, x, {}, cotangent);
    for (const HeadSlice& part : layer->head_slices()) {
      if (part.role != HeadRole::query || part.head != last) continue;
      step.parts.push_back({fmt::format("{}: {}.grad, rows {} to {}", name_of(layer->layout()),
                                        part.name, part.begin, part.end - 1),
                            slice(parameter_named(*layer, part.name).grad(), part)});
    }
  }
  return step;
}

/// Shows parameters and tensors of both layouts for every head count; returns true if the
/// parameters are equally many.
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
      "Numbers of parameters and tensors",
      "One attention with biases, 4 C (C + 1) parameters for any number of heads.",
      {"heads", "parameters, separate", "parameters, fused", "tensors, separate", "tensors, fused"},
      rows);
  return equal;
}

/// The largest difference of each compared quantity, for both directions.
struct Findings {
  Worst pass[2], after_steps[2];  // by the layout that the weights come from
  std::map<Index, Worst> by_heads;
  double strangers = 1e300;  // least difference of outputs without a transplant: a control

  double worst_pass(const std::string& what) const {
    return larger(pass[0].at(what), pass[1].at(what));
  }
  double worst_after_steps(const std::string& what) const {
    return larger(after_steps[0].at(what), after_steps[1].at(what));
  }
};

/// Difference of the outputs of two layers with independent weights.
double difference_of_strangers(const Attention& layer, const AttentionConfig& config, Rng& rng) {
  const auto stranger = make_attention(Layout::fused, config, rng);
  const Tensor x(normal({batch, tokens, config.width}, 1, rng));
  const NoGrad quiet;
  return relative_difference(layer(x, x, AttentionMask::causal()).value(),
                             (*stranger)(x, x, AttentionMask::causal()).value());
}

Findings measure(const LabOptions& options, const std::vector<Index>& counts) {
  Findings found;
  for (std::size_t from = 0; from < 2; ++from) {
    Rng rng(options.seed, "transplant", from);
    for (const Index heads : counts) {
      const AttentionConfig config{.width = options.width, .heads = heads};
      for (int i = 0; i < draws; ++i) {
        const TwinLayouts twins = twin_layouts(config, rng, both_layouts[from]);
        for (const bool cross : {false, true}) {
          Worst here;
          compare_pass(twins, cross, rng, here);
          for (const auto& [what, difference] : here) {
            raise(found.pass[from], what, difference);
            raise(found.by_heads[heads], what, difference);
          }
        }
        found.strangers =
            smaller(found.strangers, difference_of_strangers(*twins.separate, config, rng));
      }
    }
    const AttentionConfig config{.width = options.width, .heads = options.heads};
    for (int i = 0; i < draws; ++i) {
      for (int which = 0; which < elementwise_optimizers; ++which) {
        compare_steps(twin_layouts(config, rng, both_layouts[from]), both_layouts[from], which, rng,
                      found.after_steps[from]);
      }
    }
  }
  return found;
}

std::string after_steps_text(const std::string& what) {
  return fmt::format("{} after {} steps", what, compared_steps);
}

void show_findings(const LabOptions& options, const Findings& found, double of_pass,
                   double of_steps, Notebook& book) {
  Notebook::Rows pass, after;
  for (const char* what : quantities) {
    pass.push_back({what, found.pass[0].at(what), found.pass[1].at(what), same_layouts});
  }
  for (const auto& [what, difference] : found.after_steps[0]) {
    after.push_back(
        {what, difference, found.after_steps[1].at(what), bound_of_steps(options.width)});
  }
  const std::vector<std::string> columns{"", "separate -> fused", "fused -> separate", "bound"};
  book.table(sentence("The layouts differ by at most {:,} in one pass", of_pass),
             sentence("max |difference| / max |value| of the worst tensor, over {} draws for "
                      "each number of heads, self- and cross-attention. All gradients together "
                      "are clipped to a norm of {}. The key bias is left out: it has no effect, "
                      "and its gradient is rounding noise.",
                      draws, clip_limit),
             columns, pass);
  book.table(
      sentence("The layouts differ by at most {:,} after {} steps", of_steps, compared_steps),
      sentence("The same for parameters and moments, over {} draws with {} head{}, causal "
               "self-attention behind a Linear. \"Transplanted midway\": after {} steps "
               "parameters and moments were transplanted into a model of the other layout, and "
               "both were trained further. Adam's epsilon is 1e-3; with 1e-8 a "
               "gradient that is only rounding noise changes its weight by a full step.",
               draws, options.heads, options.heads == 1 ? "" : "s", transplanted_at),
      columns, after);
  std::vector<Notebook::Series> lines{{"forward", {}}, {"dW", {}}, {"dX", {}}};
  for (const auto& [heads, differences] : found.by_heads) {
    const auto at = double(heads);
    lines[0].points.emplace_back(at, differences.at(quantities[0]));
    lines[1].points.emplace_back(at, differences.at(quantities[1]));
    lines[2].points.emplace_back(at, differences.at(quantities[3]));
  }
  book.chart(sentence("Differences of at most {:,} in one pass, for {} numbers of heads", of_pass,
                      found.by_heads.size()),
             "The maximum of both directions. A difference of 0 is not on the logarithmic axis.",
             "heads", "relative difference", true, lines);
  book.figure();
}

void run(const LabOptions& options, Notebook& book) {
  const std::vector<Index> counts =
      counts_of_heads(options.width, 16, options.heads, least_head_dim);
  const Findings found = measure(options, counts);
  double of_pass = 0, of_steps = 0;
  for (const char* what : quantities) of_pass = larger(of_pass, found.worst_pass(what));
  for (const auto& [what, difference] : found.after_steps[0]) {
    of_steps = larger(of_steps, found.worst_after_steps(what));
  }
  show_findings(options, found, of_pass, of_steps, book);
  const bool equal_counts = show_counts(options.width, counts, book);
  book.matrices("The gradient of one head in both layouts",
                "The upper left corner. The fused layout holds it in rows of the packed matrix.",
                {show_gradient(options)});

  for (const char* what : quantities) {
    book.at_most(fmt::format("{}, separate against fused", what), found.worst_pass(what),
                 same_layouts);
  }
  book.at_most("limit of clipping over the norm of all gradients (below 1: it clips)",
               found.worst_pass("clipped to"), 0.99);
  book.at_most("largest |db_K| over the largest of all biases' gradients (rounding noise)",
               found.worst_pass("key bias"), same_layouts);
  for (const auto& [what, difference] : found.after_steps[0]) {
    book.at_most(after_steps_text(what), found.worst_after_steps(what),
                 bound_of_steps(options.width));
  }
  book.equal("numbers of heads for which both layouts have equally many parameters",
             double(equal_counts ? counts.size() : 0), double(counts.size()));
  book.more_than("control: smallest difference of two layers without a transplant", found.strangers,
                 1e-2);
  book.answer(
      sentence("All of them, when both hold the same heads: the forward pass, the gradients of "
               "parameters and inputs, and the clipped gradients agree to {:,}, for {} to {} "
               "heads. With {} heads the parameters and moments after {} steps of SGD, Adam and "
               "AdamW agree to {:,}, also when one layout is transplanted into the other midway.",
               of_pass, counts.front(), counts.back(), options.heads, compared_steps, of_steps),
      "The remainder is rounding.");
}

}  // namespace transplants
}  // namespace

Experiment transplant_experiment() {
  return {
      .name = "transplant",
      .title = "Which results are the same in both layouts?",
      .question =
          "If one Linear per head and one for all heads hold the same weights, which results of "
          "training are the same up to rounding?",
      .computed =
          "An attention with random weights and biases is drawn in one layout and transplanted "
          "into the other, in both directions and for several numbers of heads. Both get the "
          "same random inputs and cotangents; outputs and gradients are compared, before and after "
          "global-norm clipping. Then each gets a Linear before it, so that dX affects an update, "
          "and parameters and moments are compared after steps of elementwise optimizers, also "
          "when they are transplanted midway.",
      .formulas =
          {"in_proj_weight[hD : (h + 1)D] = W_Q^h, \"then from row\" C + hD: W_K^h, \"from\" 2C + "
           "hD: W_V^h",
           "dX = sum_h (dQ_h W_Q^h + dK_h W_K^h + dV_h W_V^h) = dQKV \"in_proj_weight\"",
           "\"clipped\" g = g min(1, {\"limit\"}/{|g| + 1e-6}), |g| \"over all parameters\""},
      .defaults = {.width = 64, .heads = 8},
      .limits = {.least_head_dim = transplants::least_head_dim, .most_width = 512},
      .run = transplants::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
