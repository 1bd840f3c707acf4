// flock() on a file that names its holder.
#include "headroom/io/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <span>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/io/files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw FileError(fmt::format("{}: cannot lock: {}", path.string(), reason(errno)));
}

}  // namespace

std::string machine_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::optional<FileLock> FileLock::if_free(const std::filesystem::path& path) {
  while (true) {
    const int descriptor = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW);
    if (descriptor < 0) refuse(path);
    FileLock lock(path,
                  -1);  // descriptor_ is set when the lock is ours: release() removes the file
    if (!lock_file(descriptor)) {
      close_file(descriptor);
      if (errno == EWOULDBLOCK) return std::nullopt;
      refuse(path);
    }
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || status.st_nlink == 0) {
      close_file(descriptor);  // its holder removed the file between open() and flock()
      continue;
    }
    lock.descriptor_ = descriptor;
    const std::string text = fmt::format("{} {}\n", getpid(), machine_name());
    if (ftruncate(descriptor, 0) != 0 || !write_all(descriptor, std::as_bytes(std::span(text)))) {
      refuse(path);
    }
    return lock;
  }
}

std::string FileLock::holder(const std::filesystem::path& path) {
  std::ifstream file(path);
  Index process = 0;
  std::string host;
  if (!(file >> process >> host)) return "another process";
  return host == machine_name() ? fmt::format("process {}", process)
                                : fmt::format("process {} on {}", process, host);
}

bool FileLock::held(const std::filesystem::path& path) {
  const int descriptor = open_file(path, O_RDWR | O_NOFOLLOW);  // NFS locks no others
  if (descriptor < 0) return false;
  const bool locked = !lock_file(descriptor) && errno == EWOULDBLOCK;
  close_file(descriptor);
  return locked;
}

FileLock::FileLock(FileLock&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

void FileLock::release() noexcept {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());  // before the lock is free: afterwards the file may be another holder's
  close_file(descriptor_);
  descriptor_ = -1;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
