// Reading of plain values from JSON, and the words for what does not fit.
#include "headroom/io/fields.hpp"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <charconv>

#include "headroom/base/nearest.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index largest_integer = Index{1} << 53;  // a page reads all numbers as doubles

}  // namespace

std::string JsonNode::path() const {
  if (parent_ == nullptr) return *origin_;
  const std::string before = parent_->path();
  if (key_ == nullptr) return fmt::format("{}[{}]", before, index_);
  return before + (parent_->parent_ == nullptr ? ": " : ".") + printable(key_);
}

void JsonNode::must_be(std::string_view expected) const {
  const std::string text = value_->dump(-1, ' ', true, Record::error_handler_t::replace);
  throw DataError(fmt::format("{} must be {}, not {}", path(), expected, printable(text)));
}

void JsonNode::fail(std::string_view text) const {
  throw DataError(fmt::format("{}: {}", path(), text));
}

void JsonNode::refuse_others(const std::set<std::string>& known) const {
  for (const auto& [key, value] : value_->items()) {
    if (known.count(key) > 0) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string near = did_you_mean(key, names);
    fail(fmt::format("\"{}\" is not a field{}", printable(key),
                     near.empty() ? fmt::format(" (known: {})", fmt::join(known, ", ")) : near));
  }
}

void read_json(const JsonNode& from, bool& to) {
  if (!from.value().is_boolean()) from.must_be("true or false");
  to = from.value().get<bool>();
}

void read_json(const JsonNode& from, Index& to) {
  const Record& value = from.value();
  if (!value.is_number_integer()) from.must_be("a whole number");
  const auto number = value.get<Index>();  // an unsigned number beyond it turns negative
  if (number > largest_integer || number < (value.is_number_unsigned() ? 0 : -largest_integer)) {
    from.must_be("a whole number of at most 2^53");
  }
  to = number;
}

void read_json(const JsonNode& from, std::uint64_t& to) {
  const Record& value = from.value();
  const bool whole = value.is_number_integer();
  if (!whole || !(value.is_number_unsigned() || value.get<Index>() >= 0)) {
    from.must_be("a whole number from 0 to 2^64 - 1");
  }
  to = value.get<std::uint64_t>();
}

void read_json(const JsonNode& from, double& to) {
  const Record& value = from.value();
  if (!value.is_number() && !value.is_null()) from.must_be("a number");
  to = value.is_null() ? std::nan("") : value.get<double>();
}

void read_json(const JsonNode& from, float& to) {
  double wide = 0;
  read_json(from, wide);
  to = float(wide);
}

void read_json(const JsonNode& from, std::string& to) {
  if (!from.value().is_string()) from.must_be("a text");
  to = from.value().get<std::string>();
}

Record json_of(float value) {
  return std::isfinite(value) ? shortest_number(Real(value)) : Record();
}

Record json_of(const HeadId& head) { return head.text(); }

void read_json(const JsonNode& from, HeadId& to) {
  std::string text;
  read_json(from, text);
  for (const AttentionKind kind : all_of<AttentionKind>()) {
    const std::string start = std::string(name_of(kind)) + ' ';
    if (!text.starts_with(start)) continue;
    const char* const end = text.data() + text.size();
    const auto layer = std::from_chars(text.data() + start.size(), end, to.layer);
    if (layer.ec != std::errc() || layer.ptr == end || *layer.ptr != '.') break;
    const auto head = std::from_chars(layer.ptr + 1, end, to.head);
    if (head.ec != std::errc() || head.ptr != end || to.layer < 0 || to.head < 0) break;
    to.kind = kind;
    return;
  }
  from.must_be("the name of a head such as \"cross 0.3\"");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
