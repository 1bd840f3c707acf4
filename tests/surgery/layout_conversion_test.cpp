// Conversion to the layouts of other implementations: every parameter is where that implementation
// reads it, computing as it does gives the same output, and converting back loses nothing.
#include "headroom/surgery/layout_conversion.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/surgery/transplant.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

constexpr ForeignLayout foreign_layouts[] = {ForeignLayout::pytorch, ForeignLayout::bert,
                                             ForeignLayout::gpt2, ForeignLayout::bart,
                                             ForeignLayout::summae};
constexpr HeadOrder head_orders[] = {HeadOrder::blocked, HeadOrder::interleaved};
constexpr Layout convertible[] = {Layout::separate, Layout::fused};

/// Three heads of width 2 over 5 channels: nothing is square. summae alone has no biases.
AttentionConfig odd_sizes(ForeignLayout layout) {
  AttentionConfig config;
  config.width = 5;
  config.heads = 3;
  config.head_dim = 2;
  config.bias = layout != ForeignLayout::summae;
  return config;
}

std::unique_ptr<Attention> random_attention(Layout layout, const AttentionConfig& config) {
  Rng rng(7);
  std::unique_ptr<Attention> attention = make_attention(layout, config, rng);
  test::randomise(*attention, rng);
  return attention;
}

void check_same_arrays(const NamedArrays& actual, const NamedArrays& expected) {
  REQUIRE(actual.size() == expected.size());
  for (const auto& [name, array] : expected) {
    INFO(name);
    REQUIRE(actual.contains(name));
    CHECK_THAT(actual.at(name), test::SameBits(array));
  }
}

/// A value that encodes its location: role, original head, channel, input (or output) index.
Real code(HeadRole role, Index head, Index channel, Index other) {
  return Real(1000 * Index(role) + 100 * head + 10 * channel + other);
}

void fill_with_codes(Attention& attention) {
  test::HeadBlocks blocks = test::head_values(attention);
  for (auto& [place, block] : blocks) {
    const auto [role, head] = place;
    const bool output = role == HeadRole::output, vector = block.rank() == 1;
    const Index columns = vector ? 1 : block.dim(1);
    for (Index i = 0; i < block.size(); ++i) {
      const Index row = i / columns, column = i % columns;
      block[i] = output ? code(role, head, column, row) : code(role, head, row, column);
    }
  }
  test::set_head_values(attention, blocks);
}

/// The attention of another implementation, from its arrays, in plain loops in double over one
/// sequence x [T, C] of self-attention, with projections as it applies them.
class ForeignAttention {
 public:
  ForeignAttention(NamedArrays arrays, ForeignLayout layout, HeadOrder order, Index heads,
                   Index head_dim)
      : arrays_(std::move(arrays)),
        layout_(layout),
        order_(order),
        heads_(heads),
        head_dim_(head_dim) {}

  std::vector<double> operator()(const Array& x) const {
    const Index time = x.dim(0), width = x.dim(1), n = heads_ * head_dim_;
    const std::vector<double> input(x.span().begin(), x.span().end());
    const auto attention = [&](const std::vector<double>& q, const std::vector<double>& k,
                               const std::vector<double>& v) { return attend(q, k, v, time); };
    const auto packed = [&](const char* weight, const char* bias) {
      return attention(project(input, time, weight, bias, 0, n),
                       project(input, time, weight, bias, n, n),
                       project(input, time, weight, bias, 2 * n, n));
    };
    switch (layout_) {
      case ForeignLayout::pytorch:
        return project(packed("in_proj_weight", "in_proj_bias"), time, "out_proj.weight",
                       "out_proj.bias", 0, width);
      case ForeignLayout::gpt2:
        return project(packed("c_attn.weight", "c_attn.bias"), time, "c_proj.weight", "c_proj.bias",
                       0, width);
      case ForeignLayout::bert:
        return project(
            attention(project(input, time, "self.query.weight", "self.query.bias", 0, n),
                      project(input, time, "self.key.weight", "self.key.bias", 0, n),
                      project(input, time, "self.value.weight", "self.value.bias", 0, n)),
            time, "output.dense.weight", "output.dense.bias", 0, width);
      case ForeignLayout::bart:
        return project(attention(project(input, time, "q_proj.weight", "q_proj.bias", 0, n),
                                 project(input, time, "k_proj.weight", "k_proj.bias", 0, n),
                                 project(input, time, "v_proj.weight", "v_proj.bias", 0, n)),
                       time, "out_proj.weight", "out_proj.bias", 0, width);
      case ForeignLayout::summae:
        return project(attention(project(input, time, "q_proj/kernel", "", 0, n),
                                 project(input, time, "k_proj/kernel", "", 0, n),
                                 project(input, time, "v_proj/kernel", "", 0, n)),
                       time, "output_proj/kernel", "", 0, width);
    }
    return {};
  }

 private:
  /// Outputs [first, first + out) of x W^T + b, or of x W + b if the layout stores it so.
  std::vector<double> project(const std::vector<double>& x, Index time, const char* weight,
                              const std::string& bias, Index first, Index out) const {
    const Array& w = arrays_.at(weight);
    const bool transposed = layout_ == ForeignLayout::gpt2 || layout_ == ForeignLayout::summae;
    const Index in = w.dim(transposed ? 0 : 1), columns = w.dim(1);
    std::vector<double> y;
    for (Index t = 0; t < time; ++t) {
      for (Index o = first; o < first + out; ++o) {
        double sum = bias.empty() ? 0 : double(arrays_.at(bias)[o]);
        for (Index i = 0; i < in; ++i) {
          const Real element = w[transposed ? i * columns + o : o * columns + i];
          sum += x[static_cast<std::size_t>(t * in + i)] * double(element);
        }
        y.push_back(sum);
      }
    }
    return y;
  }
  std::vector<double> attend(const std::vector<double>& q, const std::vector<double>& k,
                             const std::vector<double>& v, Index time) const {
    const Index channels = heads_ * head_dim_;
    std::vector<double> y(static_cast<std::size_t>(time * channels), 0);
    for (Index head = 0; head < heads_; ++head) {
      const auto at = [&](Index t, Index d) {
        const bool blocked = order_ == HeadOrder::blocked;
        const Index channel = blocked ? head * head_dim_ + d : d * heads_ + head;
        return static_cast<std::size_t>(t * channels + channel);
      };
      for (Index t = 0; t < time; ++t) {
        std::vector<double> weights;
        double total = 0;
        for (Index s = 0; s < time; ++s) {
          double score = 0;
          for (Index d = 0; d < head_dim_; ++d) score += q[at(t, d)] * k[at(s, d)];
          weights.push_back(std::exp(score / std::sqrt(double(head_dim_))));
          total += weights.back();
        }
        for (Index s = 0; s < time; ++s) {
          for (Index d = 0; d < head_dim_; ++d) {
            y[at(t, d)] += weights[static_cast<std::size_t>(s)] / total * v[at(s, d)];
          }
        }
      }
    }
    return y;
  }

  NamedArrays arrays_;
  ForeignLayout layout_;
  HeadOrder order_;
  Index heads_, head_dim_;
};

}  // namespace

TEST_CASE("every number stands where the other implementation keeps it, blocked and interleaved") {
  // Heads 0 and 2 of three are kept, so that position and original number differ.
  for (const Layout ours : convertible) {
    for (const HeadOrder order : head_orders) {
      INFO(name_of(ours) << ", " << name_of(order));
      const Index width = 5, live = 2, head_dim = 2, channels = 4;
      const auto channel_of = [&](Index position, Index d) {
        return order == HeadOrder::blocked ? position * head_dim + d : d * live + position;
      };
      std::map<ForeignLayout, NamedArrays> arrays;
      for (const ForeignLayout layout : foreign_layouts) {
        const auto attention = random_attention(ours, odd_sizes(layout));
        attention->prune(std::vector<Index>{1});
        fill_with_codes(*attention);
        arrays[layout] = export_attention(*attention, layout, order);
      }
      NamedArrays &pytorch = arrays[ForeignLayout::pytorch], &bert = arrays[ForeignLayout::bert],
                  &gpt2 = arrays[ForeignLayout::gpt2], &summae = arrays[ForeignLayout::summae],
                  &bart = arrays[ForeignLayout::bart];
      CHECK(pytorch["in_proj_weight"].shape() == Shape{12, 5});
      CHECK(gpt2["c_attn.weight"].shape() == Shape{5, 12});
      CHECK(gpt2["c_proj.weight"].shape() == Shape{4, 5});
      CHECK(summae["output_proj/kernel"].shape() == Shape{4, 5});
      CHECK(summae.size() == 4);

      const char* const bert_names[] = {"self.query", "self.key", "self.value"};
      const char* const bart_names[] = {"q_proj", "k_proj", "v_proj"};
      const char* const summae_names[] = {"q_proj/kernel", "k_proj/kernel", "v_proj/kernel"};
      const HeadRole weights[] = {HeadRole::query, HeadRole::key, HeadRole::value};
      const HeadRole biases[] = {HeadRole::query_bias, HeadRole::key_bias, HeadRole::value_bias};
      for (Index position = 0; position < live; ++position) {
        const Index head = 2 * position;
        for (Index d = 0; d < head_dim; ++d) {
          const Index channel = channel_of(position, d);
          for (std::size_t part = 0; part < 3; ++part) {
            const Index packed = Index(part) * channels + channel;
            const std::string name = bert_names[part], bart_name = bart_names[part];
            for (Index i = 0; i < width; ++i) {
              const Real expected = code(weights[part], head, d, i);
              CHECK(pytorch["in_proj_weight"][packed * width + i] == expected);
              CHECK(bert[name + ".weight"][channel * width + i] == expected);
              CHECK(bart[bart_name + ".weight"][channel * width + i] == expected);
              CHECK(gpt2["c_attn.weight"][i * 3 * channels + packed] == expected);
              CHECK(summae[summae_names[part]][i * channels + channel] == expected);
            }
            const Real expected = code(biases[part], head, d, 0);
            CHECK(pytorch["in_proj_bias"][packed] == expected);
            CHECK(bert[name + ".bias"][channel] == expected);
            CHECK(bart[bart_name + ".bias"][channel] == expected);
            CHECK(gpt2["c_attn.bias"][packed] == expected);
          }
          for (Index out = 0; out < width; ++out) {
            const Real expected = code(HeadRole::output, head, d, out);
            CHECK(pytorch["out_proj.weight"][out * channels + channel] == expected);
            CHECK(bert["output.dense.weight"][out * channels + channel] == expected);
            CHECK(bart["out_proj.weight"][out * channels + channel] == expected);
            CHECK(gpt2["c_proj.weight"][channel * width + out] == expected);
            CHECK(summae["output_proj/kernel"][channel * width + out] == expected);
          }
        }
      }
      for (Index out = 0; out < width; ++out) {
        const Real expected = code(HeadRole::output_bias, HeadSlice::of_none, out, 0);
        CHECK(pytorch["out_proj.bias"][out] == expected);
        CHECK(bert["output.dense.bias"][out] == expected);
        CHECK(bart["out_proj.bias"][out] == expected);
        CHECK(gpt2["c_proj.bias"][out] == expected);
      }
    }
  }
}

TEST_CASE("computing as the other implementation does gives the output of ours") {
  Rng rng(3);
  const Array x = test::normal({4, 5}, rng);
  for (const Layout ours : convertible) {
    for (const ForeignLayout layout : foreign_layouts) {
      for (const HeadOrder order : head_orders) {
        for (const std::vector<Index>& gone : {std::vector<Index>{}, {0}, {0, 1, 2}}) {
          INFO(name_of(ours) << ", " << name_of(layout) << ", " << name_of(order) << ", "
                             << gone.size() << " heads removed");
          const auto attention = random_attention(ours, odd_sizes(layout));
          attention->prune(gone);
          const Tensor input(x.reshaped({1, 4, 5}));
          const Array y = (*attention)(input, input, AttentionMask::none()).value();
          const ForeignAttention foreign(export_attention(*attention, layout, order), layout, order,
                                         Index(attention->alive().size()), 2);
          const std::vector<double> numbers = foreign(x);
          Array expected({1, 4, 5});
          std::transform(numbers.begin(), numbers.end(), expected.data(),
                         [](double number) { return Real(number); });
          CHECK_THAT(y, test::same_numbers(expected, test::same_function));
        }
      }
    }
  }
}

TEST_CASE("there and back is the identity, from either of our layouts into either") {
  for (const ForeignLayout layout : foreign_layouts) {
    for (const HeadOrder order : head_orders) {
      for (const std::vector<Index>& gone : {std::vector<Index>{}, {2}, {0, 1, 2}}) {
        INFO(name_of(layout) << ", " << name_of(order) << ", " << gone.size() << " heads removed");
        const auto separate = random_attention(Layout::separate, odd_sizes(layout));
        separate->prune(gone);
        const NamedArrays arrays = export_attention(*separate, layout, order);
        for (const Layout target : convertible) {
          Rng other(99);
          const auto attention = make_attention(target, odd_sizes(layout), other);
          attention->prune(gone);
          import_attention(arrays, *attention, layout, order);
          CHECK(parameter_distance(*separate, *attention).largest == 0);
          CHECK(parameter_distance(*separate, *attention).key_bias == 0);
          check_same_arrays(export_attention(*attention, layout, order), arrays);
        }
      }
    }
  }
}

TEST_CASE("a chain through every layout ends where it began") {
  AttentionConfig config = odd_sizes(ForeignLayout::summae);  // without biases
  const auto begin = random_attention(Layout::separate, config);
  Rng rng(5);
  const auto fused = make_attention(Layout::fused, config, rng),
             again = make_attention(Layout::separate, config, rng);
  transplant(*begin, *fused);
  import_attention(export_attention(*fused, ForeignLayout::pytorch), *again,
                   ForeignLayout::pytorch);
  import_attention(export_attention(*again, ForeignLayout::summae, HeadOrder::interleaved), *fused,
                   ForeignLayout::summae, HeadOrder::interleaved);
  CHECK(parameter_distance(*begin, *fused).largest == 0);

  config.bias = true;
  const auto first = random_attention(Layout::fused, config);
  const auto second = make_attention(Layout::separate, config, rng),
             third = make_attention(Layout::fused, config, rng);
  import_attention(export_attention(*first, ForeignLayout::bert), *second, ForeignLayout::bert);
  import_attention(export_attention(*second, ForeignLayout::gpt2), *third, ForeignLayout::gpt2);
  CHECK(parameter_distance(*first, *third).largest == 0);
  CHECK(parameter_distance(*first, *third).key_bias == 0);
}

TEST_CASE("our fused layout and PyTorch's packed one share names and numbers") {
  for (const bool cross : {false, true}) {
    AttentionConfig config = odd_sizes(ForeignLayout::pytorch);
    if (cross) config.key_width = 4;
    if (cross) config.value_width = 7;
    const auto fused = random_attention(Layout::fused, config);
    NamedArrays own;
    for (const auto& [name, tensor] : parameters(*fused)) own[name] = tensor.value();
    check_same_arrays(export_attention(*fused, ForeignLayout::pytorch), own);
  }
}

TEST_CASE("gradients are exported like values, and a missing one is named") {
  const AttentionConfig config = odd_sizes(ForeignLayout::gpt2);
  const auto attention = random_attention(Layout::separate, config);
  CHECK_THROWS_WITH(export_gradients(*attention, ForeignLayout::gpt2), Contains("has no gradient"));
  for (auto& [name, tensor] : parameters(*attention)) tensor.set_grad(tensor.value().clone());
  check_same_arrays(export_gradients(*attention, ForeignLayout::gpt2),
                    export_attention(*attention, ForeignLayout::gpt2));
}

TEST_CASE("arrays that are missing, left over or of another shape are named and change nothing") {
  const auto attention = random_attention(Layout::fused, odd_sizes(ForeignLayout::bert));
  const NamedArrays before = export_attention(*attention, ForeignLayout::bert);
  NamedArrays other = before;
  for (auto& [name, array] : other) array = zeros(array.shape());
  const auto refused = [&](const NamedArrays& arrays) {
    import_attention(arrays, *attention, ForeignLayout::bert);
  };

  NamedArrays misspelt = other;
  misspelt.erase("self.value.weight");
  CHECK_THROWS_WITH(refused(misspelt),
                    "layout conversion: self.value.weight is missing, which bert has");
  misspelt["self.values.weight"] = zeros({6, 5});
  CHECK_THROWS_WITH(refused(misspelt), Contains("(did you mean self.values.weight?)"));
  NamedArrays more = other;
  more["output.LayerNorm.weight"] = zeros({5});
  CHECK_THROWS_WITH(refused(more), Contains("output.LayerNorm.weight is unused"));
  NamedArrays wrong = other;
  wrong["output.dense.weight"] = zeros({6, 5});
  CHECK_THROWS_AS(refused(wrong), ShapeError);
  CHECK_THROWS_WITH(refused(wrong), Contains("output.dense.weight is [6, 5] but the live heads "
                                             "need [5, 6]"));
  check_same_arrays(export_attention(*attention, ForeignLayout::bert), before);

  attention->prune(std::vector<Index>{0});  // the full model's arrays no longer fit
  CHECK_THROWS_AS(refused(before), ShapeError);
}

TEST_CASE("an attention that a layout cannot hold is refused") {
  AttentionConfig config = odd_sizes(ForeignLayout::pytorch);
  const auto with_bias = random_attention(Layout::fused, config);
  CHECK_THROWS_WITH(export_attention(*with_bias, ForeignLayout::summae),
                    Contains("this layout has no biases"));
  config.bias = false;
  const auto without_bias = random_attention(Layout::fused, config);
  CHECK_THROWS_WITH(export_attention(*without_bias, ForeignLayout::bert),
                    Contains("this layout has biases"));
  CHECK_THROWS_AS(export_attention(*without_bias, ForeignLayout::gpt2), UsageError);
  config = odd_sizes(ForeignLayout::gpt2);
  config.key_width = 4;
  const auto cross = random_attention(Layout::fused, config);
  CHECK_THROWS_WITH(export_attention(*cross, ForeignLayout::gpt2), Contains("as wide as queries"));
  AttentionConfig square;
  square.width = 6;
  square.heads = 3;
  const auto shared = random_attention(Layout::shared, square);
  CHECK_THROWS_WITH(export_attention(*shared, ForeignLayout::pytorch),
                    Contains("its heads share their projections"));
  const auto turned = random_attention(test::turned_layout(), square);
  CHECK_THROWS_WITH(export_attention(*turned, ForeignLayout::pytorch),
                    Contains("this layout has no such parameters"));
  square.bias = false;
  for (const Layout layout : {test::grouped_layout(), test::one_key_layout()}) {
    const auto own = random_attention(layout, square);
    CHECK_THROWS_WITH(export_attention(*own, ForeignLayout::pytorch),
                      Contains("its heads share their projections"));
    CHECK_THROWS_WITH(import_attention({}, *own, ForeignLayout::pytorch),
                      Contains("its heads share their projections"));
  }
}

TEST_CASE("importing does not reach a copy of the numbers that somebody keeps") {
  const auto attention = random_attention(Layout::fused, odd_sizes(ForeignLayout::bert));
  NamedArrays arrays = export_attention(*attention, ForeignLayout::bert);
  const Array kept = parameters(*attention).front().tensor.value();
  const Real before = kept[0];
  for (Real& x : arrays["self.query.weight"].span()) x += 1;
  import_attention(arrays, *attention, ForeignLayout::bert);
  CHECK(kept[0] == before);
}

TEST_CASE("layouts and orders are found by name") {
  CHECK(from_name<ForeignLayout>("foreign layout", "summae") == ForeignLayout::summae);
  CHECK(from_name<HeadOrder>("head order", "interleaved") == HeadOrder::interleaved);
  CHECK_THROWS_WITH(from_name<ForeignLayout>("foreign layout", "t5"),
                    Contains("pytorch, bert, gpt2, bart, summae"));
}

TEST_CASE("channel_of: heads in blocks, or their features interleaved") {
  CHECK(channel_of(HeadOrder::blocked, 2, 1, 3, 4) == 9);
  CHECK(channel_of(HeadOrder::interleaved, 2, 1, 3, 4) == 5);
}
