// groups: rules about parameter tensors, and the tape, depend on how the heads are stored.
#include <fmt/format.h>

#include <functional>

#include "headroom/array/pool.hpp"
#include "headroom/autograd/graphviz.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/lab_record.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace parameter_groups {

constexpr Index batch = 2, tokens = 12;

// ---------------------------------------------------------------- weight decay

/// A rule by which training scripts exclude parameters from weight decay.
struct Rule {
  std::string name;
  std::function<bool(const NamedParameter&)> excludes;
  /// Number of elements that it must treat differently in the two layouts, from C and H.
  Index differ;
};

std::vector<Rule> rules(Index width, Index heads) {
  const Index square = width * width;
  return {
      {"exclude tensors of fewer than two axes", no_decay_of_vectors().holds, 0},
      {"exclude names that contain \"bias\"",
       [](const NamedParameter& p) { return p.name.find("bias") != std::string::npos; }, 0},
      {"exclude names that end in \".bias\"",
       [](const NamedParameter& p) { return p.name.ends_with(".bias"); }, 3 * width},
      {"decay only names that end in \".weight\"",
       [](const NamedParameter& p) { return !p.name.ends_with(".weight"); }, 3 * square},
      {"exclude tensors of fewer than C^2 elements",
       [square](const NamedParameter& p) { return p.tensor.size() < square; },
       heads > 1 ? 3 * square : 0},
  };
}

/// Returns the parameters, initially one, after a step of AdamW with zero gradients: elements below
/// one have decayed.
NamedArrays decayed(Attention& layer, const Rule& rule) {
  for (auto& [name, tensor] : parameters(layer)) {
    tensor.set_value(Array(tensor.shape(), Real(1)), zeros(tensor.shape()));
  }
  AdamW(layer, {.weight_decay = 0.1, .groups = {{.holds = rule.excludes, .weight_decay = 0.0}}})
      .step(0.1);
  return export_attention(layer, ForeignLayout::bert);
}

struct Decay {
  Index separate = 0, fused = 0;  // elements that decay
  Index differ = 0;               // that decay in one layout only
};

Decay count_decay(const TwinLayouts& twins, const Rule& rule) {
  const NamedArrays a = decayed(*twins.separate, rule), b = decayed(*twins.fused, rule);
  Decay count;
  for (const auto& [part, in_separate] : a) {
    const Array& in_fused = b.at(part);
    for (Index i = 0; i < in_separate.size(); ++i) {
      const bool first = in_separate[i] < 1, second = in_fused[i] < 1;
      count.separate += first;
      count.fused += second;
      count.differ += first != second;
    }
  }
  return count;
}

/// Names of the rules that depend on how the heads are stored, `A; B; C`, and their number.
struct Apart {
  std::size_t count = 0;
  std::string names;
};

Apart rules_apart(const std::vector<Rule>& all, const std::vector<Decay>& decay) {
  Apart apart;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (decay[i].differ == 0) continue;
    apart.names += (apart.count++ > 0 ? "; " : "") + all[i].name;
  }
  return apart;
}

/// Applies every rule to both layouts.
std::vector<Decay> show_decay(const LabOptions& options, const std::vector<Rule>& all,
                              Notebook& book) {
  Rng rng(options.seed, "groups decay");
  const TwinLayouts twins = twin_layouts({.width = options.width, .heads = options.heads}, rng);
  std::vector<Decay> counts;
  Notebook::Rows rows;
  for (const Rule& rule : all) {
    const Decay count = count_decay(twins, rule);
    counts.push_back(count);
    rows.push_back({rule.name, count.separate, count.fused, count.differ});
  }
  book.table(
      sentence("{} of {} common rules decay different weights in the two layouts",
               rules_apart(all, counts).count, all.size()),
      sentence("Elements that decay in a step of AdamW with zero gradients, of {:,} in total. "
               "The packed tensors, in_proj_weight and in_proj_bias, have no dot before the "
               "last word of their names, and 3 C^2 and 3 C elements; the matrix of one "
               "head has C^2 / h.",
               count_parameters(*twins.fused)),
      {"rule", "separate", "fused", "treated differently"}, rows);
  return counts;
}

// ---------------------------------------------------------------- the tape

/// Computes the same function with an operation for each Linear and each head, as a list of
/// modules.
Tensor head_by_head(const SeparateHeads& layer, const Tensor& x) {
  const Index d = layer.head_dim();
  std::vector<Tensor> outputs;
  for (std::size_t h = 0; h < layer.query.size(); ++h) {
    const Tensor q = (*layer.query[h])(x), k = (*layer.key[h])(x), v = (*layer.value[h])(x);
    outputs.push_back(attention({q, 0}, {k, 0}, {v, 0}, 1, d, d, {}));
  }
  return layer.out(concat(outputs, -1));
}

/// The contents of the tape after a forward pass.
struct Tape {
  Index operations, nodes, arrows;  // nodes: including leaves, as in the Graphviz text
  Index bytes;                      // of arrays kept for the backward pass
  Array y;
};

Index count_of(const std::string& text, const std::string& word) {
  Index count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

Tape measure(const std::function<Tensor()>& forward) {
  const std::size_t before = pool_statistics().live;
  const Tensor y = forward();
  const auto kept = Index(pool_statistics().live - before);
  const std::string graph = to_graphviz(y);
  // The picture adds the result and an arrow to it.
  return {graph_size(y), count_of(graph, "class=") - 1, count_of(graph, "->") - 1,
          kept - y.size() * Index(sizeof(Real)), y.value()};
}

/// The three ways of writing one attention.
struct Tapes {
  Index heads;
  Tape separate, fused, listed;
  Index separate_tensors, fused_tensors;
};

Tapes measure_tapes(Index width, Index heads, std::uint64_t seed) {
  Rng rng(seed, "groups tape");
  const TwinLayouts twins = twin_layouts({.width = width, .heads = heads}, rng);
  const Tensor x(normal({batch, tokens, width}, 1, rng), true);
  const auto by_layout = [&](const Attention& layer) {
    return measure([&] { return layer(x, x, AttentionMask::none()); });
  };
  const auto& separate = static_cast<const SeparateHeads&>(*twins.separate);
  return {heads,
          by_layout(*twins.separate),
          by_layout(*twins.fused),
          measure([&] { return head_by_head(separate, x); }),
          Index(parameters(*twins.separate).size()),
          Index(parameters(*twins.fused).size())};
}

void show_tapes(const std::vector<Tapes>& all, Notebook& book) {
  Notebook::Rows rows;
  std::vector<Notebook::Series> lines{{"separate", {}}, {"fused", {}}, {"a list of Linears", {}}};
  for (const Tapes& tapes : all) {
    const Tape* forms[] = {&tapes.separate, &tapes.fused, &tapes.listed};
    for (std::size_t i = 0; i < 3; ++i) {
      rows.push_back({tapes.heads, lines[i].name,
                      i == 1 ? tapes.fused_tensors : tapes.separate_tensors, forms[i]->operations,
                      forms[i]->nodes, forms[i]->arrows, forms[i]->bytes});
      lines[i].points.emplace_back(double(tapes.heads), double(forms[i]->nodes));
    }
  }
  const Tapes& last = all.back();
  book.chart(sentence("With {} heads the graph has {}, {} or {} nodes", last.heads,
                      last.separate.nodes, last.fused.nodes, last.listed.nodes),
             "Operations and leaves of one forward pass, counted in the Graphviz export.", "heads",
             "nodes", true, lines);
  book.figure();
  book.table(
      sentence("{} heads, separate and fused: {} and {} parameter tensors, {} and {} operations",
               last.heads, last.separate_tensors, last.fused_tensors, last.separate.operations,
               last.fused.operations),
      sentence("One self-attention on [{}, {}, C]. SeparateHeads runs all Linears of one "
               "kind as one operation; the third form has one operation for each Linear and head, "
               "as in a loop over a list of modules. Bytes are the sizes of the pool's blocks, "
               "which are rounded up.",
               batch, tokens),
      {"heads", "layout", "parameter tensors", "operations", "nodes", "arrows",
       "bytes kept for backward"},
      rows);
}

// ---------------------------------------------------------------- all of it

void run(const LabOptions& options, Notebook& book) {
  const std::vector<Rule> all_rules = rules(options.width, options.heads);
  const std::vector<Decay> decay = show_decay(options, all_rules, book);
  std::vector<Tapes> tapes;
  for (const Index heads : counts_of_heads(options.width, 16, options.heads)) {
    tapes.push_back(measure_tapes(options.width, heads, options.seed));
  }
  show_tapes(tapes, book);

  for (std::size_t i = 0; i < decay.size(); ++i) {
    book.equal(fmt::format("{}: elements treated differently", all_rules[i].name),
               double(decay[i].differ), double(all_rules[i].differ));
  }
  book.equal("exclude tensors of fewer than two axes: elements that decay, 4 C^2",
             double(decay[0].fused), double(4 * options.width * options.width));
  Index wrong_tensors = 0, wrong_operations = 0, wrong_list = 0;
  double difference = 0, bytes_ratio = 1;
  for (const Tapes& at : tapes) {
    wrong_tensors += at.separate_tensors != 6 * at.heads + 2 || at.fused_tensors != 4;
    wrong_operations += at.separate.operations != tapes[0].separate.operations ||
                        at.fused.operations != tapes[0].fused.operations;
    wrong_list += at.listed.operations != 4 * at.heads + 2;
    const double ratio = double(at.separate.bytes) / double(at.fused.bytes);
    bytes_ratio = larger(bytes_ratio, larger(ratio, 1 / ratio));
    for (const Tape* tape : {&at.separate, &at.listed}) {
      difference = larger(difference, relative_difference(tape->y, at.fused.y));
    }
  }
  const auto none = [&](const char* claim, Index count) { book.equal(claim, double(count), 0); };
  none("counts of heads without 6 h + 2 parameter tensors (separate) and 4 (fused)", wrong_tensors);
  none("counts of heads that change the number of operations of the two layouts", wrong_operations);
  none("counts of heads without 4 h + 2 operations when written head by head", wrong_list);
  book.at_most(
      "bytes kept by the two layouts, largest ratio (blocks are up to 5/4 of their contents)",
      bytes_ratio, 1.25);
  book.at_most("outputs of the three forms, relative difference", difference, same_values);
  const Apart apart = rules_apart(all_rules, decay);
  const Tapes& last = tapes.back();
  book.answer(sentence(
      "{} of {} common rules for weight decay depend on how the heads are stored ({}); the rules "
      "by the number of axes or by the word \"bias\" decay the same weights in both layouts. With "
      "{} heads the separate layout has {} parameter tensors instead of {}, and its tape has {} "
      "operations instead of {}, or {} with one operation for each Linear and head.",
      apart.count, decay.size(), apart.names, last.heads, last.separate_tensors, last.fused_tensors,
      last.separate.operations, last.fused.operations, last.listed.operations));
}

}  // namespace parameter_groups
}  // namespace

Experiment groups_experiment() {
  return {.name = "groups",
          .title = "Which rules depend on how the heads are stored?",
          .question =
              "Which weights decay, and how large is the graph of a forward pass, when the heads "
              "are h Linears instead of one?",
          .computed =
              "AdamW uses common rules for weight decay in both layouts, and the elements that "
              "decay in a step with zero gradients are counted. Then the tape of one forward pass "
              "is measured: operations, nodes and arrows of its Graphviz export, and bytes kept "
              "for the backward pass, in both layouts and with an operation per head.",
          .formulas =
              {"\"parameter tensors:\" 6 h + 2 \"(separate),\" 4 \"(fused)\"",
               "\"operations head by head:\" 3 h \"Linears\" + h \"attentions + concat + output\"",
               "\"decayed when matrices decay:\" 4 C^2"},
          .defaults = {.width = 64, .heads = 8},
          .limits = {.least_head_dim = 4},
          .run = parameter_groups::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
