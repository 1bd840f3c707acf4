// parallel_for over OpenMP.
#include "headroom/base/parallel.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <exception>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
int threads_in_use = omp_get_max_threads();
thread_local int index_of_this_thread = 0;
}  // namespace

void set_num_threads(int threads) {
  if (threads < 1)
    throw UsageError(fmt::format("set_num_threads: {} threads; at least 1 is needed", threads));
  threads_in_use = threads;
}

int num_threads() { return threads_in_use; }

int thread_index() { return index_of_this_thread; }

Index grain_for(Index item_cost, Index chunk_cost) {
  return std::max<Index>(1, chunk_cost / std::max<Index>(1, item_cost));
}

void parallel_for(Index n, Index grain, RangeBody body) {
  const Index chunks = (n + grain - 1) / grain;
  const auto run = [&](Index chunk) { body(chunk * grain, std::min(n, (chunk + 1) * grain)); };
  if (chunks <= 1 || threads_in_use == 1 || omp_in_parallel() != 0) {
    for (Index chunk = 0; chunk < chunks; ++chunk) run(chunk);
    return;
  }
  std::exception_ptr first_error;
#pragma omp parallel num_threads(threads_in_use)
  {
    index_of_this_thread = omp_get_thread_num();
#pragma omp for schedule(static) nowait  // the end of the parallel region waits anyway
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      try {
        run(chunk);
      } catch (...) {
#pragma omp critical
        if (!first_error) first_error = std::current_exception();
      }
    }
    index_of_this_thread = 0;
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
