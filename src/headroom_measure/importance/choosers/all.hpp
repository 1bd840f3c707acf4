// The choosers of heads. Each is defined in a file of its name. Private.
#pragma once

#include "headroom_measure/importance/choosers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

ChooserEntry chooser_greedy();
ChooserEntry chooser_pairwise();
ChooserEntry chooser_quadratic();
ChooserEntry chooser_random_search();
ChooserEntry chooser_sparse_pairs();
ChooserEntry chooser_worst_first();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
