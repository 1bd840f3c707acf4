// Given settings by type.
#include "runs/given.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headroom/base/require.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using setting_values::Value;

std::optional<Index> Given::whole(const char* name) const {
  if (!has(name)) return std::nullopt;
  return Value<Index>::read(values_.at(name), shown_(name));
}

std::optional<double> Given::number(const char* name) const {
  if (!has(name)) return std::nullopt;
  return Value<double>::read(values_.at(name), shown_(name));
}

std::optional<std::string> Given::text(const char* name) const {
  if (!has(name)) return std::nullopt;
  return Value<std::string>::read(values_.at(name), shown_(name));
}

std::optional<Index> Given::step(const char* name, Index steps) const {
  if (!has(name)) return std::nullopt;
  const Record& value = values_.at(name);
  const std::string text = value.is_number() ? value.dump() : *this->text(name);
  const bool share = text.find('.') != std::string::npos;
  std::size_t read = 0;
  double number = -1;
  try {
    number = std::stod(text, &read);
  } catch (const std::exception&) {  // neither a number nor one that fits
  }
  require(
      read == text.size() && number >= 0 && (share ? number <= 1 : number == std::floor(number)),
      fmt::format("{} {} is neither a step, such as 300, nor a share of the steps, such as 0.3",
                  shown_(name), text));
  return Index(std::llround(share ? number * double(steps) : std::min(number, 1e15)));
}

std::string Given::with_value(const char* name) const {
  const Record& value = values_.at(name);
  return shown_(name) + " " + (value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
