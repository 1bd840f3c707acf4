// Memory of a training step in its steady state: it allocates nothing from the system, and an
// amount from the heap that does not grow with the data.
#include <atomic>
#include <cstdlib>
#include <new>

#include "headroom/array/pool.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {
std::atomic<std::size_t> heap_bytes{0};  // allocated since the program started
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  heap_bytes += bytes;
  return std::malloc(bytes);
}
void* operator new(std::size_t bytes) {
  void* const memory = operator new(bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace headroom;

namespace {

struct StepCost {
  std::size_t from_heap, from_system;  // bytes; blocks
};

/// Allocations of the third and fourth training step on a batch together.
StepCost steady_cost(Layout layout, Index batch, Index length) {
  Rng rng(1);
  LanguageModel model({.kind = ModelKind::language_model,
                       .block = {.width = 32, .heads = 4, .dropout = Real(0.1), .layout = layout},
                       .layers = 2,
                       .source_vocabulary = 11,
                       .longest = 64,
                       .tied_output = true},
                      rng);
  AdamW optimizer(model);
  Ids inputs({batch, length});
  for (std::int32_t& id : inputs.span()) id = static_cast<std::int32_t>(rng.below(11));
  std::size_t heap = 0, system = 0;
  for (std::uint64_t step = 0; step < 4; ++step) {
    if (step == 2) {
      heap = heap_bytes;
      system = pool_statistics().from_system;
    }
    const RandomStep random(1, step);
    optimizer.zero_grad();
    cross_entropy(model(inputs), inputs).backward();
    optimizer.step(1e-3);
  }
  return {heap_bytes - heap, pool_statistics().from_system - system};
}

}  // namespace

TEST_CASE("after two steps nothing comes from the system, and the heap does not see the data") {
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    const StepCost small = steady_cost(layout, 2, 8);
    const StepCost large = steady_cost(layout, 8, 64);
    CHECK(small.from_system == 0);
    CHECK(large.from_system == 0);
    CHECK(small.from_heap > 0);  // nodes of the tape
    CHECK(large.from_heap == small.from_heap);
  }
}
