// Is this a build with sanitizers?
#pragma once

/// Sanitizers watch memory, which one size shows as well as three, and slow everything down
/// tenfold: where a test takes minutes under them, it runs one size there. The ordinary builds run
/// them all.
#ifdef HEADROOM_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
