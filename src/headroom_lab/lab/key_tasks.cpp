// Tasks with known keys.
#include "lab/key_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headroom/nn/init.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Real circle_radius = 2;  // of positions and pointers

/// Sequences of random contents; `relations` keys of each token are set by `describe`, which also
/// writes what leads to them behind the content.
template <class Describe>
KeyBatch contents(Index examples, Index width, Index relations, Rng& rng,
                  const Describe& describe) {
  const Index d = width / 4, rows = examples * key_tokens;
  const Array content = normal({rows, d}, 1, rng);
  Array x = zeros({examples, key_tokens, width}), values = zeros({examples, key_tokens, width}),
        target({examples, key_tokens, relations * d});
  KeyBatch batch;
  batch.keys.resize(static_cast<std::size_t>(relations));
  for (Index row = 0; row < rows; ++row) {
    const Real* own = content.data() + row * d;
    std::copy_n(own, d, x.data() + row * width);
    std::copy_n(own, d, values.data() + row * width);
  }
  for (Index row = 0; row < rows; ++row) {
    const Index t = row % key_tokens, first = row - t;
    const std::vector<Index> keys = describe(t, first, x.data() + row * width + d);
    for (std::size_t relation = 0; relation < keys.size(); ++relation) {
      batch.keys[relation].push_back(keys[relation]);
      std::copy_n(content.data() + (first + keys[relation]) * d, d,
                  target.data() + (row * relations + Index(relation)) * d);
    }
  }
  batch.x = Tensor(x);
  batch.values = Tensor(values);
  batch.target = Tensor(target);
  return batch;
}

}  // namespace

KeyBatch two_relations(Index examples, Index width, Rng rng) {
  const auto point = [](Index position, Real* into) {
    const double angle = 2 * std::numbers::pi * double(position) / double(key_tokens);
    into[0] = circle_radius * Real(std::cos(angle));
    into[1] = circle_radius * Real(std::sin(angle));
  };
  return contents(examples, width, 2, rng, [&](Index t, Index, Real* into) {
    const Index before = (t + key_tokens - 1) % key_tokens;
    const Index pointer = (t + rng.below(key_tokens - 1)) % key_tokens;  // any but `before`
    point(t, into);
    point(pointer, into + 2);
    return std::vector<Index>{before, pointer};
  });
}

KeyBatch recall(Index examples, Index width, Rng rng) {
  const Index d = width / 4;
  const Array codes = normal({examples * key_tokens, d}, 1, rng);
  return contents(examples, width, 1, rng, [&](Index t, Index first, Real* into) {
    const Index needed = (t + 1 + rng.below(key_tokens - 1)) % key_tokens;  // any but t
    std::copy_n(codes.data() + (first + t) * d, d, into);
    std::copy_n(codes.data() + (first + needed) * d, d, into + d);
    return std::vector<Index>{needed};
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
