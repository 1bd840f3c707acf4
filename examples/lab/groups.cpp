// Counts the weights that decay under a rule by size, in two layouts.
#include <cstdio>

#include "headroom/headroom.hpp"

using namespace headroom;

int main() {
  const AttentionConfig config{.width = 64, .heads = 8};
  Rng rng(1);
  SeparateHeads separate(config, rng);
  FusedHeads fused(config, rng);
  const auto decayed = [](Module& layer) {  // rule: at least 1024 elements
    Index elements = 0;
    for (const NamedParameter& one : parameters(layer)) {
      const Index size = one.tensor.value().size();
      if (size >= 1024) elements += size;
    }
    return elements;
  };
  std::printf("weights that decay: %d and %d\n", int(decayed(separate)),
              int(decayed(fused)));
  return decayed(separate) < decayed(fused) ? 0 : 1;
}
