// The safetensors container: reading, writing, and conversion between stored and used types.
#include "headroom/io/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "io/safetensors_header.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

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

constexpr const char* floating_types = "F64, F32, F16 or BF16";

[[noreturn]] void wrong_type(const std::string& origin, const std::string& name, StoredType type,
                             const char* wanted) {
  throw FileError(fmt::format("{}: tensor \"{}\": is {}, not {}", origin, printable(name),
                              name_of(type), wanted));
}

/// `first` is the number of the element that the misfit counts from.
[[noreturn]] void refuse_misfit(const std::string& origin, const std::string& name,
                                const Misfit& misfit, std::size_t first = 0) {
  throw FileError(fmt::format("{}: tensor \"{}\": {} at element {} does not fit into a float{}",
                              origin, printable(name), misfit.value, first + misfit.element,
                              misfit.too_large ? "" : " without rounding"));
}

}  // namespace

TensorReader::TensorReader(const std::filesystem::path& path)
    : origin_(path.string()), file_(std::make_shared<InputFile>(path)) {
  std::uint64_t header_length = 0;
  const auto size = static_cast<std::uint64_t>(file_->size());
  if (size < sizeof header_length) {
    throw FileError(
        fmt::format("{}: header: {} bytes are too short for a safetensors file", origin_, size));
  }
  file_->read(std::as_writable_bytes(std::span(&header_length, 1)));
  const std::uint64_t rest = size - sizeof header_length;
  if (header_length > longest_header) {
    throw FileError(fmt::format(
        "{}: header: its length {} is above the limit of {} bytes; is it a safetensors file?",
        origin_, header_length, longest_header));
  }
  if (header_length > rest) {
    throw FileError(
        fmt::format("{}: header: its length {} is beyond the end of the file of {} bytes", origin_,
                    header_length, size));
  }
  std::string text(static_cast<std::size_t>(header_length), '\0');
  file_->read(std::as_writable_bytes(std::span(text)));
  Header header = parse_header(text, rest - header_length, origin_);
  data_ = Index(sizeof header_length + header_length);
  metadata_ = std::move(header.metadata);
  entries_ = std::move(header.entries);
  for (std::size_t i = 0; i < entries_.size(); ++i) numbers_[entries_[i].name] = i;
}

const TensorEntry* TensorReader::find(const std::string& name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? nullptr : &entries_[found->second];
}

StoredTensor TensorReader::read(const TensorEntry& entry) const {
  StoredTensor tensor{entry.type, entry.shape,
                      std::vector<std::byte>(static_cast<std::size_t>(entry.end - entry.begin))};
  file_->read_at(data_ + Index(entry.begin), tensor.bytes);
  return tensor;
}

Array TensorReader::array(const TensorEntry& entry, Rounding rounding) const {
  if (!is_floating(entry.type)) wrong_type(origin_, entry.name, entry.type, floating_types);
  Array result(entry.shape);
  if (entry.type == stored_type<Real>()) {
    file_->read_at(data_ + Index(entry.begin), std::as_writable_bytes(result.span()));
    return result;
  }
  // A piece at a time, so that a large tensor is in memory once.
  const auto size = std::size_t(size_of(entry.type));
  std::vector<std::byte> piece(std::min(std::size_t{1} << 20, std::size_t(result.size()) * size));
  for (std::size_t begin = 0; begin < std::size_t(result.size()); begin += piece.size() / size) {
    const std::size_t count = std::min(piece.size() / size, std::size_t(result.size()) - begin);
    const auto bytes = std::span(piece).first(count * size);
    file_->read_at(data_ + Index(entry.begin + begin * size), bytes);
    const auto misfit =
        read_numbers(entry.type, bytes, result.span().subspan(begin, count), rounding);
    if (misfit) refuse_misfit(origin_, entry.name, *misfit, begin);
  }
  return result;
}

TensorFile TensorFile::read(const std::filesystem::path& path) {
  const TensorReader reader(path);
  TensorFile result;
  result.origin_ = reader.origin();
  result.metadata = reader.metadata();
  try {
    for (const TensorEntry& entry : reader.entries()) {
      result.tensors_.emplace(entry.name, reader.read(entry));
    }
  } catch (const std::bad_alloc&) {
    throw FileError(
        fmt::format("{}: cannot read: not enough memory for its tensors", reader.origin()));
  }
  return result;
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

std::vector<double> TensorFile::doubles(const std::string& name) const {
  const StoredTensor& from = tensor(name);
  if (!is_floating(from.type)) wrong_type(origin_, name, from.type, floating_types);
  std::vector<double> result(std::size_t(from.shape.size()));
  read_numbers(from.type, from.bytes, std::span(result), Rounding::refuse);
  return result;
}

Array TensorFile::array(const std::string& name, Rounding rounding) const {
  const StoredTensor& from = tensor(name);
  if (!is_floating(from.type)) wrong_type(origin_, name, from.type, floating_types);
  Array result(from.shape);
  if (const auto misfit = read_numbers(from.type, from.bytes, result.span(), rounding)) {
    refuse_misfit(origin_, name, *misfit);
  }
  return result;
}

std::vector<std::int64_t> TensorFile::integers(const std::string& name) const {
  const StoredTensor& from = tensor(name);
  if (from.type == StoredType::i64) return elements_of<std::int64_t>(from);
  if (from.type != StoredType::i32) wrong_type(origin_, name, from.type, "I64 or I32");
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
  if (from.type != StoredType::u8) wrong_type(origin_, name, from.type, "U8");
  return Bytes(from.shape, std::span<const std::uint8_t>(elements_of<std::uint8_t>(from)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
