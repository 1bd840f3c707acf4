// Stateful: a part of a run that puts its state into a checkpoint and takes it back.
#pragma once

#include <cstdint>
#include <string>

#include "headroom/base/record.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/tensor_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A place in a TensorFile under which one part writes: every name gets the place's prefix
/// ("optimizer." for the part called optimizer). Throws UsageError for a name used twice.
class StateWriter {
 public:
  explicit StateWriter(TensorFile& file, std::string prefix = "")
      : file_(&file), prefix_(std::move(prefix)) {}
  /// The place `part` inside this one: prefix "outer.part.".
  StateWriter part(const std::string& name) const {
    return StateWriter(*file_, prefix_ + name + ".");
  }

  /// Writes a value under a name of this part. Throws UsageError for a name that was written
  /// before.
  void array(const std::string& name, const Array& value);
  void ids(const std::string& name, const Ids& value);
  void bytes(const std::string& name, const Bytes& value);
  void integers(const std::string& name, std::span<const std::int64_t> value);
  void rng(const std::string& name, const RngState& value);  // 32 bytes, as a tensor I64 [4]
  void integer(const std::string& name, std::int64_t value);
  void text(const std::string& name, const std::string& value);
  /// Integers keep all 64 bits and doubles all theirs; throws UsageError for NaN and infinities,
  /// which JSON cannot hold.
  void record(const std::string& name, const Record& value);

 private:
  void put_text(const std::string& name, std::string value);
  TensorFile* file_;
  std::string prefix_;
};

/// The same place, for taking the state back. Everything throws FileError naming the file and the
/// entry when it is missing or malformed.
class StateReader {
 public:
  explicit StateReader(const TensorFile& file, std::string prefix = "")
      : file_(&file), prefix_(std::move(prefix)) {}
  StateReader part(const std::string& name) const {
    return StateReader(*file_, prefix_ + name + ".");
  }

  /// A tensor or a text of this name exists.
  bool has(const std::string& name) const;
  Array array(const std::string& name, Rounding rounding = Rounding::refuse) const;
  /// The same, and refuses any other shape.
  Array array(const std::string& name, const Shape& shape,
              Rounding rounding = Rounding::refuse) const;
  Ids ids(const std::string& name) const;
  Bytes bytes(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;
  RngState rng(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  std::string text(const std::string& name) const;
  Record record(const std::string& name) const;
  /// Names of the tensors here, without the prefix, in alphabetical order.
  std::vector<std::string> tensor_names() const;

  /// `file: "prefix.name"`, the start of an error about an entry.
  std::string where(const std::string& name) const;

 private:
  const std::string& metadata(const std::string& name) const;
  const TensorFile* file_;
  std::string prefix_;
};

/// A part of a run that saves its own state. A checkpoint consists of these: parameters, moments,
/// step, random state, position in the data, pruning, configuration.
class Stateful {
 public:
  virtual ~Stateful() = default;
  /// Writes everything that load_state() needs to continue as if nothing had happened.
  virtual void save_state(StateWriter to) const = 0;
  /// Afterwards the part continues as the saved one would have, to the bit. Throws FileError.
  virtual void load_state(const StateReader& from) = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
