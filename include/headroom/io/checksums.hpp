// Checksums of texts and of the tensors in a file.
#pragma once

#include <string>
#include <string_view>

#include "headroom/io/tensor_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// 16 hexadecimal digits (FNV-1a). Tells accidents apart, not attacks.
std::string checksum(std::string_view bytes);

/// Adds the checksum of every tensor, and of all other texts, to the file's metadata.
void add_checksums(TensorFile& file);
/// Throws FileError naming the first tensor whose bytes are not those that were saved. A file
/// without checksums passes.
void verify_checksums(const TensorFile& file);
inline constexpr const char* checksums_key = "checksums";

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
