// Environment variables of OpenMP and OpenBLAS.
#include "cli/frame/libraries.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

// Null with another BLAS.
extern "C" {
[[gnu::weak]] char* openblas_get_corename(void);
}

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The kernels that OpenBLAS should have taken, by its name for them; null if its choice is good.
const char* better_kernels() {
#ifdef __x86_64__
  if (openblas_get_corename == nullptr) return nullptr;
  const bool oldest = std::string_view(openblas_get_corename()) == "Prescott";
  if (!oldest || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return nullptr;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  return avx512 ? "SkylakeX" : "Haswell";
#else
  return nullptr;
#endif
}

}  // namespace

void set_up_libraries(char* const* arguments) {
  bool again = false;
  const auto set = [&](const char* name, const char* value) {
    again = setenv(name, value, 0) == 0 || again;
  };
#ifndef __clang__
  const bool spins =
      std::getenv("GOMP_SPINCOUNT") == nullptr && std::getenv("OMP_WAIT_POLICY") == nullptr;
  if (spins) set("GOMP_SPINCOUNT", "3000");
#endif
  if (std::getenv("OPENBLAS_CORETYPE") == nullptr) {
    if (const char* kernels = better_kernels()) set("OPENBLAS_CORETYPE", kernels);
  }
  // This returns only on failure: then go on without the settings.
  if (again) execv("/proc/self/exe", arguments);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
