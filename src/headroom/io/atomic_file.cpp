// Temporary sibling, fsync, rename, fsync of the folder.
#include "headroom/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "headroom/base/error.hpp"
#include "headroom/io/files.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what) {
  throw FileError(fmt::format("{}: cannot {}: {}", path.string(), what, reason(errno)));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// A writer holds a lock on its temporary for as long as it lives. One that can be locked was left
// behind by a process that was killed.
void remove_leftovers(const std::filesystem::path& path) {
  const std::string prefix = fmt::format(".{}.", path.filename().string());
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".tmp")) continue;
    if (name.find_first_not_of("0123456789-", prefix.size()) != name.size() - 4) continue;
    const int leftover = open_file(entry.path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (leftover < 0) continue;
    if (lock_file(leftover)) unlink(entry.path().c_str());
    close_file(leftover);
  }
}

// Creates the temporary and locks it. It counts only if it still has its name afterwards: between
// the two calls another writer may have taken it for a leftover.
int open_locked(const std::filesystem::path& temporary, const std::filesystem::path& path) {
  const int descriptor = open_file(temporary, O_WRONLY | O_CREAT | O_EXCL);
  if (descriptor < 0) return -1;
  struct stat status {};
  if (lock_file(descriptor) && fstat(descriptor, &status) == 0) {
    if (status.st_nlink == 1) return descriptor;
    errno = EWOULDBLOCK;
  }
  close_file(descriptor);
  if (errno != EWOULDBLOCK) {  // a file system without locks
    const int error = errno;
    unlink(temporary.c_str());
    errno = error;
    refuse(path, "lock");
  }
  errno = EEXIST;
  return -1;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path) {
  if (std::filesystem::is_directory(path_)) {
    throw FileError(fmt::format("{}: cannot write: it is a folder", path_.string()));
  }
  remove_leftovers(path_);
  static std::atomic<int> count{0};
  for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
    temporary_ = folder_of(path_) /
                 fmt::format(".{}.{}-{}.tmp", path_.filename().string(), getpid(), ++count);
    descriptor_ = open_locked(temporary_, path_);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ < 0) refuse(path_, "write");
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (descriptor_ < 0) return;
  unlink(temporary_.c_str());
  close_file(descriptor_);
  descriptor_ = -1;
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  if (!write_all(descriptor_, bytes)) refuse(path_, "write");
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void AtomicFile::commit() {
  if (!sync_file(descriptor_)) refuse(path_, "write");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, "replace");
  close_file(descriptor_);
  descriptor_ = -1;
  sync_folder(folder_of(path_));  // the new name is safe only when the folder is on the disk, too
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
