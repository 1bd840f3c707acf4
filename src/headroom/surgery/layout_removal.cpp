// Laws 6, 7 and 10 of attention layouts: heads that are switched off, removed and brought back.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "surgery/layout_laws.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

namespace {

/// The parameters that belong to a single head, if there are several heads.
std::map<std::string, Index> parameters_of_one_head(const Attention& attention) {
  std::map<std::string, std::set<Index>> owners;
  for (const HeadSlice& part : attention.head_slices()) owners[part.name].insert(part.head);
  std::map<std::string, Index> single;
  for (const auto& [name, heads] : owners) {
    if (attention.alive().size() > 1 && heads.size() == 1 && *heads.begin() >= 0) {
      single[name] = *heads.begin();
    }
  }
  return single;
}

void check_names(Attention& attention, const std::map<std::string, Index>& single,
                 const Contents& before, const std::string& state) {
  const Contents now(attention);
  const auto alive = attention.alive();
  for (const auto& [name, head] : single) {
    const bool lives = std::ranges::find(alive, head) != alive.end();
    const auto found = now.values.find(name);
    require(lives == (found != now.values.end()), 7,
            fmt::format("{}: {} of head {} is {}; drop_modules() drops what belongs to a removed "
                        "head alone, and names contain the original index",
                        state, name, head, lives ? "missing" : "still there"));
    require(!lives || same_bits(found->second, before.values.at(name)), 7,
            fmt::format("{}: {} has other values; names contain the original index of the head",
                        state, name));
  }
}

void check_bias_alone(Attention& attention, const std::vector<Array>& results) {
  const Array bias = output_bias_of(attention);
  for (const Array& y : results) {
    for (Index i = 0; i < y.size(); ++i) {
      const Real expected = bias.defined() ? bias[i % bias.size()] : Real(0);
      require(std::abs(double(y[i]) - double(expected)) <= 1e-6, 10,
              fmt::format("without live heads the output has {} at channel {}, and the output "
                          "bias {}",
                          y[i], i % y.dim(2), expected));
    }
  }
}

}  // namespace

void check_owners(const LayoutCase& layout, std::span<const Index> heads) {
  const auto attention = layout.make();
  const Tensor gates = layout.gates_without(heads);
  const std::vector<Array> before = layout.values(*attention, gates);
  std::map<std::string, Tensor> tensors = tensors_of(*attention);
  Rng rng(4, "check_layout owners");
  for (const HeadSlice& part : attention->head_slices()) {
    Tensor& tensor = tensors.at(part.name);
    if (!part.leaves_with(heads)) continue;
    const Array old = tensor.value().clone();
    Array changed = old.clone();
    for_each_run(changed.shape(), part, [&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i) changed[i] = rng.uniform(-1, 1);
    });
    tensor.set_value(changed);
    const std::vector<Array> after = layout.values(*attention, gates);
    tensor.set_value(old);
    for (std::size_t i = 0; i < before.size(); ++i) {
      require(same(after[i], before[i]), 6,
              fmt::format("{} belongs to {}, but changes the output while the gates of {} are 0",
                          range_text(part), part.owner_text(), fmt::join(heads, ", ")));
    }
  }
}

void check_removal(const LayoutCase& layout, std::span<const Index> heads) {
  const auto attention = layout.make();
  for (const Tensor& y : layout.outputs(*attention)) y.backward(ones(y.shape()));
  const std::vector<Array> gated = layout.values(*attention, layout.gates_without(heads));
  const Contents before(*attention);
  const std::map<std::string, Index> single = parameters_of_one_head(*attention);
  std::vector<HeadShare> shares;
  for (const Index head : heads) shares.push_back(share_of({"", attention.get()}, head));
  const std::string state = heads_text(heads);

  in_law(6, "prune", [&] { return attention->prune(heads); });
  check_names(*attention, single, before, state);
  check_slices(*attention, heads);
  const bool none = attention->alive().empty();
  if (!none) check_score_bias(layout, *attention, heads);
  const std::vector<Array> pruned =
      in_law(none ? 10 : 6, state, [&] { return layout.values(*attention); });
  for (std::size_t i = 0; i < pruned.size(); ++i) {
    require(same(pruned[i], gated[i]), none ? 10 : 6,
            fmt::format("{}: the output is not that of all heads with gates of 0; do project() "
                        "and combine() use the live heads only?",
                        state));
  }
  if (none) check_bias_alone(*attention, pruned);
  if (!none) check_decoding(layout, *attention, heads);

  in_law(6, "regrow", [&] { return attention->regrow(shares); });
  const Contents after(*attention);
  for (const auto& [name, value] : before.values) {
    const auto found = after.values.find(name);
    require(found != after.values.end() && same_bits(found->second, value) &&
                same_bits(after.gradients.at(name), before.gradients.at(name)),
            6, fmt::format("{} is not as before after regrow() undid prune() ({})", name, state));
  }
  require(after.values.size() == before.values.size(), 6,
          fmt::format("after regrow() undid prune() there are {} parameters, before {} ({})",
                      after.values.size(), before.values.size(), state));
}

void check_moments(const LayoutCase& layout) {
  const auto attention = layout.make();
  Adam optimizer(*attention);
  optimizer.may_be_unused([](const NamedParameter&) { return true; });
  for (const Tensor& y : layout.outputs(*attention)) y.backward(ones(y.shape()));
  in_law(4, "a step of an optimizer", [&] { optimizer.step(0.01); });
  std::map<std::string, OptimizerState> before;
  for (const auto& [name, tensor] : parameters(*attention)) before[name] = optimizer.state(name);
  const AttentionLocation& location = attention->location();
  for (const std::vector<Index>& heads : layout.sets_of_heads()) {
    std::vector<HeadId> ids;
    for (const Index head : heads) ids.push_back({location.kind, location.layer, head});
    in_law(6, "cut and regrow with an optimizer", [&] { regrow(optimizer, cut(optimizer, ids)); });
    for (const auto& [name, state] : before) {
      const OptimizerState& now = optimizer.state(name);
      require(same_bits(now.first, state.first) && same_bits(now.second, state.second) &&
                  now.steps == state.steps,
              6,
              fmt::format("the moments of {} are not as before after regrow() undid cut()", name));
    }
  }
}

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
