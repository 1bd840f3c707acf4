// Ways to cut the graph between the loss and a parameter: step() names the parameters that are cut
// off and changes nothing. Parameters that legitimately have no gradient cause no error.
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Contains;

namespace {

class TwoLayers : public Module {
 public:
  explicit TwoLayers(Rng& rng) : lower(3, 4, rng), upper(4, 2, rng) {}
  void members(Members& visit) override {
    visit("lower", lower);
    visit("upper", upper);
  }
  std::string title() const override { return "TwoLayers"; }
  Linear lower, upper;
};

const std::string lower_names = "lower.weight, lower.bias";
const std::string all_names = lower_names + ", upper.weight, upper.bias";

std::string cut_off(const std::string& names) {
  return "optimizer: no gradient has ever reached " + names + "; is the graph cut";
}

Tensor squared(const Tensor& y) { return sum(y * y); }

/// A training step of a two-layer net up to step(), with a mistake in it.
struct Cut {
  const char* way;
  std::function<void(TwoLayers& net, const Tensor& x)> backward;
  std::string names = lower_names;  // the parameters that step() must name
};

const std::vector<Cut>& cuts() {
  static const std::vector<Cut> table = {
      {"the lower layer under NoGrad",
       [](TwoLayers& net, const Tensor& x) {
         Tensor h;
         {
           const NoGrad too_long;
           h = net.lower(x);
         }
         squared(net.upper(relu(h))).backward();
       }},
      {"detach() on the only path",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(relu(net.lower(x).detach()))).backward();
       }},
      {"a constant made from the value",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(constant(relu(net.lower(x)).value()))).backward();
       }},
      {"a parameter made from the value",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(parameter(relu(net.lower(x)).value()))).backward();
       }},
      {"an activation in a plain loop",
       [](TwoLayers& net, const Tensor& x) {
         Array h = net.lower(x).value().clone();
         for (Real& v : h.span()) v = std::max(v, Real(0));
         squared(net.upper(Tensor(h))).backward();
       }},
      {"a layer that never ran",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(concat({x, slice(x, 1, 0, 1)}, 1))).backward();
       }},
      {"a branch that was not taken",
       [](TwoLayers& net, const Tensor& x) {
         const Tensor wide = concat({x, slice(x, 1, 0, 1)}, 1);
         squared(net.upper(x.dim(0) > 100 ? net.lower(x) : wide)).backward();
       }},
      {"output computed from an array that an earlier step cached",
       [](TwoLayers& net, const Tensor& x) {
         const Array cached = net.lower(x).value();
         net.lower(x);
         squared(net.upper(constant(cached))).backward();
       }},
      {"hidden units that only pick ids",
       [](TwoLayers& net, const Tensor& x) {
         const Ids best = argmax(net.lower(x).value());
         squared(net.upper(embedding(constant(ones({4, 4})), best))).backward();
       }},
      {"hidden units that only make a mask",
       [](TwoLayers& net, const Tensor& x) {
         const Tensor h = net.lower(x);
         Bytes positive(h.shape());
         for (Index i = 0; i < h.size(); ++i) positive[i] = h.value()[i] > 0 ? 1 : 0;
         squared(net.upper(where(positive, Tensor(Real(1)), Tensor(Real(0))))).backward();
       }},
      {"a number taken out by item()",
       [](TwoLayers& net, const Tensor& x) {
         const Real size = squared(net.lower(x)).item();
         squared(net.upper(constant(Array({1, 4}, size)))).backward();
       }},
      {"two graphs, and backward() through the upper one only",
       [](TwoLayers& net, const Tensor& x) {
         const Tensor h = net.lower(x);
         const Tensor start = parameter(h.value());
         squared(net.upper(start)).backward();
         // h.backward(start.grad()) is missing
       }},
      {"a copy of the lower layer trained instead",
       [](TwoLayers& net, const Tensor& x) {
         const Linear copy(net.lower.weight.value(), net.lower.bias.value());
         squared(net.upper(copy(x))).backward();
       }},
      {"parameters replaced between forward and step",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(net.lower(x))).backward();
         net.lower.weight = parameter(net.lower.weight.value().clone());
       },
       "lower.weight"},
      {"values set between backward and step, which drops the gradient",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(net.lower(x))).backward();
         net.lower.weight.set_value(net.lower.weight.value().clone());
         net.lower.weight.zero_grad();
       },
       "lower.weight"},
      {"requires_grad off in the forward pass and on again for the step",
       [](TwoLayers& net, const Tensor& x) {
         net.lower.bias.set_requires_grad(false);
         squared(net.upper(net.lower(x))).backward();
         net.lower.bias.set_requires_grad(true);
       },
       "lower.bias"},
      {"a bias left out",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(linear(x, net.lower.weight))).backward();
       },
       "lower.bias"},
      {"a weight passed by value",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(linear(x, Tensor(net.lower.weight.value()), net.lower.bias))).backward();
       },
       "lower.weight"},
      {"the loss of one of two outputs only",
       [](TwoLayers& net, const Tensor& x) {
         const Tensor first = squared(net.lower(x)), second = squared(net.upper(net.lower(x)));
         first.backward();
         second.item();
       },
       "upper.weight, upper.bias"},
      {"another model trained",
       [](TwoLayers&, const Tensor& x) {
         Rng rng(8);
         TwoLayers copy(rng);
         squared(copy.upper(copy.lower(x))).backward();
       },
       all_names},
      {"gradients forgotten between backward() and step()",
       [](TwoLayers& net, const Tensor& x) {
         squared(net.upper(net.lower(x))).backward();
         zero_grad(net);
       },
       all_names},
      {"a step before any backward()", [](TwoLayers&, const Tensor&) {}, all_names},
      {"the forward pass without backward()",
       [](TwoLayers& net, const Tensor& x) { squared(net.upper(net.lower(x))).item(); }, all_names},
  };
  return table;
}

/// A layer with a scale that its members() forgets, unless `listed`.
class Forgetful : public Module {
 public:
  Forgetful(Rng& rng, bool listed_)
      : inner(3, 4, rng), scale(parameter(ones({4}))), listed(listed_) {}
  Tensor operator()(const Tensor& x) { return inner(x) * scale; }
  void members(Members& visit) override {
    visit("inner", inner);
    if (listed) visit("scale", scale);
  }
  std::string title() const override { return "Forgetful"; }
  Linear inner;
  Tensor scale;
  bool listed;
};

/// Forgets a child that walks its own members in its constructor.
class ForgetfulParent : public Module {
 public:
  explicit ForgetfulParent(Rng& rng)
      : encoder({.width = 8, .heads = 2}, 1, true, rng), head(8, 3, rng) {}
  Tensor operator()(const Tensor& x) { return head(encoder(x, AttentionMask::none())); }
  void members(Members& visit) override { visit("head", head); }
  std::string title() const override { return "ForgetfulParent"; }
  Encoder encoder;
  Linear head;
};

Tensor batch() {
  Rng rng(3);
  return constant(test::normal({5, 3}, rng));
}

}  // namespace

TEST_CASE("step() names every parameter that is cut off from the loss, and moves nothing") {
  CHECK(cuts().size() >= 20);
  for (const Cut& cut : cuts()) {
    INFO(cut.way);
    Rng rng(1);
    TwoLayers net(rng);
    AdamW optimizer(net);
    cut.backward(net, batch());
    std::vector<Array> before;
    for (const auto& [name, tensor] : parameters(net)) before.push_back(tensor.value().clone());
    CHECK_THROWS_AS(optimizer.step(0.1), UsageError);
    CHECK_THROWS_WITH(optimizer.step(0.1), Contains(cut_off(cut.names)));
    CHECK_THROWS_WITH(optimizer.step(0.1), Contains("may_be_unused()"));
    std::size_t i = 0;
    for (const auto& [name, tensor] : parameters(net)) {
      CHECK_THAT(tensor.value(), SameBits(before[i++]));
      CHECK(optimizer.state(name).steps[0] == 0);
    }
  }
}

TEST_CASE("a cut is named with the remedies, and each of them works") {
  const auto cut = [](TwoLayers& net) {
    squared(net.upper(net.lower(batch()).detach())).backward();
  };
  Rng rng(1);
  {
    TwoLayers net(rng);
    Sgd optimizer(net);
    cut(net);
    CHECK_THROWS_AS(optimizer.step(0.1), UsageError);
    optimizer.may_be_unused([](const auto& p) { return p.name == "lower.weight"; });
    CHECK_THROWS_WITH(optimizer.step(0.1), Contains(cut_off("lower.bias")));
    optimizer.may_be_unused([](const auto& p) { return p.name == "lower.bias"; });
    CHECK_NOTHROW(optimizer.step(0.1));  // declarations accumulate
  }
  {
    TwoLayers net(rng);
    Sgd optimizer(net);
    for (auto& [name, tensor] : parameters(net)) {
      if (name.starts_with("lower")) tensor.set_requires_grad(false);
    }
    cut(net);
    CHECK_NOTHROW(optimizer.step(0.1));
  }
}

TEST_CASE("a parameter that was trained before may be without gradient, after resuming too") {
  Rng rng(1);
  TwoLayers net(rng);
  Adam optimizer(net);
  squared(net.upper(net.lower(batch()))).backward();
  optimizer.step(0.1);
  const auto upper_only = [&] {
    zero_grad(net);
    squared(net.upper(constant(ones({1, 4})))).backward();
  };
  upper_only();
  CHECK_NOTHROW(optimizer.step(0.1));

  Adam resumed(net);
  upper_only();
  CHECK_THROWS_AS(resumed.step(0.1), UsageError);
  for (const auto& [name, state] : optimizer.states()) resumed.set_state(name, state);
  CHECK_NOTHROW(resumed.step(0.1));
}

TEST_CASE("honest reasons for a path without gradient stay quiet") {
  Rng rng(1);
  const Tensor x = batch();
  const auto quiet = [&](auto&& loss) {
    TwoLayers net(rng);
    Sgd optimizer(net);
    loss(net).backward();
    CHECK_NOTHROW(optimizer.step(0.01));
  };
  SECTION("a stop-gradient beside a residual path") {
    quiet([&](TwoLayers& net) {
      const Tensor h = net.lower(x);
      return squared(net.upper(h + relu(h.detach())));
    });
  }
  SECTION("units that are all switched off: zeros are gradients") {
    quiet([&](TwoLayers& net) { return squared(net.upper(relu(net.lower(x) - Real(1000)))); });
  }
  SECTION("a model in evaluation") {
    quiet([&](TwoLayers& net) {
      net.eval();
      return squared(net.upper(net.lower(x)));
    });
  }
  SECTION("an operation through which nothing flows, and the layers that feed only it") {
    quiet([&](TwoLayers& net) {
      const OpScope op("constant");
      return squared(net.upper(record(op, ones({5, 4}), {net.lower(x)}, nothing_flows)));
    });
  }
  SECTION("tied weights") {
    Bag bag;
    bag.add("embedding", test::normal({4, 3}, rng));
    bag.tensors["output"] = bag.tensors["embedding"];
    AdamW optimizer(bag);
    squared(linear(x, bag.tensors["output"])).backward();
    CHECK_NOTHROW(optimizer.step(0.01));
  }
  SECTION("layers that are skipped at random and declared") {
    TwoLayers net(rng);
    Sgd optimizer(net);
    optimizer.may_be_unused([](const auto& p) { return p.name.starts_with("lower"); });
    for (const bool skipped : {true, false, true}) {
      zero_grad(net);
      const Tensor h = constant(ones({5, 4}));
      squared(net.upper(skipped ? h : h + net.lower(x))).backward();
      CHECK_NOTHROW(optimizer.step(0.01));
    }
  }
}

TEST_CASE("attentions without heads stay quiet, and so do all layers that feed only them") {
  for (const ModelKind kind : {ModelKind::seq2seq, ModelKind::language_model}) {
    for (const Layout layout : all_layouts) {
      for (const bool norm_first : {true, false}) {
        const ModelConfig config = small_config(kind, layout, norm_first);
        Rng rng(4);
        const std::unique_ptr<Module> model = make_model(config, rng);
        const TinyBatch data = tiny_batch(config, rng);
        prune(*model, live_heads(*model));
        AdamW optimizer(*model);
        loss_of(*model, data).backward();
        CHECK_NOTHROW(optimizer.step(0.01));
        for (const auto& [name, tensor] : parameters(*model)) {
          INFO(name);
          CHECK(tensor.reached_by_backward());
          // The encoder of a seq2seq model feeds nothing but the removed heads.
          if (kind == ModelKind::seq2seq && name.starts_with("encoder")) {
            CHECK_FALSE(tensor.grad().defined());
          }
        }
      }
    }
  }
}

TEST_CASE("an attention without heads hides no cut beside it") {
  for (const Layout layout : all_layouts) {
    Rng rng(4);
    BlockConfig config;
    config.width = 12;
    config.heads = 3;
    config.layout = layout;
    EncoderLayer layer(config, rng);
    prune(layer, live_heads(layer));
    AdamW optimizer(layer);
    const Tensor x = constant(test::normal({2, 4, 12}, rng));
    const Tensor attended =
        x + layer.self_attn()(layer.norm1(x), layer.norm1(x), AttentionMask::none());
    squared(attended + layer.feed_forward(layer.norm2(attended)).detach()).backward();
    CHECK_THROWS_WITH(optimizer.step(0.1), Contains("linear1.weight") && Contains("norm2.bias") &&
                                               !Contains("norm1") && !Contains("self_attn"));
  }
}

TEST_CASE("step() names a parameter that no members() lists, and moves nothing") {
  Rng rng(1);
  Forgetful net(rng, false);
  Sgd optimizer(net);
  squared(net(batch())).backward();
  const Array before = net.inner.weight.value().clone();
  CHECK_THROWS_AS(optimizer.step(0.1), UsageError);
  CHECK_THROWS_WITH(optimizer.step(0.1),
                    Contains("a parameter of shape [4] that 'multiply' reads") &&
                        Contains("no module lists it") && Contains("members()"));
  CHECK_THAT(net.inner.weight.value(), SameBits(before));

  net.listed = true;  // the remedy
  optimizer.zero_grad();
  squared(net(batch())).backward();
  CHECK_NOTHROW(optimizer.step(0.1));
}

TEST_CASE("step() names a forgotten child that has visited its own parameters") {
  Rng rng(1);
  for (const bool in_evaluation : {false, true}) {
    ForgetfulParent net(rng);
    if (in_evaluation) net.encoder.eval();
    Sgd optimizer(net);
    squared(net(constant(test::normal({2, 4, 8}, rng)))).backward();
    CHECK_THROWS_WITH(optimizer.step(0.1), Contains("no module lists it"));
  }
}

TEST_CASE("leaves that no module lists for good reasons cause no error") {
  Rng rng(1);
  TwoLayers net(rng);
  Sgd optimizer(net);
  const auto step_after = [&](const std::function<void()>& backward) {
    optimizer.zero_grad();
    backward();
    CHECK_NOTHROW(optimizer.step(0.1));
  };
  const auto loss = [&](const Tensor& x) { return squared(net.upper(relu(net.lower(x)))); };
  SECTION("an input with gradient") {
    const Tensor x(batch().value(), true);
    step_after([&] { loss(x).backward(); });
    CHECK(x.grad().defined());
  }
  SECTION("a parameter that existed during the backward pass only") {
    step_after([&] { (loss(batch()) * parameter(ones({}))).backward(); });
  }
  SECTION("a parameter in a loss of its own") {
    const Tensor other = parameter(ones({2}));
    step_after([&] {
      loss(batch()).backward();
      squared(other).backward();
    });
  }
  SECTION("a parameter in a pass before zero_grad()") {
    const Tensor other = parameter(ones({}));
    (loss(batch()) * other).backward();
    step_after([&] { loss(batch()).backward(); });
  }
  SECTION("the parameters of a second model with its own optimizer") {
    TwoLayers second(rng);
    Sgd its_own(second);
    step_after([&] { (loss(batch()) + squared(second.lower(batch()))).backward(); });
  }
  SECTION("gates of heads") {
    FusedHeads attention({.width = 4, .heads = 2}, rng);
    Sgd its_own(attention);
    const Tensor gates = parameter(ones({2})), x = constant(test::normal({1, 3, 4}, rng));
    squared(attention(x, x, x, {}, {.gates = gates}).y).backward();
    CHECK_NOTHROW(its_own.step(0.1));
    CHECK(gates.grad().defined());
  }
}
