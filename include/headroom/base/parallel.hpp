// Threads: loops are divided into chunks whose borders depend only on the amount of work, so that
// any number of threads gives the same bits.
#pragma once

#include <memory>
#include <type_traits>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A borrowed callable `void(Index begin, Index end)`; costs two pointers, never allocates.
class RangeBody {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
      RangeBody(F&& body)  // NOLINT: implicit on purpose, parallel_for takes lambdas
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(body)))),
        call_([](void* object, Index begin, Index end) {
          (*static_cast<std::remove_reference_t<F>*>(object))(begin, end);
        }) {}
  /// Calls the function for the range [begin, end).
  void operator()(Index begin, Index end) const { call_(object_, begin, end); }

 private:
  void* object_;
  void (*call_)(void*, Index, Index);
};

/// Calls body(begin, end) for the chunks [0, grain), [grain, 2 grain), ... of [0, n), on all
/// threads. One thread walks the same chunks. Inside another parallel_for it runs serially. The
/// first exception that a chunk throws is thrown here after all threads have finished.
void parallel_for(Index n, Index grain, RangeBody body);

/// A grain such that a chunk holds about `chunk_cost` units when an item costs `item_cost` of them.
Index grain_for(Index item_cost, Index chunk_cost = 16384);

/// Number of the thread of a parallel_for that calls this, in [0, num_threads()), or 0 outside. It
/// is for choosing scratch memory: results must not depend on it.
int thread_index();

/// Number of threads used from now on. Throws UsageError for less than 1.
void set_num_threads(int threads);
int num_threads();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
