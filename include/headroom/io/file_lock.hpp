// FileLock: an exclusive lock among processes, also among machines that share a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The name of this machine in its network.
std::string machine_name();

/// Holds flock() on a file while this object exists. The system releases the lock when the process
/// ends in any way, so a killed process never blocks others. The file says who holds the lock, and
/// is removed with it. Child programs do not inherit the lock.
class FileLock {
 public:
  /// Takes the lock, or returns nothing if another process (or another FileLock of this one) has
  /// it. Makes the file; its folder must be there. Throws FileError.
  static std::optional<FileLock> if_free(const std::filesystem::path& path);
  /// "process 1234", with the machine's name if it is another one; "another process" if the file
  /// does not say. Call it when if_free() returned nothing.
  static std::string holder(const std::filesystem::path& path);
  /// Returns whether some process has the lock. Neither makes nor removes the file, which a process
  /// that was killed leaves behind. In this moment if_free() of another process may return nothing.
  static bool held(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock() { release(); }

 private:
  FileLock(std::filesystem::path path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}
  void release() noexcept;

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
