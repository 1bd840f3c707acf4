// Whether this is a build with sanitizers.
#pragma once

/// Sanitizers check memory, for which one size is enough, and make tests ten times slower. A test
/// that takes minutes under them runs one size there; ordinary builds run all.
#ifdef HEADROOM_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
