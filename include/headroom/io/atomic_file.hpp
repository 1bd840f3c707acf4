// AtomicFile: a file that is replaced completely or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes to a temporary sibling (`.NAME.<process>-<number>.tmp`) and puts it in the place of
/// `path` on commit(): fsync, rename, fsync of the folder. Until then the old file is untouched: a
/// full disk, an exception or a kill leaves it whole. Without commit() the temporary is removed;
/// one that a killed process left behind is removed by the next AtomicFile of the same path.
/// Every function throws FileError naming the path and the reason the system gave.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends to the new file. Throws FileError (a full disk).
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Puts the new file in place of the old one, once it has reached the disk. Throws FileError.
  void commit();

 private:
  void discard() noexcept;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// AtomicFile, write, commit.
void write_file(const std::filesystem::path& path, std::string_view content);

/// The bytes of a regular file. Throws FileError when it is a folder or a device, cannot be read,
/// or holds more than `limit` bytes.
std::string read_file(const std::filesystem::path& path, Index limit = Index{1} << 32);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
