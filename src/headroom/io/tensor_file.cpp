// The safetensors container: reading, writing, and conversion between stored and used types.
#include "headroom/io/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "io/safetensors_header.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

template <class T>
constexpr StoredType stored_type() {
  if constexpr (std::is_same_v<T, double>) return StoredType::f64;
  if constexpr (std::is_same_v<T, float>) return StoredType::f32;
  if constexpr (std::is_same_v<T, std::int64_t>) return StoredType::i64;
  if constexpr (std::is_same_v<T, std::int32_t>) return StoredType::i32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return StoredType::u8;
}

template <class T>
StoredTensor stored(const Shape& shape, std::span<const T> elements) {
  const auto bytes = std::as_bytes(elements);
  return {stored_type<T>(), shape, {bytes.begin(), bytes.end()}};
}

template <class T>
std::vector<T> elements_of(const StoredTensor& tensor) {
  std::vector<T> result(tensor.bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
  return result;
}

void require_utf8(const std::string& text) {
  if (!find_malformed_utf8(text)) return;
  throw UsageError(fmt::format("checkpoint: \"{}\" is not valid UTF-8", printable(text)));
}

std::string quoted(const std::string& text) {
  require_utf8(text);
  return nlohmann::json(text).dump();
}

}  // namespace

const char* name_of(StoredType type) {
  switch (type) {
    case StoredType::f64: return "F64";
    case StoredType::f32: return "F32";
    case StoredType::i64: return "I64";
    case StoredType::i32: return "I32";
    case StoredType::u8: return "U8";
  }
  return "?";
}

Index size_of(StoredType type) {
  switch (type) {
    case StoredType::f64:
    case StoredType::i64: return 8;
    case StoredType::f32:
    case StoredType::i32: return 4;
    case StoredType::u8: return 1;
  }
  return 0;
}

TensorFile TensorFile::read(const std::filesystem::path& path) {
  const std::string file = path.string();
  InputFile input(path);
  std::uint64_t header_length = 0;
  const auto size = static_cast<std::uint64_t>(input.size());
  if (size < sizeof header_length) {
    throw FileError(
        fmt::format("{}: header: {} bytes are too short for a safetensors file", file, size));
  }
  input.read(std::as_writable_bytes(std::span(&header_length, 1)));
  const std::uint64_t rest = size - sizeof header_length;
  if (header_length > longest_header) {
    throw FileError(fmt::format(
        "{}: header: its length {} is above the limit of {} bytes; is it a safetensors file?", file,
        header_length, longest_header));
  }
  if (header_length > rest) {
    throw FileError(
        fmt::format("{}: header: its length {} is beyond the end of the file of {} bytes", file,
                    header_length, size));
  }
  try {
    std::string text(static_cast<std::size_t>(header_length), '\0');
    input.read(std::as_writable_bytes(std::span(text)));
    Header header = parse_header(text, rest - header_length, file);
    TensorFile result;
    result.origin_ = file;
    result.metadata = std::move(header.metadata);
    for (const HeaderEntry& entry : header.entries) {
      StoredTensor tensor{
          entry.type, entry.shape,
          std::vector<std::byte>(static_cast<std::size_t>(entry.end - entry.begin))};
      input.read(tensor.bytes);
      result.tensors_.emplace(entry.name, std::move(tensor));
    }
    return result;
  } catch (const std::bad_alloc&) {
    throw FileError(fmt::format("{}: cannot read: not enough memory for {} bytes", file, size));
  }
}

void TensorFile::write(const std::filesystem::path& path) const {
  // Wide elements first: then every tensor is aligned to its elements.
  std::vector<const std::string*> order;
  for (const auto& [name, tensor] : tensors_) order.push_back(&name);
  std::stable_sort(order.begin(), order.end(), [&](const std::string* a, const std::string* b) {
    return size_of(tensors_.at(*a).type) > size_of(tensors_.at(*b).type);
  });

  std::string header = "{";
  if (!metadata.empty()) {
    for (const auto& [key, text] : metadata) {
      header += fmt::format("{}{}:{}", header.size() == 1 ? "\"__metadata__\":{" : ",", quoted(key),
                            quoted(text));
    }
    header += "}";
  }
  std::size_t begin = 0;
  for (const std::string* name : order) {
    const StoredTensor& tensor = tensors_.at(*name);
    std::string shape = tensor.shape.text();
    std::erase(shape, ' ');
    header += fmt::format(R"({}{}:{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          header.size() == 1 ? "" : ",", quoted(*name), name_of(tensor.type), shape,
                          begin, begin + tensor.bytes.size());
    begin += tensor.bytes.size();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > longest_header || order.size() > most_tensors) {
    throw FileError(
        fmt::format("{}: cannot write: {} tensors with a header of {} bytes; the limits "
                    "are {} and {}",
                    path.string(), order.size(), header.size(), most_tensors, longest_header));
  }

  AtomicFile file(path);
  const std::uint64_t header_length = header.size();
  file.write(std::as_bytes(std::span(&header_length, 1)));
  file.write(header);
  for (const std::string* name : order) file.write(tensors_.at(*name).bytes);
  file.commit();
}

void TensorFile::rename(const std::string& from, const std::string& to) {
  put(to, tensor(from));
  tensors_.erase(from);
}

void TensorFile::put(const std::string& name, const Array& array) {
  put(name, stored<Real>(array.shape(), array.span()));
}
void TensorFile::put(const std::string& name, const Ids& ids) {
  put(name, stored<std::int32_t>(ids.shape(), ids.span()));
}
void TensorFile::put(const std::string& name, const Bytes& bytes) {
  put(name, stored<std::uint8_t>(bytes.shape(), bytes.span()));
}
void TensorFile::put(const std::string& name, std::span<const std::int64_t> integers) {
  put(name, stored<std::int64_t>(Shape{std::ssize(integers)}, integers));
}

void TensorFile::put(const std::string& name, StoredTensor tensor) {
  if (name == "__metadata__") {
    throw UsageError("checkpoint: no tensor can be called __metadata__");
  }
  require_utf8(name);
  std::uint64_t elements = 0;
  if (!count_elements(tensor.shape, elements) ||
      elements * static_cast<std::uint64_t>(size_of(tensor.type)) != tensor.bytes.size()) {
    throw UsageError(fmt::format("checkpoint: tensor \"{}\" {} {} cannot have {} bytes",
                                 printable(name), name_of(tensor.type), tensor.shape.text(),
                                 tensor.bytes.size()));
  }
  if (!tensors_.emplace(name, std::move(tensor)).second) {
    throw UsageError(fmt::format("checkpoint: tensor \"{}\" exists already", printable(name)));
  }
}

const StoredTensor& TensorFile::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw FileError(fmt::format("{}: tensor \"{}\": is missing", origin_, printable(name)));
  }
  return found->second;
}

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> result;
  for (const auto& [name, tensor] : tensors_) result.push_back(name);
  return result;
}

namespace {

[[noreturn]] void wrong_type(const std::string& origin, const std::string& name,
                             const StoredTensor& tensor, const char* wanted) {
  throw FileError(fmt::format("{}: tensor \"{}\": is {}, not {}", origin, printable(name),
                              name_of(tensor.type), wanted));
}

}  // namespace

std::vector<double> TensorFile::doubles(const std::string& name) const {
  const StoredTensor& from = tensor(name);
  if (from.type == StoredType::f64) return elements_of<double>(from);
  if (from.type != StoredType::f32) wrong_type(origin_, name, from, "F64 or F32");
  const auto floats = elements_of<float>(from);
  return {floats.begin(), floats.end()};
}

Array TensorFile::array(const std::string& name, Rounding rounding) const {
  const std::vector<double> values = doubles(name);
  Array result(tensor(name).shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    const bool too_large =
        std::isfinite(value) && std::abs(value) > double(std::numeric_limits<Real>::max());
    const Real converted = too_large ? Real(0) : Real(value);
    const bool survives = double(converted) == value || std::isnan(value);
    if (too_large || (rounding == Rounding::refuse && !survives)) {
      throw FileError(fmt::format("{}: tensor \"{}\": {} at element {} does not fit into a float{}",
                                  origin_, printable(name), value, i,
                                  too_large ? "" : " without rounding"));
    }
    result[Index(i)] = converted;
  }
  return result;
}

std::vector<std::int64_t> TensorFile::integers(const std::string& name) const {
  const StoredTensor& from = tensor(name);
  if (from.type == StoredType::i64) return elements_of<std::int64_t>(from);
  if (from.type != StoredType::i32) wrong_type(origin_, name, from, "I64 or I32");
  const auto narrow = elements_of<std::int32_t>(from);
  return {narrow.begin(), narrow.end()};
}

Ids TensorFile::ids(const std::string& name) const {
  const std::vector<std::int64_t> values = integers(name);
  Ids result(tensor(name).shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<std::int32_t>(values[i])) {
      throw FileError(fmt::format("{}: tensor \"{}\": {} at element {} does not fit into 32 bits",
                                  origin_, printable(name), values[i], i));
    }
    result[Index(i)] = static_cast<std::int32_t>(values[i]);
  }
  return result;
}

Bytes TensorFile::bytes(const std::string& name) const {
  const StoredTensor& from = tensor(name);
  if (from.type != StoredType::u8) wrong_type(origin_, name, from, "U8");
  return Bytes(from.shape, std::span<const std::uint8_t>(elements_of<std::uint8_t>(from)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
