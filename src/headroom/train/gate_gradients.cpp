// Gradients of gates by Euler's identity.
#include "headroom/train/gate_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/algebra/part_sums.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<double> gate_gradients(Module& model) {
  std::vector<double> gradients;
  for (const NamedAttention& found : attentions(model)) {
    const auto alive = found.attention->alive();
    const std::size_t first = gradients.size();
    gradients.resize(first + alive.size());
    const std::vector<NamedParameter> own = parameters(*found.attention);
    for (const HeadSlice& part : found.attention->head_slices()) {
      if (part.role != HeadRole::output) continue;
      const auto parameter =
          std::find_if(own.begin(), own.end(), [&](const auto& p) { return p.name == part.name; });
      const Array& gradient = parameter->tensor.grad();
      if (!gradient.defined()) continue;
      const auto head = std::find(alive.begin(), alive.end(), part.head);
      if (head == alive.end()) {
        throw UsageError(
            fmt::format("gate gradients: {} share {} of {}; a head needs a W_O of its "
                        "own",
                        part.owner_text(), part.name, found.attention->title()));
      }
      gradients[first + static_cast<std::size_t>(head - alive.begin())] =
          part_dot(part, parameter->tensor.value(), gradient);
    }
  }
  return gradients;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
