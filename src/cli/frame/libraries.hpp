// Settings of the libraries that compute, which read them before main() begins.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Sets environment variables of OpenMP and OpenBLAS that the user has not set, and executes the
/// program again if one was missing. `arguments` are those of main().
///
/// * GOMP_SPINCOUNT: waiting threads spin for microseconds only. That is as fast on an idle
///   machine, and several times as fast where other programs use the processor too. clang's OpenMP
///   has a different setting, which is not touched.
/// * OPENBLAS_CORETYPE: an OpenBLAS that is older than the processor takes kernels from before AVX
///   ("Prescott"), which are several times slower. If the processor has AVX2 or AVX-512, the
///   kernels of "Haswell" or "SkylakeX" are chosen instead.
void set_up_libraries(char* const* arguments);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
