// Outlines of matrices whose rows or columns are divided among the heads. Private.
#pragma once

#include <string>

#include "headroom_lab/lab/lab_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A matrix [parts * heads * d, columns], in each part of which head h has the rows from h * d to
/// (h + 1) * d - 1.
LabHeads::Matrix rows_by_head(std::string name, Index heads, Index d, Index columns,
                              Index parts = 1);
/// A matrix [rows, parts * heads * d], likewise with columns.
LabHeads::Matrix columns_by_head(std::string name, Index heads, Index d, Index rows,
                                 Index parts = 1);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
