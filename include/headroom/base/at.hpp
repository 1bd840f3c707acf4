// at(): elements by signed index.
#pragma once

#include <cstddef>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// container[i] for containers whose index is unsigned, where ours, Index or int, is signed. Checks
/// as little as the brackets do. The number of elements as an Index is std::ssize(container).
template <class Container>
constexpr auto at(Container&& container, Index i) -> decltype(container[0]) {
  return container[static_cast<std::size_t>(i)];
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
