// The errors a user can cause, by kind. Each text names the operation, the value it got, the rule
// that was broken and, where there is one, the remedy.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Base of every exception that the library throws on purpose.
class Error : public std::runtime_error {
 public:
  /// `settings` are the names of settings that help, such as "skip_bad_lines". The text does not
  /// say them: only a program knows what it calls them.
  explicit Error(const std::string& text, std::vector<std::string> settings = {})
      : std::runtime_error(text), settings_(std::move(settings)) {}
  const std::vector<std::string>& settings() const { return settings_; }

 private:
  std::vector<std::string> settings_;
};

/// Shapes that do not fit together: `linear: x [2, 3] ends in 3 features but weight [128, 64] takes
/// 64`.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A wrong option, argument or order of calls. The program exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A NaN or infinity where numbers were needed. The program exits with 3.
class NumericError : public Error {
 public:
  using Error::Error;
};

/// Malformed data; the text starts with `file:line:` where there is one. The program exits with 4.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read, written or trusted. The program exits with 5.
class FileError : public Error {
 public:
  using Error::Error;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
