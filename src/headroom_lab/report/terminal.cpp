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

/// A table as it is drawn: cells and the width of each column.
class TableGrid {
 public:
  TableGrid(const std::vector<std::string>& titles,
            const std::vector<std::vector<std::string>>& rows)
      : titles_(titles), rows_(rows) {
    for (const std::string& title : titles) widths_.push_back(display_width(title));
    for (const auto& row : rows) {
      if (row.size() != titles.size()) {
        throw ShapeError(fmt::format("table_text: a row of {} cells under {} titles", row.size(),
                                     titles.size()));
      }
      for (std::size_t c = 0; c < row.size(); ++c) {
        widths_[c] = std::max(widths_[c], display_width(row[c]));
      }
    }
  }

  std::size_t columns() const { return titles_.size(); }
  /// The width of the first column and the columns [first, end), `gap` spaces apart.
  Index width(std::size_t first, std::size_t end, Index gap) const {
    Index width = widths_.at(0);
    for (std::size_t c = first; c < end; ++c) width += gap + widths_[c];
    return width;
  }
  /// These columns as text.
  std::string text(std::size_t first, std::size_t end, Index gap, const TerminalStyle& style,
                   int indent) const {
    const auto line = [&](const std::vector<std::string>& cells) {
      std::string text = cells.empty() ? "" : padded(cells[0], widths_[0]);
      for (std::size_t c = first; c < end; ++c) {
        text += repeated(" ", gap) + padded(cells[c], widths_[c], true);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      return text;
    };
    const std::string margin(static_cast<std::size_t>(indent), ' ');
    std::string text = margin + emphasised(line(titles_), Emphasis::faint, style) + "\n";
    for (const auto& row : rows_) text += margin + line(row) + "\n";
    return text;
  }

 private:
  const std::vector<std::string>& titles_;
  const std::vector<std::vector<std::string>>& rows_;
  std::vector<Index> widths_;
};

constexpr Index widest_gap = 3;  // between the columns of a table

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

std::string table_text(const std::vector<std::string>& titles,
                       const std::vector<std::vector<std::string>>& rows,
                       const TerminalStyle& style, int indent) {
  const TableGrid grid(titles, rows);
  return grid.text(1, grid.columns(), widest_gap, style, indent);
}

std::string fitted_table_text(const std::vector<std::string>& titles,
                              const std::vector<std::vector<std::string>>& rows,
                              const TerminalStyle& style, int indent) {
  const TableGrid grid(titles, rows);
  const std::size_t columns = grid.columns();
  const Index room = style.columns - indent;
  for (Index gap = widest_gap; gap > 0; --gap) {
    if (grid.width(1, columns, gap) <= room) return grid.text(1, columns, gap, style, indent);
  }
  std::string text;
  for (std::size_t first = 1, end = 1; first < columns; first = end) {
    end = first + 1;
    while (end < columns && grid.width(first, end + 1, widest_gap) <= room) ++end;
    text += (text.empty() ? "" : "\n") + grid.text(first, end, widest_gap, style, indent);
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
