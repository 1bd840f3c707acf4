// Checkpoints that nobody wrote: a sound one with other texts and tensors. Their checksums are
// right, so that a reader comes to what they mean.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fuzz/other_record.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/tensor_file.hpp"

/// The tensors and texts of a checkpoint, which can be changed one by one.
struct OtherCheckpoint {
  std::map<std::string, headroom::StoredTensor> tensors;
  std::map<std::string, std::string> texts;

  explicit OtherCheckpoint(const headroom::TensorFile& sound) : texts(sound.metadata) {
    for (const std::string& name : sound.names()) tensors[name] = sound.tensor(name);
  }

  /// Changes a text or a tensor.
  void change(FuzzedDataProvider& bytes) {
    if (bytes.ConsumeBool()) {
      change_text(bytes);
    } else if (!tensors.empty()) {
      change_tensor(bytes);
    }
  }

  /// With right checksums, or without any: files of older versions have none.
  headroom::TensorFile file(bool checksums) const {
    headroom::TensorFile made;
    made.metadata = texts;
    for (const auto& [name, tensor] : tensors) made.put(name, tensor);
    made.metadata.erase(headroom::checksums_key);
    if (checksums) headroom::add_checksums(made);
    return made;
  }

 private:
  template <class Map>
  static typename Map::iterator some(Map& map, FuzzedDataProvider& bytes) {
    return std::next(map.begin(),
                     bytes.ConsumeIntegralInRange<std::ptrdiff_t>(0, std::ssize(map) - 1));
  }

  void change_text(FuzzedDataProvider& bytes) {
    if (texts.empty()) return;
    const auto text = some(texts, bytes);
    switch (bytes.ConsumeIntegralInRange(0, 7)) {
      case 0: texts.erase(text); return;
      case 1: text->second = bytes.ConsumeRandomLengthString(20); return;
      case 2: text->second = std::to_string(bytes.ConsumeIntegral<std::int64_t>()); return;
      case 3: text->second = std::to_string(bytes.ConsumeIntegralInRange(-2, 9)); return;
      case 4: text->second = some(texts, bytes)->second; return;
      default: break;
    }
    headroom::Record record;
    try {
      record = headroom::parse_json(text->second, "text");
    } catch (const headroom::Error&) {
      return;
    }
    change_some_member(record, bytes);
    text->second = record.dump();
  }

  void change_tensor(FuzzedDataProvider& bytes) {
    const auto found = some(tensors, bytes);
    headroom::StoredTensor& tensor = found->second;
    switch (bytes.ConsumeIntegralInRange(0, 6)) {
      case 0: tensors.erase(found); return;
      case 1: tensors[bytes.ConsumeRandomLengthString(8)] = tensor; return;
      case 2: tensor = some(tensors, bytes)->second; return;
      case 3: change_shape(tensor, bytes); return;
      case 4: change_type(tensor, bytes); return;
      default: change_value(tensor, bytes);
    }
  }

  /// Transposes it, or adds an axis, or cuts or repeats its first elements.
  static void change_shape(headroom::StoredTensor& tensor, FuzzedDataProvider& bytes) {
    std::vector<headroom::Index> sizes(tensor.shape.begin(), tensor.shape.end());
    switch (bytes.ConsumeIntegralInRange(0, 2)) {
      case 0: std::reverse(sizes.begin(), sizes.end()); break;
      case 1:
        if (sizes.size() < 6) sizes.push_back(1);
        break;
      default:
        if (sizes.empty()) return;
        sizes[0] = bytes.ConsumeIntegralInRange<headroom::Index>(0, 2 * sizes[0] + 1);
    }
    tensor.shape = headroom::Shape(sizes);
    tensor.bytes.resize(std::size_t(tensor.shape.size() * headroom::size_of(tensor.type)));
  }

  /// The same number of elements of another type, all of them 0.
  static void change_type(headroom::StoredTensor& tensor, FuzzedDataProvider& bytes) {
    using headroom::StoredType;
    tensor.type = bytes.PickValueInArray(
        {StoredType::f64, StoredType::f32, StoredType::i64, StoredType::i32, StoredType::u8});
    tensor.bytes.assign(std::size_t(tensor.shape.size() * headroom::size_of(tensor.type)),
                        std::byte{0});
  }

  /// Replaces an element.
  static void change_value(headroom::StoredTensor& tensor, FuzzedDataProvider& bytes) {
    using limits = std::numeric_limits<double>;
    const auto size = std::size_t(headroom::size_of(tensor.type));
    const std::size_t count = tensor.bytes.size() / size;
    if (count == 0) return;
    std::byte* const to =
        tensor.bytes.data() + size * bytes.ConsumeIntegralInRange<std::size_t>(0, count - 1);
    const double number =
        bytes.PickValueInArray({0.0, -1.0, 1e300, limits::quiet_NaN(), limits::infinity(), 5e-324});
    const auto whole = bytes.PickValueInArray<std::int64_t>(
        {0, -1, 1, 7, 1'000'000'007, std::numeric_limits<std::int64_t>::max(),
         std::numeric_limits<std::int64_t>::min()});
    std::memcpy(to,
                tensor.type == headroom::StoredType::f64 ? static_cast<const void*>(&number)
                                                         : static_cast<const void*>(&whole),
                size);
  }
};
