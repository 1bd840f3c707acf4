// InputFile: a regular file that is open for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws FileError, naming the path, when it is a folder, a pipe or a device, or cannot be read.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Index size() const { return size_; }
  /// The next bytes, all of them.
  void read(std::span<std::byte> bytes);

 private:
  std::string name_;
  int descriptor_;
  Index size_ = 0;
};

/// The system's text for its error number `error`: "No space left on device".
std::string reason(int error);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
