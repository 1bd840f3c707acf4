// Conversion of ModelConfig to and from records.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"
#include "headroom/nn/models.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void read_json(const JsonNode& from, Layout& to) {
  std::string name;
  read_json(from, name);
  try {
    to = layout_from(name);
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("{}; if a program with a layout of its own made this model, use "
                    "that program",
                    error.what()));
  }
}

/// Nothing for a model without a variant, so that the field is left out.
Record json_of(const ModelVariant& variant) {
  return variant == ModelVariant() ? Record() : json_of<ModelVariant>(variant);
}

namespace {

/// Throws UsageError for a number that no configuration can have.
template <class T>
void check_number(const std::string& key, const T& value) {
  if constexpr (std::is_same_v<T, Index> || std::is_floating_point_v<T>) {
    if (value >= 0 && value <= T(10'000'000)) return;
    throw UsageError(
        fmt::format("model configuration: {} must be a number from 0 to 10000000", key));
  } else if constexpr (std::is_same_v<T, std::optional<Real>> ||
                       std::is_same_v<T, std::optional<Index>>) {
    check_number(key, value.value_or(0));
  } else if constexpr (HasFields<T>) {
    T::Fields::each([&](const char* inner, auto member, Presence) {
      check_number(key + "." + inner, std::invoke(member, value));
    });
  }
}

}  // namespace

Record ModelConfig::to_record() const { return json_of(*this); }

ModelConfig ModelConfig::from_record(const Record& record) {
  try {
    const auto config = struct_of<ModelConfig>(record, "model configuration");
    Fields::each([&](const char* key, auto member, Presence) {
      check_number(key, std::invoke(member, config));
    });
    return config;
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
