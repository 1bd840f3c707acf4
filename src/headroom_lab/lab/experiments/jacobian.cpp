// jacobian: the derivative of all attention weights by all scores, block by block.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "headroom/autograd/gradcheck.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom/ops/softmax.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/attention_derivation.hpp"
#include "lab/mask_kinds.hpp"
#include "lab/numbers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace jacobian {

constexpr Index batch = 2, tokens = 3;

/// Scores [B, H, T, T] with their mask, as bytes of the same shape.
struct Scores {
  Array values;
  Bytes allowed;
};

/// P of the scores, and J [n, n] with J_ab = dP_a / dS_b over all n = B H T T entries: one backward
/// pass for each weight.
struct Taped {
  Array weights, jacobian;
};

Taped on_the_tape(const Scores& scores) {
  Tensor leaf = parameter(scores.values);
  const Tensor weights = masked_softmax(leaf, scores.allowed);
  const Index n = leaf.size();
  Taped taped{weights.value(), Array({n, n})};
  for (Index a = 0; a < n; ++a) {
    Array one = zeros(leaf.shape());
    one[a] = 1;
    leaf.zero_grad();
    weights.backward(one, true);
    std::copy_n(leaf.grad().data(), n, taped.jacobian.data() + a * n);
  }
  return taped;
}

/// The largest difference between the tape's gradients and differences of values, as a share of
/// what gradcheck() allows.
double against_differences(const Scores& scores) {
  const auto weights = [&](const std::vector<Tensor>& x) {
    return masked_softmax(x[0], scores.allowed);
  };
  return double(gradcheck(weights, {scores.values}).worst);
}

/// One block: the T x T entries of one row of attention, in double.
using Block = std::array<std::array<double, tokens>, tokens>;

Block block_of(const Array& jacobian, Index row) {
  Block block{};
  const Index n = jacobian.dim(0);
  for (Index i = 0; i < tokens; ++i) {
    for (Index j = 0; j < tokens; ++j) {
      at(at(block, i), j) = double(jacobian[(row * tokens + i) * n + row * tokens + j]);
    }
  }
  return block;
}

/// Turns rows and columns p and q so that entry (p, q) becomes 0.
void rotate(Block& a, std::size_t p, std::size_t q) {
  if (a[p][q] == 0) return;
  const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
  const double c = std::cos(angle), s = std::sin(angle);
  for (std::size_t k = 0; k < tokens; ++k) {
    const double x = a[k][p], y = a[k][q];
    a[k][p] = c * x - s * y;
    a[k][q] = s * x + c * y;
  }
  for (std::size_t k = 0; k < tokens; ++k) {
    const double x = a[p][k], y = a[q][k];
    a[p][k] = c * x - s * y;
    a[q][k] = s * x + c * y;
  }
}

/// Eigenvalues of a symmetric block (Jacobi's method; eight sweeps are plenty for 3 x 3).
std::array<double, tokens> eigenvalues(Block a) {
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (std::size_t p = 0; p < tokens; ++p) {
      for (std::size_t q = p + 1; q < tokens; ++q) rotate(a, p, q);
    }
  }
  std::array<double, tokens> values{};
  for (std::size_t k = 0; k < tokens; ++k) values[k] = a[k][k];
  return values;
}

/// The properties of one Jacobian.
struct Found {
  Index entries = 0, blocks = 0, nonzero = 0, rank = 0;
  Index wrong_ranks = 0;  // blocks whose rank is not allowed - 1
  double outside = 0;     // largest entry that is in no block
  double masked = 0;      // largest entry in a masked key's row or column
  double formula = 0;     // largest |J - (diag(p) - p p^T)|
  double row_sum = 0;     // largest |sum of a row|
  double asymmetry = 0;   // largest |J_ab - J_ba|
};

/// Computes the findings about single entries.
void examine_entries(const Taped& taped, const Bytes& allowed, Found& found) {
  const Index n = taped.jacobian.dim(0);
  for (Index a = 0; a < n; ++a) {
    double sum = 0;
    for (Index b = 0; b < n; ++b) {
      const auto entry = double(taped.jacobian[a * n + b]);
      const double size = std::abs(entry);
      sum += entry;
      found.nonzero += entry == 0 ? 0 : 1;
      found.asymmetry =
          larger(found.asymmetry, std::abs(entry - double(taped.jacobian[b * n + a])));
      if (allowed[a] == 0 || allowed[b] == 0) found.masked = larger(found.masked, size);
      if (a / tokens != b / tokens) {
        found.outside = larger(found.outside, size);
        continue;
      }
      const auto p = double(taped.weights[a]), q = double(taped.weights[b]);
      const double formula = (a == b ? p : 0) - p * q;
      found.formula = larger(found.formula, std::abs(entry - formula));
    }
    found.row_sum = larger(found.row_sum, std::abs(sum));
  }
}

/// The rank of each block: eigenvalues that are not 0. Those of diag(p) - p p^T are between the
/// sorted weights (Cauchy's interlacing), so none but one is below the smallest weight.
void examine_ranks(const Taped& taped, const Bytes& allowed, Found& found) {
  for (Index row = 0; row < found.blocks; ++row) {
    Index count = 0;
    double least = 1;
    for (Index j = row * tokens; j < (row + 1) * tokens; ++j) {
      if (allowed[j] == 0) continue;
      ++count;
      least = smaller(least, double(taped.weights[j]));
    }
    const auto values = eigenvalues(block_of(taped.jacobian, row));
    const Index rank = std::count_if(values.begin(), values.end(),
                                     [least](double v) { return std::abs(v) > least / 2; });
    const Index expected = std::max<Index>(count - 1, 0);
    found.rank += rank;
    found.wrong_ranks += rank == expected ? 0 : 1;
  }
}

Found examine(const Taped& taped, const Bytes& allowed) {
  Found found;
  found.entries = taped.jacobian.size();
  found.blocks = taped.weights.size() / tokens;
  examine_entries(taped, allowed, found);
  examine_ranks(taped, allowed, found);
  return found;
}

/// The scores of `heads` heads under a mask. A mask with more heads is cut to the first ones.
Scores scores_of(const AttentionInputs& inputs, Index heads, const NamedMask& masked) {
  std::vector<Index> original(static_cast<std::size_t>(heads));
  std::iota(original.begin(), original.end(), Index{0});
  return {derive(inputs, heads).scores, masked.mask.bytes(batch, original, tokens, tokens)};
}

/// 4 |J| of the last example's first `heads` heads, [heads T T, heads T T]: no entry exceeds 1/4.
Notebook::Map picture(const std::string& name, const Array& jacobian, Index heads) {
  const Index side = heads * tokens * tokens, n = jacobian.dim(0);
  const Index first = n / batch * (batch - 1);
  Array part({side, side});
  for (Index a = 0; a < side; ++a) {
    for (Index b = 0; b < side; ++b) {
      part[a * side + b] = std::min<Real>(1, 4 * std::abs(jacobian[(first + a) * n + first + b]));
    }
  }
  return {name, part};
}

/// Names of the weights or scores by index: "h0 q1 k2".
std::vector<std::string> entry_names(Index heads) {
  std::vector<std::string> names;
  for (Index h = 0; h < heads; ++h) {
    for (Index i = 0; i < tokens; ++i) {
      for (Index j = 0; j < tokens; ++j) names.push_back(fmt::format("h{} q{} k{}", h, i, j));
    }
  }
  return names;
}

/// The block of one row: its weights p, the Jacobian by the tape, and by the formula.
Notebook::Step one_block(const Taped& taped) {
  const Index row = tokens - 1;  // query T - 1 of head 0, with the most allowed keys
  const Array p =
      slice(taped.weights.reshaped({taped.weights.size()}), {0, row * tokens, (row + 1) * tokens});
  const Array block = slice(slice(taped.jacobian, {0, row * tokens, (row + 1) * tokens}),
                            {1, row * tokens, (row + 1) * tokens});
  Array formula({tokens, tokens});
  for (Index i = 0; i < tokens; ++i) {
    for (Index j = 0; j < tokens; ++j) {
      formula[i * tokens + j] = (i == j ? p[i] : 0) - p[i] * p[j];
    }
  }
  return {"J of one row",
          "diag(p) - p p^T",
          {{"p", p.reshaped({1, tokens})}, {"by the tape", block}, {"by the formula", formula}}};
}

void run(const LabOptions& options, Notebook& book) {
  Rng rng(options.seed, "jacobian");
  const AttentionInputs inputs = zero_mean_inputs(batch, tokens, options.width, rng);
  const Index shown = std::min<Index>(options.heads, 2);
  Survey<Found> all;
  Index ratio_broken = 0;
  double differences = 0;
  Notebook::Rows rows;
  std::vector<Notebook::Map> pictures;
  Notebook::Step block;
  for (const NamedMask& masked : every_mask_kind(batch, options.heads, tokens, tokens, rng)) {
    const Scores multi = scores_of(inputs, options.heads, masked);
    const Taped taped = on_the_tape(multi);
    const Found found = examine(taped, multi.allowed);
    all.add(found);
    differences = larger(differences, against_differences(multi));
    pictures.push_back(picture(masked.name, taped.jacobian, shown));
    if (masked.name == "none") block = one_block(taped);
    const auto row = [&](const char* name, Index heads, const Found& f) {
      const auto allowed = allowed_keys(masked.mask, batch, heads, tokens, tokens);
      rows.push_back({masked.name, name, fmt::format("{0} x {0}", f.blocks * tokens), f.blocks,
                      f.nonzero, double(f.nonzero) / double(f.entries), f.rank, f.formula,
                      std::count(allowed.begin(), allowed.end(), Index{0})});
    };
    row("multi", options.heads, found);
    if (masked.mask.allowed_bytes().defined()) continue;  // a separate mask for every head
    const Scores single = scores_of(inputs, 1, masked);
    const Found alone = examine(on_the_tape(single), single.allowed);
    all.add(alone);
    ratio_broken += found.rank == options.heads * alone.rank ? 0 : 1;
    row("single", 1, alone);
  }

  book.maps(sentence("4 |J| by mask, in blocks of {} x {}", tokens, tokens),
            sentence("The second example, {} and {} queries: rows are weights, columns are scores. "
                     "By the formula the row and column of a masked key are 0, and so is the block "
                     "of a row with at most one allowed key.",
                     shown == 1 ? "one head" : "two heads", tokens),
            entry_names(shown), entry_names(shown), pictures);
  book.figure();
  book.table(
      "Blocks, nonzero entries and rank of the Jacobian by mask and number of heads",
      "All heads use the same weights. Rank: number of nonzero eigenvalues. By the formula each "
      "block has one less than its allowed keys, because a row's weights always sum to one. The "
      "masks drawn for every head are shown for multi-head attention only.",
      {"mask", "heads", "J", "blocks", "entries not 0", "share", "rank", "|J - formula|, largest",
       "rows without keys"},
      rows);
  book.matrices("One block of the Jacobian, by the tape and by the formula",
                "The last query of head 0, without a mask.", {block});

  book.equal("largest entry between different rows of attention", all.largest(&Found::outside), 0);
  book.equal("largest entry in the row or column of a masked key", all.largest(&Found::masked), 0);
  book.at_most("|J - (diag(p) - p p^T)|, largest", all.largest(&Found::formula), same_values);
  book.at_most("the tape against differences of the weights, share of gradcheck's tolerance",
               differences, 1);
  book.at_most("|sum of a row of J|, largest", all.largest(&Found::row_sum), same_values);
  book.at_most("|J - J^T|, largest", all.largest(&Found::asymmetry), same_values);
  book.equal("blocks whose rank is not the number of allowed keys - 1, largest number of a case",
             all.largest(&Found::wrong_ranks), 0);
  book.equal("masks under which h heads do not have h times the rank of one", double(ratio_broken),
             0);
  const Text compared =
      options.heads == 1 ? Text("Each further head adds as many blocks of the same size")
                         : sentence(
                               "Multi-head attention with {} heads has {} times as many blocks as "
                               "single-head attention, each of the same size",
                               options.heads, options.heads);
  book.answer(sentence(
      "Only those between scores and weights of the same row: J is block-diagonal over (batch, "
      "head, query), and each block is diag(p) - p p^T over the allowed keys, with rank one below "
      "their number. {}; heads do not influence each other inside the softmax.",
      compared));
}

}  // namespace jacobian
}  // namespace

Experiment jacobian_experiment() {
  return {
      .name = "jacobian",
      .title = "Which gradients pass through the softmax?",
      .question =
          "Which attention weights does a score change, and do rows, heads or examples influence "
          "each other inside the softmax?",
      .computed =
          "For two examples of three tokens, the derivative of every attention weight with respect "
          "to every score is computed by a backward pass for each weight. This is done under every "
          "kind of mask, with several heads and with one, from the same N(0, 1/C) weights. For "
          "several heads, gradients are also compared with differences of the weights.",
      .formulas = {"J = {dP}/{dS}, P_i = softmax(S_i) \"over the allowed keys\"",
                   "{dP_{ij}}/{dS_{kl}} = 0 \"unless\" i = k", "J_i = diag(p_i) - p_i p_i^T",
                   "J_i 1 = 0, rank J_i = \"allowed keys of row\" i - 1"},
      .defaults = {.width = 32, .heads = 4},
      .limits = {.most_heads = 16, .least_head_dim = 4},
      .run = jacobian::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
