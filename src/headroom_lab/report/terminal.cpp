// Pictures in text for a terminal.
#include "headroom_lab/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The marks of an attention map, from the strongest.
struct Shade {
  double from;  // minimum weight
  const char *unicode, *ascii;
  const char* in(const TerminalStyle& style) const { return style.unicode ? unicode : ascii; }
};
constexpr Shade shades[] = {{0.6, "█", "#"}, {0.3, "▒", "+"}, {0.1, "░", "-"}};
constexpr const char* faintest = ".";

const char* shade(double weight, const TerminalStyle& style) {
  for (const Shade& shade : shades) {
    if (weight >= shade.from) return shade.in(style);
  }
  return faintest;
}

std::string repeated(const char* text, Index times) {
  std::string result;
  for (Index i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

std::string attention_map_text(std::span<const std::string> keys,
                               std::span<const std::string> queries,
                               const std::vector<std::vector<double>>& weights,
                               const TerminalStyle& style, int indent) {
  if (weights.size() != queries.size()) {
    throw ShapeError(fmt::format("attention_map_text: {} rows of weights for {} queries",
                                 weights.size(), queries.size()));
  }
  for (std::size_t i = 0; i < queries.size(); ++i) {
    if (weights[i].size() != keys.size()) {
      throw ShapeError(fmt::format("attention_map_text: row {} has {} weights for {} keys", i,
                                   weights[i].size(), keys.size()));
    }
  }
  Index side = 0, columns = 0;
  std::vector<Index> widths;
  for (const std::string& query : queries) side = std::max(side, display_width(query));
  for (const std::string& key : keys) {
    widths.push_back(std::max<Index>(1, display_width(key)));
    columns += widths.back() + 1;
  }
  const Index room = style.columns - indent - side - 1;
  // Single characters are placed without gaps if the line is too short for them.
  const bool single = std::all_of(widths.begin(), widths.end(), [](Index w) { return w == 1; });
  const std::string gap = columns > room && single ? "" : " ";
  const std::string margin(static_cast<std::size_t>(indent), ' ');

  std::string text;
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    // Prints as many keys as fit; the others follow below, under their own line of keys.
    for (Index used = 0; end < keys.size(); ++end) {
      used += widths[end] + Index(gap.size());
      if (used > room && end > begin) break;
    }
    text += margin + std::string(std::size_t(side), ' ') + " ";
    for (std::size_t j = begin; j < end; ++j) text += gap + padded(keys[j], 1);
    text += "\n";
    for (std::size_t i = 0; i < queries.size(); ++i) {
      text += margin + padded(queries[i], side, true) + " ";
      for (std::size_t j = begin; j < end; ++j) {
        text += gap + repeated(shade(weights[i][j], style), widths[j]);
      }
      text += "\n";
    }
    if (end < keys.size()) text += "\n";
  }
  return text;
}

std::string shades_text(const TerminalStyle& style) {
  std::string text;
  for (const Shade& shade : shades)
    text += fmt::format("{} from {}, ", shade.in(style), shade.from);
  return text + faintest + " less";
}

std::string head_grid_text(const std::vector<std::vector<bool>>& alive,
                           const TerminalStyle& style) {
  std::string text;
  for (std::size_t layer = 0; layer < alive.size(); ++layer) {
    if (layer > 0) text += " | ";
    for (std::size_t head = 0; head < alive[layer].size(); ++head) {
      if (head > 0) text += " ";
      text += alive[layer][head] ? emphasised("o", Emphasis::good, style)
                                 : emphasised("x", Emphasis::faint, style);
    }
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
