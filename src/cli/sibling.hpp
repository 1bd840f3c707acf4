// The program of the other precision, as a child process: no program holds both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The name of this build's precision and of the other one.
inline constexpr const char* own_precision = is_double ? "double" : "float";
inline constexpr const char* other_precision = is_double ? "float" : "double";

/// headroom-f64 beside headroom, or the other way round; empty when it is not there.
std::filesystem::path sibling_program();

/// Runs it with arguments and returns the JSON that it prints; exit code 3 is an answer too, when
/// JSON came with it. Throws what it reported: UsageError, NumericError, DataError or FileError;
/// UsageError when it is not there.
Record sibling_record(const std::vector<std::string>& arguments);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
