// The program's standard streams: always open, and without errors that end it at once.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Call it before anything is opened. Opens closed standard streams on the null device: the next
/// file that a program opens would become its standard output otherwise. Makes writing into a
/// closed pipe (SIGPIPE) and beyond the limit of a file's size (SIGXFSZ) errors of write().
void prepare_standard_streams();

/// "standard output could not be written (is the disk full?)", by the value of errno; 0 if it
/// is not known any more.
std::string unwritten_output(int error);

/// A text from outside for a standard stream: a path, a name from a file, or what a model
/// generates. On a terminal, its control characters become \xNN, line breaks and tabs excepted.
std::string shown(const std::string& text, std::FILE* stream = stdout);

/// Prints on standard error. A message that cannot be written is lost: nobody can be told.
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values) {
  const std::string all = fmt::format(text, std::forward<Values>(values)...);
  if (std::fwrite(all.data(), 1, all.size(), stderr) != all.size()) std::clearerr(stderr);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
