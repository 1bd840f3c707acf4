// Steps of elementwise optimizers in both layouts, and after a transplant midway.
#include "lab/experiments/transplanted_steps.hpp"
#include "lab/optimizer_rules.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <utility>

#include "headroom/base/extremes.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/nn/linear.hpp"
#include "headroom/optim/optim.hpp"
#include "headroom/surgery/transplant.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace transplanted_steps {

constexpr Index batch = 2, tokens = 10;
constexpr double learning_rate = 1e-3;

/// Adam divides by sqrt(v) + epsilon. With the usual epsilon of 1e-8 its first step is the learning
/// rate times the sign of the gradient, so a gradient that is only rounding noise (in float there
/// are some among a million elements) moves its weight by the full learning rate, possibly in
/// opposite directions in the two layouts. With 1e-3, 1 % of the gradients here, a step changes by
/// at most the learning rate times rounding / 1e-3, and all steps together by no more than the
/// rounding of the gradients.
constexpr double epsilon = 1e-3;

constexpr const char* optimizer_names[] = {"SGD with momentum", "Adam", "AdamW"};

OptimizerMaker maker_of(int which) {
  return which == 0 ? make_sgd(0.9) : which == 1 ? make_adam(epsilon) : make_adamw(epsilon);
}

/// An attention behind a Linear, so that dX affects the updates.
class Behind : public Module {
 public:
  Behind(Attention& attention, const Array& weight) : before_(weight.clone(), {}) {
    attention_ = &attention;
  }
  void members(Members& visit) override {
    visit("before", before_);
    visit("attention", *attention_);
  }
  std::string title() const override { return "Linear and attention"; }
  Attention& attention() const { return *attention_; }
  Tensor operator()(const Tensor& x) const {
    const Tensor seen = before_(x);
    return (*attention_)(seen, seen, AttentionMask::causal());
  }

 private:
  Linear before_;
  Attention* attention_;
};

/// A model with its optimizer.
struct SteppedLayer {
  Behind model;
  std::unique_ptr<Optimizer> optimizer;

  SteppedLayer(Attention& attention, const Array& weight, int which)
      : model(attention, weight), optimizer(maker_of(which)(model)) {}

  void step(const Tensor& x, const Array& cotangent) {
    optimizer->zero_grad();
    model(x).backward(cotangent);
    optimizer->step(learning_rate);
  }
};

/// Arrays of a model by part: those of the attention and the Linear's.
NamedArrays parts_of(Behind& model, const std::function<const Array&(const std::string&)>& find) {
  NamedArrays parts = by_part(model.attention(), [&](const std::string& name) -> const Array& {
    return find("attention." + name);
  });
  parts["before.weight"] = find("before.weight").clone();
  return parts;
}

/// Parameters and moments of a learner, by quantity and by part.
std::map<std::string, NamedArrays> everything_of(SteppedLayer& learner) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : parameters(learner.model)) values[name] = tensor;
  const auto state = [&](const std::string& name) -> const OptimizerState& {
    return std::as_const(*learner.optimizer).state(name);
  };
  std::map<std::string, NamedArrays> all;
  all["parameters"] = parts_of(learner.model, [&](const std::string& name) -> const Array& {
    return values.at(name).value();
  });
  const auto add_moment = [&](const char* what, Array OptimizerState::*moment) {
    if (!(state("before.weight").*moment).defined()) return;
    all[what] = parts_of(learner.model, [&](const std::string& name) -> const Array& {
      return state(name).*moment;
    });
  };
  add_moment("first moment", &OptimizerState::first);
  add_moment("second moment", &OptimizerState::second);
  return all;
}

}  // namespace transplanted_steps
}  // namespace

void raise(Worst& worst, const std::string& what, double difference) {
  worst[what] = larger(worst[what], difference);
}

void compare_steps(const TwinLayouts& twins, Layout from, int which, Rng& rng, Worst& worst) {
  using namespace transplanted_steps;
  const AttentionConfig& config = twins.separate->config();
  const Array weight =
      xavier_uniform({config.width, config.width}, config.width, config.width, rng);
  SteppedLayer separate(*twins.separate, weight, which), fused(*twins.fused, weight, which);
  SteppedLayer& source = from == Layout::separate ? separate : fused;
  const auto other =
      same_heads(twins.of(from), from == Layout::separate ? Layout::fused : Layout::separate);
  SteppedLayer continued(*other, weight, which);

  for (int step = 0; step < compared_steps; ++step) {
    if (step == transplanted_at) {
      transplant(source.model, continued.model);
      transplant_moments(*source.optimizer, *continued.optimizer);
    }
    const Tensor x(normal({batch, tokens, config.width}, 1, rng));
    const Array cotangent = normal(x.shape(), Real(1) / (batch * tokens), rng);
    separate.step(x, cotangent);
    fused.step(x, cotangent);
    if (step >= transplanted_at) continued.step(x, cotangent);
  }
  const auto compare = [&](SteppedLayer& a, SteppedLayer& b, const std::string& how) {
    const auto of_a = everything_of(a), of_b = everything_of(b);
    for (const auto& [what, parts] : of_a) {
      raise(worst, fmt::format("{}{}: {}", optimizer_names[which], how, what),
            parts_apart(parts, of_b.at(what)));
    }
  };
  compare(separate, fused, "");
  compare(source, continued, ", transplanted midway");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
