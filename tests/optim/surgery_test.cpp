// Optimizers after pruning: the remaining heads keep their moments in every layout, and a step
// without apply() is an error.
#include <cstring>
#include <limits>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/catch.hpp"
#include "support/optim_support.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using headroom::test::random_gradients;

namespace {

std::unique_ptr<Attention> small_attention(Layout layout) {
  Rng rng(3, "init");
  return make_attention(layout, {.width = 12, .heads = 6, .head_dim = 2}, rng);
}

/// The elements of a per-parameter array that belong to one head (original index).
std::vector<Real> of_head(const Attention& attention, Index head,
                          const std::function<const Array&(const std::string&)>& array_of) {
  std::vector<Real> numbers;
  for (const HeadSlice& slice : attention.head_slices()) {
    if (slice.head != head) continue;
    const Array& array = array_of(slice.name);
    const Index columns = array.rank() == 2 ? array.dim(1) : 1;
    for (Index i = 0; i < array.size(); ++i) {
      const Index place = slice.axis == 0 ? i / columns : i % columns;
      if (place >= slice.begin && place < slice.end) numbers.push_back(array[i]);
    }
  }
  return numbers;
}

}  // namespace

TEST_CASE("a prune keeps the moments and steps of the heads that stay, in every layout") {
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    const auto attention = small_attention(layout);
    Adam adam(*attention);
    for (std::uint64_t step = 1; step <= 3; ++step) {
      random_gradients(*attention, step);
      adam.step(0.01);
    }
    const auto moment = [&](const std::string& name) -> const Array& {
      return adam.state(name).second;
    };
    std::vector<std::vector<Real>> before;
    for (Index head = 0; head < 6; ++head) before.push_back(of_head(*attention, head, moment));

    const std::vector<Index> gone = {0, 3, 4};
    adam.apply(attention->prune(gone));
    for (const Index head : attention->alive()) {
      CAPTURE(head);
      CHECK_FALSE(before[static_cast<std::size_t>(head)].empty());
      CHECK(of_head(*attention, head, moment) == before[static_cast<std::size_t>(head)]);
    }
    for (const auto& [name, state] : adam.states()) {
      CAPTURE(name);
      CHECK(std::all_of(state.steps.begin(), state.steps.end(), [](auto n) { return n == 3; }));
    }
    random_gradients(*attention, 9);
    adam.step(0.01);  // everything fits again

    adam.apply(attention->prune(std::vector<Index>{1, 2, 5}));  // no heads at all
    random_gradients(*attention, 10);
    adam.step(0.01);
  }
}

TEST_CASE("a prune keeps the step counts of just those indices that stay, in every layout") {
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    const auto attention = small_attention(layout);
    Adam adam(*attention);
    for (const NamedParameter& parameter : parameters(*attention)) {
      std::vector<std::int64_t>& steps = adam.state(parameter.name).steps;
      std::iota(steps.begin(), steps.end(), 0);  // a different value per index
    }
    const std::vector<ParameterEdit> edits = attention->prune(std::vector<Index>{1, 4});
    adam.apply(edits);
    Index compared = 0;
    for (const ParameterEdit& edit : edits) {
      if (edit.gone || adam.state(edit.name).axis != edit.axis) continue;
      INFO(edit.name);
      const std::vector<std::int64_t>& steps = adam.state(edit.name).steps;
      CHECK(std::equal(steps.begin(), steps.end(), edit.from.begin(), edit.from.end()));
      ++compared;
    }
    CHECK(compared > 0);
  }
}

TEST_CASE("a step after a prune that the optimizer was not told of says what to do") {
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    const auto attention = small_attention(layout);
    Adam adam(*attention);
    const std::vector<ParameterEdit> edits = attention->prune(std::vector<Index>{2});
    random_gradients(*attention, 1);
    CHECK_THROWS_WITH(adam.step(0.01),
                      Contains("after prune() give the edits") && Contains("apply()"));
    adam.apply(edits);
    adam.step(0.01);
    CHECK_THROWS_AS(adam.apply(edits), UsageError);  // twice
  }
}

TEST_CASE("an optimizer without moments notices a prune that it was not told of, too") {
  const auto attention = small_attention(Layout::fused);
  Sgd sgd(*attention, {.momentum = 0});
  const std::vector<ParameterEdit> edits = attention->prune(std::vector<Index>{2});
  random_gradients(*attention, 1);
  CHECK_THROWS_WITH(sgd.step(0.01), Contains("has step counts for") && Contains("apply()"));
  sgd.apply(edits);
  sgd.step(0.01);
}

TEST_CASE("an edit may take the last index of an axis, and none beyond it or before the first") {
  const auto attention = small_attention(Layout::fused);
  const std::string name = "in_proj_weight";
  Adam adam(*attention);
  const auto last = Index(adam.state(name).steps.size()) - 1;
  for (const Index index : {last + 1, Index{-2}}) {
    CHECK_THROWS_WITH(adam.apply({.name = name, .axis = 0, .from = {0, index}}),
                      Contains("takes index " + std::to_string(index) + " of axis 0"));
  }
  CHECK(adam.state(name).first.dim(0) == last + 1);  // unchanged
  adam.apply({.name = name, .axis = 0, .from = {0, last}});
  CHECK(adam.state(name).first.dim(0) == 2);
}

TEST_CASE("an edit's fresh indices start with moments 0 and step count 0") {
  const auto attention = small_attention(Layout::fused);
  Adam adam(*attention);
  for (const auto& [name, axis] : {std::pair("in_proj_weight", 0), {"out_proj.weight", 1}}) {
    INFO(name);
    OptimizerState& state = adam.state(name);
    const Shape before = state.first.shape();
    std::iota(state.first.data(), state.first.data() + before.size(), Real(1));
    std::iota(state.second.data(), state.second.data() + before.size(), Real(2));
    std::iota(state.steps.begin(), state.steps.end(), 5);
    const Array first = state.first.clone(), second = state.second.clone();
    constexpr Index fresh = ParameterEdit::fresh;
    const std::vector<Index> from{2, fresh, 0, fresh};  // cut, moved and grown at once
    adam.apply({.name = name, .axis = axis, .from = from});
    CHECK(state.steps == std::vector<std::int64_t>{7, 0, 5, 0});
    REQUIRE(state.first.shape() == before.with(axis, 4));
    const auto at = [axis = axis](const Array& x, Index index, Index other) {
      return axis == 0 ? x[index * x.dim(1) + other] : x[other * x.dim(1) + index];
    };
    for (Index i = 0; i < 4; ++i) {
      const Index old = from[static_cast<std::size_t>(i)];
      for (Index other = 0; other < before[1 - axis]; ++other) {
        CHECK(at(state.first, i, other) == (old == fresh ? 0 : at(first, old, other)));
        CHECK(at(state.second, i, other) == (old == fresh ? 0 : at(second, old, other)));
      }
    }
  }
}

TEST_CASE("an optimizer learns of parameters that are new, and of the axis of their heads") {
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    INFO(name_of(layout));
    const auto attention = small_attention(layout);
    const std::vector<Index> all{0, 1, 2, 3, 4, 5};
    std::vector<HeadShare> shares;
    for (const Index head : all) shares.push_back(share_of({"", attention.get()}, head));
    attention->prune(all);
    Adam adam(*attention);  // knows no head
    std::vector<ParameterEdit> edits = attention->regrow({shares.data() + 4, 2});
    adam.apply(edits);
    if (layout == Layout::separate) {
      CHECK_THROWS_WITH(adam.apply(edits), Contains("query.4.weight is not new"));
    }
    random_gradients(*attention, 1);
    adam.step(0.01);
    edits = attention->regrow({shares.data() + 1, 1});
    adam.apply(edits);
    for (const HeadSlice& slice : attention->head_slices()) {
      if (slice.head < 0) continue;
      INFO(slice.name << " of head " << slice.head);
      const OptimizerState& state = adam.state(slice.name);
      REQUIRE(state.axis == slice.axis);
      for (Index i = slice.begin; i < slice.end; ++i) {
        CHECK(state.steps[std::size_t(i)] == (slice.head == 1 ? 0 : 1));
      }
    }
    random_gradients(*attention, 2);
    adam.step(0.01);
  }
}

TEST_CASE("edits that cannot all be applied change nothing") {
  const auto attention = small_attention(Layout::separate);
  Adam adam(*attention);
  std::vector<ParameterEdit> edits = attention->prune(std::vector<Index>{3});
  edits.push_back({.name = "query.7.weight", .from = {-1, -1}, .born = true});
  CHECK_THROWS_WITH(adam.apply(edits), Contains("no parameter query.7.weight, which an edit adds"));
  CHECK(adam.states().contains("query.3.weight"));
  CHECK(adam.state("out.weight").first.dim(1) == 12);
  edits.pop_back();
  adam.apply(edits);
  CHECK_FALSE(adam.states().contains("query.3.weight"));
}

TEST_CASE("a parameter that is new to the optimizer starts at step 0 beside the others") {
  const auto attention = small_attention(Layout::separate);
  Adam adam(*attention);
  random_gradients(*attention, 1);
  adam.step(0.01);
  adam.forget("query.3.weight");  // as if the head had just been added again
  random_gradients(*attention, 2);
  adam.step(0.01);
  CHECK(adam.state("query.3.weight").steps == std::vector<std::int64_t>{1, 1});
  CHECK(adam.state("query.2.weight").steps == std::vector<std::int64_t>{2, 2});
}

TEST_CASE("the saved state goes on as the optimizer that was saved, to the bit") {
  const auto a = small_attention(Layout::fused), b = small_attention(Layout::fused);
  AdamW one(*a);
  random_gradients(*a, 1);
  one.step(0.01);
  one.apply(a->prune(std::vector<Index>{1, 4}));

  TensorFile file;
  one.save_state(StateWriter(file, "optimizer."));
  AdamW two(*b);
  b->prune(std::vector<Index>{1, 4});
  copy_parameters(*a, *b);
  two.load_state(StateReader(file, "optimizer."));
  for (auto [model, optimizer] :
       {std::pair<Attention*, Optimizer*>{a.get(), &one}, {b.get(), &two}}) {
    random_gradients(*model, 2);
    optimizer->step(0.01);
  }
  const auto mine = parameters(*a), theirs = parameters(*b);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    INFO(mine[i].name);
    const Array &x = mine[i].tensor.value(), &y = theirs[i].tensor.value();
    REQUIRE(x.shape() == y.shape());
    CHECK(std::memcmp(x.data(), y.data(), x.span().size_bytes()) == 0);
  }
}

TEST_CASE("loading a state names what is missing, extra or of another shape") {
  const auto saved = small_attention(Layout::fused), other = small_attention(Layout::separate);
  Adam adam(*saved);
  TensorFile file;
  adam.save_state(StateWriter(file, "optimizer."));
  const StateReader from(file, "optimizer.");

  Adam wrong_layout(*other);
  CHECK_THROWS_WITH(wrong_layout.load_state(from), Contains("query.0.weight.first"));
  saved->prune(std::vector<Index>{0});
  Adam pruned(*saved);
  CHECK_THROWS_WITH(pruned.load_state(from), Contains("in_proj_weight.first"));
  const auto same = small_attention(Layout::fused);
  file.put("optimizer.intruder", zeros({2}));
  Adam fits(*same);
  CHECK_THROWS_WITH(fits.load_state(from), Contains("intruder"));
}

TEST_CASE("a state whose next step would compute no number is refused") {
  const auto model = small_attention(Layout::fused);
  Adam adam(*model);
  const auto refuses = [&](const auto& spoil, const std::string& why) {
    OptimizerState state = adam.state("in_proj_weight");
    state.second = state.second.clone();
    spoil(state);
    Adam sick(*model);
    sick.set_state("in_proj_weight", state);
    TensorFile file;
    sick.save_state(StateWriter(file, "optimizer."));
    const StateReader from(file, "optimizer.");
    CHECK_THROWS_AS(adam.load_state(from), FileError);
    CHECK_THROWS_WITH(adam.load_state(from), Contains("\"optimizer.in_proj_weight." + why));
    CHECK(adam.state("in_proj_weight").steps[1] == 0);  // unchanged
  };
  refuses([](OptimizerState& state) { state.steps[1] = -1; }, "steps\": -1 is negative");
  refuses([](OptimizerState& state) { state.steps[1] = std::numeric_limits<std::int64_t>::max(); },
          "steps\": 9223372036854775807 steps are too many");
  refuses([](OptimizerState& state) { state.second[2] = Real(-0.5); },
          "second\": -0.5 is negative");
}
