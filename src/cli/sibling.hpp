// The program of the other precision, as a child process: no program contains both.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The name of this build's precision and of the other one.
inline constexpr const char* own_precision = is_double ? "double" : "float";
inline constexpr const char* other_precision = is_double ? "float" : "double";

/// The path of a program in the folder of this one; empty if there is none.
std::filesystem::path beside_this(const std::string& name);

/// The path of headroom-f64 beside headroom, or the reverse; empty if there is none.
std::filesystem::path sibling_program();

/// Runs it with arguments and returns the JSON that it prints; exit code 3 is accepted if
/// JSON came with it. Throws the error that it reported: UsageError, NumericError, DataError or
/// FileError; UsageError if there is no such program.
Record sibling_record(const std::vector<std::string>& arguments);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
