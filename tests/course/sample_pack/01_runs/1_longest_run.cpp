//! title: longest_run
//! minutes: 10
//! difficulty: 1
//! path: short
//! hint: What changes when the next id is the same as the one before, and what if it is not?
//! hint: Keep two lengths: that of the run that goes on now, and the longest so far.
//! after: Run-length encoding keeps these lengths in place of the letters.
// Exercise letters:01/1, longest_run: the length of the longest run.
#include "1_longest_run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Index longest_run(const std::vector<Index>& ids) {
  Index longest = 0, length = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    //! solution
    length = i > 0 && ids[i] == ids[i - 1] ? length + 1 : 1;
    longest = std::max(longest, length);
    //! skeleton
    // length = chapter::todo("the length of the run that ends at i", i);
    // longest = std::max(longest, length);
    //! mistake last_run: the last run was returned, not the longest
    //- longest = std::max(longest, length);
    //+ longest = length;
    //! mistake never_new: a run went on after another id: it begins anew with the length 1
    //- length = i > 0 && ids[i] == ids[i - 1] ? length + 1 : 1;
    //+ length = length + 1;
    //! mistake from_zero: a run began with the length 0: its first id counts
    //- length = i > 0 && ids[i] == ids[i - 1] ? length + 1 : 1;
    //+ length = i > 0 && ids[i] == ids[i - 1] ? length + 1 : 0;
    //! end
  }
  return longest;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
