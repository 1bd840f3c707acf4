// Files by system calls that survive signals, and folders that survive a power cut.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// A call that a signal interrupts is repeated. A call that fails returns false or -1, and errno has
// the reason.

/// open() of a file or folder that no child program inherits.
int open_file(const std::filesystem::path& path, int flags);
/// Writes all bytes, in several calls if the system takes only some of them.
bool write_all(int file, std::span<const std::byte> bytes);
/// Returns the number of bytes, which is smaller than asked for only at the end of the file.
Index read_all(int file, std::span<std::byte> bytes);
/// fsync(): waits until the file or the names in a folder are on the disk.
bool sync_file(int file);
/// Locks a file (flock) unless it is locked.
bool lock_file(int file);
/// Closes a file and keeps errno. Its failure tells nothing that sync_file() did not.
void close_file(int file) noexcept;

/// Syncs the names in a folder; empty is the current one. Throws FileError.
void sync_folder(const std::filesystem::path& folder);
/// Makes a folder and those above it, and syncs the folders that name them. Throws FileError.
void make_folder(const std::filesystem::path& folder);

/// A regular file that is open for reading. Throws FileError, naming the path, when it is a folder,
/// a pipe or a device, or cannot be read.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  Index size() const { return size_; }
  /// The next bytes, all of them.
  void read(std::span<std::byte> bytes);
  /// The bytes from `position`, all of them.
  void read_at(Index position, std::span<std::byte> bytes);

 private:
  std::string name_;
  int descriptor_;
  Index size_ = 0;
};

/// The system's text for its error number `error`: "No space left on device".
std::string reason(int error);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
