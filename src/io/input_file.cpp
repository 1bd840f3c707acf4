// Reading whole files.
#include "io/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string reason(int error) { return std::generic_category().message(error); }

// O_NONBLOCK: opening a pipe without a writer must not block.
InputFile::InputFile(const std::filesystem::path& path)
    : name_(path.string()), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) throw FileError(fmt::format("{}: cannot read: {}", name_, reason(errno)));
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const char* kind = known && S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a file";
    close(descriptor_);
    throw FileError(fmt::format("{}: cannot read: {}", name_, kind));
  }
  size_ = status.st_size;
}

InputFile::~InputFile() { close(descriptor_); }

void InputFile::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw FileError(fmt::format("{}: cannot read: {}", name_,
                                  count < 0 ? reason(errno) : "it ends before its size"));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
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

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
