// Parses the header of a safetensors file and checks every rule.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/io/tensor_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

inline constexpr std::uint64_t longest_header = 100'000'000;  // bytes
inline constexpr std::size_t most_tensors = 65'536;

struct Header {
  std::vector<TensorEntry> entries;  // in the order of their data
  std::map<std::string, std::string> metadata;
};

/// Checks every rule of TensorFile::read() for the header `text` and the `data_size` bytes after
/// it. Throws FileError that names `file`, the tensor and the rule.
Header parse_header(std::string_view text, std::uint64_t data_size, const std::string& file);

/// The elements of a shape, or nothing when the product overflows. Zeros are left out of the
/// product: a shape that overflows without them would overflow after a reduction.
bool count_elements(const Shape& shape, std::uint64_t& count);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
