// TensorFile: named tensors and texts in one file of the safetensors layout
// (https://github.com/huggingface/safetensors), written atomically, parsed as untrusted input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/io/stored_type.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class InputFile;

/// A tensor as stored in the file: row-major, little-endian.
struct StoredTensor {
  StoredType type = StoredType::f32;
  Shape shape;
  std::vector<std::byte> bytes;
};

/// A tensor in an open file: what the header says of it. Its bytes are [begin, end) of the data.
struct TensorEntry {
  std::string name;
  StoredType type = StoredType::f32;
  Shape shape;
  std::uint64_t begin = 0, end = 0;
};

/// A safetensors file that is open. Its header is read and checked at once, as TensorFile::read()
/// does it, and a tensor when it is asked for.
class TensorReader {
 public:
  explicit TensorReader(const std::filesystem::path& path);

  /// All tensors, in the order of their data.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  /// nullptr if there is no tensor of that name.
  const TensorEntry* find(const std::string& name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::string& origin() const { return origin_; }

  /// Throws FileError if the file cannot be read.
  StoredTensor read(const TensorEntry& entry) const;
  /// The numbers of a floating type, as TensorFile::array() converts them.
  Array array(const TensorEntry& entry, Rounding rounding = Rounding::refuse) const;

 private:
  std::string origin_;
  std::shared_ptr<InputFile> file_;
  Index data_ = 0;  // position of the first byte of data
  std::vector<TensorEntry> entries_;
  std::map<std::string, std::size_t> numbers_;  // in entries_, by name
  std::map<std::string, std::string> metadata_;
};

/// A checkpoint in memory. Layout of the file: header length (8 bytes), header (JSON: name ->
/// dtype, shape, data_offsets; `__metadata__` -> texts), data.
class TensorFile {
 public:
  /// Reads a file that may be broken or hostile. Throws FileError, `file: tensor "name": rule`,
  /// unless: it is a regular file; the header's length is at most 100 MB and fits in the file; the
  /// header is valid UTF-8, starts with `{`, ends with `}` and spaces, and is JSON of exactly the
  /// form above; no key occurs twice, metadata included; a tensor has exactly dtype, shape and
  /// data_offsets, of known dtype, at most 6 axes, sizes and offsets as plain unsigned integers (no
  /// 1.0, 1e3, -0); no product of sizes overflows, zeros left out; tensors tile the data without
  /// hole, overlap or rest; there are at most 65,536 of them.
  static TensorFile read(const std::filesystem::path& path);

  /// Replaces `path` atomically (AtomicFile). Throws FileError.
  void write(const std::filesystem::path& path) const;

  /// Adds a tensor. Real arrays are stored in this build's precision. Throws UsageError for a name
  /// that is there already, is not UTF-8 or is `__metadata__`.
  void put(const std::string& name, const Array& array);
  void put(const std::string& name, const Ids& ids);
  void put(const std::string& name, const Bytes& bytes);
  void put(const std::string& name, std::span<const std::int64_t> integers);
  void put(const std::string& name, StoredTensor tensor);

  /// Gives a tensor another name, which must be new.
  void rename(const std::string& from, const std::string& to);

  /// Takes a tensor out by name. Throw FileError naming file and tensor when it is missing, of
  /// another kind, or holds a value that the result's type cannot: F64, F32, F16 and BF16 convert
  /// to Real (from F64 to float only values that survive, unless rounding is allowed; never a
  /// finite value to infinity), I64 and I32 to Ids and integers, U8 to Bytes.
  Array array(const std::string& name, Rounding rounding = Rounding::refuse) const;
  Ids ids(const std::string& name) const;
  Bytes bytes(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  /// The numbers of a floating type as doubles, whatever this build's precision.
  std::vector<double> doubles(const std::string& name) const;
  const StoredTensor& tensor(const std::string& name) const;

  bool has(const std::string& name) const { return tensors_.contains(name); }
  /// All names in alphabetical order.
  std::vector<std::string> names() const;
  /// The path it was read from, for errors. "new file" when it was made in memory.
  const std::string& origin() const { return origin_; }

  /// Texts by key.
  std::map<std::string, std::string> metadata;

 private:
  std::map<std::string, StoredTensor> tensors_;
  std::string origin_ = "new file";
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
