// One head: the numbers of chapter 05. How many keys a row uses by head size, with and without the
// scale; rows in which nothing is allowed; leak maps; training on noise; the cost of keeping the
// map.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "facts.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/layers.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/transplant.hpp"
#include "softmax_row.hpp"

using namespace headroom;

namespace {

constexpr int seeds = 5;

// ------------------------------------------------------------------ the scale

/// Means over all rows of a map. A row's gradient is the norm of dS = P (dP - mean) for normal dP.
struct Sharpness {
  double keys = 0;  // in use: e to the power of the row's entropy
  double largest = 0, gradient = 0;
  double dead = 0;  // the share of rows whose gradient is below 0.01
};

Sharpness sharpness(const Array& map, Rng& rng) {
  Sharpness mean;
  const Index keys = map.dim(-1), rows = map.size() / keys;
  for (Index row = 0; row < rows; ++row) {
    double largest = 0, entropy = 0;
    for (Index j = row * keys; j < (row + 1) * keys; ++j) {
      const auto p = double(map[j]);
      if (p > 0) entropy -= p * std::log(p);
      largest = std::max(largest, p);
    }
    mean.keys += std::exp(entropy) / double(rows);
    mean.largest += largest / double(rows);
    const Array dp = normal({keys}, 1, rng);
    double average = 0, squares = 0;
    for (Index j = 0; j < keys; ++j) average += double(map[row * keys + j] * dp[j]);
    for (Index j = 0; j < keys; ++j) {
      squares += std::pow(double(map[row * keys + j]) * (double(dp[j]) - average), 2);
    }
    mean.gradient += std::sqrt(squares) / double(rows);
    mean.dead += (std::sqrt(squares) < 0.01 ? 1 : 0) / double(rows);
  }
  return mean;
}

/// The map of random queries and keys of `head_dim` features, with the given scale (0: the
/// default).
Sharpness random_map(Index head_dim, Real scale, std::uint64_t seed) {
  constexpr Index tokens = 64;
  const NoGrad quiet;
  Rng rng(seed, "one head: scale");
  const auto random = [&] { return HeadColumns{Tensor(normal({1, tokens, head_dim}, 1, rng)), 0}; };
  const HeadColumns q = random(), k = random();
  const AttentionOptions options{.scale = scale};
  return sharpness(composed::attention(q, k, k, 1, head_dim, head_dim, options).maps.value(), rng);
}

/// The means of five draws.
Sharpness mean_map(Index head_dim, bool scaled) {
  Sharpness mean;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Sharpness one = random_map(head_dim, scaled ? Real(0) : Real(1), seed);
    mean.keys += one.keys / seeds;
    mean.largest += one.largest / seeds;
    mean.gradient += one.gradient / seeds;
    mean.dead += one.dead / seeds;
  }
  return mean;
}

void the_scale() {
  std::printf("keys that a row uses, of 64: mean of five draws\n");
  std::printf("head size D        4      16      64     256\n");
  for (const bool scaled : {true, false}) {
    std::printf("%-12s", scaled ? "scaled" : "not scaled");
    for (const Index head_dim : {4, 16, 64, 256}) {
      std::printf("%8.1f", mean_map(head_dim, scaled).keys);
    }
    std::printf("\n");
  }
  const Sharpness with = mean_map(64, true), without = mean_map(64, false);
  claim("keys in use, scaled", with.keys, 30, 60);
  claim("keys in use, not scaled", without.keys, 1, 3, "05/a");
  claim("largest row weight, scaled", with.largest, 0.05, 0.2);
  claim("largest row weight, unscaled", without.largest, 0.6, 1);
  claim("mean gradient, scaled", with.gradient, 0.1, 0.3);
  claim("mean gradient, not scaled", without.gradient, 0.1, 0.3);
  claim("rows without one, %, scaled", 100 * with.dead, 0, 0);
  claim("rows without one, %, unscaled", 100 * without.dead, 5, 50);
}

// ------------------------------------------------------------------ masks

/// Bytes [T, T]: key j <= query i + offset.
Bytes causal(Index tokens, Index offset = 0) {
  Bytes allowed({tokens, tokens});
  for (Index e = 0; e < allowed.size(); ++e) {
    allowed[e] = e % tokens <= e / tokens + offset ? 1 : 0;
  }
  return allowed;
}

/// 1 and 0 as numbers.
Array as_numbers(const Bytes& allowed) {
  Array numbers(allowed.shape());
  for (Index e = 0; e < allowed.size(); ++e) numbers[e] = allowed[e];
  return numbers;
}

/// The scores plus a number where a key is not allowed.
Tensor shifted(const Tensor& scores, const Bytes& allowed, Real number) {
  Array shift = zeros(allowed.shape());
  for (Index e = 0; e < shift.size(); ++e) {
    if (allowed[e] == 0) shift[e] = number;
  }
  return scores + constant(shift);
}

/// One head without an output matrix, whose map is made by a function of the scores.
struct Head {
  using Map = std::function<Tensor(const Tensor& scores)>;

  Head(Index width, Rng& rng, Map made_by) : map_of(std::move(made_by)) {
    const Real deviation = 1 / std::sqrt(Real(width));
    for (Tensor* matrix : {&query, &key, &value}) {
      *matrix = parameter(normal({width, width}, deviation, rng));
    }
  }
  Tensor map(const Tensor& x) const {
    const Tensor q = linear(x, query, {}), k = linear(x, key, {});
    return map_of(matmul(q, transpose(k)) * attention_scale(x.dim(2)));
  }
  Tensor operator()(const Tensor& x) const { return matmul(map(x), linear(x, value, {})); }

  Tensor query, key, value;
  Map map_of;
};

/// The NaNs in the gradients of a head's three matrices, when query 1 of 4 may see nothing and
/// counts nothing in the loss.
Index spoilt_gradients(const std::function<Tensor(const Tensor&, const Bytes&)>& masked) {
  constexpr Index tokens = 4, width = 16;
  Bytes allowed({tokens, tokens}, std::uint8_t{1});
  for (Index j = 0; j < tokens; ++j) allowed[tokens + j] = 0;
  Rng rng(1, "one head: nothing allowed");
  const Head head(width, rng, [&](const Tensor& scores) { return masked(scores, allowed); });
  Array dy = normal({1, tokens, width}, 1, rng);
  for (Index c = 0; c < width; ++c) dy[width + c] = 0;
  head(Tensor(normal({1, tokens, width}, 1, rng))).backward(dy);
  Index count = 0;
  for (const Tensor& matrix : {head.query, head.key, head.value}) {
    for (const Real g : matrix.grad().span()) count += std::isnan(g) ? 1 : 0;
  }
  return count;
}

void nothing_allowed() {
  const NoGrad quiet;
  const Bytes none({1, 4}, std::uint8_t{0});
  const Tensor scores(Array({1, 4}, {1, 2, 3, 4}));
  const auto weight = [](const Tensor& map) { return double(map.value()[0]); };
  const Tensor filled = where(none, scores, Tensor(Real(-1e9)));
  claim("-1e9 instead: each weight", weight(softmax(filled)), 0.25, 0.25, "05/b");
  claim("skipped: each weight", weight(masked_softmax(scores, none)), 0, 0);
}

void spoilt() {
  const Real infinity = std::numeric_limits<Real>::infinity();
  claim("weights of the head", 3 * 16 * 16, 768, 768);
  claim("-infinity: NaN gradients",
        double(spoilt_gradients([&](const Tensor& scores, const Bytes& allowed) {
          return softmax(shifted(scores, allowed, -infinity));
        })),
        768, 768, "05/c");
  claim("skipped: NaN gradients",
        double(spoilt_gradients([](const Tensor& scores, const Bytes& allowed) {
          return masked_softmax(scores, allowed);
        })),
        0, 0);
}

// ------------------------------------------------------------------ leaks

struct Kind {
  const char* name;
  Head::Map map;
};

std::vector<Kind> kinds(Index tokens) {
  const Bytes honest = causal(tokens), far = causal(tokens, 1);
  return {{"causal", [=](const Tensor& scores) { return masked_softmax(scores, honest); }},
          {"one too far", [=](const Tensor& scores) { return masked_softmax(scores, far); }},
          {"masked after",
           [=](const Tensor& scores) { return softmax(scores) * constant(as_numbers(honest)); }}};
}

/// Which outputs (rows) move when a token (column) changes.
std::vector<std::string> leak_map(const Head& head, Index tokens, Index width, Rng& rng) {
  const NoGrad quiet;
  const Array x = normal({1, tokens, width}, 1, rng);
  const Array before = head(Tensor(x)).value();
  std::vector<std::string> rows(std::size_t(tokens), std::string(std::size_t(tokens), '.'));
  for (Index j = 0; j < tokens; ++j) {
    Array changed = x.clone();
    for (Index c = 0; c < width; ++c) changed[j * width + c] += rng.normal();
    const Array after = head(Tensor(changed)).value();
    for (Index i = 0; i < tokens; ++i) {
      const AxisRange row{1, i, i + 1};
      if (largest_difference(slice(before, row), slice(after, row)) > 0) {
        rows[std::size_t(i)][std::size_t(j)] = '#';
      }
    }
  }
  return rows;
}

Index above_the_diagonal(const std::vector<std::string>& rows) {
  Index count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    count += std::count(rows[i].begin() + std::ptrdiff_t(i) + 1, rows[i].end(), '#');
  }
  return count;
}

void leaks() {
  constexpr Index tokens = 8, width = 8;
  std::vector<std::vector<std::string>> maps;
  std::vector<Index> least(3, tokens * tokens), most(3, 0);
  double weight = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::size_t n = 0;
    for (const Kind& kind : kinds(tokens)) {
      Rng rng(seed, "one head: leaks");
      const Head head(width, rng, kind.map);
      const auto rows = leak_map(head, tokens, width, rng);
      least[n] = std::min(least[n], above_the_diagonal(rows));
      most[n] = std::max(most[n], above_the_diagonal(rows));
      if (seed == 1) maps.push_back(rows);
      if (++n < 3) continue;
      const NoGrad quiet;
      const Array map = head.map(Tensor(normal({1, tokens, width}, 1, rng))).value();
      for (Index e = 0; e < map.size(); ++e) {
        if (e % tokens > e / tokens) weight = std::max(weight, double(map[e]));
      }
    }
  }
  std::printf("leak maps: output (row) that moves when a token (column) is changed\n");
  std::printf("causal      one too far masked after\n");
  for (std::size_t i = 0; i < tokens; ++i) {
    for (const auto& map : maps) std::printf("%-12s", map[i].c_str());
    std::printf("\n");
  }
  claim("map above the diagonal", weight, 0, 0);
  claim("leaks, causal", double(most[0]), 0, 0);
  claim("leaks, one too far", double(least[1]), 7, 7);
  claim("leaks, masked after", double(least[2]), 28, 28, "05/f");
}

/// Reads letters that are drawn at random and predicts the next one of each.
class Guesser : public Module {
 public:
  static constexpr Index letters = 8, tokens = 8, batch = 32, width = 16;

  Guesser(const Head::Map& map, Rng& rng)
      : head(width, rng, map),
        embedding(letters, width, rng, 1),
        positions(PositionKind::learned, tokens, width, rng),
        out(width, letters, rng) {
    positions.weight.set_value(normal(positions.weight.shape(), 1, rng));
  }
  Tensor loss(Rng& rng) const {
    Ids ids({batch, tokens}), next({batch, tokens});
    for (Index e = 0; e < ids.size(); ++e) ids[e] = static_cast<std::int32_t>(rng.below(letters));
    for (Index e = 0; e < ids.size(); ++e) {
      next[e] = e % tokens + 1 < tokens ? ids[e + 1] : std::int32_t{-100};
    }
    const Tensor x = positions(embedding(ids));
    return cross_entropy(out(head(x)), next, {.ignore_index = -100});
  }
  void members(Members& visit) override {
    visit("query", head.query);
    visit("key", head.key);
    visit("value", head.value);
    visit("embedding", embedding);
    visit("positions", positions);
    visit("out", out);
  }
  std::string title() const override { return "Guesser"; }

  Head head;
  Embedding embedding;
  Positions positions;
  Linear out;
};

/// The mean loss on 20 batches that it has not seen.
double loss_on_noise(const Head::Map& map, std::uint64_t seed) {
  Rng rng(seed, "one head: noise");
  Guesser model(map, rng);
  Adam optimizer(model);
  for (int step = 0; step < 400; ++step) {
    const Tensor loss = model.loss(rng);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(0.01);
  }
  const NoGrad quiet;
  double mean = 0;
  for (int i = 0; i < 20; ++i) mean += double(model.loss(rng).item()) / 20;
  return mean;
}

void noise() {
  const double guessing = std::log(double(Guesser::letters));
  fact("loss of guessing", guessing);
  std::vector<double> least, most;
  for (const Kind& kind : kinds(Guesser::tokens)) {
    least.push_back(10);
    most.push_back(0);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const double loss = loss_on_noise(kind.map, seed);
      least.back() = std::min(least.back(), loss);
      most.back() = std::max(most.back(), loss);
    }
  }
  claim("noise, causal: least loss", least[0], guessing - 0.01, 3);
  claim("noise, one too far: most loss", most[1], 0, 0.5, "05/g");
  claim("noise, masked after: most loss", most[2], 0, guessing - 0.05);
}

// ------------------------------------------------------------------ the gradient

/// Derivatives of all weights by all scores, for two examples, four heads and three tokens.
void the_jacobian() {
  Rng rng(2, "one head: Jacobian");
  Tensor scores = parameter(normal({2, 4, 3, 3}, 1, rng));
  const Tensor weights = masked_softmax(scores, Bytes(scores.shape(), std::uint8_t{1}));
  Index count = 0;
  double row_sum = 0;
  for (Index a = 0; a < weights.size(); ++a) {
    Array one = zeros(weights.shape());
    one[a] = 1;
    scores.zero_grad();
    weights.backward(one, true);
    double sum = 0;
    for (const Real g : scores.grad().span()) {
      sum += double(g);
      count += g != 0 ? 1 : 0;
    }
    row_sum = std::max(row_sum, std::abs(sum));
  }
  fact("derivatives", double(weights.size() * weights.size()));
  claim("derivatives that are not 0", double(count), 216, 216, "05/d");
  claim("sum of a row of derivatives", row_sum, 0, 1e-12);
}

void the_gradient() {
  constexpr Index tokens = 6, head_dim = 8;
  Rng rng(2, "one head: gradient");
  const auto random = [&](Index rows) { return normal({1, rows, head_dim}, 1, rng); };
  const auto gradient_of_query = [&](const Array& key, const Array& value) {
    const Tensor q = parameter(random(tokens));
    attention({q}, {Tensor(key)}, {Tensor(value)}, 1, head_dim, head_dim, {})
        .backward(random(tokens));
    double largest = 0;
    for (const Real g : q.grad().span()) largest = std::max(largest, std::abs(double(g)));
    return largest;
  };
  Array same({1, tokens, head_dim});
  for (Index e = 0; e < same.size(); ++e) same[e] = Real(e % head_dim) - Real(3.5);
  claim("dq, random keys and values", gradient_of_query(random(tokens), random(tokens)), 0.1, 10);
  claim("dq, all values equal", gradient_of_query(random(tokens), same), 0, 1e-12, "05/e");
  claim("dq, all keys equal", gradient_of_query(same, random(tokens)), 0, 1e-12);
}

// ------------------------------------------------------------------ the cost

/// Seconds of a forward and a backward pass, the shortest of several.
double seconds(const std::function<Tensor()>& call, const Array& dy) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int round = 0; round < 12; ++round) {
    const Clock::time_point begin = Clock::now();
    call().backward(dy);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

void the_cost() {
  constexpr Index batch = 4, heads = 4, tokens = 128, head_dim = 16, width = heads * head_dim;
  Rng rng(3, "one head: cost");
  const Tensor x = parameter(normal({batch, tokens, 3 * width}, 1, rng));
  const HeadColumns q{x, 0}, k{x, width}, v{x, 2 * width};
  const Array dy = normal({batch, tokens, width}, 1, rng);
  const AttentionOptions options{.mask = AttentionMask::causal()};
  set_num_threads(1);
  const double fused =
      seconds([&] { return attention(q, k, v, heads, head_dim, head_dim, options); }, dy);
  const double composed = seconds(
      [&] { return composed::attention(q, k, v, heads, head_dim, head_dim, options).y; }, dy);
  fact("time of the unfused version", composed / fused);
  fact("weights of 1024 tokens", 1024. * 1024.);
}

}  // namespace

int main() {
  part("05/a");
  the_scale();
  part("05/b");
  nothing_allowed();
  part("05/c");
  spoilt();
  part("05/d");
  the_jacobian();
  part("05/e");
  the_gradient();
  part("05/f");
  leaks();
  part("05/g");
  noise();
  part("");  // answers nothing: shown in any case
  the_cost();
  write_softmax_row();
  return finish();
}
