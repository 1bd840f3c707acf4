// layouts: the same heads as PyTorch, BERT, GPT-2 and SummAE store them, converted into each other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/heads/layout_conversion.hpp"
#include "headroom/heads/transplant.hpp"
#include "headroom/lab/experiment.hpp"
#include "headroom/lab/lab_record.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/ops.hpp"
#include "lab/numbers.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {
namespace layouts {

constexpr Index batch = 2, tokens = 12;

/// Heads of queries, keys and values [B, T, C], mixed: [B, T, C] before the output projection.
Tensor mixed(const Tensor& q, const Tensor& k, const Tensor& v, Index heads) {
  const Index width = q.dim(2), d = width / heads;
  const auto apart = [&](const Tensor& x) {
    return permute(reshape(x, {batch, tokens, heads, d}), {0, 2, 1, 3});
  };
  const Real scale = 1 / std::sqrt(static_cast<Real>(d));
  const Tensor weights = softmax(matmul(apart(q), transpose(apart(k))) * scale);
  return reshape(permute(matmul(weights, apart(v)), {0, 2, 1, 3}), {batch, tokens, width});
}

/// The forward pass of the other implementation, from its own arrays and by its own convention:
/// Linears (x W^T + b) in PyTorch and BERT, Conv1D and kernels (x W + b) in GPT-2 and SummAE.
Array forward_of(ForeignLayout layout, const NamedArrays& arrays, const Tensor& x, Index heads) {
  const NoGrad quiet;
  const Index width = x.dim(2);
  const auto at = [&](const char* name) { return Tensor(arrays.at(name)); };
  const auto thirds = [&](const Tensor& qkv) { return split(qkv, {width, width, width}, 2); };
  switch (layout) {
    case ForeignLayout::pytorch: {
      const auto qkv = thirds(linear(x, at("in_proj_weight"), at("in_proj_bias")));
      return linear(mixed(qkv[0], qkv[1], qkv[2], heads), at("out_proj.weight"),
                    at("out_proj.bias"))
          .value();
    }
    case ForeignLayout::bert:
      return linear(mixed(linear(x, at("self.query.weight"), at("self.query.bias")),
                          linear(x, at("self.key.weight"), at("self.key.bias")),
                          linear(x, at("self.value.weight"), at("self.value.bias")), heads),
                    at("output.dense.weight"), at("output.dense.bias"))
          .value();
    case ForeignLayout::gpt2: {
      const auto qkv = thirds(matmul(x, at("c_attn.weight")) + at("c_attn.bias"));
      return (matmul(mixed(qkv[0], qkv[1], qkv[2], heads), at("c_proj.weight")) + at("c_proj.bias"))
          .value();
    }
    case ForeignLayout::summae:
      return matmul(mixed(matmul(x, at("q_proj/kernel")), matmul(x, at("k_proj/kernel")),
                          matmul(x, at("v_proj/kernel")), heads),
                    at("output_proj/kernel"))
          .value();
  }
  return {};
}

/// Where the query weights of head `h` stand.
std::string place_of(ForeignLayout layout, Index begin, Index end) {
  switch (layout) {
    case ForeignLayout::pytorch:
      return fmt::format("rows {} to {} of in_proj_weight", begin, end - 1);
    case ForeignLayout::bert:
      return fmt::format("rows {} to {} of self.query.weight", begin, end - 1);
    case ForeignLayout::gpt2:
      return fmt::format("columns {} to {} of c_attn.weight", begin, end - 1);
    case ForeignLayout::summae:
      return fmt::format("columns {} to {} of q_proj/kernel", begin, end - 1);
  }
  return "";
}

/// The same layer in both layouts of this library; SummAE has no biases, so it gets a pair without.
struct Pair {
  std::unique_ptr<SeparateHeads> separate;
  std::unique_ptr<FusedHeads> fused;
  Array y_separate, y_fused;
};

Pair make_pair(const LabOptions& options, bool bias, const Tensor& x, const Array& cotangent,
               Rng& rng) {
  const AttentionConfig config{.width = options.width, .heads = options.heads, .bias = bias};
  Pair pair{std::make_unique<SeparateHeads>(config, rng),
            std::make_unique<FusedHeads>(config, rng),
            {},
            {}};
  randomise(*pair.separate, rng);
  transplant(*pair.separate, *pair.fused);
  const Tensor a = (*pair.separate)(x, x, AttentionMask::none());
  const Tensor b = (*pair.fused)(x, x, AttentionMask::none());
  a.backward(cotangent);
  b.backward(cotangent);
  pair.y_separate = a.value();
  pair.y_fused = b.value();
  return pair;
}

Index count_numbers(const NamedArrays& arrays) {
  Index count = 0;
  for (const auto& [name, array] : arrays) count += array.size();
  return count;
}

/// Largest relative difference between the arrays of two layers, the key bias apart, whose gradient
/// is rounding alone.
double arrays_apart(const NamedArrays& a, const NamedArrays& b) {
  double most = 0;
  for (const auto& [name, array] : a) {
    if (name == "self.key.bias") continue;
    most = larger(most, largest_difference(array, b.at(name)) / std::max(1e-300, largest(array)));
  }
  return most;
}

/// Numbers that changed on the way through another layout and back.
Index changed_on_the_way(Attention& from, Attention& blank, ForeignLayout layout, HeadOrder order) {
  import_attention(export_attention(from, layout, order), blank, layout, order);
  Index changed = 0;
  const std::vector<NamedParameter> before = parameters(from), after = parameters(blank);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Array& a = before[i].tensor.value();
    const Array& b = after[i].tensor.value();
    for (Index k = 0; k < a.size(); ++k) changed += a[k] != b[k];
  }
  return changed;
}

void run(const LabOptions& options, Notebook& book) {
  const Index width = options.width, heads = options.heads, d = options.head_dim();
  Rng rng(options.seed, "layouts");
  const Tensor x(normal({batch, tokens, width}, 1, rng));
  const Array cotangent = normal({batch, tokens, width}, 1, rng);
  const Pair with = make_pair(options, true, x, cotangent, rng);
  const Pair without = make_pair(options, false, x, cotangent, rng);

  Notebook::Rows names, places, checks;
  const Index last = heads - 1, all = count_parameters(*with.separate);
  names.push_back({"separate heads", fmt::format("query.0.weight to query.{}.weight", last),
                   with.separate->query.front()->weight.shape().text()});
  names.push_back({"", "query.0.bias, ...; likewise key, value", Shape{d}.text()});
  names.push_back({"", "out.weight", with.separate->out.weight.shape().text()});
  names.push_back({"", "out.bias", with.separate->out.bias.shape().text()});
  const auto name_arrays = [&](const char* layout, const NamedArrays& arrays) {
    std::string first = layout;
    for (const auto& [name, array] : arrays) {
      names.push_back({first, name, array.shape().text()});
      first.clear();
    }
  };
  NamedArrays own;
  for (const NamedParameter& p : parameters(*with.fused)) own[p.name] = p.tensor.value();
  name_arrays("fused heads", own);
  places.push_back({"separate heads", fmt::format("query.{}.weight", last), "no", all});
  places.push_back({"fused heads",
                    fmt::format("rows {} to {} of in_proj_weight", last * d, heads * d - 1), "no",
                    count_parameters(*with.fused)});

  double forward = larger(relative_difference(with.y_separate, with.y_fused),
                          relative_difference(without.y_separate, without.y_fused));
  double foreign_forward = 0, gradients = 0;
  Index changed = 0, missing = 0;
  for (const ForeignLayout layout :
       {ForeignLayout::pytorch, ForeignLayout::bert, ForeignLayout::gpt2, ForeignLayout::summae}) {
    const Pair& pair = layout == ForeignLayout::summae ? without : with;
    const bool bias = layout != ForeignLayout::summae;
    const NamedArrays arrays = export_attention(*pair.separate, layout);
    const double apart = relative_difference(forward_of(layout, arrays, x, heads), pair.y_fused);
    const double gradients_apart = arrays_apart(export_gradients(*pair.separate, layout),
                                                export_gradients(*pair.fused, layout));
    foreign_forward = larger(foreign_forward, apart);
    gradients = larger(gradients, gradients_apart);
    missing += count_parameters(*pair.separate) - count_numbers(arrays);

    Rng blank(0);
    const AttentionConfig config{.width = width, .heads = heads, .bias = bias};
    SeparateHeads separate(config, blank);
    FusedHeads fused(config, blank);
    const Index lost = changed_on_the_way(*pair.separate, separate, layout, HeadOrder::blocked) +
                       changed_on_the_way(*pair.fused, fused, layout, HeadOrder::blocked);
    changed += lost;

    name_arrays(name_of(layout), arrays);
    const bool turned = layout == ForeignLayout::gpt2 || layout == ForeignLayout::summae;
    places.push_back({name_of(layout), place_of(layout, last * d, heads * d), turned ? "yes" : "no",
                      count_numbers(arrays)});
    checks.push_back({name_of(layout), apart, gradients_apart, lost});
  }

  // The order of the channels is part of a layout: read in the wrong one, the same arrays are
  // another function.
  Rng blank(0);
  FusedHeads misread({.width = width, .heads = heads}, blank);
  const Index kept =
      changed_on_the_way(*with.fused, misread, ForeignLayout::pytorch, HeadOrder::interleaved);
  import_attention(export_attention(*with.fused, ForeignLayout::pytorch, HeadOrder::interleaved),
                   misread, ForeignLayout::pytorch, HeadOrder::blocked);
  const double misread_difference =
      relative_difference(misread(x, x, AttentionMask::none()).value(), with.y_fused);

  book.table(fmt::format("{} numbers under other names and shapes", figure_text(all)),
             "What each implementation calls its arrays. SummAE has no biases.",
             {"layout", "array", "shape"}, names);
  book.table(fmt::format("Where the query weights of head {} stand", last),
             "A Linear keeps output features as rows (x W^T); GPT-2's Conv1D and TensorFlow's "
             "kernels keep them as columns (x W), so a head is a block of columns there.",
             {"layout", fmt::format("query of head {}", last), "transposed", "numbers in all"},
             places);
  book.table("There and back without a changed number",
             "Each implementation's forward pass, written out with its own arrays and convention, "
             "against the fused layer here; the gradients of the separate and of the fused layer "
             "in its layout; and the numbers that differ after a way there and back.",
             {"layout", "output, relative difference", "gradients, relative difference",
              "changed numbers"},
             checks);
  book.table("The order of the channels belongs to the layout",
             "Splitting the features into [heads, D] and into [D, heads] are both found in code. "
             "Written and read in the same order it is the same layer; misread, another one.",
             {"written as [D, heads], read as", "changed numbers", "output, relative difference"},
             {{"[D, heads]", kept, 0}, {"[heads, D]", nullptr, misread_difference}});

  book.at_most("separate against fused heads, outputs, relative difference", forward, same_values);
  book.at_most("other implementations' formulas on converted weights, relative difference",
               foreign_forward, same_values);
  book.at_most("gradients of separate against fused heads in every layout", gradients,
               same_gradients);
  book.equal("numbers that a conversion there and back changed", static_cast<double>(changed), 0);
  book.equal("parameters that a layout does not hold", static_cast<double>(missing), 0);
  book.equal("numbers changed by the order [D, heads], there and back", static_cast<double>(kept),
             0);
  if (heads > 1 && d > 1) {
    book.more_than("misread order: relative difference of outputs", misread_difference, 1e-3);
  }
  book.answer(fmt::format(
      "One Linear per head, one for all, PyTorch's packed matrix, BERT's three Linears and GPT-2's "
      "transposed one hold the same {} numbers and are the same function with the same gradients. "
      "Converting moves whole blocks of rows or columns and changes no number; only the order in "
      "which the features are split into heads must be known.",
      figure_text(count_parameters(*with.separate))));
}

}  // namespace layouts
}  // namespace

Experiment layouts_experiment() {
  return {.name = "layouts",
          .text = "000",
          .asked_in = "a forum thread on pruning the heads of BERT",
          .title = "One Linear per head, or one for all: which layout is which?",
          .question =
              "An implementation treats each head as its own nn.Linear; an optimized version has a "
              "single nn.Linear for all heads; BERT, PyTorch and GPT-2 each have names and shapes "
              "of their own. Are they the same layer?",
          .computed =
              "A layer with one Linear per head gets random weights, is converted into a fused one "
              "and into the arrays of torch.nn.MultiheadAttention, BERT, GPT-2 and SummAE, and "
              "back. Each implementation's forward pass is then written out with its own arrays.",
          .formulas = {"PyTorch, BERT: q = x W^T + b, head h has rows [hD, (h+1)D)",
                       "GPT-2, SummAE: q = x W + b, head h has columns [hD, (h+1)D)"},
          .defaults = {.width = 768, .heads = 12},
          .limits = {},
          .run = layouts::run};
}

}  // namespace headroom::inline HEADROOM_PRECISION
