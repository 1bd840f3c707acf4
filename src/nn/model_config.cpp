// Conversion of ModelConfig to and from records.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(key, reference) for every field, so that both directions share one list.
template <class Config, class Visit>
void fields(Config& c, Visit visit) {
  visit("kind", c.kind);
  visit("layout", c.block.layout);
  visit("layers", c.layers);
  visit("width", c.block.width);
  visit("heads", c.block.heads);
  visit("head_dim", c.block.head_dim);
  visit("hidden", c.block.hidden);
  visit("dropout", c.block.dropout);
  visit("norm_first", c.block.norm_first);
  visit("activation", c.block.activation);
  visit("norm", c.block.norm);
  visit("epsilon", c.block.epsilon);
  visit("bias", c.block.bias);
  visit("positions", c.positions);
  visit("longest", c.longest);
  visit("tied_output", c.tied_output);
  visit("source_symbols", c.source_symbols);
  visit("target_symbols", c.target_symbols);
}

// How each type of field is written ...
Record written(Index v) { return v; }
Record written(bool v) { return v; }
Record written(Real v) { return double(v); }
template <class Enum>
requires std::is_enum_v<Enum> Record written(Enum v) { return name_of(v); }

// ... and read.
void require(bool right, const std::string& key, const char* type, const Record& value) {
  if (!right) {
    throw UsageError(
        fmt::format("model configuration: \"{}\" is {}, not {}", key, value.dump(), type));
  }
}
void read(const std::string& key, const Record& value, Index& v) {
  require(value.is_number_integer() && value.get<Index>() >= 0, key, "a whole number", value);
  v = value.get<Index>();
}
void read(const std::string& key, const Record& value, bool& v) {
  require(value.is_boolean(), key, "true or false", value);
  v = value.get<bool>();
}
void read(const std::string& key, const Record& value, Real& v) {
  require(value.is_number(), key, "a number", value);
  v = value.get<Real>();
}
template <class Enum>
requires std::is_enum_v<Enum>
void read(const std::string& key, const Record& value, Enum& v) {
  require(value.is_string(), key, "a word", value);
  const auto name = value.get<std::string>();
  if constexpr (std::is_same_v<Enum, Layout>) {
    v = layout_from(name);  // also those that a program added
  } else {
    v = from_name<Enum>(fmt::format("model configuration: \"{}\"", key).c_str(), name);
  }
}

}  // namespace

Record ModelConfig::to_record() const {
  Record record;
  fields(*this, [&](const char* key, const auto& value) { record[key] = written(value); });
  return record;
}

ModelConfig ModelConfig::from_record(const Record& record) {
  if (!record.is_object()) throw UsageError("model configuration: not a JSON object");
  ModelConfig config;
  std::size_t known = 0;
  fields(config, [&](const char* key, auto& value) {
    if (!record.contains(key)) {
      throw UsageError(fmt::format("model configuration: \"{}\" is missing", key));
    }
    read(key, record[key], value);
    ++known;
  });
  if (record.size() == known) return config;
  const Record all = config.to_record();
  for (const auto& [key, value] : record.items()) {
    if (!all.contains(key)) {
      throw UsageError(fmt::format("model configuration: \"{}\" is not known", key));
    }
  }
  return config;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
