// single-vs-multi: one head compared with several from the same weights: when they agree, and the
// effect of a saturated softmax on the gradients.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/extremes.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "headroom_lab/lab/grid.hpp"
#include "lab/experiments/single_vs_multi.hpp"
#include "lab/numbers.hpp"
#include "lab/saturation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace single_vs_multi {
namespace {

constexpr int rate_draws = 100;
// Seeds on which the text's comparison gives True and False with its sizes, in float.
constexpr std::uint64_t true_seed = 1, false_seed = 6;

/// The key with the largest weight in every row, [B * H * T].
using Picks = std::vector<Index>;

Picks picks_of(const Array& weights) {
  Picks picks;
  const Index n = weights.dim(-1);
  for (Index row = 0; row < weights.size(); row += n) {
    const Real* w = weights.data() + row;
    picks.push_back(std::max_element(w, w + n) - w);
  }
  return picks;
}

/// One draw of the text's experiment.
struct Compared {
  bool saturated;  // every row of weights of both has a 1
  bool one_hot;    // and zeros
  Picks single, multi;
  // For each example: single.eq(multi) in all elements; every head picks the single head's keys.
  std::vector<bool> equal_in{}, same_keys_in{};

  bool equal() const { return std::ranges::count(equal_in, false) == 0; }
  bool same_keys() const { return std::ranges::count(same_keys_in, false) == 0; }
};

AttentionInputs inputs_of(const LabOptions& options, std::uint64_t seed) {
  Rng rng(seed, "single-vs-multi uniform");
  return uniform_inputs(batch, tokens, options.width, rng);
}

Compared compare(const LabOptions& options, const AttentionInputs& inputs) {
  const AttentionForward one = attended(inputs, 1), many = attended(inputs, options.heads);
  const Saturation of_one = saturation_of(one.weights), of_many = saturation_of(many.weights);
  Compared c{.saturated = of_one.complete && of_many.complete,
             .one_hot = of_one.one_hot && of_many.one_hot,
             .single = picks_of(one.weights),
             .multi = picks_of(many.weights)};
  const Index size = one.y.size() / batch;
  for (Index b = 0; b < batch; ++b) {
    const Real* const y = one.y.data() + b * size;
    c.equal_in.push_back(std::equal(y, y + size, many.y.data() + b * size));
    const auto keys = c.single.begin() + b * tokens;
    bool same = true;
    for (Index h = 0; h < options.heads; ++h) {
      same = same &&
             std::equal(keys, keys + tokens, c.multi.begin() + (b * options.heads + h) * tokens);
    }
    c.same_keys_in.push_back(same);
  }
  return c;
}

/// "3" when all queries of an example pick key 3 in this head, else "3, 5, 8".
std::string keys_text(const Picks& picks, Index first_row) {
  Picks keys(picks.begin() + first_row, picks.begin() + first_row + tokens);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return fmt::format("{}", fmt::join(keys, ", "));
}

const char* truth(bool value) { return value ? "True" : "False"; }

/// Shows the keys that the heads pick, and the gradients, for two named seeds. Returns true if one
/// is one-hot.
bool named_seeds(const LabOptions& options, Notebook& book) {
  Notebook::Rows keys, gradients;
  std::vector<std::string> columns{"seed, example", "equal output", "single head"};
  const Index shown = std::min<Index>(options.heads, 8);
  for (Index h = 0; h < shown; ++h) columns.push_back(fmt::format("head {}", h));
  std::vector<Compared> compared;
  bool one_hot = false;
  for (const std::uint64_t seed : {true_seed, false_seed}) {
    const AttentionInputs inputs = inputs_of(options, seed);
    const Compared c = compare(options, inputs);
    for (Index b = 0; b < batch; ++b) {
      std::vector<Value> row{fmt::format("{}, {}", seed, b), truth(at(c.equal_in, b)),
                             keys_text(c.single, b * tokens)};
      for (Index h = 0; h < shown; ++h) {
        row.emplace_back(keys_text(c.multi, (b * options.heads + h) * tokens));
      }
      keys.push_back(std::move(row));
    }
    double most = 0;
    for (const Index heads : {Index{1}, options.heads}) {
      const TapedAttention t = taped(inputs, heads);
      gradients.push_back({fmt::format("{}, {}", seed, heads == 1 ? "single" : "multi"),
                           truth(saturation_of(t.weights).one_hot), norm(t.d_wq), norm(t.d_wk),
                           norm(t.d_wv)});
      most = larger(most, larger(max_abs(t.d_wq), max_abs(t.d_wk)));
    }
    // At the text's sizes this seed saturates in both precisions; at other sizes a seed may or may
    // not.
    if (c.one_hot || (text_sizes(options) && seed == true_seed)) {
      book.equal(fmt::format("seed {}, all rows one-hot: largest gradient of W_Q and W_K", seed),
                 most, 0);
    }
    one_hot = one_hot || c.one_hot;
    compared.push_back(c);
  }
  book.table("Equal outputs and the keys that the heads pick",
             sentence("For two seeds and each of their {} examples, the key with the largest "
                      "weight: one key if all {} queries pick the same.",
                      batch, tokens),
             columns, keys);
  book.table(
      one_hot ? "One-hot weights give W_Q and W_K no gradient"
              : "Gradients of two draws, neither of which has one-hot weights",
      "Norms of the gradients of <R, y> for a random cotangent R, and whether all rows of weights "
      "are a single 1 and zeros: such a softmax has a Jacobian of zeros, so the gradient of the "
      "scores is 0.",
      {"seed, attention", "one-hot", "norm of dW_Q", "norm of dW_K", "norm of dW_V"}, gradients);
  if (!is_double && text_sizes(options)) {
    book.equal(fmt::format("seed {}, float: single.eq(multi) is True (1)", true_seed),
               compared[0].equal(), 1);
    book.equal(fmt::format("seed {}, float: single.eq(multi) is False (0)", false_seed),
               compared[1].equal(), 0);
    book.equal(fmt::format("seed {}, float: all heads pick the same keys (0: no)", false_seed),
               compared[1].same_keys(), 0);
  }
  return one_hot;
}

/// How often the text's comparison is True, and how often softmax saturates.
struct Rate {
  Index equal = 0, saturated = 0;
};

Rate rate(const LabOptions& options, Notebook& book) {
  const Survey<Compared> all(rate_draws, [&](std::uint64_t draw) {
    return compare(options, inputs_of(options, seed_of_draw(options.seed, draw)));
  });
  const Rate found{all.count(&Compared::equal), all.count(&Compared::saturated)};
  const Index broken_true =
      all.count([](const Compared& c) { return c.one_hot && c.same_keys() && !c.equal(); });
  const Index broken_false =
      all.count([](const Compared& c) { return !c.same_keys() && c.equal(); });
  Notebook::Rows rows;
  const auto row = [&](const char* what, Index count) {
    rows.push_back({what, count, rate_interval(count, rate_draws)});
  };
  row("equal to the bit", found.equal);
  row("all heads select the single head's keys", all.count(&Compared::same_keys));
  row("every row saturated: its largest weight is 1", found.saturated);
  row("every row one-hot: one weight is 1, all others are exactly 0",
      all.count(&Compared::one_hot));
  row("saturated, and all heads select the same keys",
      all.count([](const Compared& c) { return c.saturated && c.same_keys(); }));
  book.table(sentence("single.eq(multi) is True in {} of {} draws with torch.rand weights",
                      found.equal, rate_draws),
             sentence("Uniform weights and inputs in [0, 1), batch {}, {} tokens. The "
                      "question's True refers to float: the same draws are shown in double, but "
                      "no share is asserted for them. Outputs can be equal before softmax "
                      "saturates, if the other weights change no bit of the sum.",
                      batch, tokens),
             {"", "draws", "share with 95 % interval"}, rows);
  book.equal("uniform: draws with one-hot rows and equal keys, but different outputs",
             double(broken_true), 0);
  book.equal("uniform: draws with different keys, but equal outputs", double(broken_false), 0);
  if (text_sizes(options)) {
    book.at_least("uniform: share of draws that saturate", double(found.saturated) / rate_draws,
                  0.6);
  }
  if (!is_double && text_sizes(options)) {
    book.within("uniform, float: share of draws that are True", double(found.equal) / rate_draws,
                0.35, 0.85);
  }
  return found;
}

/// The effect of torch.rand weights at this size: in wide layers they saturate softmax.
Text saturation_text(Index width, const Rate& found, bool one_hot) {
  return sentence(
      "With torch.rand weights and {} features softmax saturates in every row in {} of {} draws, "
      "and the outputs are equal in {}{}{}.",
      width, found.saturated, rate_draws, found.equal,
      found.equal > 0 ? ", only where all heads pick the same keys" : "",
      one_hot ? "; one-hot rows pass no gradient to W_Q and W_K" : "");
}

void run(const LabOptions& options, Notebook& book) {
  const Rate found = rate(options, book);
  const bool one_hot = named_seeds(options, book);
  compare_gradients(options, book);
  book.answer(sentence("They are different functions: a single head applies one softmax to (1/sqrt "
                       "h) times the sum of the heads' scores, {} heads apply {}. With zero-mean "
                       "weights outputs and gradients differ.",
                       options.heads, options.heads),
              saturation_text(options.width, found, one_hot));
}

}  // namespace
}  // namespace single_vs_multi

Experiment single_vs_multi_experiment() {
  return {
      .name = "single-vs-multi",
      .asked_in = "a question on the gradients of single- and multi-head attention",
      .title = "Is multi-head attention the same as one wide head?",
      .question =
          "With the same 512 x 512 weights, does attention with 8 heads of 64 give the same "
          "tensor and gradients as one head of 512?",
      .words = "equivalent different gradients softmax",
      .sentence =
          "They are different functions: one head has a single softmax of the sum of all scores, "
          "eight heads have eight; with positive weights all of them pick the same key.",
      .computed =
          "The code in the question, torch.all(sin(x,x,x).eq(multi(x,x,x))), with uniform "
          "weights in 100 draws: how often it is True, which keys the heads pick, and the "
          "gradients. Then the same with zero-mean weights: every line of the gradient is "
          "derived by hand, printed for both, and compared with the tape, head by head.",
      .formulas =
          {"S_{single} = {1}/{sqrt(h)} sum_h S_h",
           "\"single:\" P = softmax({1}/{sqrt(h)} sum_h S_h), \"multi:\" P_h = softmax(S_h)",
           "\"single:\" dP = sum_h R_h V_h^T, \"multi:\" dP_h = R_h V_h^T",
           "dS_h = P_h * (dP_h - rowsum(P_h * dP_h))",
           "dW_Q = {1}/{sqrt(D)} x^T dS K, dW_K = {1}/{sqrt(D)} x^T dS^T Q, dW_V = x^T P^T R"},
      .defaults = {.width = 512, .heads = 8},
      .limits = {.least_heads = 2},
      .run = single_vs_multi::run};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
