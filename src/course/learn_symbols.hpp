// The functions that an answer must define, and those that it defines.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "course/learn_course.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Functions by their mangled names.
using Functions = std::set<std::string>;

/// The functions that an object file or shared library defines for others: no inline or static
/// functions and no instances of templates. Throws FileError, and DataError for another file.
Functions defined_functions(const std::filesystem::path& file);
/// The functions that an object file, shared library or program takes from others. Throws likewise.
Functions undefined_functions(const std::filesystem::path& file);

/// The functions among `candidates` that the shared library of a precision defines, too.
Functions replaced_functions(const Course& course, const CoursePrecision& precision,
                             const Functions& candidates);

/// The functions that an answer must define: those of the solution that the library defines, too,
/// or that the checks take from the answer. The checks must have been built.
Functions required_functions(const Course& course, const Exercise& exercise,
                             const CoursePrecision& precision);

/// "your file does not define `Tensor softmax(const Tensor& x)`; it defines ...", for the first
/// required function that the answer's library lacks; "" if it lacks none. `source` is the answer,
/// whose `inline` function is in no table of symbols.
std::string missing_text(const Course& course, const Exercise& exercise,
                         const CoursePrecision& precision, const std::filesystem::path& source,
                         const std::filesystem::path& library);

/// "headroom::f64::FusedHeads::project(...) const", demangled, as "FusedHeads::project".
std::string short_name(const std::string& function);
/// "FusedHeads::project(const Tensor&, ...) const", without the library's namespaces.
std::string readable_name(const std::string& function);

/// Where in an answer's code the parameters of a function begin: the index of "(" in its
/// definition. npos if its definition is not found.
std::size_t parameters_in(const std::string& code, const std::string& function);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
