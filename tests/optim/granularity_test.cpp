// Optimizers that normalise whole tensors, on models with heads: the updates depend on the layout
// only with granularity `tensor`; surgery and saved states work as for every optimizer.
#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/optim_support.hpp"

using namespace headroom;
using headroom::test::random_gradients;

namespace {

const char* const rules[] = {"lamb", "muon"};

std::unique_ptr<Optimizer> make_optimizer(const std::string& rule, Module& model,
                                          Granularity granularity) {
  if (rule == "lamb") {
    return std::make_unique<Lamb>(model,
                                  LambOptions{.weight_decay = 0.01, .granularity = granularity});
  }
  return std::make_unique<Muon>(model,
                                MuonOptions{.weight_decay = 0.01, .granularity = granularity});
}

std::unique_ptr<Attention> make_heads(Layout layout) {
  Rng rng(3);
  return make_attention(layout, {.width = 12, .heads = 4, .head_dim = 3}, rng);
}

/// Gives an attention random gradients that depend on role and head only, not on the layout.
void set_gradients(Attention& attention, std::uint64_t seed) {
  test::HeadBlocks blocks = test::head_values(attention);
  for (auto& [place, block] : blocks) {
    Rng rng(seed, "gradient",
            static_cast<std::uint64_t>(100 * Index(place.first) + place.second + 1));
    for (Real& x : block.span()) x = rng.normal();
  }
  const test::HeadBlocks values = test::head_values(attention);
  test::set_head_values(attention, blocks);  // temporarily, to get gradients in this layout
  for (auto& [name, tensor] : parameters(attention)) tensor.set_grad(tensor.value().clone());
  test::set_head_values(attention, values);
}

/// The largest difference between blocks that both have.
double largest_difference(const test::HeadBlocks& a, const test::HeadBlocks& b) {
  double largest = 0;
  for (const auto& [place, block] : a) {
    const auto found = b.find(place);
    if (found == b.end()) continue;
    for (Index i = 0; i < block.size(); ++i) {
      largest = std::max(largest, double(std::abs(block[i] - found->second[i])));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("per projection and per head, separate and fused heads get the same updates") {
  for (const std::string rule : rules) {
    for (const Granularity granularity : all_of<Granularity>()) {
      INFO(rule << ", " << name_of(granularity));
      const auto separate = make_heads(Layout::separate), fused = make_heads(Layout::fused);
      test::set_head_values(*fused, test::head_values(*separate));
      const auto first = make_optimizer(rule, *separate, granularity),
                 second = make_optimizer(rule, *fused, granularity);
      for (std::uint64_t step = 1; step <= 5; ++step) {
        if (step == 4) {  // the same holds after a head was removed
          first->apply(separate->prune(std::vector<Index>{2}));
          second->apply(fused->prune(std::vector<Index>{2}));
        }
        set_gradients(*separate, step);
        set_gradients(*fused, step);
        first->step(0.02);
        second->step(0.02);
      }
      const double apart =
          largest_difference(test::head_values(*separate), test::head_values(*fused));
      if (granularity == Granularity::tensor) {
        CHECK(apart > 1e-3);
      } else {
        CHECK(apart < (is_double ? 1e-14 : 1e-6));
      }
    }
  }
}

TEST_CASE("per head, a head moves as if the others were not there; else it does not") {
  for (const std::string rule : rules) {
    for (const Layout layout : {Layout::separate, Layout::fused}) {
      for (const Granularity granularity : {Granularity::projection, Granularity::head}) {
        INFO(rule << ", " << name_of(layout) << ", " << name_of(granularity));
        const auto full = make_heads(layout), compact = make_heads(layout);
        const auto first = make_optimizer(rule, *full, granularity),
                   second = make_optimizer(rule, *compact, granularity);
        for (std::uint64_t step = 1; step <= 6; ++step) {
          // The remaining heads keep their moments and step counts.
          if (step == 4) second->apply(compact->prune(std::vector<Index>{0, 3}));
          set_gradients(*full, step);
          set_gradients(*compact, step);
          first->step(0.02);
          second->step(0.02);
        }
        const double apart =
            largest_difference(test::head_values(*compact), test::head_values(*full));
        if (granularity == Granularity::head) {
          CHECK(apart == 0);
        } else {
          CHECK(apart > 1e-4);
        }
      }
    }
  }
}

TEST_CASE("a step after a prune that nobody reported is refused, one without heads is taken") {
  for (const std::string rule : rules) {
    for (const Layout layout : {Layout::separate, Layout::fused}) {
      const auto attention = make_heads(layout);
      const auto optimizer = make_optimizer(rule, *attention, Granularity::head);
      const std::vector<ParameterEdit> edits = attention->prune(std::vector<Index>{0, 1, 2, 3});
      random_gradients(*attention, 1);
      CHECK_THROWS_AS(optimizer->step(0.01), UsageError);
      optimizer->apply(edits);
      optimizer->step(0.01);
    }
  }
}

TEST_CASE("a saved state goes on to the bit, with every granularity") {
  for (const std::string rule : rules) {
    for (const Granularity granularity : all_of<Granularity>()) {
      INFO(rule << ", " << name_of(granularity));
      const auto a = make_heads(Layout::fused), b = make_heads(Layout::fused);
      const auto one = make_optimizer(rule, *a, granularity);
      random_gradients(*a, 1);
      one->step(0.01);
      one->apply(a->prune(std::vector<Index>{1}));
      TensorFile file;
      one->save_state(StateWriter(file, "optimizer."));
      b->prune(std::vector<Index>{1});
      copy_parameters(*a, *b);
      const auto two = make_optimizer(rule, *b, granularity);
      two->load_state(StateReader(file, "optimizer."));
      for (std::uint64_t step = 2; step <= 3; ++step) {
        random_gradients(*a, step);
        random_gradients(*b, step);
        one->step(0.01);
        two->step(0.01);
      }
      const auto mine = parameters(*a), theirs = parameters(*b);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        INFO(mine[i].name);
        CHECK_THAT(mine[i].tensor.value(), test::SameBits(theirs[i].tensor.value()));
        CHECK(one->state(mine[i].name).steps == two->state(mine[i].name).steps);
      }
    }
  }
}

TEST_CASE("each block is clipped by its own norm, the same in both layouts but for `tensor`") {
  const auto norm = [](const Array& array) {
    double squares = 0;
    for (const Real x : array.span()) squares += double(x) * double(x);
    return std::sqrt(squares);
  };
  const auto fused = make_heads(Layout::fused), separate = make_heads(Layout::separate);
  for (Attention* attention : {fused.get(), separate.get()}) set_gradients(*attention, 9);
  const test::HeadBlocks before = test::head_gradients(*fused);
  double largest = 0;
  for (const auto& [place, block] : before) largest = std::max(largest, norm(block));

  for (Attention* attention : {fused.get(), separate.get()}) {
    CHECK(std::abs(clip_block_norms(*attention, 2, Granularity::head) - largest) < 1e-6);
    for (const auto& [place, block] : test::head_gradients(*attention)) {
      const double was = norm(before.at(place)), factor = std::min(1.0, 2 / (was + 1e-6));
      for (Index i = 0; i < block.size(); ++i) {
        CHECK(std::abs(double(block[i]) - factor * double(before.at(place)[i])) < 1e-6);
      }
      if (was < 2) CHECK_THAT(block, test::SameBits(before.at(place)));
    }
  }
  for (const Granularity granularity : {Granularity::projection, Granularity::tensor}) {
    for (Attention* attention : {fused.get(), separate.get()}) {
      set_gradients(*attention, 10);
      clip_block_norms(*attention, 2, granularity);
    }
    const double apart =
        largest_difference(test::head_gradients(*fused), test::head_gradients(*separate));
    if (granularity == Granularity::tensor) {
      CHECK(apart > 1e-2);
    } else {
      CHECK(apart < 1e-6);
    }
  }
}

TEST_CASE("a block whose norm is no number stays, the others are clipped, and NaN comes back") {
  const auto attention = make_heads(Layout::fused);
  set_gradients(*attention, 1);
  const auto named = parameters(*attention);
  Tensor weight = named[0].tensor;  // in_proj_weight: head 0's query first
  const Real outside = weight.grad()[weight.size() - 1];
  weight.mutable_grad()[0] = std::numeric_limits<Real>::quiet_NaN();
  const Real inside = weight.grad()[1];
  CHECK(std::isnan(clip_block_norms(*attention, 0.1, Granularity::head)));
  CHECK(weight.grad()[1] == inside);
  CHECK(std::abs(weight.grad()[weight.size() - 1]) < std::abs(outside));
  CHECK_THROWS_AS(clip_block_norms(*attention, 0, Granularity::head), UsageError);
}
