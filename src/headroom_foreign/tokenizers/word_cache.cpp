// The place of a word in a cache.
#include "tokenizers/word_cache.hpp"

#include <functional>

namespace headroom {
inline namespace HEADROOM_PRECISION {

WordCache::Place& WordCache::place_of(std::string_view word) {
  if (places_.empty()) places_.resize(number_of_places);
  return places_[std::hash<std::string_view>()(word) % number_of_places];
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
