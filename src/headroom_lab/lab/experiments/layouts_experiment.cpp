// layouts: the same heads as PyTorch, BERT, GPT-2 and SummAE store them, converted into each other.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/head_outlines.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace layouts {

constexpr Index batch = 2, tokens = 12;

/// Heads of queries, keys and values [B, T, C], mixed: [B, T, C] before the output projection.
Tensor mixed(const Tensor& q, const Tensor& k, const Tensor& v, Index heads) {
  const Index width = q.dim(2), d = width / heads;
  const auto apart = [&](const Tensor& x) {
    return permute(reshape(x, {batch, tokens, heads, d}), {0, 2, 1, 3});
  };
  const Real scale = 1 / std::sqrt(Real(d));
  const Tensor weights = softmax(matmul(apart(q), transpose(apart(k))) * scale);
  return reshape(permute(matmul(weights, apart(v)), {0, 2, 1, 3}), {batch, tokens, width});
}

/// The forward pass of the other implementation, from its own arrays and by its own convention:
/// Linears (x W^T + b) in PyTorch, BERT and BART, Conv1D and kernels (x W + b) in GPT-2 and SummAE.
Tensor forward_of(ForeignLayout layout, const std::map<std::string, Tensor>& arrays,
                  const Tensor& x, Index heads) {
  const Index width = x.dim(2);
  const auto at = [&](const char* name) { return arrays.at(name); };
  const auto thirds = [&](const Tensor& qkv) { return split(qkv, {width, width, width}, 2); };
  switch (layout) {
    case ForeignLayout::pytorch: {
      const auto qkv = thirds(linear(x, at("in_proj_weight"), at("in_proj_bias")));
      return linear(mixed(qkv[0], qkv[1], qkv[2], heads), at("out_proj.weight"),
                    at("out_proj.bias"));
    }
    case ForeignLayout::bert:
      return linear(mixed(linear(x, at("self.query.weight"), at("self.query.bias")),
                          linear(x, at("self.key.weight"), at("self.key.bias")),
                          linear(x, at("self.value.weight"), at("self.value.bias")), heads),
                    at("output.dense.weight"), at("output.dense.bias"));
    case ForeignLayout::gpt2: {
      const auto qkv = thirds(matmul(x, at("c_attn.weight")) + at("c_attn.bias"));
      return matmul(mixed(qkv[0], qkv[1], qkv[2], heads), at("c_proj.weight")) + at("c_proj.bias");
    }
    case ForeignLayout::bart:
      return linear(mixed(linear(x, at("q_proj.weight"), at("q_proj.bias")),
                          linear(x, at("k_proj.weight"), at("k_proj.bias")),
                          linear(x, at("v_proj.weight"), at("v_proj.bias")), heads),
                    at("out_proj.weight"), at("out_proj.bias"));
    case ForeignLayout::summae:
      return matmul(mixed(matmul(x, at("q_proj/kernel")), matmul(x, at("k_proj/kernel")),
                          matmul(x, at("v_proj/kernel")), heads),
                    at("output_proj/kernel"));
  }
  return {};
}

/// The other implementation's results from its own arrays: y, and the gradients of <cotangent, y>.
struct ForeignPass {
  Array y;
  NamedArrays gradients;
};

ForeignPass foreign_pass(ForeignLayout layout, const NamedArrays& arrays, const Tensor& x,
                         const Array& cotangent, Index heads) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, array] : arrays) tensors[name] = parameter(array.clone());
  const Tensor y = forward_of(layout, tensors, x, heads);
  y.backward(cotangent);
  ForeignPass pass{y.value(), {}};
  for (const auto& [name, tensor] : tensors) pass.gradients[name] = tensor.grad();
  return pass;
}

/// The location of a head's query weights, as text.
std::string place_of(ForeignLayout layout, Index begin, Index end) {
  switch (layout) {
    case ForeignLayout::pytorch:
      return fmt::format("rows {} to {} of in_proj_weight", begin, end - 1);
    case ForeignLayout::bert:
      return fmt::format("rows {} to {} of self.query.weight", begin, end - 1);
    case ForeignLayout::gpt2:
      return fmt::format("columns {} to {} of c_attn.weight", begin, end - 1);
    case ForeignLayout::bart: return fmt::format("rows {} to {} of q_proj.weight", begin, end - 1);
    case ForeignLayout::summae:
      return fmt::format("columns {} to {} of q_proj/kernel", begin, end - 1);
  }
  return "";
}

constexpr ForeignLayout foreign_layouts[] = {ForeignLayout::pytorch, ForeignLayout::bert,
                                             ForeignLayout::gpt2, ForeignLayout::bart,
                                             ForeignLayout::summae};

/// The same layer in both layouts of this library, with the gradients of one pass and its outputs.
struct Pair {
  TwinLayouts twins, spare;  // spare: layers of the same kinds to read other layouts into
  Array y_separate, y_fused;
};

/// SummAE has no biases, so there is a pair without them.
struct Pairs {
  Tensor x;
  Array cotangent;
  Pair with, without;
  const Pair& of(ForeignLayout layout) const {
    return layout == ForeignLayout::summae ? without : with;
  }
};

Pairs draw(const LabOptions& options) {
  Rng rng(options.seed, "layouts");
  const Shape shape{batch, tokens, options.width};
  Pairs pairs{Tensor(normal(shape, 1, rng)), normal(shape, 1, rng), {}, {}};
  for (Pair* pair : {&pairs.with, &pairs.without}) {
    const AttentionConfig config{
        .width = options.width, .heads = options.heads, .bias = pair == &pairs.with};
    pair->twins = twin_layouts(config, rng);
    pair->spare = {make_attention(Layout::separate, config, rng),
                   make_attention(Layout::fused, config, rng)};
    const auto pass = [&](const Attention& layer) {
      const Tensor y = layer(pairs.x, pairs.x, AttentionMask::none());
      y.backward(pairs.cotangent);
      return y.value();
    };
    pair->y_separate = pass(*pair->twins.separate);
    pair->y_fused = pass(*pair->twins.fused);
  }
  return pairs;
}

Index count_elements(const NamedArrays& arrays) {
  Index count = 0;
  for (const auto& [name, array] : arrays) count += array.size();
  return count;
}

/// Number of elements whose bits differ, or that only one of two sets of arrays has.
Index changed_elements(const NamedArrays& a, const NamedArrays& b) {
  Index changed = 0, shared = 0;
  for (const auto& [name, array] : a) {
    const auto found = b.find(name);
    if (found == b.end() || !(found->second.shape() == array.shape())) continue;
    shared += array.size();
    for (Index i = 0; i < array.size(); ++i) {
      changed +=
          array[i] != found->second[i] || std::signbit(array[i]) != std::signbit(found->second[i]);
    }
  }
  return changed + count_elements(a) + count_elements(b) - 2 * shared;
}

NamedArrays values_of(Attention& layer) {
  NamedArrays values;
  for (const NamedParameter& p : parameters(layer)) values[p.name] = p.tensor.value();
  return values;
}

/// Fills a spare layer with `arrays`, replacing all its parameters.
Attention& imported(Attention& spare, const NamedArrays& arrays, ForeignLayout layout,
                    HeadOrder order = HeadOrder::blocked) {
  for (NamedParameter& p : parameters(spare)) p.tensor.set_value(zeros(p.tensor.shape()));
  import_attention(arrays, spare, layout, order);
  return spare;
}

/// Number of a layer's elements that changed by conversion into another layout and back.
Index changed_there_and_back(Attention& from, Attention& spare, ForeignLayout layout,
                             HeadOrder order = HeadOrder::blocked) {
  const NamedArrays there = export_attention(from, layout, order);
  return changed_elements(values_of(from), values_of(imported(spare, there, layout, order)));
}

void show_names(const Pairs& pairs, Notebook& book) {
  Notebook::Rows rows;
  const auto add = [&](std::string layout, const NamedArrays& arrays) {
    for (const auto& [name, array] : arrays) {
      rows.push_back({std::exchange(layout, ""), name, array.shape().text()});
    }
  };
  Attention& separate = *pairs.with.twins.separate;
  const NamedArrays own = values_of(separate);
  const Index last = separate.config().heads - 1;
  rows.push_back({"separate heads", fmt::format("query.0.weight to query.{}.weight", last),
                  own.at("query.0.weight").shape().text()});
  rows.push_back(
      {"", "query.0.bias, ...; likewise key, value", own.at("query.0.bias").shape().text()});
  rows.push_back({"", "out.weight", own.at("out.weight").shape().text()});
  rows.push_back({"", "out.bias", own.at("out.bias").shape().text()});
  add("fused heads", values_of(*pairs.with.twins.fused));
  for (const ForeignLayout layout : foreign_layouts) {
    add(name_of(layout), export_attention(*pairs.of(layout).twins.separate, layout));
  }
  book.table(sentence("Names and shapes of the {:,} elements", count_parameters(separate)),
             "The arrays of each implementation. SummAE has no biases.",
             {"layout", "array", "shape"}, rows);
}

/// Outlines of the arrays with the query weights of four implementations.
void draw_places(const LabOptions& options, Notebook& book) {
  const Index heads = options.heads, d = options.head_dim(), width = options.width;
  LabHeads::Matrix of_head{"separate: query.0.weight", d, width, {{0, 0, d - 1, 0, width - 1}}};
  book.heads("The same heads in the arrays of four implementations",
             "The arrays with the query weights, each as it is stored. PyTorch packs query, key "
             "and value below each other. GPT-2 packs them side by side and stores the transpose, "
             "so a head has columns there.",
             {std::move(of_head), rows_by_head("BERT: query.weight", heads, d, width),
              rows_by_head("PyTorch: in_proj_weight", heads, d, width, 3),
              columns_by_head("GPT-2: c_attn.weight", heads, d, width, 3)});
  book.figure();
}

void show_places(const LabOptions& options, const Pairs& pairs, Notebook& book) {
  const Index last = options.heads - 1, begin = last * options.head_dim();
  const TwinLayouts& own = pairs.with.twins;
  Notebook::Rows rows{
      {"separate heads", fmt::format("query.{}.weight", last), "no",
       count_parameters(*own.separate)},
      {"fused heads", fmt::format("rows {} to {} of in_proj_weight", begin, options.width - 1),
       "no", count_parameters(*own.fused)}};
  Index missing = 0;
  for (const ForeignLayout layout : foreign_layouts) {
    Attention& layer = *pairs.of(layout).twins.separate;
    const Index count = count_elements(export_attention(layer, layout));
    missing += count_parameters(layer) - count;
    const bool by_columns = layout == ForeignLayout::gpt2 || layout == ForeignLayout::summae;
    rows.push_back({name_of(layout), place_of(layout, begin, options.width),
                    by_columns ? "yes" : "no", count});
  }
  book.table(sentence("Location of the query weights of head {}", last),
             "A Linear stores output features as rows (x W^T); GPT-2's Conv1D and TensorFlow's "
             "kernels store them as columns (x W), so a head is a block of columns there.",
             {"layout", fmt::format("query of head {}", last), "transposed", "elements in total"},
             rows);
  book.equal("parameters that a layout lacks", double(missing), 0);
}

/// Compares every implementation's forward pass and gradients with those of both layouts here.
void compare_passes(const Pairs& pairs, Notebook& book) {
  Notebook::Rows rows;
  double outputs = 0, gradients = 0;
  const double own = larger(relative_difference(pairs.with.y_separate, pairs.with.y_fused),
                            relative_difference(pairs.without.y_separate, pairs.without.y_fused));
  for (const ForeignLayout layout : foreign_layouts) {
    const Pair& pair = pairs.of(layout);
    Attention &separate = *pair.twins.separate, &fused = *pair.twins.fused;
    const ForeignPass pass = foreign_pass(layout, export_attention(separate, layout), pairs.x,
                                          pairs.cotangent, separate.config().heads);
    const double apart = relative_difference(pass.y, pair.y_fused);
    const double by_separate = parts_apart(pass.gradients, export_gradients(separate, layout));
    const double by_fused = parts_apart(pass.gradients, export_gradients(fused, layout));
    outputs = larger(outputs, apart);
    gradients = larger(gradients, larger(by_separate, by_fused));
    rows.push_back({name_of(layout), apart, by_separate, by_fused});
  }
  book.table(
      "Outputs and gradients by each implementation's formula",
      "Each implementation's forward pass, written with its own arrays and convention. The tape "
      "gives its gradients, in its own names and shapes. Both are compared with the converted "
      "output and gradients of headroom's layers: max |difference| / max |value|.",
      {"layout", "output", "gradients, against separate heads", "gradients, against fused heads"},
      rows);
  book.at_most("separate against fused heads, outputs, relative difference", own, same_values);
  book.at_most("other implementations' formulas on converted weights, relative difference", outputs,
               same_values);
  book.at_most("gradients of other implementations' formulas against those of headroom's layouts",
               gradients, same_gradients);
}

/// Number of elements that change from one layout into another through a layer here, compared with
/// those of the layer itself; -1 where no layer fits both, because only one has biases.
Index changed_between(const Pairs& pairs, ForeignLayout from, ForeignLayout to) {
  const bool no_biases = from == ForeignLayout::summae || to == ForeignLayout::summae;
  const auto fits = [&](ForeignLayout layout) {
    return !no_biases || layout == ForeignLayout::summae || layout == ForeignLayout::pytorch;
  };
  if (!fits(from) || !fits(to)) return -1;
  const auto& [twins, spare, y_separate, y_fused] = no_biases ? pairs.without : pairs.with;
  const auto changed = [&](Attention& layer, Attention& empty) {
    Attention& between = imported(empty, export_attention(layer, from), from);
    return changed_elements(export_attention(layer, to), export_attention(between, to));
  };
  return changed(*twins.separate, *spare.separate) + changed(*twins.fused, *spare.fused);
}

/// Converts from every layout into every other one and back into ours.
void convert(const Pairs& pairs, Notebook& book) {
  Notebook::Rows rows;
  Index there_and_back = 0, between = 0;
  for (const ForeignLayout from : foreign_layouts) {
    std::vector<Value> row{name_of(from)};
    for (const ForeignLayout to : foreign_layouts) {
      const Index changed = changed_between(pairs, from, to);
      row.push_back(changed < 0 ? Value("-") : Value(changed));
      if (changed > 0) between += changed;
    }
    const Pair& pair = pairs.of(from);
    const Index back = changed_there_and_back(*pair.twins.separate, *pair.spare.separate, from) +
                       changed_there_and_back(*pair.twins.fused, *pair.spare.fused, from);
    row.emplace_back(back);
    there_and_back += back;
    rows.push_back(std::move(row));
  }
  std::vector<std::string> columns{"elements changed, from"};
  for (const ForeignLayout to : foreign_layouts)
    columns.push_back(fmt::format("to {}", name_of(to)));
  columns.emplace_back("and back");
  book.table(
      sentence("Converting the layouts into each other changes {:,} elements",
               there_and_back + between),
      "The arrays of one layout are imported into a layer with separate and into one with fused "
      "heads, and exported to another layout. The table counts the elements that differ from "
      "those of a direct export. BERT, GPT-2 and BART have biases, SummAE has none, PyTorch "
      "supports "
      "both.",
      columns, rows);
  book.equal("elements changed from any layout into any other", double(between), 0);
  book.equal("elements changed after converting there and back", double(there_and_back), 0);
}

/// Shows that the order of the channels is part of a layout: in the wrong order, the same arrays
/// compute another function.
void wrong_order(const LabOptions& options, const Pairs& pairs, Notebook& book) {
  constexpr ForeignLayout layout = ForeignLayout::pytorch;
  Attention &layer = *pairs.with.twins.fused, &spare = *pairs.with.spare.fused;
  const Index kept = changed_there_and_back(layer, spare, layout, HeadOrder::interleaved);
  const NamedArrays interleaved = export_attention(layer, layout, HeadOrder::interleaved);
  const auto difference_read_as = [&](HeadOrder order) {
    const Attention& read = imported(spare, interleaved, layout, order);
    return relative_difference(read(pairs.x, pairs.x, AttentionMask::none()).value(),
                               pairs.with.y_fused);
  };
  const double as_written = difference_read_as(HeadOrder::interleaved);
  const double misread = difference_read_as(HeadOrder::blocked);
  book.table(
      "Import in the right and in the wrong order of channels",
      sentence("Code splits the features either into [heads, D] or into [D, heads]. The "
               "layer is exported in the second order. Imported in the first, it is {}.",
               misread > 0 ? "another layer" : "the same layer, because both orders are equal"),
      {"exported as [D, heads], imported as", "changed elements", "output, relative difference"},
      {{"[D, heads]", kept, as_written}, {"[heads, D]", nullptr, misread}});
  book.equal("elements changed by the order [D, heads], there and back", double(kept), 0);
  book.equal("imported in the order of the export: relative difference of outputs", as_written, 0);
  if (options.heads > 1 && options.head_dim() > 1) {
    book.more_than("imported in the other order: relative difference of outputs", misread, 1e-3);
  }
}

void run(const LabOptions& options, Notebook& book) {
  const Pairs pairs = draw(options);
  show_names(pairs, book);
  draw_places(options, book);
  show_places(options, pairs, book);
  compare_passes(pairs, book);
  convert(pairs, book);
  wrong_order(options, pairs, book);
  book.answer(
      sentence("Yes: one Linear per head, one for all, PyTorch's packed matrix, BERT's three "
               "Linears and GPT-2's transposed one hold the same {:,} elements and compute the "
               "same function with the same gradients. Converting copies whole blocks of rows or "
               "columns; only the order in which the features are split into heads must be known.",
               count_parameters(*pairs.with.twins.separate)));
}

}  // namespace layouts
}  // namespace

Experiment layouts_experiment() {
  return {.name = "layouts",
          .asked_in = "a forum thread on pruning the heads of BERT",
          .title = "Is one Linear per head the same layer as one for all heads?",
          .question =
              "Are one Linear for each head, one for all heads, and the arrays of BERT, PyTorch "
              "and GPT-2 the same layer?",
          .computed =
              "A layer with one Linear per head gets random weights and is converted into a fused "
              "one and into the arrays of torch.nn.MultiheadAttention, BERT, GPT-2 and SummAE, "
              "from each of these into the others, and back. Each implementation's forward pass "
              "is written out with its own arrays, and the tape computes their gradients.",
          .formulas =
              {"\"PyTorch, BERT:\" q = x W^T + b\", head\" h \"has rows\" hD \"to\" (h + 1)D - 1",
               "\"GPT-2, SummAE:\" q = x W + b\", head\" h \"has columns\" hD \"to\" (h + 1)D - 1"},
          .defaults = {.width = 768, .heads = 12},
          .limits = {},
          .run = layouts::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
