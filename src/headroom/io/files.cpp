// System calls on files, repeated while signals interrupt them; whole files; folders.
#include "headroom/io/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

template <class Call>
auto repeated(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace

std::string reason(int error) { return std::generic_category().message(error); }

int open_file(const fs::path& path, int flags) {
  return repeated([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = repeated([&] { return write(file, bytes.data(), bytes.size()); });
    if (count < 0) return false;
    bytes = bytes.subspan(std::size_t(count));
  }
  return true;
}

Index read_all(int file, std::span<std::byte> bytes) {
  Index total = 0;
  while (!bytes.empty()) {
    const ssize_t count = repeated([&] { return read(file, bytes.data(), bytes.size()); });
    if (count < 0) return -1;
    if (count == 0) break;
    bytes = bytes.subspan(std::size_t(count));
    total += count;
  }
  return total;
}

bool sync_file(int file) {
  return repeated([&] { return fsync(file); }) == 0;
}

bool lock_file(int file) {
  return repeated([&] { return flock(file, LOCK_EX | LOCK_NB); }) == 0;
}

void close_file(int file) noexcept {
  const int error = errno;
  close(file);  // never repeated: the number is free even after EINTR
  errno = error;
}

// O_NONBLOCK: opening a pipe without a writer must not block.
InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(open_file(path, O_RDONLY | O_NONBLOCK)) {
  if (descriptor_ < 0) throw FileError(fmt::format("{}: cannot read: {}", name_, reason(errno)));
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const char* kind = known && S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a file";
    close_file(descriptor_);
    throw FileError(fmt::format("{}: cannot read: {}", name_, kind));
  }
  size_ = status.st_size;
}

InputFile::~InputFile() { close_file(descriptor_); }

void InputFile::read_at(Index position, std::span<std::byte> bytes) {
  if (lseek(descriptor_, position, SEEK_SET) != position) {
    throw FileError(fmt::format("{}: cannot read: {}", name_, reason(errno)));
  }
  read(bytes);
}

void InputFile::read(std::span<std::byte> bytes) {
  const Index count = read_all(descriptor_, bytes);
  if (count == std::ssize(bytes)) return;
  throw FileError(fmt::format("{}: cannot read: {}", name_,
                              count < 0 ? reason(errno) : "it ends before its size"));
}

std::string read_file(const std::filesystem::path& path, Index limit) {
  InputFile file(path);
  if (file.size() > limit) {
    throw FileError(fmt::format("{}: cannot read: {} bytes, more than the {} that are allowed",
                                path.string(), file.size(), limit));
  }
  std::string content(static_cast<std::size_t>(file.size()), '\0');
  file.read(std::as_writable_bytes(std::span(content)));
  return content;
}

void sync_folder(const fs::path& folder) {
  const int file = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  const bool synced = file >= 0 && sync_file(file);
  if (file >= 0) close_file(file);
  if (synced) return;
  throw FileError(fmt::format("{}: cannot write the folder: {}", folder.string(), reason(errno)));
}

void make_folder(const fs::path& folder) {
  std::vector<fs::path> changed;
  for (fs::path path = folder; !path.empty() && !fs::exists(path); path = path.parent_path()) {
    changed.push_back(path.parent_path());
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw FileError(
        fmt::format("{}: cannot create the folder: {}", folder.string(), error.message()));
  }
  for (const fs::path& path : changed) sync_folder(path);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
