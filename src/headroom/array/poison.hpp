// Poisons pooled memory for AddressSanitizer.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace detail {

#if defined(__SANITIZE_ADDRESS__)
/// Bytes between adjacent blocks, so that AddressSanitizer reports an access beyond the end.
inline constexpr std::size_t red_zone = 64;
#else
inline constexpr std::size_t red_zone = 0;
#endif

/// In builds with AddressSanitizer, any access ends the program with a report; else nothing.
inline void forbid_access([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
}

inline void allow_access([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
#endif
}

}  // namespace detail
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
