// Learned gates of an attention of which only some heads matter.
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/train/trainer.hpp"
#include "headroom_measure/pruning/learned_gates.hpp"
#include "headroom_runs/runs/telemetry.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

/// One attention that is to reproduce a function of a few of its heads, the planted ones: it has
/// the teacher's parameters, in which W_O of the other heads is almost 0.
struct Planted {
  static constexpr Index heads = 8, keep = 3;

  Planted(const std::string& method, std::uint64_t seed, Layout layout)
      : rng(seed, "planted"),
        attention(make_attention(layout, {.width = 32, .heads = heads}, rng)),
        optimizer(*attention),
        trainer(optimizer, RateOptions{.peak = 1e-4}, {.seed = seed}),
        gates(optimizer, {.method = method, .keep = keep, .end = 250}, seed) {
    randomise(*attention, rng);
    while (Index(planted.size()) < keep) planted.insert(rng.below(heads));
    HeadBlocks blocks = head_values(*attention);
    for (auto& [place, block] : blocks) {
      if (place.first != HeadRole::output || planted.contains(place.second)) continue;
      for (Real& x : block.span()) x *= Real(0.02);
    }
    set_head_values(*attention, blocks);
    teacher = make_attention(layout, attention->config(), rng);
    copy_parameters(*attention, *teacher);
    trainer.add(gates);
  }

  StepReport step() {
    const Tensor x = constant(test::normal({8, 6, 32}, rng));
    const Tensor wanted = (*teacher)(x, x, AttentionMask::none()).detach();
    return trainer.step([&](HeadProbe* probe) {
      return squared_error(attend(*attention, x, x, AttentionMask::none(), probe, nullptr), wanted);
    });
  }

  Rng rng;
  std::unique_ptr<Attention> attention, teacher;
  AdamW optimizer;
  Trainer trainer;
  LearnedGates gates;
  std::set<Index> planted;
};

}  // namespace

TEST_CASE("every method keeps the heads that the loss needs", "[slow]") {
  for (const GateMethodEntry& entry : gate_methods()) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      INFO(entry.name << ", seed " << seed);
      Planted small(entry.name, seed, all_layouts[seed % all_layouts.size()]);
      while (small.trainer.steps() < 250) small.step();
      const auto alive = small.attention->alive();
      CHECK(std::set<Index>(alive.begin(), alive.end()) == small.planted);
    }
  }
}

TEST_CASE("telemetry reads the gradient of a gate times the gate") {
  Planted small("frozen", 5, Layout::separate);
  HeadTelemetry telemetry(*small.attention, 1);
  Trainer trainer(small.optimizer, RateOptions{.peak = 1e-4});
  // Telemetry comes first, as in a TrainingRun: it sees the gradients before they are dropped.
  trainer.add(telemetry);
  trainer.add(small.gates);
  struct Watch : StepPart {
    void begin(Index, HeadProbe& probe) override {
      gates = probe.gates.at({AttentionKind::encoder_self, 0});
    }
    void after_backward() override { gradient = gates.grad().clone(); }
    Tensor gates;
    Array gradient;
  } watch;
  trainer.add(watch);
  const Tensor x = constant(test::normal({8, 6, 32}, small.rng));
  const Tensor wanted = constant(test::normal({8, 6, 32}, small.rng));
  for (int step = 0; step < 5; ++step) {
    trainer.step([&](HeadProbe* probe) {
      return squared_error(attend(*small.attention, x, x, AttentionMask::none(), probe, nullptr),
                           wanted);
    });
  }
  REQUIRE(telemetry.readings().size() == Planted::heads);
  for (Index head = 0; head < Planted::heads; ++head) {
    const auto gate = double(watch.gates.value()[head]);
    const double expected = gate * double(watch.gradient[head]);
    CHECK(std::abs(telemetry.readings()[static_cast<std::size_t>(head)].gate_gradient - expected) <=
          (is_double ? 1e-13 : 1e-6));
    CHECK(gate != 1);
  }
}

TEST_CASE("a loss that is not given the gates is refused") {
  Planted small("subset", 1, Layout::fused);
  const Tensor x = constant(test::normal({2, 3, 32}, small.rng));
  CHECK_THROWS_WITH(small.trainer.step([&](HeadProbe*) {
    return squared_error((*small.attention)(x, x, AttentionMask::none()), x);
  }),
                    Contains("the loss did not give the probe"));
}
