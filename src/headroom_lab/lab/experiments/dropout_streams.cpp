// dropout-streams: masks computed from addresses, and masks from one sequential generator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/numbers.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace dropout_masks {

constexpr Index batch = 4, most_tokens = 12;
constexpr Index removed_head = 0;
constexpr int steps = 5, draws = 20;  // measured steps; draws of the emulated sequence
constexpr double shown_p = 0.2;

struct Sizes {
  Index width, heads, d, tokens;
  Index per_head() const { return tokens * tokens; }
};

/// A mask [batch, heads, queries, keys]: 1 where an attention weight is kept. `original` holds the
/// original numbers of its heads, so that masks with and without a head can be compared.
struct Mask {
  std::vector<std::uint8_t> kept;
  std::vector<Index> original;
};

// ---------------------------------------------------------------- masks of the library's layers

/// An attention whose output shows its dropout mask. Tokens are one-hot, scores are all 0, and the
/// value of key j is the j-th unit vector in every head, so that column j of a head's output is
/// m_ij / (T (1 - p)), copied by W_O = I: 0 exactly where the weight was dropped.
void make_transparent(Attention& layer, const Sizes& s) {
  for (auto& [name, tensor] : parameters(layer)) tensor.set_value(zeros(tensor.shape()));
  NamedArrays visible = export_attention(layer, ForeignLayout::bert);
  Array value = zeros({s.width, s.width}), output = zeros({s.width, s.width});
  for (Index h = 0; h < s.heads; ++h) {
    for (Index j = 0; j < s.tokens; ++j) value[(h * s.d + j) * s.width + j] = 1;
  }
  for (Index i = 0; i < s.width; ++i) output[i * s.width + i] = 1;
  visible.at("self.value.weight") = value;
  visible.at("output.dense.weight") = output;
  import_attention(visible, layer, ForeignLayout::bert);
}

Tensor one_hot_tokens(const Sizes& s) {
  Array x = zeros({batch, s.tokens, s.width});
  for (Index row = 0; row < batch * s.tokens; ++row) x[row * s.width + row % s.tokens] = 1;
  return Tensor(x);
}

/// The output of a transparent layer at a training step.
Array output_at(const Attention& layer, const Tensor& x, std::uint64_t seed, std::uint64_t step) {
  const NoGrad quiet;
  const RandomStep random(seed, step);
  return layer(x, x, AttentionMask::none()).value();
}

/// The mask of a transparent layer's live heads, from its output.
Mask mask_of(const Attention& layer, const Array& y, const Sizes& s) {
  Mask mask{{}, {layer.alive().begin(), layer.alive().end()}};
  for (Index b = 0; b < batch; ++b) {
    for (const Index head : mask.original) {
      for (Index i = 0; i < s.tokens; ++i) {
        const Real* row = y.data() + (b * s.tokens + i) * s.width + head * s.d;
        for (Index j = 0; j < s.tokens; ++j) mask.kept.push_back(row[j] != 0);
      }
    }
  }
  return mask;
}

/// Elements of the heads in both masks that differ.
Index differing(const Mask& a, const Mask& b, const Sizes& s) {
  Index count = 0;
  for (Index example = 0; example < batch; ++example) {
    for (std::size_t i = 0; i < a.original.size(); ++i) {
      const auto found = std::find(b.original.begin(), b.original.end(), a.original[i]);
      if (found == b.original.end()) continue;
      const auto place = [&](const Mask& mask, Index head) {
        const auto heads = Index(mask.original.size());
        return mask.kept.begin() + (example * heads + head) * s.per_head();
      };
      const auto begin = place(a, Index(i));
      const auto other = place(b, found - b.original.begin());
      for (Index e = 0; e < s.per_head(); ++e) count += begin[e] != other[e];
    }
  }
  return count;
}

/// Changes of the library's masks when the layout changes, and when a head is removed.
struct Addressed {
  Index compared = 0;       // elements of all steps
  Index by_layout = 0;      // that differ between the layouts
  Index by_removal = 0;     // of the other heads that differ after a removal, both layouts
  Index output_bits = 0;    // output elements whose bits differ between the layouts
  Index between_steps = 0;  // that differ between one step and the next: a control
  Index dropped = 0;
  Mask separate, fused, after;  // of the first step
};

Addressed read_out(const LabOptions& options, const Sizes& s) {
  Rng rng(options.seed, "dropout-streams layers");
  TwinLayouts twins =
      twin_layouts({.width = s.width, .heads = s.heads, .dropout = Real(shown_p)}, rng);
  TwinLayouts pruned = twin_layouts(twins.separate->config(), rng);
  for (Attention* layer :
       {twins.separate.get(), twins.fused.get(), pruned.separate.get(), pruned.fused.get()}) {
    make_transparent(*layer, s);
    layer->name_streams();
  }
  const std::vector<Index> gone{removed_head};
  pruned.separate->prune(gone);
  pruned.fused->prune(gone);

  const Tensor x = one_hot_tokens(s);
  Addressed result;
  Mask before;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const auto mask_from = [&](const Attention& layer) {
      return mask_of(layer, output_at(layer, x, options.seed, step), s);
    };
    const Array y_separate = output_at(*twins.separate, x, options.seed, step);
    const Array y_fused = output_at(*twins.fused, x, options.seed, step);
    const Mask separate = mask_of(*twins.separate, y_separate, s);
    const Mask fused = mask_of(*twins.fused, y_fused, s);
    const Mask after = mask_from(*pruned.fused);
    result.compared += Index(separate.kept.size());
    result.by_layout += differing(separate, fused, s);
    result.by_removal +=
        differing(fused, after, s) + differing(separate, mask_from(*pruned.separate), s);
    for (Index i = 0; i < y_fused.size(); ++i) {
      result.output_bits +=
          std::signbit(y_separate[i]) != std::signbit(y_fused[i]) || y_separate[i] != y_fused[i];
    }
    result.dropped += std::count(fused.kept.begin(), fused.kept.end(), 0);
    result.between_steps += step > 0 ? differing(before, fused, s) : 0;
    before = fused;
    if (step == 0) {
      result.separate = separate;
      result.fused = fused;
      result.after = after;
    }
  }
  return result;
}

// ---------------------------------------------------------------- the emulated sequence

/// The order in which a library draws the random numbers of one attention's masks.
enum class Order { fused, separate };

/// Index in the sequence of element (b, head number h, e) of a layer with `heads` live heads: the
/// fused layer draws one mask [B, H, T, T], separate heads draw [B, T, T] one after the other.
Index place_of(Order order, const Sizes& s, Index heads, Index b, Index h, Index e) {
  return (order == Order::fused ? b * heads + h : h * batch + b) * s.per_head() + e;
}

/// The same elements in two orders of drawing.
struct Comparison {
  const char* name;
  Order before, after;
  Index removed;  // heads removed between the two: the first ones
};
constexpr Comparison comparisons[] = {
    {"the other layout", Order::fused, Order::separate, 0},
    {"fused, head 0 removed", Order::fused, Order::fused, 1},
    {"separate, head 0 removed", Order::separate, Order::separate, 1}};

/// Number of elements of the surviving heads whose index changed, and of those whose value changed.
struct Changed {
  Index elements = 0, moved = 0, differ = 0;
  double share() const { return double(differ) / double(moved); }
};

Changed compare(const Comparison& comparison, const Sizes& s, const std::vector<double>& sequence,
                double p) {
  Changed result;
  const auto kept = [&](Index place) { return at(sequence, place) >= p; };
  const Index heads_after = s.heads - comparison.removed;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = comparison.removed; h < s.heads; ++h) {
      for (Index e = 0; e < s.per_head(); ++e) {
        const Index from = place_of(comparison.before, s, s.heads, b, h, e);
        const Index to = place_of(comparison.after, s, heads_after, b, h - comparison.removed, e);
        ++result.elements;
        result.moved += from != to;
        result.differ += kept(from) != kept(to);
      }
    }
  }
  return result;
}

/// Six standard errors of the mean of n indicators, each of which is 1 if two independent numbers
/// are on different sides of p. An indicator shares one number with at most two others, or both
/// with one, where the new order swaps two elements (as it does when batch = heads) and so counts
/// their pair twice.
double allowance(double p, Index n) {
  const double pq = p * (1 - p), variance = 2 * pq * (1 - 2 * pq), covariance = pq * (1 - 4 * pq);
  return 6 * std::sqrt((variance + larger(2 * covariance, variance)) / double(n));
}

/// Uniform numbers in the order of a sequential generator.
std::vector<double> sequence_of(const LabOptions& options, const Sizes& s, std::uint64_t draw) {
  Rng rng(options.seed, "dropout-streams sequence", draw);
  std::vector<double> numbers;
  for (Index i = 0; i < batch * s.heads * s.per_head(); ++i) {
    numbers.push_back(double(rng.uniform()));
  }
  return numbers;
}

/// Compares the share of changed mask elements at several dropout rates with 2 p (1 - p).
void emulate(const LabOptions& options, const Sizes& s, Notebook& book) {
  std::vector<std::vector<double>> sequences;
  for (std::uint64_t i = 0; i < draws; ++i) sequences.push_back(sequence_of(options, s, i));
  std::vector<double> rates;
  Notebook::Series expected{"2 p (1 - p)", {}};
  for (int tenth = 1; tenth <= 9; ++tenth) {
    const double p = 0.1 * tenth;
    rates.push_back(p);
    expected.points.emplace_back(p, 2 * p * (1 - p));
  }
  std::vector<Notebook::Series> lines{expected};
  Notebook::Rows rows;
  for (const Comparison& comparison : comparisons) {
    const Grid<double, Changed> seen(rates, draws, [&](double p, auto draw) {
      return compare(comparison, s, sequences[draw], p);
    });
    lines.push_back(seen.series(comparison.name, as_it_is, &Changed::share));
    for (const std::size_t shown : {0u, 1u, 4u}) {  // p = 0.1, 0.2, 0.5
      const auto [p, wanted] = expected.points[shown];
      const Interval mean = seen[shown].mean(&Changed::share);
      const Changed& any = seen[shown].samples().front();  // all draws have the same indices
      rows.push_back({comparison.name, p, double(any.moved) / double(any.elements), mean, wanted});
      const double allowed = allowance(p, draws * any.moved);
      book.within(
          fmt::format("sequence, {}, p = {}: share that differs of elements with another index",
                      comparison.name, p),
          mean.value, wanted - allowed, wanted + allowed);
    }
  }
  book.chart(sentence("With one sequence, {:.2f} of the elements with another index differ at p = "
                      "0.5",
                      lines[1].points[4].second),
             sentence("Share of the elements with another index whose value differs, by dropout "
                      "probability; mean of {} draws.",
                      draws),
             "p", "share that differs", false, lines);
  book.figure();
  book.table("Mask elements from one sequence after a change of layout or heads",
             sentence("Elements of the remaining heads. An element's index in the sequence depends "
                      "on the order of drawing and on the heads before it. Means of {} draws with "
                      "95 % intervals.",
                      draws),
             {"change", "p", "share with another index", "of these differ", "2 p (1 - p)"}, rows);
}

// ---------------------------------------------------------------- all of it

/// One head's mask of the first example, as a map.
Array picture(const Mask& mask, Index head, const Sizes& s) {
  const auto at = std::find(mask.original.begin(), mask.original.end(), head);
  const auto begin = mask.kept.begin() + (at - mask.original.begin()) * s.per_head();
  Array map({s.tokens, s.tokens});
  for (Index e = 0; e < map.size(); ++e) map[e] = Real(begin[e]);
  return map;
}

Array picture_of_sequence(const std::vector<double>& sequence, const Sizes& s, Order order,
                          Index heads, Index head) {
  Array map({s.tokens, s.tokens});
  for (Index e = 0; e < map.size(); ++e) {
    const Index place = place_of(order, s, heads, 0, head, e);
    map[e] = at(sequence, place) >= shown_p ? Real(1) : Real(0);
  }
  return map;
}

void show_masks(const LabOptions& options, const Sizes& s, const Addressed& own, Notebook& book) {
  const Index head = s.heads - 1;
  const std::vector<double> sequence = sequence_of(options, s, 0);
  book.maps(
      sentence("The mask of head {} in both layouts, and after head {} is removed", head,
               removed_head),
      sentence("Filled: the weight is kept; p = {}, first example. Masks computed from addresses, "
               "and masks from one sequence of random numbers.",
               shown_p),
      numbered("query", s.tokens), numbered("key", s.tokens),
      {{"address, fused", picture(own.fused, head, s)},
       {"address, separate", picture(own.separate, head, s)},
       {"address, one head less", picture(own.after, head, s)},
       {"sequence, fused", picture_of_sequence(sequence, s, Order::fused, s.heads, head)},
       {"sequence, separate", picture_of_sequence(sequence, s, Order::separate, s.heads, head)},
       {"sequence, one head less",
        picture_of_sequence(sequence, s, Order::fused, s.heads - 1, head - 1)}});
}

/// Random weights under dropout: the difference between the layouts, and between two masks.
struct Outputs {
  double by_layout, by_mask;
};

Outputs compare_outputs(const LabOptions& options, const Sizes& s, std::uint64_t step) {
  Rng rng(options.seed, "dropout-streams outputs", step);
  const TwinLayouts twins =
      twin_layouts({.width = s.width, .heads = s.heads, .dropout = Real(shown_p)}, rng);
  const Tensor x(normal({batch, s.tokens, s.width}, 1, rng));
  const Array fused = output_at(*twins.fused, x, options.seed, step);
  return {relative_difference(fused, output_at(*twins.separate, x, options.seed, step)),
          relative_difference(fused, output_at(*twins.fused, x, options.seed, step + 1))};
}

void run(const LabOptions& options, Notebook& book) {
  const Sizes s{options.width, options.heads, options.head_dim(),
                std::min(options.head_dim(), most_tokens)};
  const Addressed own = read_out(options, s);
  const Survey<Outputs> outputs(steps,
                                [&](auto step) { return compare_outputs(options, s, step); });
  const double dropped = double(own.dropped) / double(own.compared);
  book.table(
      sentence("With addresses, {} of {} mask elements differ between the layouts", own.by_layout,
               own.compared),
      sentence("Masks read out of the layers' outputs in {} training steps, p = {}, [B, H, T, T] "
               "= [{}, {}, {}, {}].",
               steps, shown_p, batch, s.heads, s.tokens, s.tokens),
      {"compared", "elements that differ"},
      {{"separate against fused", own.by_layout},
       {"the other heads, before and after head 0 is removed (both layouts)", own.by_removal},
       {"one step against the next (control)", own.between_steps}});
  show_masks(options, s, own, book);

  book.equal("addresses: elements that differ between the layouts", double(own.by_layout), 0);
  book.equal("addresses: elements that differ after a head is removed", double(own.by_removal), 0);
  book.equal("addresses: outputs that are not bitwise equal in both layouts",
             double(own.output_bits), 0);
  book.more_than("addresses: elements that differ from one step to the next (control)",
                 double(own.between_steps), 0);
  const double allowed = 6 * std::sqrt(shown_p * (1 - shown_p) / double(own.compared));
  book.within("addresses: share of weights dropped", dropped, shown_p - allowed, shown_p + allowed);
  book.at_most("random weights under dropout: outputs of the layouts, relative difference",
               outputs.largest(&Outputs::by_layout), same_values);
  book.more_than("random weights: outputs under two masks, smallest relative difference",
                 outputs.smallest(&Outputs::by_mask), 1e-3);
  emulate(options, s, book);
  book.answer(sentence(
      "Here a mask element is computed from its address (seed, step, module, original head, "
      "element), so both layouts drop the same weights, and removing a head does not change the "
      "masks of the others. A library that takes its masks from one sequence draws them in another "
      "order in the other layout, and every element with another index changes with probability 2 "
      "p (1 - p): {:.2f} at p = {}.",
      2 * shown_p * (1 - shown_p), shown_p));
}

}  // namespace dropout_masks
}  // namespace

Experiment dropout_streams_experiment() {
  return {
      .name = "dropout-streams",
      .title = "Which dropout masks depend on the layout or on other heads?",
      .question =
          "Do two layouts with the same seed drop the same weights, and does removing a head "
          "change what the others drop?",
      .computed =
          "Layers whose outputs show their masks (equal scores, unit vectors as values) run in "
          "both layouts, with all heads and without head 0; their masks are compared bit by "
          "bit. Each element of a mask is computed from its address: seed, step, module, head "
          "and element. For comparison, a library without addresses is emulated: it takes one "
          "sequence of random numbers in the order in which each layout draws its masks.",
      .formulas =
          {"kept(e) = (uniform(\"seed, step, module, head\", e) >= p)",
           "\"fused heads draw\" [B, H, T, T] \"at once, separate ones\" [B, T, T] \"one by one\"",
           "P(\"two independent elements differ\") = 2 p (1 - p)"},
      .defaults = {.width = 64, .heads = 4},
      .limits = {.least_heads = 2, .least_head_dim = 4},
      .run = dropout_masks::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
