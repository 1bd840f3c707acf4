// Checks apply_gates against plain loops, in three shapes of gates, before and after a removal, and
// a layer with closed gates against one whose output columns are 0.
#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/nn/gates.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

using Heads = std::vector<Index>;

constexpr Index batch = 2, queries = 5, heads = 4, head_dim = 3;
const std::vector<std::string> axes = {"batch", "token", "channel"};

/// The element of the gates of one head, example and query.
Index gate_index(const Shape& gates, Index b, Index head, Index t) {
  if (gates.rank() == 1) return head;
  return gates.rank() == 2 ? b * heads + head : (b * heads + head) * queries + t;
}

/// Calls see(element of y, b, t, live head number).
template <class See>
void each_element(Index live, See see) {
  for (Index i = 0; i < batch * queries * live * head_dim; ++i) {
    const Index column = i % (live * head_dim), row = i / (live * head_dim);
    see(i, row / queries, row % queries, column / head_dim);
  }
}

/// Random y and gates.
struct Case {
  Case(std::uint64_t seed, Heads live, const Shape& of_gates)
      : rng(seed, "11/1"),
        alive(std::move(live)),
        y(parameter(random_array({batch, queries, count() * head_dim}, rng))),
        gates(parameter(random_array(of_gates, rng))) {}

  Index count() const { return std::ssize(alive); }
  Tensor call() const { return apply_gates(y, gates, alive, heads); }

  Index original(Index l) const { return alive[std::size_t(l)]; }
  Array expected() const {
    Array result(y.shape());
    each_element(count(), [&](Index i, Index b, Index t, Index l) {
      result[i] = y.value()[i] * gates.value()[gate_index(gates.shape(), b, original(l), t)];
    });
    return result;
  }
  void check_values() const {
    chapter::require_values([&] { return call(); }, expected(), {axes});
  }
  void check_gradients() {
    const Array dy = random_array(y.shape(), rng);
    Array dx(y.shape()), dgates = zeros(gates.shape());
    each_element(count(), [&](Index i, Index b, Index t, Index l) {
      const Index gate = gate_index(gates.shape(), b, original(l), t);
      dx[i] = dy[i] * gates.value()[gate];
      dgates[gate] += dy[i] * y.value()[i];
    });
    chapter::require_gradients([&] { return call(); }, dy,
                               {{"y", y, dx, {}, axes}, {"gates", gates, dgates, {}, {}}});
  }

  Rng rng;
  Heads alive;
  Tensor y, gates;
};

const Shape per_head{heads}, per_example{batch, heads}, per_query{batch, heads, queries};

}  // namespace

TEST_CASE("a gate for each head", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) Case(seed, {0, 1, 2, 3}, per_head).check_values();
}

TEST_CASE("after a removal", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case(seed, {0, 2, 3}, per_head).check_values();
    Case(seed, {1}, per_head).check_values();
  }
}

TEST_CASE("a gate for each example", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case(seed, {0, 1, 2, 3}, per_example).check_values();
    Case(seed, {0, 3}, per_example).check_values();
  }
}

TEST_CASE("a gate for each query", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case(seed, {0, 1, 2, 3}, per_query).check_values();
    Case(seed, {1, 2, 3}, per_query).check_values();
  }
}

TEST_CASE("gradients of y and of the gates", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Shape& shape : {per_head, per_example, per_query}) {
      Case(seed, {0, 2, 3}, shape).check_gradients();
    }
  }
}

TEST_CASE("in a layer, a closed gate does what zeroed columns of W_O do", "[11/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "11/1 layer");
    const Index width = heads * head_dim;
    const auto layer = make_attention(Layout::fused, {.width = width, .heads = heads}, rng);
    const Tensor x(random_array({batch, queries, width}, rng));
    const NoGrad quiet;
    Array gates({heads}, 1);
    gates[2] = 0;
    AttentionAsk ask;
    ask.gates = Tensor(gates);
    const Array closed = (*layer)(x, x, x, AttentionMask::none(), ask).y.value();
    for (NamedParameter& p : parameters(*layer)) {
      if (p.name != "out_proj.weight") continue;
      for (Index i = 0; i < p.tensor.size(); ++i) {
        if (i % width / head_dim == 2) p.tensor.edit_value()[i] = 0;
      }
    }
    const Array zeroed = (*layer)(x, x, AttentionMask::none()).value();
    chapter::require_equal("the outputs with gate 2 closed", zeroed, closed, {axes});
  }
}
