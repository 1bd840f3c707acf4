// Exercise letters:01/1: find the length of the longest run.
//
//   Index longest_run(const std::vector<Index>& ids)
//
// A run is a part of a sequence in which all ids are the same. Return the length of the longest
// one, 0 for an empty sequence. Look at each id only once.
#pragma once

#include "common/answer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Index longest_run(const std::vector<Index>& ids);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
