// Checksums in a file's metadata.
#include "headroom/io/checksums.hpp"

#include <fmt/format.h>

#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The checksums of everything in a file but themselves.
std::map<std::string, std::string> checksums_of(const TensorFile& file) {
  std::map<std::string, std::string> sums;
  for (const std::string& name : file.names()) {
    const std::vector<std::byte>& bytes = file.tensor(name).bytes;
    sums[name] = checksum({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::string texts;
  for (const auto& [key, text] : file.metadata) {
    if (key != checksums_key) texts += key + '\0' + text + '\0';
  }
  sums["__metadata__"] = checksum(texts);
  return sums;
}

}  // namespace

std::string checksum(std::string_view bytes) { return fmt::format("{:016x}", hash_name(bytes)); }

void add_checksums(TensorFile& file) {
  file.metadata[checksums_key] = json_of(checksums_of(file)).dump();
}

void verify_checksums(const TensorFile& file) {
  const auto saved = file.metadata.find(checksums_key);
  if (saved == file.metadata.end()) return;
  const std::string origin = fmt::format("{}: \"{}\"", file.origin(), checksums_key);
  const Record sums = parse_json(saved->second, origin);
  for (const auto& [name, sum] : checksums_of(file)) {
    if (json_text(sums, name.c_str(), origin) == sum) continue;
    throw FileError(fmt::format(
        "{}: {} has changed since it was saved (checksum); restore the file from a copy",
        file.origin(), name == "__metadata__" ? "its metadata" : "tensor \"" + name + "\""));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
