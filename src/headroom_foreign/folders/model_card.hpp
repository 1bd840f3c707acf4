// A model's card (README.md), which says which heads were removed.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom_foreign/folders/write_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The card of the model without these heads: a section lists them, in place of an earlier one.
std::string card_without(const std::string& before, const std::vector<HeadId>& removed,
                         FolderForm form);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
