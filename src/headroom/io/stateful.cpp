// Reads and writes a TensorFile under prefixes.
#include "headroom/io/stateful.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using RngWords = std::array<std::int64_t, 4>;
static_assert(sizeof(RngWords) == sizeof(RngState));

bool all_finite(const Record& value) {
  if (value.is_number_float()) return std::isfinite(value.get<double>());
  return !value.is_structured() || std::all_of(value.begin(), value.end(), all_finite);
}

}  // namespace

void StateWriter::array(const std::string& name, const Array& value) {
  file_->put(prefix_ + name, value);
}
void StateWriter::ids(const std::string& name, const Ids& value) {
  file_->put(prefix_ + name, value);
}
void StateWriter::bytes(const std::string& name, const Bytes& value) {
  file_->put(prefix_ + name, value);
}
void StateWriter::integers(const std::string& name, std::span<const std::int64_t> value) {
  file_->put(prefix_ + name, value);
}
void StateWriter::rng(const std::string& name, const RngState& value) {
  integers(name, std::bit_cast<RngWords>(value));
}
void StateWriter::integer(const std::string& name, std::int64_t value) {
  put_text(name, fmt::to_string(value));
}
void StateWriter::text(const std::string& name, const std::string& value) { put_text(name, value); }

void StateWriter::record(const std::string& name, const Record& value) {
  if (!all_finite(value)) {
    throw UsageError(
        fmt::format("checkpoint: \"{}{}\" contains a NaN or an infinity", prefix_, name));
  }
  put_text(name, value.dump());
}

void StateWriter::put_text(const std::string& name, std::string value) {
  if (!file_->metadata.emplace(prefix_ + name, std::move(value)).second) {
    throw UsageError(fmt::format("checkpoint: \"{}{}\" exists already", prefix_, name));
  }
}

std::string StateReader::where(const std::string& name) const {
  return fmt::format("{}: \"{}\"", file_->origin(), printable(prefix_ + name));
}

bool StateReader::has(const std::string& name) const {
  return file_->has(prefix_ + name) || file_->metadata.contains(prefix_ + name);
}

Array StateReader::array(const std::string& name, Rounding rounding) const {
  return file_->array(prefix_ + name, rounding);
}

Array StateReader::array(const std::string& name, const Shape& shape, Rounding rounding) const {
  const Shape& found = file_->tensor(prefix_ + name).shape;
  if (found != shape) {
    throw FileError(fmt::format("{}: tensor \"{}\": has shape {}, expected {}", file_->origin(),
                                printable(prefix_ + name), found.text(), shape.text()));
  }
  return array(name, rounding);
}

Ids StateReader::ids(const std::string& name) const { return file_->ids(prefix_ + name); }
Bytes StateReader::bytes(const std::string& name) const { return file_->bytes(prefix_ + name); }
std::vector<std::int64_t> StateReader::integers(const std::string& name) const {
  return file_->integers(prefix_ + name);
}

RngState StateReader::rng(const std::string& name) const {
  const std::vector<std::int64_t> found = integers(name);
  RngWords words{};
  if (found.size() != words.size()) {
    throw FileError(fmt::format("{}: a random state has {} values, not {}", where(name),
                                words.size(), found.size()));
  }
  std::copy(found.begin(), found.end(), words.begin());
  return std::bit_cast<RngState>(words);
}

std::int64_t StateReader::integer(const std::string& name) const {
  const std::string& words = metadata(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), value);
  if (error != std::errc{} || end != words.data() + words.size()) {
    throw FileError(
        fmt::format("{}: \"{}\" is not a 64-bit integer", where(name), printable(words)));
  }
  return value;
}

std::string StateReader::text(const std::string& name) const { return metadata(name); }

Record StateReader::record(const std::string& name) const {
  return parse_json(metadata(name), where(name));
}

const std::string& StateReader::metadata(const std::string& name) const {
  const auto found = file_->metadata.find(prefix_ + name);
  if (found == file_->metadata.end()) {
    throw FileError(fmt::format("{} is missing", where(name)));
  }
  return found->second;
}

std::vector<std::string> StateReader::tensor_names() const {
  std::vector<std::string> result;
  for (const std::string& name : file_->names()) {
    if (name.starts_with(prefix_)) result.push_back(name.substr(prefix_.size()));
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
